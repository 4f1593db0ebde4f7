"""Whether objects are in the store in full: their existence and size, not their bytes.

A store that is away has lost nothing: when objects are missing, its mark is read before they count as lost.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import ObjectNotFound
from acai_server.lake.integrity.store_mark import confirm_store

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from acai_server.db.blobs import RecordedObject
    from acai_server.db.database import Database
    from acai_server.objects.protocol import ObjectStore

ON_DISK_SECONDS = 1.0
REMOTE_SECONDS = 10.0
"""For how long an object that was found is not asked about again: pages of one upload follow each other closely."""
_THREADS = 8
_REMEMBERED = 100_000


class Presence:
    """Compares sizes in the store with the recorded ones. Thread-safe.

    A good answer is remembered for a short time; a bad one never is.
    """

    def __init__(
        self, database: Database, objects: ObjectStore, *, ticks: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._objects = objects
        self._ticks = ticks
        self._seconds = REMOTE_SECONDS if objects.name == "s3" else ON_DISK_SECONDS
        self._found: dict[RecordedObject, float] = {}
        self._lock = threading.Lock()

    def unlike(self, wanted: Iterable[RecordedObject], *, is_new: bool = False) -> dict[RecordedObject, int]:
        """Return the objects whose size is not the recorded one, with that size; -1 for a missing object.

        With `is_new`, there is reason to doubt an earlier answer. Raises `StoreUnavailable` when the store is away.
        """
        now = self._ticks()
        with self._lock:
            asked = [one for one in set(wanted) if is_new or self._found.get(one, now - 1) < now]
        sizes = dict(zip(asked, self._sizes(asked), strict=True))
        with self._lock:
            if len(self._found) + len(sizes) > _REMEMBERED:
                self._found.clear()
            for one in sizes:
                self._found.pop(one, None)
            self._found |= {one: now + self._seconds for one, size in sizes.items() if size == one.size_bytes}
        unlike = {one: size for one, size in sizes.items() if size != one.size_bytes}
        if unlike:
            confirm_store(self._database, self._objects)
        return unlike

    def _sizes(self, asked: Collection[RecordedObject]) -> list[int]:
        if self._objects.name != "s3" or len(asked) <= 1:
            return [self._size(one) for one in asked]
        with ThreadPoolExecutor(min(_THREADS, len(asked)), "acai-presence") as pool:
            return list(pool.map(self._size, asked))

    def _size(self, one: RecordedObject) -> int:
        try:
            return self._objects.size(one.key)
        except ObjectNotFound:
            return -1
