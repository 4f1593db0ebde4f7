"""Objects in a folder, one file each."""

from __future__ import annotations

import os
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, BinaryIO

from acai_jupyter.contract.errors import ObjectNotFound
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.states import StorageClass
from acai_server.objects.durable import PARTIAL, partial_file, translated
from acai_server.objects.filesystem_parts import FOLDER, FilesystemParts, locked
from acai_server.objects.keys import MAX_KEY, checked, checked_new
from acai_server.objects.protocol import ListedObject
from acai_server.objects.sources import PIECE_BYTES, VerifiedSource

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from pathlib import Path

    from acai_server.objects.protocol import ObjectStore, Within


class FilesystemObjectStore(FilesystemParts):
    """A folder that only the server's user can enter. Whoever has the same rights may use the files themselves."""

    name = "filesystem"
    max_put_bytes: int | None = None

    def put(
        self,
        key: ObjectKey,
        source: BinaryIO,
        *,
        size_bytes: int,
        sha256: str | None = None,
        storage: StorageClass = StorageClass.FREQUENT,
        durable: bool = True,
    ) -> None:
        """See the protocol: written beside its place, flushed to the disk, then renamed."""
        del storage
        target = self._path(checked_new(key))
        self._make(key, target.parent)
        with partial_file(target.parent, target.name, key) as partial:
            for piece in VerifiedSource(source, key, size_bytes, sha256):
                partial.write(piece)
            partial.move(target, durable=durable)

    def get(self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None) -> bytes:
        """See the protocol."""
        with translated(key), self._path(key).open("rb") as file:
            file.seek(offset)
            return file.read(-1 if size_bytes is None else size_bytes)

    def stream(
        self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None, piece_bytes: int = PIECE_BYTES
    ) -> Generator[bytes, None, None]:
        """See the protocol."""
        with translated(key), self._path(key).open("rb") as file:
            left = os.fstat(file.fileno()).st_size if size_bytes is None else size_bytes
            file.seek(offset)
            while piece := file.read(min(piece_bytes, left)):
                left -= len(piece)
                yield piece

    def size(self, key: ObjectKey) -> int:
        """See the protocol."""
        with translated(key), self._path(key).open("rb") as file:
            return file.seek(0, os.SEEK_END)

    def delete(self, key: ObjectKey) -> None:
        """See the protocol."""
        with suppress(ObjectNotFound), translated(key):
            self._path(key).unlink()

    def delete_all(self, keys: Iterable[ObjectKey]) -> None:
        """See the protocol."""
        for key in keys:
            self.delete(key)

    def keys(self, prefix: str) -> Iterator[ObjectKey]:
        """See the protocol."""
        with translated(ObjectKey(prefix)):
            for path in self._walk(prefix):
                if not path.endswith(PARTIAL):
                    yield ObjectKey(path)

    def listed(self, prefix: str, after: str = "") -> Iterator[ListedObject]:
        """See the protocol. What is deleted while it is listed may be left out."""
        for key in (key for key in self.keys(prefix) if key > after):
            with suppress(ObjectNotFound), translated(key):
                found = self._path(key).stat()
                yield ListedObject(key, found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))

    def create(self, key: ObjectKey, body: bytes) -> bool:
        """See the protocol: processes and threads take turns by a lock on the file's folder."""
        target = self._path(checked_new(key))
        self._make(key, target.parent)
        with locked(target.parent, key):
            if target.exists():
                return False
            self._write(target, key, body)
        return True

    def swap(self, key: ObjectKey, body: bytes, *, expected: bytes) -> bool:
        """See the protocol: by the same lock."""
        target = self._path(checked_new(key))
        try:
            with locked(target.parent, key):
                if self.get(key) != expected:
                    return False
                self._write(target, key, body)
        except ObjectNotFound:
            return False
        return True

    def sign_get(self, key: ObjectKey, *, direct: bool = False, within: Within | None = None) -> str:
        """See the protocol."""
        return self._direct_url(checked(key)) if direct else self._signer.url("GET", checked(key), within=within)

    def sign_put(
        self,
        key: ObjectKey,
        *,
        size_bytes: int | None = None,
        sha256: str | None = None,
        storage: StorageClass = StorageClass.FREQUENT,
        direct: bool = False,
    ) -> tuple[str, dict[str, str]]:
        """See the protocol."""
        del storage
        if direct:
            return self._direct_url(checked_new(key)), {}
        return self._signer.url("PUT", checked_new(key), size_bytes=size_bytes, sha256=sha256), {}

    def drop_leftovers(self, older_than: datetime, is_ours: Callable[[ObjectKey], bool]) -> int:
        """See the protocol. A file's or folder's age is that of its last change."""
        before = older_than.timestamp()
        dropped = 0
        waiting = [""]
        while waiting:
            folder = waiting.pop()
            of_parts = folder.endswith(f"{FOLDER}/")
            for path in self._names(folder):
                is_folder = path.endswith("/")
                if is_folder and not of_parts:
                    waiting.append(path)
                elif is_folder or path.endswith(PARTIAL):
                    key = folder.removesuffix(f"{FOLDER}/") if of_parts else path
                    if is_ours(ObjectKey(key)):
                        dropped += self._drop_old(self._folder / path, before)
        return dropped

    def _drop_old(self, path: Path, before: float) -> int:
        with suppress(ObjectNotFound), translated(ObjectKey(path.name)):
            if path.stat().st_mtime < before:
                self._remove(path) if path.is_dir() else path.unlink()
                return 1
        return 0

    def _write(self, target: Path, key: ObjectKey, body: bytes) -> None:
        with partial_file(target.parent, target.name, key) as partial:
            partial.write(body)
            partial.move(target)

    def _direct_url(self, key: ObjectKey) -> str:
        """The URL of a file; the signs of a key need no quoting."""
        return f"{self._folder_url}/{key}"

    @cached_property
    def _folder_url(self) -> str:
        return self._folder.as_uri()

    def _walk(self, prefix: str) -> Iterator[str]:
        """Files whose paths begin with a prefix, in the order of their whole paths."""
        waiting = [iter(self._names(""))]
        while waiting:
            path = next(waiting[-1], None)
            if path is None:
                waiting.pop()
            elif not path.endswith("/"):
                if path.startswith(prefix):
                    yield path
            elif path.startswith(prefix[: len(path)]) and not path.endswith(f"{FOLDER}/"):
                waiting.append(iter(self._names(path)))

    def _names(self, folder: str) -> list[str]:
        """What is in a folder, as sorted paths; those of folders end in a slash. No key is as deep as others can be.

        A link to a folder is left out: what it leads to is not the store's, and must not be deleted as unknown.
        """
        if len(folder) > MAX_KEY:
            return []
        try:
            with os.scandir(self._folder / folder) as entries:  # noqa: TID251 (listed lazily, no deeper than a key)
                names = sorted(
                    f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name
                    for entry in entries
                    if not (entry.is_symlink() and entry.is_dir())
                )
        except (FileNotFoundError, NotADirectoryError):
            return []
        return [folder + name for name in names]


if TYPE_CHECKING:
    _proof: type[ObjectStore] = FilesystemObjectStore
