"""Objects in parts, in a folder: a file each in a folder beside the object's place, then one file of all.

A part's file is named by number, size and hash, so that the names alone tell what has arrived. The first part's file is
extended by the others; as its name tells its size, an end that was cut off there can be done again. So it can after
every other step: the whole gets a name of its own, then the parts go, then the whole takes its place.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO
from uuid import uuid4

from acai_jupyter import trees
from acai_jupyter.contract.errors import ObjectNotFound, StoreUnavailable
from acai_jupyter.contract.states import StorageClass
from acai_server.objects.durable import flush_folder, make_folder, partial_file, translated
from acai_server.objects.keys import checked, checked_new
from acai_server.objects.parts import ArrivedPart, check_arrived, check_part, check_sent, checked_id
from acai_server.objects.sources import PIECE_BYTES, VerifiedSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.objects.signing import UrlSigner

FOLDER = ".parts"
_GROWING = "growing-"
"""What the first part's file is called while it is extended: the same part sent again is another file."""
_NAME = re.compile(rf"(?:{_GROWING})?(\d+)-(\d+)-([0-9a-f]{{64}})\Z")
_NO_KERNEL_COPY = (errno.EXDEV, errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.EPERM)


class FilesystemParts:
    """A folder, and what its store does with parts."""

    def __init__(self, folder: Path, signer: UrlSigner) -> None:
        self._folder = folder
        self._signer = signer
        self._making = threading.Lock()
        """Who finds a folder here must not rely on it before who made it has flushed its name."""

    def begin_parts(self, key: ObjectKey, storage: StorageClass = StorageClass.FREQUENT) -> str:
        """See the protocol."""
        del storage
        parts_id = uuid4().hex
        self._make(key, self._parts_folder(checked_new(key), parts_id))
        return parts_id

    def sign_part(
        self, key: ObjectKey, parts_id: str, number: int, *, size_bytes: int, sha256: str | None = None
    ) -> tuple[str, dict[str, str]]:
        """See the protocol."""
        check_part(number, size_bytes)
        part = (checked_id(key, parts_id), number)
        return self._signer.url("PUT", checked_new(key), size_bytes=size_bytes, sha256=sha256, part=part), {}

    def put_part(
        self,
        key: ObjectKey,
        parts_id: str,
        number: int,
        source: BinaryIO,
        *,
        size_bytes: int,
        sha256: str | None = None,
    ) -> str:
        """See the protocol; the etag is the hash."""
        check_part(number, size_bytes)
        folder = self._parts_folder(key, parts_id)
        verified = VerifiedSource(source, key, size_bytes, sha256)
        with partial_file(folder, str(number), key) as partial:
            for piece in verified:
                partial.write(piece)
            partial.move(folder / f"{number}-{size_bytes}-{verified.sha256}")
        return verified.sha256

    def parts(self, key: ObjectKey, parts_id: str) -> list[ArrivedPart]:
        """See the protocol."""
        with translated(key):
            return _arrived(self._parts_folder(key, parts_id))

    def end_parts(self, key: ObjectKey, parts_id: str, parts: Sequence[tuple[int, str]]) -> None:
        """See the protocol."""
        sent = check_sent(checked_new(key), parts)
        folder, target = self._parts_folder(key, parts_id), self._path(key)
        whole = folder / _whole_name(sent)
        with suppress(ObjectNotFound), translated(key), locked(folder, key):
            if whole.exists() or _arrived(folder) or not target.exists():
                if not whole.exists():
                    _join(key, folder, sent, whole)
                _place(whole, target)
            self._remove(folder)
        if not target.exists():
            raise ObjectNotFound(key=key)

    def drop_parts(self, key: ObjectKey, parts_id: str) -> None:
        """See the protocol."""
        with suppress(ObjectNotFound):
            folder = self._parts_folder(key, parts_id)
            with locked(folder, key):
                self._remove(folder)

    def _path(self, key: ObjectKey) -> Path:
        return self._folder / checked(key)

    def _parts_folder(self, key: ObjectKey, parts_id: str) -> Path:
        place = self._path(key)
        return place.with_name(place.name + FOLDER) / checked_id(key, parts_id)

    def _make(self, key: ObjectKey, folder: Path) -> None:
        with self._making, translated(key):
            make_folder(folder)

    def _remove(self, folder: Path) -> None:
        """Remove the parts of one sending, and the folder of all sendings of that object with the last of them."""
        trees.remove(str(folder))
        with self._making, suppress(OSError):
            folder.parent.rmdir()


def _arrived(folder: Path) -> list[ArrivedPart]:
    """Read the names; of a number that was sent twice the newest stands, and what lost bytes is to come again."""
    found: dict[int, ArrivedPart] = {}
    with os.scandir(folder) as entries:  # noqa: TID251 (its folders are not entered)
        files = [(entry.stat(), match) for entry in entries if (match := _NAME.match(entry.name))]
    for stat, match in sorted(files, key=lambda file: file[0].st_mtime_ns):
        if stat.st_size >= int(match[2]):
            found[int(match[1])] = ArrivedPart(int(match[1]), int(match[2]), match[3])
    return [found[number] for number in sorted(found)]


def _whole_name(sent: list[tuple[int, str]]) -> str:
    return "whole-" + hashlib.sha256(repr(sent).encode()).hexdigest()


def _join(key: ObjectKey, folder: Path, sent: list[tuple[int, str]], whole: Path) -> None:
    """Make one file of all."""
    arrived = {(part.number, part.etag): part.size_bytes for part in _arrived(folder)}
    check_arrived(key, sent, arrived)
    names = [f"{number}-{arrived[number, etag]}-{etag}" for number, etag in sent]
    growing = folder / f"{_GROWING}{names[0]}"
    if not growing.exists():
        (folder / names[0]).rename(growing)
    with growing.open("r+b", buffering=0) as end:
        end.seek(end.truncate(arrived[sent[0]]))
        for part, name in zip(sent[1:], names[1:], strict=True):
            with (folder / name).open("rb", buffering=0) as file:
                _append(file.fileno(), end.fileno(), arrived[part])
        os.fsync(end.fileno())
    growing.rename(whole)
    flush_folder(folder)


def _place(whole: Path, target: Path) -> None:
    """Let the whole take its place, last of all: without it, nothing of its parts is left to be joined again."""
    for path in whole.parent.iterdir():
        if path != whole:
            path.unlink()
    whole.rename(target)
    flush_folder(target.parent)


def _append(source: int, target: int, size_bytes: int) -> None:
    """Copy inside the kernel where the file system can, else through memory."""
    left = size_bytes
    while left:
        copied = _copy_some(source, target, left)
        if copied == 0:
            raise StoreUnavailable(reason="a part has lost bytes on the disk")
        left -= copied


def _copy_some(source: int, target: int, size_bytes: int) -> int:
    if hasattr(os, "copy_file_range"):  # Linux only
        try:
            return os.copy_file_range(source, target, size_bytes)
        except OSError as error:
            if error.errno not in _NO_KERNEL_COPY:
                raise
    left = piece = os.read(source, min(size_bytes, PIECE_BYTES))
    while left:
        left = left[os.write(target, left) :]
    return len(piece)


@contextmanager
def locked(folder: Path, key: ObjectKey) -> Iterator[None]:
    """Let one caller at a time change what is in a folder, among threads and processes."""
    with translated(key):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
