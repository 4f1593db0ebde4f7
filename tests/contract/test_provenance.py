"""The suites of the provenance graph over each database that serves people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acai_server.testing.lineages import JobGraphSuite
from acai_server.testing.provenance import GraphSuite
from acai_server.testing.stages import HandClock, JobUser

if TYPE_CHECKING:
    from acai_server.db.database import Database

pytestmark = pytest.mark.timeout(300)


class TestSqlite(GraphSuite):
    @pytest.fixture
    def database(self, sqlite_database: Database) -> Database:
        return sqlite_database


class TestPostgres(GraphSuite):
    @pytest.fixture
    def database(self, postgres_database: Database) -> Database:
        return postgres_database


class TestJobsOfSqlite(JobGraphSuite):
    @pytest.fixture
    def user(self, sqlite_database: Database) -> JobUser:
        return JobUser(sqlite_database, HandClock())


class TestJobsOfPostgres(JobGraphSuite):
    @pytest.fixture
    def user(self, postgres_database: Database) -> JobUser:
        return JobUser(postgres_database, HandClock())
