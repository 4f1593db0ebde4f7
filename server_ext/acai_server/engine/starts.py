"""Starting several attempts at a time, where a start is mostly waiting for others."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)
STOP_SECONDS = 10.0


class Starts:
    """Does what it is given in threads, so many at once; where that is one, in the thread that gives it."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._room = threading.Semaphore(at_once)

    def do(self, work: Callable[[], None]) -> None:
        """Have something done; waits for room, so that what is given first begins first."""
        if self._at_once == 1:
            work()
            return
        self._room.acquire()
        threading.Thread(target=self._run, args=(work,), name="acai-start", daemon=True).start()

    def stop(self) -> None:
        """Wait for what is under way. What takes longer is found again by the next server, as after a kill."""
        until = time.monotonic() + STOP_SECONDS
        taken = sum(self._room.acquire(timeout=max(0.0, until - time.monotonic())) for _ in range(self._at_once))
        if taken:
            self._room.release(taken)

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:  # noqa: BLE001 (whatever it was: the job launches, and nothing runs; the monitor sees that)
            _log.exception("A job could not be started.")
        finally:
            self._room.release()
