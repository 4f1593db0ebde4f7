"""Where good copies of damaged contents may be: other objects, a cache of job inputs, folders, a backup."""

from __future__ import annotations

import hashlib
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from acai_jupyter import trees
from acai_jupyter.contract.errors import AcaiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from acai_server.db.damage import StoredPlace
    from acai_server.objects.protocol import ObjectStore

_PIECE_BYTES = 1024 * 1024


class Candidate(NamedTuple):
    """Bytes that may be a content: how to read them, and what to call their origin."""

    origin: str
    pieces: Callable[[], Iterator[bytes]]

    def is_sound(self, sha256: bytes, size_bytes: int) -> bool:
        """Whether these are the bytes; a copy that cannot be read is not."""
        digest = hashlib.sha256()
        count = 0
        try:
            for piece in self.pieces():
                count += len(piece)
                if count > size_bytes:
                    return False
                digest.update(piece)
        except (OSError, AcaiError):
            return False
        return count == size_bytes and digest.digest() == sha256


class StoredCopies:
    """Ranges of objects, by what the records say: of this store, or of the same store in a backup."""

    def __init__(self, origin: str, objects: ObjectStore, places: Iterable[StoredPlace]) -> None:
        self._origin = origin
        self._objects = objects
        self._places: dict[bytes, list[StoredPlace]] = {}
        for place in places:
            self._places.setdefault(bytes(place.sha256), []).append(place)

    def of(self, sha256: bytes, size_bytes: int) -> Iterator[Candidate]:
        """Give what may be a content."""
        del size_bytes
        for place in self._places.get(sha256, ()):
            yield Candidate(self._origin, lambda place=place: self._pieces(place))  # type: ignore[misc]  # bound now

    def _pieces(self, place: StoredPlace) -> Iterator[bytes]:
        return self._objects.stream(place.key, place.offset, place.size_bytes)


class InputCache:
    """The cache of job inputs on this machine, whose files are named by their hash."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def of(self, sha256: bytes, size_bytes: int) -> Iterator[Candidate]:
        """Give what may be a content."""
        name = sha256.hex()
        path = self._folder / name[:2] / name
        with suppress(OSError):  # it may be evicted at any moment
            state = path.stat()
            if stat.S_ISREG(state.st_mode) and state.st_size == size_bytes:
                yield Candidate("the cache of job inputs", lambda: read(path))


class Folder:
    """All files below a folder that have the size of a wanted content; it is walked once."""

    def __init__(self, folder: Path, sizes: Iterable[int]) -> None:
        wanted = set(sizes)
        self._origin = str(folder)
        self._by_size: dict[int, list[Path]] = {}
        self._hashes: dict[Path, bytes] = {}
        with suppress(OSError):  # what was found before still counts
            for entry in trees.walk(str(folder)):
                state = entry.state
                if state is not None and stat.S_ISREG(state.st_mode) and state.st_size in wanted:
                    self._by_size.setdefault(state.st_size, []).append(folder / entry.path)

    def of(self, sha256: bytes, size_bytes: int) -> Iterator[Candidate]:
        """Give what may be a content."""
        for path in self._by_size.get(size_bytes, ()):
            if self._hash(path) == sha256:
                yield Candidate(self._origin, lambda path=path: read(path))  # type: ignore[misc]  # bound now

    def _hash(self, path: Path) -> bytes:
        if path not in self._hashes:
            digest = hashlib.sha256()
            try:
                for piece in read(path):
                    digest.update(piece)
                self._hashes[path] = digest.digest()
            except OSError:
                self._hashes[path] = b""
        return self._hashes[path]


Source = StoredCopies | InputCache | Folder


def read(path: Path) -> Iterator[bytes]:
    """Read a file in pieces."""
    with path.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            yield piece
