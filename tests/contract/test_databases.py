"""The database suites over each kind of database."""

from __future__ import annotations

import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from acai_jupyter.contract.errors import BadRequest, DatabaseBusy
from acai_server.clock import Clock
from acai_server.db.database import Database
from acai_server.in_step import InStep
from acai_server.testing.databases import DatabaseSuite, enter, tell


def _shifted(off: timedelta) -> datetime:
    return datetime.now(UTC) + off


class TestMemory(DatabaseSuite):
    @pytest.fixture
    def database(self, memory_database: Database) -> Database:
        return memory_database


class ConcurrentSuite(DatabaseSuite):
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

    def test_only_a_single_query_goes_without_a_transaction(self, database: Database) -> None:
        enter(database)
        for way, is_alone in ((database.asking, True), (database.reading, False), (database.writing, False)):
            with way() as work:
                assert work.projects.users() == 1
                driver: Any = work._session.connection().connection.driver_connection
                assert (driver.info.transaction_status.name == "IDLE") is is_alone

    def test_what_is_asked_again_and_again_stays_prepared(self, database: Database) -> None:
        enter(database)
        for _ in range(8):
            with database.reading() as work:
                work.projects.users()
                work.queue.standing(work.clock.now())
        with database.connect() as connection:  # the one that was used last
            kept = connection.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements").scalar_one()
        assert kept >= 3

    def test_servers_whose_clocks_differ_tell_the_time_of_the_database(self, database: Database) -> None:
        for hours in (-1, 0, 1):
            clock = Clock(partial(_shifted, timedelta(hours=hours)))
            InStep(database, clock).step()
            before, told, after = database.moment(), clock.now(), database.moment()
            little = timedelta(minutes=10)  # for what a busy machine makes of the way of an answer
            assert before - little <= told <= after + little

    def test_connections_that_the_database_ended_are_replaced_unnoticed(
        self, database: Database, postgres_url: str
    ) -> None:
        enter(database)
        with database.reading() as one, database.reading() as other:
            assert one.projects.users() == other.projects.users() == 1
        with closing(Database(postgres_url, Clock())) as beside, beside.connect() as connection:
            others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            ended = connection.exec_driver_sql(f"SELECT pg_terminate_backend(pid, 20000) {others}").fetchall()
            assert len(ended) >= 2
            assert all(row[0] for row in ended)
        with database.reading() as one, database.writing() as other:
            assert one.projects.users() == other.projects.users() == 1

    def test_who_tells_in_one_project_does_not_wait_for_who_tells_in_another(self, database: Database) -> None:
        members = [enter(database, name) for name in ("one", "two")]
        told = threading.Thread(target=tell, args=(database, members[1], "meanwhile"), daemon=True)
        with database.writing() as work:
            work.events.record(members[0].project_id, "note", "first")
            work.events.flush()  # holds what numbers the events of the project until the end
            told.start()
            told.join(20)
            assert not told.is_alive()

    @pytest.mark.timeout(30)
    def test_who_tells_an_event_does_not_wait_for_who_commits_an_upload(self, database: Database) -> None:
        member = enter(database)
        told = threading.Thread(target=tell, args=(database, member, "meanwhile"), daemon=True)
        with database.writing() as work:
            work.uploads.lock_project(member.project_id)
            told.start()
            told.join(120)  # else each waits for the other when both tell something
            assert not told.is_alive()

    def test_a_text_that_postgresql_knows_no_way_to_keep_is_the_askers_fault(self, database: Database) -> None:
        member = enter(database)
        with pytest.raises(BadRequest, match="NUL"), database.reading() as work:
            work.users.find(member.project_id, "a\0b")

    @pytest.mark.timeout(60)
    def test_who_is_paused_in_a_transaction_loses_it_and_hears_of_it(
        self, database: Database, postgres_url: str
    ) -> None:
        member = enter(database)

        def pause(paused: Database) -> None:
            with paused.writing() as work:
                work.uploads.lock_project(member.project_id)
                with database.writing() as other:  # waits until the lock is taken back
                    assert other.uploads.lock_project(member.project_id) == 0
                work.uploads.lock_project(member.project_id)

        with closing(Database(postgres_url, Clock(), idle_seconds=0.2)) as paused:
            with pytest.raises(DatabaseBusy):
                pause(paused)
            with paused.writing() as work:
                assert work.uploads.lock_project(member.project_id) == 0
