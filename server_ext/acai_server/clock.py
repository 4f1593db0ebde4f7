"""The time, as the server tells it: it never goes back, even when the machine's clock does."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _now() -> datetime:
    return datetime.now(UTC)


class Clock:
    """Thread-safe. `not_before` is the newest time already written down."""

    def __init__(self, source: Callable[[], datetime] = _now) -> None:
        self._source = source
        self._last = datetime.min.replace(tzinfo=UTC)
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """Return the time, or the last one told when the machine's clock is behind it."""
        with self._lock:
            self._last = max(self._last, self._source())
            return self._last

    def not_before(self, moment: datetime) -> float:
        """Never tell a time before this one; returns by how many seconds the machine's clock is behind it."""
        with self._lock:
            self._last = max(self._last, moment)
        return max(0.0, (moment - self._source()).total_seconds())
