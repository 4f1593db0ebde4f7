"""Input files by their hash, kept on this machine from job to job. Several agents use the folder at once.

A job gets a copy of an entry, never the entry itself: sharing its blocks where the file system can, otherwise byte by
byte. Jobs run as the same user and can write to the folder all the same. So next to an entry stands what its inode was
when its content was last verified: an ordinary user can restore times and modes of a file, but not its time of change
(ctime). An entry that differs from that is hashed while it is copied, and dropped when its content is another. Nothing
here is required: without a usable folder there is no cache.
"""

import os
import stat
from contextlib import contextmanager, suppress
from typing import Dict, Iterator, NamedTuple, Optional, Set, Tuple

from acai_jupyter import trees
from acai_jupyter.transfer.copying import Copying, copy_bytes
from acai_jupyter.transfer.errors import TransferError
from acai_jupyter.transfer.hashing import hash_file
from acai_jupyter.transfer.landing import landing

SETTLED_NS = 2 * 10**9
"""An entry that was changed less than this before it was verified is verified again: clocks of file systems are coarse,
and a later change could have the same time."""
_VERIFIED = ".verified"
_READ_ONLY = 0o444
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class Identity(NamedTuple):
    """What changes whenever a file is written to or replaced, or the machine was restarted without flushing it."""

    ctime_ns: int
    inode: int
    size_bytes: int
    boot: str

    @classmethod
    def of(cls, state: os.stat_result, boot: str) -> "Identity":
        """Return the identity of a file."""
        return cls(state.st_ctime_ns, state.st_ino, state.st_size, boot)

    def __str__(self) -> str:
        return "%d %d %d %s\n" % self


class Cache:
    """A folder of files by hash. For one thread; folders that cannot be made or written raise `OSError` at once."""

    def __init__(self, folder: str, max_bytes: int, boot: Optional[str] = None) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError("the cache cannot be written")
        self._folder = folder
        self.max_bytes = max_bytes
        self.boot = _boot() if boot is None else boot
        self._fetched: Dict[str, Identity] = {}
        """Entries that this agent has fetched, and verified on the way."""
        self.damaged: Set[str] = set()
        """The hashes of entries whose content was another."""

    def place(self, sha256: str) -> str:
        """Return where a file is fetched to."""
        return os.path.join(self._folder, sha256[:2], sha256)

    def can_keep(self, sha256: str) -> bool:
        """Return whether an entry can be made: a program may have put something in the place of its folder."""
        folder = os.path.dirname(self.place(sha256))
        try:
            os.makedirs(folder, mode=0o700, exist_ok=True)
        except OSError:
            return False
        return os.access(folder, os.W_OK | os.X_OK)

    def settle(self, sha256: str) -> None:
        """Make a file that was fetched and verified an entry."""
        with suppress(OSError):
            os.chmod(self.place(sha256), _READ_ONLY)
            self._fetched[sha256] = Identity.of(os.lstat(self.place(sha256)), self.boot)

    def lend(self, sha256: str, size_bytes: int, path: str) -> bool:
        """Put a copy of an entry where a job wants it. Returns whether there was one with the right content."""
        entry = self.place(sha256)
        try:
            source = os.open(entry, _READ)
        except OSError:
            return False
        try:
            state = os.fstat(source)
            is_right = stat.S_ISREG(state.st_mode) and state.st_size == size_bytes
            if not is_right or not self._copied(sha256, source, state, path):
                self._drop(sha256)
                return False
        except (OSError, TransferError):
            with suppress(OSError):
                os.remove(path)
            return False
        finally:
            os.close(source)
        return True

    def make_room(self, size_bytes: int) -> None:
        """Remove the entries that were not used for longest, until this much more fits. One agent at a time does so."""
        with suppress(OSError), self._locked():
            entries = sorted(self._entries())
            excess = sum(size for _, size, _ in entries) + size_bytes - self.max_bytes
            for _, size, path in entries:
                if excess <= 0:
                    break
                _remove(path)
                excess -= size

    def _copied(self, sha256: str, source: int, state: os.stat_result, path: str) -> bool:
        """Copy an entry; return whether the copy has the right content."""
        known = Identity.of(state, self.boot)
        trusted = known in (self._fetched.get(sha256), self._verified(sha256))
        found = ""
        with landing(path, durable=False) as target:
            if trusted:
                copy_bytes(source, target, state.st_size)
            else:
                found = Copying(path, source, target, 0, state.st_size).run(None, durable=False)
            os.fchmod(target, _READ_ONLY)
        is_unchanged = Identity.of(os.fstat(source), self.boot) == known
        if trusted and is_unchanged:
            with suppress(OSError):
                os.utime(self.place(sha256) + _VERIFIED)  # its last use
            return True
        if (found or hash_file(path)) != sha256:
            os.remove(path)
            return False
        if is_unchanged:
            self._note(sha256, known)
        return True

    def _verified(self, sha256: str) -> Optional[Identity]:
        """Return what an entry was when its content was verified last."""
        try:
            with open(os.open(self.place(sha256) + _VERIFIED, _READ), encoding="ascii") as file:
                ctime_ns, inode, size_bytes, boot = file.read(200).split()
            return Identity(int(ctime_ns), int(inode), int(size_bytes), boot)
        except (OSError, ValueError):
            return None

    def _note(self, sha256: str, known: Identity) -> None:
        """Write down what an entry is now that its content was verified, unless it was changed a moment ago."""
        path = self.place(sha256) + _VERIFIED
        part = "%s.%s.part" % (path, os.urandom(6).hex())
        with suppress(OSError):
            try:
                with open(part, "x", encoding="ascii") as file:
                    file.write(str(known))
                if os.stat(part).st_mtime_ns - known.ctime_ns >= SETTLED_NS:
                    os.replace(part, path)
            finally:
                with suppress(FileNotFoundError):
                    os.remove(part)

    def _drop(self, sha256: str) -> None:
        """Remove an entry that has other content than its name says."""
        self.damaged.add(sha256)
        _remove(self.place(sha256))

    def _entries(self) -> Iterator[Tuple[int, int, str]]:
        """Each entry's last use, size and path."""
        for folder in os.scandir(self._folder):  # noqa: TID251 (two levels, without links)
            if folder.is_dir(follow_symlinks=False):
                yield from _entries_of(folder.path)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        import fcntl

        with open(os.path.join(self._folder, "lock"), "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield


def _entries_of(folder: str) -> Iterator[Tuple[int, int, str]]:
    states: Dict[str, os.stat_result] = {}
    for entry in os.scandir(folder):  # noqa: TID251 (its folders are not entered)
        with suppress(OSError):
            states[entry.name] = entry.stat(follow_symlinks=False)
    for name, state in states.items():
        if name.endswith(_VERIFIED) and name[: -len(_VERIFIED)] in states:
            continue  # it goes with its entry
        record = states.get(name + _VERIFIED)
        used = state.st_ctime_ns if record is None else record.st_mtime_ns
        yield used, state.st_size, os.path.join(folder, name)


def _boot() -> str:
    """Return what names this run of the machine: what was not flushed before a power cut may be half written."""
    with suppress(OSError), open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()
    return "unknown"


def _remove(path: str) -> None:
    for name in (path, path + _VERIFIED):
        trees.remove(name)
