"""The time, as the server tells it: it never goes back, even when the machine's clock does."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _now() -> datetime:
    return datetime.now(UTC)


_CAUGHT_UP = 0.1
"""So much of each second is caught up while the time told is ahead of the machine's."""


class Clock:
    """Thread-safe. When the machine's clock is set back, the time told goes on from where it was, a little slower.

    It does not stand still: who waits for a moment that is seconds away would wait for an hour.
    """

    def __init__(self, source: Callable[[], datetime] = _now, ticks: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._ticks = ticks
        self._seen = source()
        self._at = ticks()
        self._ahead = timedelta()
        self._last = self._seen
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """Return the time, never one before the last one told."""
        with self._lock:
            seen, at = self._source(), self._ticks()
            passed, elapsed = seen - self._seen, timedelta(seconds=at - self._at)
            self._seen, self._at = seen, at
            if passed < timedelta():
                self._ahead += elapsed - passed
            elif self._ahead:
                jumped = max(passed - elapsed, timedelta())
                caught_up = jumped + min(passed, elapsed) * _CAUGHT_UP
                self._ahead = max(self._ahead - caught_up, timedelta())
            self._last = max(self._last, seen + self._ahead)
            return self._last

    def not_before(self, moment: datetime) -> float:
        """Never tell a time before this one; returns by how many seconds the machine's clock is behind it."""
        with self._lock:
            behind = moment - self._source()
            self._ahead = max(self._ahead, behind)
            self._last = max(self._last, moment)
        return max(0.0, behind.total_seconds())
