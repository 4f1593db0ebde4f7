"""Hashes ranges of stored objects and compares them with what is recorded."""

from __future__ import annotations

import errno
import hashlib
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import ObjectNotFound, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.db.blobs import StoredObject
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
        except (ObjectNotFound, StopIteration):
            self._at = -1
            return None
        except StoreUnavailable as error:
            if not is_bad_sector(error):
                raise
            self._at = -1
            return None
        self._at = offset + size_bytes
        return digest.digest()


def is_bad_sector(error: StoreUnavailable) -> bool:
    """Whether the store answered, but the medium could not read this file."""
    return isinstance(error.__cause__, OSError) and error.__cause__.errno in _BAD_SECTOR


def damaged_blobs(
    objects: ObjectStore, stored: StoredObject, must_stop: Callable[[], bool] = lambda: False
) -> list[int] | None:
    """Hash all contents of an object; returns the damaged ones, or None when it was told to stop."""
    wrong: list[int] = []
    reader = RangeReader(objects, stored.key)
    for blob, sha256, offset, size in stored.blobs:
        if must_stop():
            return None
        if reader.hash(offset, size) != sha256:
            wrong.append(blob)
    return wrong
