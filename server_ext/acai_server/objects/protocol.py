"""The seam between records and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import ObjectKey


class ObjectStore(Protocol):
    """Bytes under keys. Objects are immutable by convention: a key is written once, with the same bytes if again.

    Every method may be called from any thread. A missing key raises `ObjectNotFound`; a full store raises `StoreFull`;
    a store that does not answer raises `StoreUnavailable`. A key is `[a-z0-9/._-]+` without `..`.
    """

    name: str

    def put(self, key: ObjectKey, source: BinaryIO, *, size_bytes: int, sha256: str | None = None) -> None:
        """Keep the bytes. Atomic: visible whole or not at all, and kept when this returns.

        Bytes that are not `size_bytes` long, or not those of `sha256`, raise `HashMismatch` and leave nothing.
        """
        ...

    def get(self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None) -> bytes:
        """Return a range of an object, to its end without a size. A range beyond the end is cut there."""
        ...

    def size(self, key: ObjectKey) -> int:
        """Return the size of an object in bytes."""
        ...

    def delete(self, key: ObjectKey) -> None:
        """Drop an object. One that is not there is no error."""
        ...

    def keys(self, prefix: str) -> Iterator[ObjectKey]:
        """Iterate over the keys that begin with a prefix, in their order.

        Some S3 services order by folder: there a key with '-' or '.' may come after one with '/' at that place.
        """
        ...

    def sign_get(self, key: ObjectKey, *, direct: bool = False) -> str:
        """Return a URL that fetches an object for a limited time; `direct` for whoever shares the disk."""
        ...

    def sign_put(
        self, key: ObjectKey, *, size_bytes: int | None = None, sha256: str | None = None, direct: bool = False
    ) -> tuple[str, dict[str, str]]:
        """Return a URL, and the headers that go with it, to send an object of that size and hash to."""
        ...
