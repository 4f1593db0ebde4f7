"""Objects in memory: for tests, and for looking at the product without touching a disk."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, BinaryIO
from uuid import uuid4

from acai_jupyter.contract.errors import ObjectNotFound
from acai_jupyter.contract.states import StorageClass
from acai_server.objects.keys import checked, checked_new
from acai_server.objects.parts import ArrivedPart, check_arrived, check_part, check_sent, checked_id
from acai_server.objects.protocol import ListedObject
from acai_server.objects.sources import PIECE_BYTES, VerifiedSource

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.objects.protocol import ObjectStore, Within
    from acai_server.objects.signing import UrlSigner


@dataclass(frozen=True)
class _Begun:
    """The parts of an object, with the hash and the bytes of each."""

    key: ObjectKey
    at: float = field(default_factory=time.time)
    bodies: dict[int, tuple[str, bytes]] = field(default_factory=dict)


class MemoryObjectStore:
    """A dictionary with a lock."""

    name = "memory"
    max_put_bytes: int | None = None

    def __init__(self, signer: UrlSigner) -> None:
        self._signer = signer
        self._objects: dict[ObjectKey, bytes] = {}
        self._modified_at: dict[ObjectKey, float] = {}
        self._begun: dict[str, _Begun] = {}
        self._lock = threading.Lock()

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
        """See the protocol."""
        del storage, durable
        checked_new(key)
        body = b"".join(VerifiedSource(source, key, size_bytes, sha256))
        with self._lock:
            self._keep(key, body)

    def get(self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None) -> bytes:
        """See the protocol."""
        body = self._body(key)
        return body[offset:] if size_bytes is None else body[offset : offset + size_bytes]

    def stream(
        self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None, piece_bytes: int = PIECE_BYTES
    ) -> Generator[bytes, None, None]:
        """See the protocol."""
        body = memoryview(self._body(key))
        end = len(body) if size_bytes is None else min(len(body), offset + size_bytes)
        for start in range(offset, end, piece_bytes):
            yield bytes(body[start : min(end, start + piece_bytes)])

    def size(self, key: ObjectKey) -> int:
        """See the protocol."""
        return len(self._body(key))

    def delete(self, key: ObjectKey) -> None:
        """See the protocol."""
        with self._lock:
            self._objects.pop(key, None)

    def delete_all(self, keys: Iterable[ObjectKey]) -> None:
        """See the protocol."""
        for key in keys:
            self.delete(key)

    def keys(self, prefix: str) -> Iterator[ObjectKey]:
        """See the protocol."""
        with self._lock:
            found = sorted(key for key in self._objects if key.startswith(prefix))
        yield from found

    def listed(self, prefix: str, after: str = "") -> Iterator[ListedObject]:
        """See the protocol."""
        with self._lock:
            found = sorted(key for key in self._objects if key.startswith(prefix) and key > after)
            shown = [
                ListedObject(key, len(self._objects[key]), datetime.fromtimestamp(self._modified_at[key], UTC))
                for key in found
            ]
        yield from shown

    def create(self, key: ObjectKey, body: bytes) -> bool:
        """See the protocol."""
        with self._lock:
            if checked_new(key) in self._objects:
                return False
            self._keep(key, body)
            return True

    def swap(self, key: ObjectKey, body: bytes, *, expected: bytes) -> bool:
        """See the protocol."""
        with self._lock:
            if self._objects.get(checked_new(key)) != expected:
                return False
            self._keep(key, body)
            return True

    def sign_get(self, key: ObjectKey, *, direct: bool = False, within: Within | None = None) -> str:
        """See the protocol; nobody shares this memory."""
        del direct
        return self._signer.url("GET", checked(key), within=within)

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
        del storage, direct
        return self._signer.url("PUT", checked_new(key), size_bytes=size_bytes, sha256=sha256), {}

    def begin_parts(self, key: ObjectKey, storage: StorageClass = StorageClass.FREQUENT) -> str:
        """See the protocol."""
        del storage
        parts_id = uuid4().hex
        with self._lock:
            self._begun[parts_id] = _Begun(checked_new(key))
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
        verified = VerifiedSource(source, key, size_bytes, sha256)
        body = b"".join(verified)
        with self._lock:
            self._parts(key, parts_id).bodies[number] = (verified.sha256, body)
        return verified.sha256

    def parts(self, key: ObjectKey, parts_id: str) -> list[ArrivedPart]:
        """See the protocol."""
        with self._lock:
            found = sorted(self._parts(key, parts_id).bodies.items())
        return [ArrivedPart(number, len(body), etag) for number, (etag, body) in found]

    def end_parts(self, key: ObjectKey, parts_id: str, parts: Sequence[tuple[int, str]]) -> None:
        """See the protocol."""
        sent = check_sent(checked_new(key), parts)
        with self._lock:
            if parts_id in self._begun or key not in self._objects:
                bodies = self._parts(key, parts_id).bodies
                check_arrived(key, sent, {(number, etag): len(body) for number, (etag, body) in bodies.items()})
                self._keep(key, b"".join(bodies[number][1] for number, _ in sent))
            self._begun.pop(parts_id, None)

    def drop_parts(self, key: ObjectKey, parts_id: str) -> None:
        """See the protocol."""
        with self._lock:
            if parts_id in self._begun and self._begun[parts_id].key == key:
                del self._begun[parts_id]

    def drop_leftovers(self, older_than: datetime, is_ours: Callable[[ObjectKey], bool]) -> int:
        """See the protocol."""
        with self._lock:
            before = older_than.timestamp()
            old = [name for name, begun in self._begun.items() if begun.at < before and is_ours(begun.key)]
            for name in old:
                del self._begun[name]
        return len(old)

    def _keep(self, key: ObjectKey, body: bytes) -> None:
        """Put an object in its place; the caller holds the lock."""
        self._objects[key] = body
        self._modified_at[key] = time.time()

    def _body(self, key: ObjectKey) -> bytes:
        with self._lock:
            body = self._objects.get(checked(key))
        if body is None:
            raise ObjectNotFound(key=key)
        return body

    def _parts(self, key: ObjectKey, parts_id: str) -> _Begun:
        begun = self._begun.get(parts_id)
        if begun is None or begun.key != checked(key):
            raise ObjectNotFound(key=key)
        return begun


if TYPE_CHECKING:
    _proof: type[ObjectStore] = MemoryObjectStore
