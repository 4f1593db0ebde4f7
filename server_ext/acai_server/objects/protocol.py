"""The seam between records and bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol

from acai_jupyter.contract.states import StorageClass
from acai_server.objects.sources import PIECE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
    from datetime import datetime

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.objects.parts import ArrivedPart

Within = tuple[int, int]
"""Some bytes of an object: where they begin, and how many they are."""


MAX_NOTE_BYTES = 4096
"""What a store keeps by `create` and `swap` is small: a mark, a lease."""


class ListedObject(NamedTuple):
    """An object as a list of the store shows it."""

    key: ObjectKey
    size_bytes: int
    modified_at: datetime


class ObjectStore(Protocol):
    """Bytes under keys. Objects are immutable by convention: a key is written once, with the same bytes if again.

    Every method may be called from any thread. A missing key raises `ObjectNotFound`; a full store raises `StoreFull`;
    a store that does not answer raises `StoreUnavailable`, one that is set up wrongly `SettingsBroken`. A new key is
    `[a-z0-9_/]+`, which every store lists in one order; an older one may have '.' and '-' in it, without `..`.

    Where the storage class makes no difference to a store, it is enough that the record keeps it.
    """

    name: str
    max_put_bytes: int | None
    """What can be sent to one URL at most; None where there is no bound but the disk."""

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
        """Keep the bytes. Atomic: visible whole or not at all, and kept when this returns, even if the power is cut.

        What is not to be `durable` may be lost then: it is of no use to whoever comes back.
        Bytes that are not `size_bytes` long, or not those of `sha256`, raise `HashMismatch` and leave nothing. What
        the source raises comes through as it is, and leaves nothing either.
        """
        ...

    def get(self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None) -> bytes:
        """Return a range of an object, to its end without a size. A range beyond the end is cut there.

        Never fewer bytes than that: a body that breaks off raises `StoreUnavailable`.
        """
        ...

    def stream(
        self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None, piece_bytes: int = PIECE_BYTES
    ) -> Generator[bytes, None, None]:
        """Give what `get` returns in pieces of at most so many bytes, none of them empty, and hold only one.

        What is wrong is raised at the piece that needs it, a missing key at the first.
        """
        ...

    def size(self, key: ObjectKey) -> int:
        """Return the size of an object in bytes."""
        ...

    def delete(self, key: ObjectKey) -> None:
        """Drop an object. One that is not there is no error."""
        ...

    def delete_all(self, keys: Iterable[ObjectKey]) -> None:
        """Drop many objects, as `delete` does. After an error some may be left; to ask again is enough."""
        ...

    def keys(self, prefix: str) -> Iterator[ObjectKey]:
        """Iterate over the keys that begin with a prefix, in their order.

        Some S3 services order by folder: there an older key with '-' or '.' may come after one with '/' at that place.
        """
        ...

    def listed(self, prefix: str, after: str = "") -> Iterator[ListedObject]:
        """Iterate over the objects whose keys begin with a prefix and come after a text, in the order of `keys`.

        A remote store asks for the next page of keys only when the one before has been consumed. Some S3 services leave
        out what is in a folder if `after` is the folder's name without its '/'.
        """
        ...

    def create(self, key: ObjectKey, body: bytes) -> bool:
        """Keep a small object unless there is one under the key; says whether this call kept it.

        Atomic: of several calls at once, one keeps its body. An S3 service that ignores conditions lets the last one
        win; an earlier one returns False if it reads its object again after that.
        """
        ...

    def swap(self, key: ObjectKey, body: bytes, *, expected: bytes) -> bool:
        """Replace a small object whose body is as expected; says whether this call did. Atomic as `create`."""
        ...

    def sign_get(self, key: ObjectKey, *, direct: bool = False, within: Within | None = None) -> str:
        """Return a URL that fetches an object for a limited time; `direct` for whoever shares the disk.

        With `within`, it fetches nothing beside these bytes, of which there is one at least. Whoever uses it asks by a
        Range header for exactly them: a store may refuse to give some of them only.
        """
        ...

    def sign_put(
        self,
        key: ObjectKey,
        *,
        size_bytes: int | None = None,
        sha256: str | None = None,
        storage: StorageClass = StorageClass.FREQUENT,
        direct: bool = False,
    ) -> tuple[str, dict[str, str]]:
        """Return a URL, and the headers that go with it, to send an object of that size, hash and storage class to."""
        ...

    def begin_parts(self, key: ObjectKey, storage: StorageClass = StorageClass.FREQUENT) -> str:
        """Begin an object that is sent in parts. Nothing is visible until `end_parts`; several may be begun at once.

        Every part but the last has at least `MIN_PART_BYTES`. With an id that was ended, dropped or never given, the
        methods below raise `ObjectNotFound` unless they say otherwise.
        """
        ...

    def sign_part(
        self, key: ObjectKey, parts_id: str, number: int, *, size_bytes: int, sha256: str | None = None
    ) -> tuple[str, dict[str, str]]:
        """Return a URL, and the headers that go with it, to send a part to. The answer's ETag header is the part's.

        Another size is refused when it arrives, and another hash where the store can check it. Nothing is asked of
        the store, so an id it does not know is no error here.
        """
        ...

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
        """Keep the bytes of a part and return its etag; else as `put`. Sent again, the last one stands."""
        ...

    def parts(self, key: ObjectKey, parts_id: str) -> list[ArrivedPart]:
        """List the parts that have arrived, by their number: what need not be sent again."""
        ...

    def end_parts(self, key: ObjectKey, parts_id: str, parts: Sequence[tuple[int, str]]) -> None:
        """Make the object of its parts, each a number and an etag: 1, 2, 3 … without gaps. Atomic and kept, like `put`.

        Idempotent: with an id that is not known any more, when the object is there, nothing is done. A part that has
        not arrived raises `Conflict`, a list with gaps or a small part in the middle `BadRequest`; all of them leave
        the parts as they are. An etag may be quoted, as it comes in a header.
        """
        ...

    def drop_parts(self, key: ObjectKey, parts_id: str) -> None:
        """Give the parts up. Those that are not there, or made an object already, are no error."""
        ...

    def drop_leftovers(self, older_than: datetime, is_ours: Callable[[ObjectKey], bool]) -> int:
        """Drop what interrupted puts, and parts begun before a moment and never ended, left; returns how many.

        Only those of keys of which `is_ours` is true. What was touched since may be kept.
        """
        ...
