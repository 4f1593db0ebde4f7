"""The event bus suite over each bus."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from acai_server.events.memory import MemoryEventBus
from acai_server.events.postgres import PostgresEventBus
from acai_server.testing.databases import enter, tell
from acai_server.testing.events import EventBusSuite, Listener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_server.db.database import Database
    from acai_server.events.protocol import EventBus


class TestMemory(EventBusSuite):
    @pytest.fixture
    def bus(self) -> EventBus:
        return MemoryEventBus()

    @pytest.fixture
    def tell(self, bus: EventBus) -> Callable[[], None]:
        return bus.wake


class TestPostgres(EventBusSuite):
    @pytest.fixture
    def bus(self, postgres_url: str) -> Iterator[EventBus]:
        bus = PostgresEventBus(postgres_url, retry_seconds=0.1)
        bus.start()
        yield bus
        bus.stop()

    @pytest.fixture
    def tell(self, postgres_database: Database) -> Callable[[], None]:
        """Another server commits: nobody here calls `wake`."""
        member = enter(postgres_database)
        return lambda: tell(postgres_database, member, "something")

    def test_a_lost_connection_is_made_again_and_what_was_missed_is_looked_for(
        self, bus: EventBus, tell: Callable[[], None], postgres_url: str
    ) -> None:
        listener = Listener()
        bus.listen(listener)
        with closing(psycopg.connect(postgres_url, autocommit=True)) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND query LIKE 'LISTEN%' AND pid <> pg_backend_pid()"
            )
        assert listener.heard_more_than(0)
        before = listener.count
        tell()
        assert listener.heard_more_than(before)


def test_a_bus_without_its_database_starts_and_stops(caplog: pytest.LogCaptureFixture) -> None:
    bus = PostgresEventBus("postgresql://nobody@127.0.0.1:1/nothing", retry_seconds=0.01, start_seconds=0.05)
    bus.start()
    bus.stop()
    assert "listening again" in caplog.text
