"""Hashes ranges of stored objects and compares them with what is recorded."""

from __future__ import annotations

import errno
import hashlib
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import ObjectNotFound, StoreUnavailable
from acai_server.lake.integrity.store_mark import confirm_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.db.blobs import StoredObject
    from acai_server.db.database import Database
    from acai_server.objects.protocol import ObjectStore

_BAD_SECTOR = (errno.EIO, errno.EUCLEAN, errno.EBADMSG)


class RangeReader:
    """Hashes ranges of one object; ranges that follow each other are read in one pass."""

    def __init__(self, objects: ObjectStore, key: ObjectKey) -> None:
        self._objects = objects
        self._key = key
        self._pieces: Iterator[bytes] = iter(())
        self._piece = memoryview(b"")
        self._at = -1
        self.has_gap = False
        """Whether some range was missing or unreadable, which does not count before the store is known to be there."""

    def hash(self, offset: int, size_bytes: int) -> bytes | None:
        """Return the hash of a range; None when some of it is missing or the disk cannot read it."""
        digest = hashlib.sha256()
        try:
            if offset != self._at:
                self._pieces, self._piece, self._at = self._objects.stream(self._key, offset), memoryview(b""), offset
            left = size_bytes
            while left:
                if not self._piece:
                    self._piece = memoryview(next(self._pieces))
                part = self._piece[:left]
                digest.update(part)
                self._piece = self._piece[len(part) :]
                left -= len(part)
        except (ObjectNotFound, StopIteration, StoreUnavailable) as error:
            if isinstance(error, StoreUnavailable) and not is_bad_sector(error):
                raise
            self._at = -1
            self.has_gap = True
            return None
        self._at = offset + size_bytes
        return digest.digest()


def is_bad_sector(error: StoreUnavailable) -> bool:
    """Whether the medium could not read this file; a disk that is gone says the same of every file."""
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in _BAD_SECTOR


def damaged_blobs(
    database: Database, objects: ObjectStore, stored: StoredObject, *, must_stop: Callable[[], bool] = lambda: False
) -> list[int] | None:
    """Hash all contents of an object; returns the damaged ones, or None when it was told to stop.

    Raises `StoreUnavailable` when contents are missing because the store is away.
    """
    wrong: list[int] = []
    reader = RangeReader(objects, stored.key)
    for blob, sha256, offset, size in stored.blobs:
        if must_stop():
            return None
        if reader.hash(offset, size) != sha256:
            wrong.append(blob)
    if reader.has_gap:
        confirm_store(database, objects)
    return wrong
