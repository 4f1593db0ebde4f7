"""Copying one large file on this disk: one thread copies, another hashes what arrived; the slower of them counts."""

import errno
import hashlib
import os
import stat
import threading
from typing import Callable, NamedTuple, Optional, Tuple

from acai_jupyter.transfer.errors import Changed, Stopped, TransferError, not_read, not_written
from acai_jupyter.transfer.hashing import BUFFER
from acai_jupyter.transfer.landing import landing, write_all

PIECE_BYTES = 16 * 1024 * 1024
FICLONE = 0x40049409
"""The request to share a whole file's blocks, on file systems that can."""
_CANNOT = {
    errno.EBADF,
    errno.EINVAL,
    errno.EIO,
    errno.ENOSYS,
    errno.ENOTTY,
    errno.EOPNOTSUPP,
    errno.EPERM,
    errno.ETXTBSY,
    errno.EXDEV,
}
"""What kernels and file systems answer when they cannot clone or copy by themselves."""


class Copied(NamedTuple):
    """What is kept now."""

    size_bytes: int
    sha256: str


def copy_file(
    source: str, target: str, on_bytes: Optional[Callable[[int], object]] = None, *, durable: bool = True
) -> Copied:
    """Copy a file; the hash is that of the bytes kept. The target is seen only when whole, and replaced at once.

    Durable: when this returns, a power cut does not take it away. `on_bytes` is called in the caller's thread.
    """
    try:
        opened = os.open(source, os.O_RDONLY)
    except OSError as error:
        raise not_read("'%s'" % source, error) from error
    try:
        before = os.fstat(opened)
        if not stat.S_ISREG(before.st_mode):
            raise TransferError("'%s' is not a regular file" % source)
        with landing(target, durable=durable) as kept:
            sha256 = Copying(source, opened, kept, 0, before.st_size).run(on_bytes, durable)
            after = os.fstat(opened)
            if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
                raise Changed("'%s' changed while it was read" % source)
    except OSError as error:
        raise not_written("'%s'" % target, error) from error
    finally:
        os.close(opened)
    return Copied(before.st_size, sha256)


class Copying:
    """One copy under way, of a range of a file: a thread moves the bytes, the caller hashes them from the target."""

    def __init__(self, name: str, source: int, target: int, offset: int, size_bytes: int) -> None:
        self._name = name
        self._source = source
        self._target = target
        self._offset = offset
        self._size_bytes = size_bytes
        self._durable = False
        self._moved = threading.Condition()
        self._moved_bytes = 0
        self._hashed_bytes = 0
        self._begun_bytes = 0
        self._stopped = False
        self._error: Optional[Exception] = None

    def run(self, on_bytes: Optional[Callable[[int], object]], durable: bool) -> str:
        """Copy all; return the hash of what is in the target. The source's name is for errors."""
        self._durable = durable
        mover = threading.Thread(target=self._move, name="acai-copy", daemon=True)
        mover.start()
        try:
            sha256 = self._hash(on_bytes)
        except BaseException:
            self._stopped = True
            raise
        finally:
            mover.join()
        if self._error is not None:
            raise self._error
        return sha256

    def _hash(self, on_bytes: Optional[Callable[[int], object]]) -> str:
        digest = hashlib.sha256()
        done = 0
        while done < self._size_bytes:
            there = self._wait(done)
            before = done
            while done < there:
                piece = os.pread(self._target, min(BUFFER, there - done), done)
                if not piece:
                    raise TransferError("the copy became shorter while it was hashed")
                digest.update(piece)
                done += len(piece)
            self._hashed_bytes = done
            if on_bytes is not None:
                on_bytes(done - before)
        return digest.hexdigest()

    def _wait(self, done: int) -> int:
        """Wait until more than `done` bytes are in the target; return how many."""
        with self._moved:
            self._moved.wait_for(lambda: self._moved_bytes > done or self._error is not None)
            if self._moved_bytes > done:
                return self._moved_bytes
            assert self._error is not None
            raise self._error

    def _move(self) -> None:
        try:
            if self._is_all() and _clone(self._source, self._target):
                self._arrived(os.fstat(self._target).st_size)
            while self._moved_bytes < self._size_bytes:
                self._arrived(self._move_piece(self._moved_bytes))
            if self._durable:
                os.fsync(self._target)  # here, because the hash may still be busy
        except Exception as error:  # noqa: BLE001 (raised again in the thread that waits)
            with self._moved:
                self._error = error
                self._moved.notify()

    def _is_all(self) -> bool:
        return bool(self._size_bytes) and not self._offset and os.fstat(self._source).st_size == self._size_bytes

    def _arrived(self, size_bytes: int) -> None:
        if self._stopped:
            raise Stopped("the copy was stopped")
        with self._moved:
            self._moved_bytes = min(self._moved_bytes + size_bytes, self._size_bytes)
            self._moved.notify()

    def _move_piece(self, offset: int) -> int:
        wanted = min(PIECE_BYTES, self._size_bytes - offset)
        moved = _copy_range(self._source, self._target, wanted, (self._offset + offset, offset))
        if not moved:
            moved = self._move_by_hand(wanted, offset)
        if self._durable:
            self._write_back()
        return moved

    def _write_back(self) -> None:
        """Have the kernel begin to write, so that the sync at the end is short.

        Only what was hashed: what it has written leaves its memory, and would have to be read from the disk again.
        """
        begun, hashed = self._begun_bytes, self._hashed_bytes
        if hasattr(os, "posix_fadvise") and begun < hashed:
            os.posix_fadvise(self._target, begun, hashed - begun, os.POSIX_FADV_DONTNEED)
            self._begun_bytes = hashed

    def _move_by_hand(self, size_bytes: int, offset: int) -> int:
        try:
            piece = os.pread(self._source, min(BUFFER, size_bytes), self._offset + offset)
        except OSError as error:
            raise not_read("'%s'" % self._name, error) from error
        if not piece:
            raise Changed("'%s' became shorter while it was read" % self._name)
        os.lseek(self._target, offset, os.SEEK_SET)
        write_all(self._target, memoryview(piece))
        return len(piece)


def copy_bytes(source: int, target: int, size_bytes: int) -> None:
    """Copy an open file from its beginning into an empty one without hashing it: fast where the kernel can help."""
    if size_bytes and _clone(source, target):
        return
    done = 0
    while done < size_bytes:
        wanted = min(PIECE_BYTES, size_bytes - done)
        moved = _copy_range(source, target, wanted, (done, done))
        if not moved:
            piece = os.pread(source, min(BUFFER, wanted), done)
            if not piece:
                raise Changed("a file became shorter while it was copied")
            os.lseek(target, done, os.SEEK_SET)
            write_all(target, memoryview(piece))
            moved = len(piece)
        done += moved


def _clone(source: int, target: int) -> bool:
    """Share the blocks of the source, where the file system can."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.ioctl(target, FICLONE, source)
    except OSError as error:
        if error.errno in _CANNOT:
            return False
        raise
    return True


def _copy_range(source: int, target: int, size_bytes: int, offsets: Tuple[int, int]) -> int:
    """Let the kernel copy; 0 when it cannot, or the source has ended."""
    if not hasattr(os, "copy_file_range"):
        return 0
    try:
        return os.copy_file_range(source, target, size_bytes, *offsets)
    except OSError as error:
        if error.errno in _CANNOT:
            return 0
        raise
