"""Room on the disk of the data folder that is held in a file, so that a full disk can be emptied again.

Deleting needs room too: SQLite writes what changes before it can give pages back, and a server that starts writes where
it can be found. So some MiB are allocated while there is plenty. They are given back for as long as something runs that
makes room, or a server starts, and taken again afterwards.
"""

from __future__ import annotations

import errno
import logging
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_log = logging.getLogger(__name__)
LITTLE_BYTES = 2 * 1024**2
"""With less free than this a disk counts as full."""
LEAST_BYTES = 64 * 1024
SHARE = 8
"""Of a small disk, this fraction of what is free is held at most."""
FULL = (
    "The disk of the data folder is full. Reading works, and nothing new is recorded. Make room on it; 'acai gc', "
    "'acai uploads --abort' and 'acai rm' work."
)


class SpareRoom:
    """A file of `size_bytes`, 0 for none. Thread-safe; what goes wrong with it is logged and never raised."""

    def __init__(self, folder: Path, size_bytes: int) -> None:
        self._folder = folder
        self._path = folder / "spare"
        self._size_bytes = size_bytes
        self._lock = threading.Lock()
        self._borrowers = 0
        self._owed_bytes = 0
        """What was given back and could not be taken again in full."""

    @contextmanager
    def lent(self) -> Iterator[None]:
        """Give the room back while the block runs, if less than that is free. Afterwards hold as much as there is."""
        with self._lock:
            self._borrowers += 1
            if self._free_bytes() < max(LITTLE_BYTES, self._held_bytes()):
                self._give_back()
        try:
            yield
        finally:
            with self._lock:
                self._borrowers -= 1
                if self._owed_bytes and not self._borrowers:
                    self._allocate()

    def hold(self) -> None:
        """Hold the room, or of a small disk a part of what is free."""
        with self._lock:
            self._allocate()

    def warning(self) -> str:
        """Say that the disk is full, if it is."""
        return FULL if self._free_bytes() < LITTLE_BYTES else ""

    def _free_bytes(self) -> int:
        try:
            found = os.statvfs(self._folder)
        except OSError:
            return LITTLE_BYTES  # there is no folder yet, or nothing to be known
        return found.f_bavail * found.f_frsize

    def _held_bytes(self) -> int:
        try:
            return self._path.stat().st_blocks * 512
        except OSError:
            return 0

    def _give_back(self) -> None:
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_NOFOLLOW)
        except OSError:
            return
        held = self._held_bytes()
        try:
            os.ftruncate(descriptor, 0)
            os.fsync(descriptor)  # some file systems free blocks only when this is on the disk
            self._owed_bytes = max(self._owed_bytes, held)
        except OSError as error:
            _log.warning("The spare room on the disk cannot be given back: %s", error.strerror)
        finally:
            os.close(descriptor)

    def _allocate(self) -> None:
        """Allocate the file. What was given back is taken again before anything else fills the disk."""
        held = self._held_bytes()
        room = held + self._free_bytes()
        wanted = max(min(self._owed_bytes, room), min(self._size_bytes, room // SHARE))
        if room >= self._owed_bytes:
            self._owed_bytes = 0
        if wanted < LEAST_BYTES or held >= wanted:
            return
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:
            return
        try:
            while wanted >= LEAST_BYTES and not _allocated(descriptor, wanted):
                wanted //= 2
        finally:
            os.close(descriptor)


def _allocated(descriptor: int, size_bytes: int) -> bool:
    """Allocate a file to a size; return False when there is no room for it."""
    try:
        os.posix_fallocate(descriptor, 0, size_bytes)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            os.ftruncate(descriptor, 0)
            return False
        _log.warning("No spare room is held on this disk: %s", error.strerror)
    return True
