"""What this machine remembers of an upload, so that the same line again costs a look at each file and no more.

For each line (project, sources, destination, options) one small state file, and one list of the files by path, which is
read and written as a stream: a million files need no memory. Losing it costs time, nothing else.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from acai_jupyter.contract import decoding

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK = 1000
_HEADER_BYTES = 4


class KnownFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file as it was when it was hashed."""

    path: str
    size_bytes: int
    mtime_ns: int
    inode: int
    ctime_ns: int
    sha256: str


class LargeFile(msgspec.Struct, frozen=True, array_like=True):
    """A large file on its way: which object it becomes, and what it was when that was begun."""

    number: int
    size_bytes: int
    mtime_ns: int
    etags: dict[int, str] = {}


class State(msgspec.Struct):
    """Where uploads of one line stand."""

    upload: str | None = None
    """The last one that was committed."""
    files: str | None = None
    """The list of its files."""
    files_bytes: int = 0
    """How long that list is."""
    pending: str | None = None
    """One that was begun and may be continued."""
    large: dict[str, LargeFile] = {}


class Memory:
    """The memory of one line."""

    def __init__(self, *line: object) -> None:
        key = hashlib.sha256("\0".join(map(str, line)).encode()).hexdigest()[:32]
        self._folder = _home()
        self._path = self._folder / f"{key}.json"
        self._key = key
        self._lock: int | None = None
        self.state = self._read()

    def hold(self) -> bool:
        """Take the line for this process, until `release`; says whether nobody else has it.

        Two that put the same line at once would go on with one session, each with its own idea of what is in it.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.release()
            return False
        self.state = self._read()
        return True

    def release(self) -> None:
        """Let go of the line. Safe to call twice."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _read(self) -> State:
        try:
            state = decoding.from_json(self._path.read_bytes(), State)
        except (OSError, msgspec.MsgspecError):
            return State()
        if state.files is not None and not self._is_whole(state.files, state.files_bytes):
            state.upload = state.files = None  # what is gone since could not be told
        return state

    def _is_whole(self, files: str, size_bytes: int) -> bool:
        try:
            return (self._folder / files).stat().st_size == size_bytes
        except OSError:
            return False

    def save(self) -> None:
        """Write the state, whole or not at all. A machine that cannot remember uploads all the same."""
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial = self._path.with_suffix(f".{os.getpid()}")
            partial.write_bytes(msgspec.json.encode(self.state))
            partial.replace(self._path)

    def forget(self) -> None:
        """Forget the uploads of the line."""
        self.state = State()
        self.save()

    def files(self) -> Iterator[KnownFile]:
        """Iterate over the files of the last upload by path; what cannot be read any more is not known."""
        if self.state.files is None:
            return
        with suppress(OSError, msgspec.MsgspecError), (self._folder / self.state.files).open("rb") as stream:
            while header := stream.read(_HEADER_BYTES):
                block = stream.read(int.from_bytes(header, "big"))
                yield from decoding.from_msgpack(block, list[KnownFile])

    def begin(self) -> FileList:
        """Begin the list of an upload."""
        return FileList(self._folder, f"{self._key}.{os.urandom(6).hex()}.files")

    def committed(self, upload: str, files: FileList) -> None:
        """Remember an upload that was committed in place of the one before."""
        old = self.state.files
        is_whole = files.close()
        self.state = State(upload if is_whole else None, files.name, files.size_bytes)
        self.save()
        if old is not None:
            with suppress(OSError):
                (self._folder / old).unlink()


class FileList:
    """A list of files that is being written; without a folder, one that is not kept."""

    def __init__(self, folder: Path | None = None, name: str = "") -> None:
        self.name = name
        self.size_bytes = 0
        self._block: list[KnownFile] = []
        self._stream: BinaryIO | None = None
        if folder is None:
            return
        self._path = folder / name
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._stream = self._path.open("wb")

    def add(self, file: KnownFile) -> None:
        """Take the next file by path."""
        if self._stream is None:
            return
        self._block.append(file)
        if len(self._block) == BLOCK:
            self._flush()

    def close(self) -> bool:
        """Write the rest; says whether the list is whole."""
        self._flush()
        if self._stream is None:
            return False
        self._stream.close()
        return True

    def drop(self) -> None:
        """Throw the list away."""
        if self._stream is not None:
            self._stream.close()
            self._path.unlink(missing_ok=True)

    def _flush(self) -> None:
        if self._stream is None or not self._block:
            return
        body = msgspec.msgpack.encode(self._block)
        self._block = []
        try:
            self.size_bytes += self._stream.write(len(body).to_bytes(_HEADER_BYTES, "big") + body)
        except OSError:  # a full disk: forget it
            self.drop()
            self._stream = None


def cache_folder() -> Path:
    """Return where on this machine is kept for this user what can be made again."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "acai"


def _home() -> Path:
    return cache_folder() / "uploads"
