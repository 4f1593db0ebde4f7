"""Whether objects are in the store in full: their existence and size, not their bytes.

Many objects of a bucket are compared with pages of its list of keys, which has the sizes; few are asked for one by one.
A store that is away has lost nothing: when objects are missing, its mark is read before they count as lost.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_right
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from operator import attrgetter
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
LISTED_FROM = 50
"""From this many objects of a bucket on, its list of keys is read."""
PAGE_KEYS = 1000
"""The keys that S3 lists in one answer."""
WORTHWHILE = 5
"""A page of keys takes about as long as asking for this many objects; where it has fewer of them, the list is left."""
_THREADS = 8
_REMEMBERED = 100_000


class Presence:
    """Compares sizes in the store with the recorded ones. Thread-safe.

    A good answer is remembered for a short time; a bad one never is.
    """

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        *,
        ticks: Callable[[], float] = time.monotonic,
        page_keys: int = PAGE_KEYS,
    ) -> None:
        self._database = database
        self._objects = objects
        self._ticks = ticks
        self._page_keys = page_keys
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
        sizes = self._sizes(asked)
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

    def _sizes(self, asked: Collection[RecordedObject]) -> dict[RecordedObject, int]:
        """Return the size of each object in the store; -1 for a missing one."""
        if self._objects.name != "s3" or len(asked) <= 1:
            return {one: self._size(one) for one in asked}
        with ThreadPoolExecutor(min(_THREADS, len(asked)), "acai-presence") as pool:
            found: dict[RecordedObject, int] = {}
            if len(asked) >= LISTED_FROM:
                ordered = sorted(asked, key=attrgetter("key"))
                starts = range(0, len(ordered), self._page_keys)
                for sizes in pool.map(partial(self._listed, ordered), starts):
                    found |= sizes
            left = [one for one in asked if found.get(one) != one.size_bytes]  # a list alone proves no loss
            found |= dict(zip(left, pool.map(self._size, left), strict=True))
        return found

    def _listed(self, ordered: list[RecordedObject], start: int) -> dict[RecordedObject, int]:
        """Return the sizes of one page of objects as the store lists them.

        Those that are missing or lie in a sparse part of the list may be left out. What lies between two objects is
        skipped: each page of keys begins at the first object that the one before did not reach.
        """
        wanted = ordered[start : start + self._page_keys]
        keys = [one.key for one in wanted]
        found: dict[RecordedObject, int] = {}
        after = ordered[start - 1].key if start else ""
        at = 0
        while at < len(wanted):
            after = max(after, keys[at][:-1])
            page = list(islice(self._objects.listed(f"{keys[at].partition('/')[0]}/", after), self._page_keys))
            sizes = {one.key: one.size_bytes for one in page}
            is_last = len(page) < self._page_keys
            reached = len(wanted) if is_last else bisect_right(keys, page[-1].key)
            found |= {one: sizes[one.key] for one in wanted[at:reached] if one.key in sizes}
            if is_last or reached - at < WORTHWHILE:
                break
            at, after = reached, page[-1].key
        return found

    def _size(self, one: RecordedObject) -> int:
        try:
            return self._objects.size(one.key)
        except ObjectNotFound:
            return -1
