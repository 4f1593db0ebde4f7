"""The database suites over each kind of database."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from acai_server.testing.databases import DatabaseSuite, enter, tell
from acai_server.testing.lakes import UploadSuite

if TYPE_CHECKING:
    from acai_server.db.database import Database


class TestMemory(DatabaseSuite, UploadSuite):
    @pytest.fixture
    def database(self, memory_database: Database) -> Database:
        return memory_database


class ConcurrentSuite(DatabaseSuite, UploadSuite):
    """Databases that can be read while they are written."""

    def test_a_reader_keeps_its_view_while_others_write(self, database: Database) -> None:
        member = enter(database)
        tell(database, member, "before")
        with database.reading() as work:
            before = work.events.after(member.project_id, 0, 10)
            writer = threading.Thread(target=tell, args=(database, member, "meanwhile"))
            writer.start()
            writer.join()
            assert work.events.after(member.project_id, 0, 10) == before
        with database.reading() as work:
            assert len(work.events.after(member.project_id, 0, 10).events) == 2


class TestSqlite(ConcurrentSuite):
    @pytest.fixture
    def database(self, sqlite_database: Database) -> Database:
        return sqlite_database


class TestPostgres(ConcurrentSuite):
    @pytest.fixture
    def database(self, postgres_database: Database) -> Database:
        return postgres_database
