"""Objects on their way from one store to another."""

from __future__ import annotations

import hashlib
import io
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, BinaryIO, TypeVar, cast

from acai_jupyter.contract.errors import ObjectNotFound
from acai_server.backups.form import KeptObject
from acai_server.objects.keys import checked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.objects.protocol import ObjectStore

T = TypeVar("T")
R = TypeVar("R")
AT_ONCE = 8
_WHOLE_BYTES = 4 * 1024**2
_PAGE = 1000


class _Stream(io.RawIOBase):
    """What is read of pieces, hashed on the way."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._held = b""
        self.digest = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        """Return some of it; nothing is its end."""
        if not self._held:
            self._held = next(self._pieces, b"")
            self.digest.update(self._held)
        found, self._held = (self._held, b"") if size < 0 else (self._held[:size], self._held[size:])
        return found


def copy(
    source: ObjectStore, target: ObjectStore, key: str, to: str, size_bytes: int | None, sha256: str | None
) -> KeptObject:
    """Copy an object, and return what it is. What is not of that size and hash raises, and is not there."""
    here, there = checked(key), checked(to)
    size = source.size(here) if size_bytes is None else size_bytes
    stream = _Stream([source.get(here)] if size <= _WHOLE_BYTES else source.stream(here))
    target.put(there, cast("BinaryIO", stream), size_bytes=size, sha256=sha256)
    return KeptObject(key, size, stream.digest.hexdigest())


def has(store: ObjectStore, key: ObjectKey, size_bytes: int | None) -> bool:
    """Whether a store has an object, of a size if that is known."""
    try:
        found = store.size(key)
    except ObjectNotFound:
        return False
    return size_bytes in (None, found)


def in_threads(work: Callable[[T], R], things: Iterable[T]) -> Iterator[R]:
    """Do work for each thing, several at once; what one raises ends it."""
    rest = iter(things)
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="acai-copy") as pool:
        while page := list(islice(rest, _PAGE)):
            yield from pool.map(work, page)
