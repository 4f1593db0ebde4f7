"""Drops events after a day. Who asks for older ones is told to reload."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from acai_server.loops import Periodic

if TYPE_CHECKING:
    from acai_server.db.database import Database

KEPT = timedelta(days=1)
INTERVAL_SECONDS = 3600.0


class EventPruner(Periodic):
    """Runs once at its start and then at every interval."""

    def __init__(
        self, database: Database, *, kept: timedelta = KEPT, interval_seconds: float = INTERVAL_SECONDS
    ) -> None:
        super().__init__("pruner", interval_seconds)
        self._database = database
        self._kept = kept

    def step(self) -> bool:
        """Drop what is too old. There is never more to do at once."""
        with self._database.writing() as work:
            work.events.prune(work.clock.now() - self._kept)
        return False
