"""Ends the attempt that fills the disk, before the server and other jobs have none left to work with."""

from __future__ import annotations

import os
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from acai_jupyter import trees
from acai_server.runners.admission import size

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SECONDS = 1.0


class DiskGuard:
    """Looks at the free space when it is asked to, at most once a second; only when little is left it looks closer.

    An attempt is blamed only for what is worth it: when it holds at least as much as is to be left free.
    """

    def __init__(
        self,
        folder: Path,
        reserved_bytes: int,
        blame: Callable[[str, str], None],
        *,
        free_bytes: Callable[[Path], int] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._reserved_bytes = reserved_bytes
        self._blame = blame
        self._free_bytes = free_bytes or _free_bytes
        self._clock = clock
        self._due = 0.0
        self._search: threading.Thread | None = None

    def look(self, attempts: list[str]) -> None:
        """See whether there is room; if not, look in the background for whom to blame. Returns at once."""
        now = self._clock()
        if not self._reserved_bytes or now < self._due or (self._search is not None and self._search.is_alive()):
            return
        self._due = now + SECONDS
        with suppress(OSError):
            if self._free_bytes(self._folder) < self._reserved_bytes:
                self._search = threading.Thread(target=self.search, args=(attempts,), name="acai-disk", daemon=True)
                self._search.start()

    def search(self, attempts: list[str]) -> None:
        """Blame the attempt that holds most of the disk, if that is much."""
        held = [(held_bytes(self._folder / attempt), attempt) for attempt in attempts]
        most, attempt = max(held, default=(0, ""))
        if most >= self._reserved_bytes:
            left = size(self._reserved_bytes)
            self._blame(attempt, f"it held {size(most)} of the disk when less than {left} were left, and was ended")


def held_bytes(folder: Path) -> int:
    """Return what a folder takes on its disk; what has another name as well is not its own."""
    return sum(state.st_blocks * 512 for state in trees.states(str(folder)) if state.st_nlink == 1)


def _free_bytes(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize
