"""How many requests one user may make: a number a second on average, and ten seconds' worth at once."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.ids import UserId


BURST_SECONDS = 10
"""A loop that submits 1,000 jobs as fast as they are taken does not meet the default limit."""


class RequestLimits:
    """A token bucket for each user. Thread-safe. 0 a second is no limit."""

    def __init__(self, per_second: float = 0.0, now: Callable[[], float] = time.monotonic) -> None:
        self.per_second = per_second
        self._now = now
        self._lock = threading.Lock()
        self._left: dict[UserId, tuple[float, float]] = {}

    def take(self, user: UserId) -> float:
        """Take one; returns after how many seconds there is one, 0 if it was there."""
        if not self.per_second:
            return 0.0
        with self._lock:
            most, now = max(1.0, BURST_SECONDS * self.per_second), self._now()
            left, at = self._left.get(user, (most, now))
            left = min(most, left + (now - at) * self.per_second)
            is_there = left >= 1
            self._left[user] = (left - is_there, now)
        return 0.0 if is_there else (1 - left) / self.per_second
