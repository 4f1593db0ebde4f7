"""Objects in a folder, one file each."""

from __future__ import annotations

import errno
import hashlib
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO
from uuid import uuid4

from acai_jupyter.contract.errors import AcaiError, HashMismatch, ObjectNotFound, StoreFull, StoreUnavailable
from acai_jupyter.contract.ids import ObjectKey
from acai_server.objects.keys import checked

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acai_server.objects.protocol import ObjectStore
    from acai_server.objects.signing import UrlSigner

_BUFFER = 1024 * 1024
_PARTIAL = ".part"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class FilesystemObjectStore:
    """A folder that only the server's user can enter. Whoever has the same rights may use the files themselves."""

    name = "filesystem"

    def __init__(self, folder: Path, signer: UrlSigner) -> None:
        self._folder = folder
        self._signer = signer

    def put(self, key: ObjectKey, source: BinaryIO, *, size_bytes: int, sha256: str | None = None) -> None:
        """See the protocol: written beside its place, flushed to the disk, then renamed."""
        target = self._path(key)
        partial = target.with_name(f"{target.name}.{uuid4().hex[:8]}{_PARTIAL}")
        with _translated(key):
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with partial.open("wb") as out:
                    if not _copied(source, out, size_bytes, sha256):
                        raise HashMismatch(what=key)
                    out.flush()
                    os.fsync(out.fileno())
                partial.replace(target)
            finally:
                partial.unlink(missing_ok=True)

    def get(self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None) -> bytes:
        """See the protocol."""
        with _translated(key), self._path(key).open("rb") as file:
            file.seek(offset)
            return file.read(-1 if size_bytes is None else size_bytes)

    def size(self, key: ObjectKey) -> int:
        """See the protocol."""
        with _translated(key), self._path(key).open("rb") as file:
            return file.seek(0, os.SEEK_END)

    def delete(self, key: ObjectKey) -> None:
        """See the protocol."""
        with suppress(ObjectNotFound), _translated(key):
            self._path(key).unlink()

    def keys(self, prefix: str) -> Iterator[ObjectKey]:
        """See the protocol."""
        folder = prefix.rpartition("/")[0]
        try:
            root = self._path(ObjectKey(folder)) if folder else self._folder
        except ObjectNotFound:
            return
        paths = (path.relative_to(self._folder).as_posix() for path in root.rglob("*") if path.is_file())
        yield from sorted(ObjectKey(key) for key in paths if key.startswith(prefix) and not key.endswith(_PARTIAL))

    def sign_get(self, key: ObjectKey, *, direct: bool = False) -> str:
        """See the protocol."""
        return self._path(key).as_uri() if direct else self._signer.url("GET", checked(key))

    def sign_put(
        self, key: ObjectKey, *, size_bytes: int | None = None, sha256: str | None = None, direct: bool = False
    ) -> tuple[str, dict[str, str]]:
        """See the protocol."""
        if direct:
            return self._path(key).as_uri(), {}
        return self._signer.url("PUT", checked(key), size_bytes=size_bytes, sha256=sha256), {}

    def _path(self, key: ObjectKey) -> Path:
        return self._folder / checked(key)


def _copied(source: BinaryIO, out: BinaryIO, size_bytes: int, sha256: str | None) -> bool:
    """Copy; says whether the bytes are those that were announced. Never writes more than that many."""
    digest = hashlib.sha256()
    left = size_bytes
    while piece := source.read(min(_BUFFER, left + 1)):
        if len(piece) > left:
            return False
        digest.update(piece)
        out.write(piece)
        left -= len(piece)
    return left == 0 and sha256 in (None, digest.hexdigest())


@contextmanager
def _translated(key: ObjectKey) -> Iterator[None]:
    try:
        yield
    except AcaiError:
        raise
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise ObjectNotFound(key=key) from error
    except OSError as error:
        if error.errno in _FULL:
            raise StoreFull(what="the object store's folder") from error
        raise StoreUnavailable(reason=error.strerror or type(error).__name__) from error


if TYPE_CHECKING:
    _proof: type[ObjectStore] = FilesystemObjectStore
