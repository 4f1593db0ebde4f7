"""Bounds how much of a log one request reads, and paces the reading so that other threads get the interpreter."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BLOCK_BYTES = 128 * 1024
"""Processing this much holds the interpreter lock for about a millisecond."""
MAX_BYTES = 256 * 1024**2
MAX_SECONDS = 0.5
"""With 100 users searching at once on two threads, each gets a turn within 25 s."""
_LONGEST_REST_SECONDS = 0.01


class ClientLeft(Exception):
    """The client closed its connection before the answer was ready."""


class ReadLimit:
    """A byte and time limit for one request, which also stops when the client has left.

    At least one block is always given, so that a series of limited requests comes to an end.
    """

    def __init__(
        self,
        *,
        max_bytes: int = MAX_BYTES,
        max_seconds: float = MAX_SECONDS,
        has_left: Callable[[], bool] = lambda: False,
        rest: Callable[[float], None] = time.sleep,
    ) -> None:
        self._max_bytes = max_bytes
        self._until = time.monotonic() + max_seconds
        self._has_left = has_left
        self._rest = rest
        self.read_bytes = 0
        self.is_reached = False
        """Whether `blocks` stopped before the end of what it was given."""

    def blocks(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Cut pieces into blocks and give them until a limit is reached; raise `ClientLeft` once the client has left.

        After each block it rests as long as the block took. Without that, a thread that waits for the interpreter
        lock would get it only every 5 ms, and a request needs it a dozen times.
        """
        for piece in pieces:
            for at in range(0, len(piece), BLOCK_BYTES):
                if self._has_left():
                    raise ClientLeft
                if self.read_bytes and (self.read_bytes >= self._max_bytes or time.monotonic() >= self._until):
                    self.is_reached = True
                    return
                block = piece[at : at + BLOCK_BYTES]
                self.read_bytes += len(block)
                began = time.thread_time()
                yield block
                self._rest(min(time.thread_time() - began, _LONGEST_REST_SECONDS))


def unlimited() -> ReadLimit:
    """Return a limit that is never reached and does not rest."""
    return ReadLimit(max_bytes=1 << 62, max_seconds=float("inf"), rest=lambda _: None)
