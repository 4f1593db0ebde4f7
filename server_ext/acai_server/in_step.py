"""Servers over one database tell one time, its: else what one writes down would be in the past of the other."""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from typing import TYPE_CHECKING

from acai_server.loops import Periodic

if TYPE_CHECKING:
    from acai_server.clock import Clock
    from acai_server.db.database import Database

INTERVAL_SECONDS = 10.0
LITTLE_SECONDS = 0.5
"""So far clocks may be apart: less than a person notices, more than what the way of an answer makes of it."""
_log = logging.getLogger(__name__)


class InStep(Periodic):
    """Asks the database for the time now and then. One that took the place of another may tell an earlier one."""

    def __init__(self, database: Database, clock: Clock, *, interval_seconds: float = INTERVAL_SECONDS) -> None:
        super().__init__("clock", interval_seconds)
        self._database = database
        self._clock = clock

    def step(self) -> bool:
        """Compare once. SQLite has no clock of its own."""
        if self._database.name == "sqlite":
            return False
        began = time.monotonic()
        told = self._database.moment()
        passed = timedelta(seconds=time.monotonic() - began)
        off = self._clock.follow(told + passed / 2, timedelta(seconds=LITTLE_SECONDS) + passed)
        if off:
            where = "ahead" if off > timedelta() else "behind"
            _log.warning("The database's clock is %.1f s %s; times go by it.", abs(off.total_seconds()), where)
        return False
