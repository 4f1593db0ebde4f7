"""Files that are whole or not there, and still there when the power comes back."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

from acai_jupyter.contract.errors import AcaiError, ObjectNotFound, StoreFull, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import FileIO
    from pathlib import Path

    from acai_jupyter.contract.ids import ObjectKey

PARTIAL = ".part"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class PartialFile:
    """A file beside its place. It has no buffer: what a full disk refuses is said by `write`, and only there."""

    def __init__(self, folder: Path, name: str, key: ObjectKey) -> None:
        self.path = folder / f"{name}.{uuid4().hex[:8]}{PARTIAL}"
        self._key = key
        with translated(key):
            self._file: FileIO = self.path.open("xb", buffering=0)

    def write(self, piece: bytes) -> None:
        """Append all of it."""
        left = memoryview(piece)
        with translated(self._key):
            while left:
                left = left[self._file.write(left) :]

    def move(self, target: Path, *, durable: bool = True) -> None:
        """Let it take its place, in its folder."""
        with translated(self._key):
            if durable:
                os.fsync(self._file.fileno())
            self.path.replace(target)
            if durable:
                flush_folder(target.parent)

    def drop(self) -> None:
        """Close it, and remove it unless it has taken its place."""
        self._file.close()
        self.path.unlink(missing_ok=True)


@contextmanager
def partial_file(folder: Path, name: str, key: ObjectKey) -> Iterator[PartialFile]:
    """Give a file to write to; unless it was moved to its place, nothing of it is left."""
    partial = PartialFile(folder, name, key)
    try:
        yield partial
    finally:
        partial.drop()


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a folder, and those above it, such that a power cut does not take them."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(exist_ok=True, mode=mode)
        flush_folder(folder.parent)


def flush_folder(folder: Path) -> None:
    """Flush a folder's names to the disk, unless this user may write to it but not read it."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def translated(key: ObjectKey, folder: str = "the object store's folder") -> Iterator[None]:
    """Turn what the file system says of a file in a folder into our errors."""
    try:
        yield
    except AcaiError:
        raise
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise ObjectNotFound(key=key) from error
    except OSError as error:
        if error.errno in _FULL:
            raise StoreFull(what=folder) from error
        raise StoreUnavailable(reason=error.strerror or type(error).__name__) from error
