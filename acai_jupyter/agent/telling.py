"""What an agent says while it works: its state, how far a transfer is, what the program uses. All of it is advisory."""

import os
import threading
import time
from contextlib import suppress
from typing import Any, Callable, Dict, Optional, Tuple

from acai_jupyter.contract.loglines import marked

STDOUT = 1
EVERY_SECONDS = 1.0
"""A transfer is told no more often; one that is over sooner is not told at all."""


class Telling:
    """Marked lines on the agent's own output. One goes out in one piece, so that several threads can speak."""

    def __init__(self, key: str, clock: Callable[[], float] = time.monotonic, out: int = STDOUT) -> None:
        self._key = key
        self._clock = clock
        self._out = out

    def state(self, state: str) -> None:
        """Say which step begins."""
        self._say({"state": state, "at": time.time()})

    def sample(self, sample: Tuple[float, float, int, int, float]) -> None:
        """Say what the program uses now."""
        self._say({"sample": sample})

    def displays(self, times: int, size_bytes: int) -> None:
        """Say that what a cell has displayed was sent, for which time, and how large it is."""
        self._say({"displays": [times, size_bytes]})

    def transfer(self, state: str) -> "Transfer":
        """Begin to count what is transferred in a state."""
        return Transfer(lambda done, total: self._say({"transfer": [state, done, total]}), self._clock)

    def _say(self, said: Dict[str, Any]) -> None:
        with suppress(OSError):
            os.write(self._out, marked(self._key, said))


class Transfer:
    """Counts bytes from any thread."""

    def __init__(
        self, say: Optional[Callable[[int, int], None]] = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._say = say
        self._clock = clock
        self._lock = threading.Lock()
        self._told_at = clock()
        self._done = 0
        self._total = 0

    def expect(self, size_bytes: int) -> None:
        """Know of so much more that is to come."""
        with self._lock:
            self._total += size_bytes

    def advance(self, size_bytes: int) -> None:
        """Count some; negative when they have to come again."""
        with self._lock:
            self._done += size_bytes
            now = self._clock()
            if self._say is None or now - self._told_at < EVERY_SECONDS:
                return
            self._told_at = now
            self._say(self._done, self._total)
