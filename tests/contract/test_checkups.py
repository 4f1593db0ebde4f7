"""What a doctor finds of a real PostgreSQL and a real S3 server, well and not."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, text

from acai_jupyter.contract.checkups import Finding
from acai_server.checkup import clocks, database, store
from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.looks import looks
from acai_server.objects.s3 import S3ObjectStore
from acai_server.runners.gangs import Gangs
from acai_server.runners.memory import MemoryRunner
from acai_server.runners.process import ProcessSettings
from tests.servers.seaweedfs import READER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.seaweedfs import Seaweedfs


def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Database]:
    with closing(Database(postgres_url, Clock())) as made:
        yield made


def test_a_postgres_that_fits_is_told_with_its_version_and_time(postgres: Database) -> None:
    check = database.look(postgres)
    assert check.finding is Finding.OK, check.said
    assert check.said.startswith(f"PostgreSQL {postgres.major}")
    assert clocks.look("database", postgres.moment, now).finding is Finding.OK


def test_what_a_role_may_not_do_is_named(postgres: Database, postgres_url: str) -> None:
    role = f"reader_{uuid4().hex[:8]}"
    engine = create_engine(postgres.url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE ROLE {role}"))
        try:
            connection.execute(text(f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}"))
            connection.execute(text(f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}"))
            connection.execute(text(f"REVOKE DELETE ON job FROM {role}"))
            joint = "&" if "?" in postgres_url else "?"
            with closing(Database(f"{postgres_url}{joint}options=-crole%3D{role}", Clock())) as theirs:
                check = database.look(theirs)
                assert (check.finding, theirs.lacking()) == (Finding.FAILED, ["job"])
                assert "its role may not read and write job" in check.said
        finally:
            connection.execute(text(f"DROP OWNED BY {role}; DROP ROLE {role}"))
    engine.dispose()


def test_tables_that_somebody_has_brought_further_are_said(postgres: Database) -> None:
    with postgres.connect() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    check = database.look(postgres)
    assert check.finding is Finding.FAILED
    assert f"at revision 9999, and this server is made for {schema.HEAD}" in check.said


def test_a_bucket_is_tried_with_all_that_a_server_does(s3_server: Seaweedfs, s3_bucket: str) -> None:
    bucket = S3ObjectStore(s3_bucket, endpoint_url=s3_server.url)
    check = store.look(bucket)
    assert check.finding is Finding.OK, check.said
    assert list(bucket.keys("")) == [store.PROBE]
    assert clocks.look("store", bucket.moment, now).finding is Finding.OK


def test_a_bucket_that_may_only_be_read_is_said_to_be_so(
    s3_server: Seaweedfs, s3_bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", READER[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", READER[1])
    check = store.look(S3ObjectStore(s3_bucket, endpoint_url=s3_server.url))
    assert check.finding is Finding.FAILED
    assert check.said.startswith("s3 does not let the server put objects: ")
    assert "AccessDenied" in check.said


def test_what_a_bucket_tells_browsers_is_asked_as_they_do(
    s3_server: Seaweedfs, s3_bucket: str, postgres: Database
) -> None:
    bucket = S3ObjectStore(s3_bucket, endpoint_url=s3_server.url)
    with closing(Gangs(MemoryRunner(Path("agent.pyz"), ProcessSettings()))) as runner:
        looked = dict(looks(postgres, bucket, runner, lambda: "https://lab.org/base", alone=True))
    assert set(looked) == {"clock of the database", "clock of the store", "uploads from pages"}
    for origin, finding in (("https://other.org", Finding.WARNING), ("https://lab.org", Finding.OK)):
        rule = {"AllowedMethods": ["PUT", "GET"], "AllowedOrigins": [origin], "AllowedHeaders": ["*"]}
        s3_server.client().put_bucket_cors(Bucket=s3_bucket, CORSConfiguration={"CORSRules": [rule]})
        check = looked["uploads from pages"]()
        assert (check.finding, "a page of https://lab.org may" in check.said) == (finding, True), check.said
