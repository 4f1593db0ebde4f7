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

    def test_it_writes_ahead_checks_foreign_keys_and_waits_for_the_lock(self, database: Database) -> None:
        wanted = {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": 10_000, "synchronous": 2}
        with database.connect() as connection:
            found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in wanted}
        assert found == wanted


class TestPostgres(ConcurrentSuite):
    @pytest.fixture
    def database(self, postgres_database: Database) -> Database:
        return postgres_database
