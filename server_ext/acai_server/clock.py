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


def _later(told: datetime | None, moment: datetime) -> datetime:
    return moment if told is None else max(told, moment)


class Clock:
    """Thread-safe. When the machine's clock is set back, the time told goes on from where it was, a little slower.

    It does not stand still: who waits for a moment that is seconds away would wait for an hour.
    """

    def __init__(self, source: Callable[[], datetime] = _now, ticks: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._offset = timedelta()
        self._ticks = ticks
        self._seen = source()
        self._at = ticks()
        self._ahead = timedelta()
        self._last: datetime | None = None
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """Return the time, never one before the last one told."""
        with self._lock:
            seen, at = self._source() + self._offset, self._ticks()
            passed, elapsed = seen - self._seen, timedelta(seconds=at - self._at)
            self._seen, self._at = seen, at
            if passed < timedelta():
                self._ahead += elapsed - passed
            elif self._ahead:
                jumped = max(passed - elapsed, timedelta())
                caught_up = jumped + min(passed, elapsed) * _CAUGHT_UP
                self._ahead = max(self._ahead - caught_up, timedelta())
            self._last = _later(self._last, seen + self._ahead)
            return self._last

    def not_before(self, moment: datetime) -> float:
        """Never tell a time before this one; returns by how many seconds the machine's clock is behind it."""
        with self._lock:
            behind = moment - self._source() - self._offset
            self._ahead = max(self._ahead, behind)
            self._last = _later(self._last, moment)
        return max(0.0, behind.total_seconds())

    def follow(self, moment: datetime, within: timedelta) -> timedelta:
        """Go by another clock that tells this moment now, in place of the machine's, if it is further off than that.

        Returns by how much it was. What was told stays told: from a clock that is behind one goes on as from one that
        is set back.
        """
        with self._lock:
            off, at = moment - self._source() - self._offset, self._ticks()
            if abs(off) <= within:
                return timedelta()
            self._offset += off
            if self._last is not None:
                # By the ticks: a jump of the machine's clock since then is in `off` already.
                told = self._seen + self._ahead + timedelta(seconds=at - self._at)
                self._ahead = max(told - moment, timedelta())
            self._seen, self._at = moment, at
            return off
