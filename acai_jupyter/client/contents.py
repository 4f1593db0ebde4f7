"""Contents on their way into an upload session: small ones in packs, a large one as an object of its own."""

from __future__ import annotations

import io
import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.client.told import changed, told_by_disk, told_by_store
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.uploads import NewFile, PackedBlob, SentObject, SentPart
from acai_jupyter.transfer.copying import copy_file
from acai_jupyter.transfer.errors import Stopped
from acai_jupyter.transfer.hashing import hash_bytes, hash_file
from acai_jupyter.transfer.landing import landing
from acai_jupyter.transfer.sending import Part, send_parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.client.known import LargeFile
    from acai_jupyter.client.sessions import Session
    from acai_jupyter.client.walking import Found

PACK_BYTES = 32 * 1024 * 1024
PACK_BLOBS = 10_000
LARGE_BYTES = 8 * 1024 * 1024
"""From here on a file is not held in memory."""
_VECTOR = 1000


class Content(msgspec.Struct, gc=False):
    """A file that was hashed. Its bytes are here, or in an object that was sent already, or still on the disk."""

    new: NewFile
    source: str
    data: bytes | None = None
    sent: SentObject | None = None

    def read(self) -> bytes:
        """Return the bytes, read again if need be."""
        if self.data is not None:
            return self.data
        data = read_file(self.source)
        if hash_bytes(data) != self.new.sha256:
            raise changed(self.source)
        return data


class Pack:
    """Small contents one after the other; `ship` makes them an object."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.blobs: list[PackedBlob] = []
        self.size_bytes = 0

    def add(self, contents: list[Content]) -> None:
        """Append contents."""
        pieces = [content.read() for content in contents]
        for content, piece in zip(contents, pieces, strict=True):
            self.blobs.append(PackedBlob(content.new.sha256, self.size_bytes, len(piece)))
            self.size_bytes += len(piece)
        self.write(pieces)

    def write(self, pieces: list[bytes]) -> None:
        """Keep the bytes until they are shipped."""
        raise NotImplementedError

    def ship(self) -> SentObject:
        """Make the object."""
        raise NotImplementedError

    def drop(self) -> None:
        """Give it up."""


class DirectPack(Pack):
    """A pack that is written where the store has it."""

    def __init__(self, number: int, folder: str) -> None:
        super().__init__(number)
        self._open = ExitStack()
        with told_by_disk():
            self._descriptor = self._open.enter_context(landing(f"{folder}/{number}", durable=True))

    def write(self, pieces: list[bytes]) -> None:
        """Write at once."""
        with told_by_disk():
            for start in range(0, len(pieces), _VECTOR):
                write_vector(self._descriptor, pieces[start : start + _VECTOR])

    def ship(self) -> SentObject:
        """Flush it to the disk and give it its name."""
        with told_by_disk():
            self._open.close()
        return SentObject(self.number, self.size_bytes, None, self.blobs)

    def drop(self) -> None:
        """Delete what was written."""
        self._open.__exit__(Stopped, Stopped("given up"), None)


class SignedPack(Pack):
    """A pack that is held in memory until it is sent to a signed URL."""

    def __init__(self, number: int, session: Session) -> None:
        super().__init__(number)
        self._session = session
        self._body = io.BytesIO()

    def write(self, pieces: list[bytes]) -> None:
        """Hold the bytes."""
        self._body.writelines(pieces)

    def ship(self) -> SentObject:
        """Send it."""
        body = self._body.getvalue()
        self._body.close()
        sha256 = hash_bytes(body)
        self._session.send(self.number, body, sha256)
        return SentObject(self.number, self.size_bytes, sha256, self.blobs)


def copy_large(folder: str, number: int, found: Found, on_bytes: Callable[[int], object]) -> Content:
    """Copy a large file to where the store has it, hashing it on the way."""
    with told_by_store(found.source):
        copied = copy_file(found.source, f"{folder}/{number}", on_bytes)
    return _large(found, number, copied.size_bytes, copied.sha256, [])


def send_large(
    session: Session,
    begun: LargeFile,
    found: Found,
    on_part: Callable[[int, str], object] | None = None,
    on_bytes: Callable[[int], object] | None = None,
    *,
    hash_first: bool = True,
) -> Content:
    """Send a large file in parts, those that have not arrived, hashing it beside.

    Where the project has a content of this size it is hashed first: it may not have to be sent at all.
    """
    target = session.part_target(begun.number, found.size_bytes)
    if target.has_arrived:
        with told_by_store(found.source):
            return _large(found, begun.number, found.size_bytes, hash_file(found.source), [])
    if hash_first and target.may_exist and not any(part.etag for part in target.parts):
        with told_by_store(found.source):
            return Content(NewFile(found.path, found.size_bytes, hash_file(found.source)), found.source)
    parts = [
        Part(p.number, p.offset, p.size_bytes, p.url, p.headers, etag=_arrived(p.etag, begun.etags.get(p.number)))
        for p in target.parts
    ]
    with told_by_store(found.source):
        sent = send_parts(parts, found.source, on_part, on_bytes)
    told = [SentPart(number, etag) for number, etag in sorted(sent.etags.items())]
    return _large(found, begun.number, found.size_bytes, sent.sha256, told)


def _arrived(there: str | None, ours: str | None) -> str:
    """A part counts as sent when the store has it, and it is the one that was sent from here."""
    return there if there is not None and ours is not None and there == ours.strip('"') else ""


def _large(found: Found, number: int, size_bytes: int, sha256: str, parts: list[SentPart]) -> Content:
    sent = SentObject(number, size_bytes, sha256, [PackedBlob(sha256, 0, size_bytes)], parts)
    return Content(NewFile(found.path, size_bytes, sha256), found.source, sent=sent)


def read_file(source: str) -> bytes:
    """Read a file that fits into memory; as few system calls as can be, they are most of its cost."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
        try:
            size = os.fstat(descriptor).st_size
            data = os.read(descriptor, size + 1)
            while len(data) < size and (more := os.read(descriptor, size - len(data) + 1)):
                data += more
            return data
        finally:
            os.close(descriptor)
    except OSError as error:
        raise BadRequest(f"{source} cannot be read: {error.strerror}.") from error


def write_vector(descriptor: int, pieces: list[bytes]) -> None:
    """Write all of the pieces."""
    wanted = sum(map(len, pieces))
    written = os.writev(descriptor, pieces)
    if written < wanted:
        rest = memoryview(b"".join(pieces))[written:]
        while rest:
            rest = rest[os.write(descriptor, rest) :]


def folder_is_ours(folder: str) -> bool:
    """Whether this process may leave files in a folder of the store, which need not be there yet."""
    above = Path(folder)
    while not above.exists() and above != above.parent:
        above = above.parent
    return os.access(above, os.W_OK | os.X_OK)
