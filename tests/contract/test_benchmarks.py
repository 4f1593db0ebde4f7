"""What benchmarks write past the services is what services find: it follows the tables, and nobody measures daily."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.metadata import FindThings
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_server.metadata.service import Attributes
from acai_server.testing.databases import enter
from acai_server.testing.libraries import Files
from benchmarks import metadata
from benchmarks.runs import values

if TYPE_CHECKING:
    from acai_server.db.database import Database

MANY = 600


@pytest.fixture(params=["sqlite_database", "postgres_database"])
def database(request: pytest.FixtureRequest) -> Database:
    found: Database = request.getfixturevalue(request.param)
    return found


def test_runs_that_are_searched_are_found_as_they_were_made(database: Database) -> None:
    member = enter(database)
    metadata.fill(database, metadata.Member(member.project_id, member.user_id), MANY)
    query = metadata.QUERIES["metric above x and parameter equals y, best ten"]
    found = Attributes(database, Files()).find(member.project_id, FindThings(SubjectKind.JOB, query))
    numbers = {number: values(number)[0] for number in range(1, MANY + 1)}
    fitting = [n for n, has in numbers.items() if has["accuracy"] > 0.9 and has["params.lr"] == 0.01]
    best = sorted(fitting, key=lambda n: -numbers[n]["accuracy"])[:10]
    assert fitting
    assert [row.thing for row in found.rows] == [str(number) for number in best]


def test_jobs_that_attributes_are_recorded_for_have_them(database: Database) -> None:
    assert metadata.recorded(database, 0) > 0
    assert metadata.recorded(database, 1) > 0
    member = enter(database)
    found = Attributes(database, Files()).find(
        member.project_id, FindThings(SubjectKind.JOB, "accuracy > 0 and note > 0", limit=1000)
    )
    assert len(found.rows) == 2 * metadata.RECORDED
