"""What the records of damaged contents cost: they are asked for often, and most databases have none."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest
from sqlalchemy import event

from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.testing.databases import enter
from acai_server.testing.lakes import engine_of


@pytest.mark.parametrize("is_analyzed", [False, True])
def test_no_question_about_damage_reads_all_contents(*, is_analyzed: bool) -> None:
    with closing(Database("sqlite://", Clock())) as database:
        schema.migrate(database)
        project = enter(database, "default", "you").project_id
        with database.connect() as connection:
            if is_analyzed:
                connection.exec_driver_sql("ANALYZE")
        asked: list[tuple[str, Any]] = []
        engine = engine_of(database)

        def ask(*call: Any) -> None:
            asked.append((str(call[2]), call[3]))

        event.listen(engine, "before_cursor_execute", ask)
        with database.reading() as work:
            work.damage.count()
            work.damage.hashes(project)
            work.damage.contents(project)
            work.damage.file_count(project)
            work.damage.files(project, 10)
            work.damage.doubtful(work.clock.now(), work.clock.now(), 20)
            work.blobs.any_wrong(project)
        event.remove(engine, "before_cursor_execute", ask)
        of_blobs = [one for one in asked if "FROM blob b" in one[0]]
        assert len(of_blobs) == 7
        with database.connect() as connection:
            for sql, parameters in of_blobs:
                plan = [row[-1] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", parameters)]
                of_blob = [step for step in plan if step.split()[:2] in (["SCAN", "b"], ["SEARCH", "b"])]
                assert of_blob, plan
                assert all("ix_blob_wrong" in step for step in of_blob), (sql, of_blob)
