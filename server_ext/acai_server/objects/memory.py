"""Objects in memory: for tests, and for looking at the product without touching a disk."""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, BinaryIO

from acai_jupyter.contract.errors import HashMismatch, ObjectNotFound
from acai_server.objects.keys import checked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.objects.protocol import ObjectStore
    from acai_server.objects.signing import UrlSigner


class MemoryObjectStore:
    """A dictionary with a lock."""

    name = "memory"

    def __init__(self, signer: UrlSigner) -> None:
        self._signer = signer
        self._objects: dict[ObjectKey, bytes] = {}
        self._lock = threading.Lock()

    def put(self, key: ObjectKey, source: BinaryIO, *, size_bytes: int, sha256: str | None = None) -> None:
        """See the protocol."""
        checked(key)
        body = source.read()
        if len(body) != size_bytes or (sha256 and hashlib.sha256(body).hexdigest() != sha256):
            raise HashMismatch(what=key)
        with self._lock:
            self._objects[key] = body

    def get(self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None) -> bytes:
        """See the protocol."""
        body = self._body(key)
        return body[offset:] if size_bytes is None else body[offset : offset + size_bytes]

    def size(self, key: ObjectKey) -> int:
        """See the protocol."""
        return len(self._body(key))

    def delete(self, key: ObjectKey) -> None:
        """See the protocol."""
        with self._lock:
            self._objects.pop(key, None)

    def keys(self, prefix: str) -> Iterator[ObjectKey]:
        """See the protocol."""
        with self._lock:
            found = sorted(key for key in self._objects if key.startswith(prefix))
        yield from found

    def sign_get(self, key: ObjectKey, *, direct: bool = False) -> str:
        """See the protocol; nobody shares this memory."""
        del direct
        return self._signer.url("GET", checked(key))

    def sign_put(
        self, key: ObjectKey, *, size_bytes: int | None = None, sha256: str | None = None, direct: bool = False
    ) -> tuple[str, dict[str, str]]:
        """See the protocol."""
        del direct
        return self._signer.url("PUT", checked(key), size_bytes=size_bytes, sha256=sha256), {}

    def _body(self, key: ObjectKey) -> bytes:
        with self._lock:
            body = self._objects.get(checked(key))
        if body is None:
            raise ObjectNotFound(key=key)
        return body


if TYPE_CHECKING:
    _proof: type[ObjectStore] = MemoryObjectStore
