"""When tokens were last used: remembered, and written down now and then, so that a request that reads only reads."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import AcaiError
from acai_server.loops import Periodic

if TYPE_CHECKING:
    from datetime import datetime

    from acai_jupyter.contract.ids import TokenId
    from acai_server.db.database import Database

INTERVAL_SECONDS = 30.0


class TokenUses(Periodic):
    """Thread-safe. What was not written yet is lost with the process."""

    def __init__(self, database: Database, *, interval_seconds: float = INTERVAL_SECONDS) -> None:
        super().__init__("token uses", interval_seconds)
        self._database = database
        self._lock = threading.Lock()
        self._moments: dict[TokenId, datetime] = {}

    def note(self, token: TokenId, now: datetime) -> None:
        """Remember that a token was used."""
        with self._lock:
            self._moments[token] = now

    def stop(self) -> None:
        """End the loop, and write down what is left. Safe to call twice."""
        super().stop()
        with suppress(AcaiError):
            self.step()

    def step(self) -> bool:
        """Write down what was used since. There is never more to do at once."""
        with self._lock:
            moments, self._moments = self._moments, {}
        if moments:
            with self._database.writing() as work:
                work.tokens.used(moments)
        return False
