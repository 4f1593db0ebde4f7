"""Input files by their hash, kept on this machine from job to job; several agents use it at once.

An entry is a read-only file whose time of change is one fixed moment: whatever was written to since has another, and is
not used. Its time of access is that of its last use. What was kept before the machine started is hashed at its first
use, as a power cut may have left it half written. Nothing here is needed: a cache that cannot be used is no cache.
"""

import os
import stat
import time
from contextlib import contextmanager, suppress
from typing import Iterator, List, NamedTuple, Optional, Tuple

from acai_jupyter.transfer.copying import FICLONE, copy_file
from acai_jupyter.transfer.errors import TransferError
from acai_jupyter.transfer.hashing import hash_file

PRISTINE_NS = 946_684_800 * 10**9
"""The first second of the year 2000."""
_READ_ONLY = 0o444


class Linked(NamedTuple):
    """An input that is the cache's own file, and is to be looked at after the program."""

    path: str
    sha256: str
    size_bytes: int


class Cache:
    """A folder of files by hash. For one thread; folders that cannot be made or written raise `OSError` at once."""

    def __init__(self, folder: str, max_bytes: int, booted: Optional[float] = None) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError("the cache cannot be written")
        self._folder = folder
        self.max_bytes = max_bytes
        self._can_clone = True
        self._booted = _booted() if booted is None else booted
        self.linked: List[Linked] = []

    def place(self, sha256: str) -> str:
        """Return where a file is fetched to."""
        return os.path.join(self._folder, sha256[:2], sha256)

    def settle(self, sha256: str) -> None:
        """Make a file that was fetched and verified an entry."""
        path = self.place(sha256)
        with suppress(OSError):
            os.chmod(path, _READ_ONLY)
            os.utime(path, ns=(time.time_ns(), PRISTINE_NS))

    def lend(self, sha256: str, size_bytes: int, path: str) -> bool:
        """Put an entry where a job wants it; says whether there was one."""
        entry = self.place(sha256)
        try:
            if not self._is_good(entry, sha256, size_bytes):
                return False
            os.makedirs(os.path.dirname(path), exist_ok=True)
            self._give(entry, sha256, size_bytes, path)
        except FileNotFoundError:
            return False
        except (OSError, TransferError):
            with suppress(OSError):
                os.remove(path)
            return False
        return True

    def check(self) -> List[str]:
        """Throw out what a program has changed; return the paths where it did."""
        return [linked.path for linked in self.linked if self._was_changed(linked)]

    def make_room(self, size_bytes: int) -> None:
        """Remove what was not used for longest, until so much more fits. Another agent that does so is enough."""
        with suppress(OSError), self._locked():
            entries = sorted(self._entries())
            excess = sum(size for _, size, _ in entries) + size_bytes - self.max_bytes
            for _, size, path in entries:
                if excess <= 0:
                    break
                _remove(path)
                excess -= size

    def _is_good(self, entry: str, sha256: str, size_bytes: int) -> bool:
        """Whether an entry is as it was kept. One that is not is removed."""
        state = os.stat(entry)
        good = stat.S_ISREG(state.st_mode) and (state.st_size, state.st_mtime_ns) == (size_bytes, PRISTINE_NS)
        if good and state.st_ctime < self._booted:
            good = hash_file(entry) == sha256
        if not good:
            _remove(entry)
            return False
        os.utime(entry, ns=(time.time_ns(), PRISTINE_NS))
        return True

    def _give(self, entry: str, sha256: str, size_bytes: int, path: str) -> None:
        if self._can_clone and self._clone(entry, path):
            return
        try:
            os.link(entry, path)
            self.linked.append(Linked(path, sha256, size_bytes))
        except FileNotFoundError:
            raise
        except OSError:  # another disk, or as many links as can be
            if copy_file(entry, path, durable=False).sha256 != sha256:
                _remove(entry)
                raise TransferError("an entry of the cache is broken") from None
            os.chmod(path, _READ_ONLY)

    def _clone(self, entry: str, path: str) -> bool:
        import fcntl

        source = os.open(entry, os.O_RDONLY)
        try:
            target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                fcntl.ioctl(target, FICLONE, source)
                os.fchmod(target, _READ_ONLY)
            except OSError:
                self._can_clone = False
                os.remove(path)
            finally:
                os.close(target)
        finally:
            os.close(source)
        return self._can_clone

    def _was_changed(self, linked: Linked) -> bool:
        entry = self.place(linked.sha256)
        for path in (linked.path, entry):
            try:
                state = os.lstat(path)
            except OSError:
                continue
            if (state.st_size, state.st_mtime_ns) == (linked.size_bytes, PRISTINE_NS):
                continue
            if path == linked.path and not _is_same(path, entry):
                continue  # the program put another file in its place
            if _hash(path) == linked.sha256:
                self.settle(linked.sha256)
                continue
            _remove(entry)
            return True
        return False

    def _entries(self) -> Iterator[Tuple[int, int, str]]:
        for folder in os.scandir(self._folder):
            if folder.is_dir():
                for entry in os.scandir(folder.path):
                    with suppress(OSError):
                        state = entry.stat()
                        yield state.st_atime_ns, state.st_size, entry.path

    @contextmanager
    def _locked(self) -> Iterator[None]:
        import fcntl

        with open(os.path.join(self._folder, "lock"), "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield


def _booted() -> float:
    """When this machine started, as its files' times count."""
    try:
        with open("/proc/uptime", encoding="ascii") as uptime:
            return time.time() - float(uptime.read().split()[0])
    except (OSError, ValueError):
        return 0.0


def _is_same(path: str, entry: str) -> bool:
    with suppress(OSError):
        return os.path.samefile(path, entry)
    return True


def _hash(path: str) -> Optional[str]:
    try:
        return hash_file(path)
    except OSError:
        return None


def _remove(path: str) -> None:
    with suppress(OSError):
        os.remove(path)
