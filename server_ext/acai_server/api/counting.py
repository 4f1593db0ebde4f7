"""Counts of requests, for those who watch a server."""

from __future__ import annotations

import threading
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Requests:
    """Counts of this server's requests since its start. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, int], int] = defaultdict(int)
        self._seconds: dict[str, float] = defaultdict(float)

    def count(self, name: str, status: int, seconds: float) -> None:
        """Count one that was answered."""
        with self._lock:
            self._counts[name, status] += 1
            self._seconds[name] += seconds

    def samples(self) -> Iterator[tuple[str, dict[str, str], float]]:
        """Give the counts."""
        with self._lock:
            counts, seconds = dict(self._counts), dict(self._seconds)
        for (name, status), count in sorted(counts.items()):
            yield ("acai_requests_total", {"route": name, "status": str(status)}, count)
        for name, took in sorted(seconds.items()):
            yield ("acai_request_seconds_total", {"route": name}, took)
