"""Wakes readers in every server of one PostgreSQL database, by LISTEN and NOTIFY."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

import psycopg

from acai_server.db.events import CHANNEL
from acai_server.events.memory import MemoryEventBus

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.events.protocol import EventBus

_log = logging.getLogger(__name__)


class PostgresEventBus:
    """One connection that listens, in one thread. The database itself notifies, in the transaction of the events."""

    name = "postgres"

    def __init__(self, url: str, *, retry_seconds: float = 1.0, start_seconds: float = 5.0) -> None:
        self._url = url
        self._retry_seconds = retry_seconds
        self._start_seconds = start_seconds
        self._local = MemoryEventBus()
        self._stopped = threading.Event()
        self._listening = threading.Event()
        self._connection: psycopg.Connection | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """See the protocol; returns when it hears, or after a while when the database is away."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="acai-events", daemon=True)
            self._thread.start()
        self._listening.wait(self._start_seconds)

    def stop(self) -> None:
        """See the protocol."""
        self._stopped.set()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()
        if self._thread is not None:
            self._thread.join(timeout=5)
        self._local.stop()

    def wake(self) -> None:
        """See the protocol; this process need not wait for the way round by the database."""
        self._local.wake()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """See the protocol."""
        return self._local.listen(listener)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._hear()
            except (psycopg.Error, OSError):
                if not self._stopped.is_set():
                    _log.warning("The database does not answer; listening again in %s s.", self._retry_seconds)
            self._stopped.wait(self._retry_seconds)

    def _hear(self) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            self._connection = connection
            connection.execute(f"LISTEN {CHANNEL}")
            self._listening.set()
            self._local.wake()  # what was told while nobody listened is in the table
            while not self._stopped.is_set():
                for _ in connection.notifies(timeout=1.0, stop_after=1):
                    self._local.wake()


if TYPE_CHECKING:
    _proof: type[EventBus] = PostgresEventBus
