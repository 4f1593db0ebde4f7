"""Drops events after a day. Who asks for older ones is told to reload."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from acai_server.loops import Loop

if TYPE_CHECKING:
    from acai_server.db.database import Database

KEPT = timedelta(days=1)
INTERVAL_SECONDS = 3600.0


class EventPruner:
    """Runs once at its start and then at every interval."""

    def __init__(
        self, database: Database, *, kept: timedelta = KEPT, interval_seconds: float = INTERVAL_SECONDS
    ) -> None:
        self._database = database
        self._kept = kept
        self._interval_seconds = interval_seconds
        self._stopped = threading.Event()
        self._loop = Loop("pruner", self.step, self._wait, self._stopped.set)

    def start(self) -> None:
        """Start the loop."""
        self._loop.start()

    def stop(self) -> None:
        """End the loop. Safe to call twice."""
        self._loop.stop()

    def step(self) -> bool:
        """Drop what is too old. There is never more to do at once."""
        with self._database.writing() as work:
            work.events.prune(work.clock.now() - self._kept)
        return False

    def _wait(self) -> None:
        self._stopped.wait(self._interval_seconds)
