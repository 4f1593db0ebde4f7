"""Looks at all stored contents again, spread over a period, and at those first that readers had trouble with.

On a local disk every content is hashed. In a bucket only existence and size are compared, unless full reads are asked
for; a content that is suspected or marked is read in any case, so one that was restored from a backup is unmarked.

Progress is in the database: a restart continues the pass, and of several servers over one database one scrubs at a
time. It is gentle: after each object it rests several times as long as reading it took.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from datetime import timedelta
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING
from uuid import uuid4

from acai_jupyter.contract.errors import AcaiError, ObjectNotFound
from acai_server.db.damage import OVERHEAD_BYTES
from acai_server.lake.integrity.range_reader import damaged_blobs
from acai_server.lake.integrity.store_mark import confirm_store
from acai_server.loops import Periodic

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from acai_server.db.blobs import RecordedObject, StoredObject
    from acai_server.db.database import Database
    from acai_server.objects.protocol import ObjectStore

INTERVAL_SECONDS = 30.0
REST = 3.0
AGAIN = timedelta(days=1)
"""After this long an object with damaged contents is read again: its file may have been restored from a backup."""
LEASE = timedelta(minutes=10)
_AT_ONCE = 20
UNREADABLE_RETRY = timedelta(hours=1)
"""An object that the store cannot read, while it is there itself, is tried again after this long."""
_SLICE_SECONDS = 60.0
"""A rest is cut into slices of this length, so that the pass stays claimed."""
_log = logging.getLogger(__name__)


class Scrubber(Periodic):
    """`period` is how long a pass over everything takes at least; None: only what is suspected is read."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        *,
        period: timedelta | None,
        reads_content: bool,
        interval_seconds: float = INTERVAL_SECONDS,
        rest: float = REST,
    ) -> None:
        super().__init__("scrubber", interval_seconds)
        self._database = database
        self._objects = objects
        self._period = period
        self._reads_content = reads_content
        self._rest = rest
        self._holder = uuid4().hex
        self._held_until: datetime | None = None

    def stop(self) -> None:
        """End the loop, and let another server continue the pass. Safe to call twice."""
        super().stop()
        if self._held_until is not None:
            self._held_until = None
            with suppress(AcaiError), self._database.writing() as work:
                work.damage.release(self._holder, work.clock.now())

    def step(self) -> bool:
        """Look at the objects that are due; says whether more are."""
        if not self._holds_pass():
            return False
        try:
            return self._look()
        except AcaiError as error:
            _log.warning("The stored contents cannot be verified now; it will be tried later: %s", error)
            return False

    def _look(self) -> bool:
        with self._database.reading() as work:
            now = work.clock.now()
            doubtful = work.damage.doubtful(now, now - AGAIN, _AT_ONCE)
        for number in doubtful:
            began = time.monotonic()
            self._try(number, partial(self._read, number))
            if not self._rest_since(began):
                return False
        due = self._due()
        for one in due:
            began = time.monotonic()
            look = partial(self._read, one.id) if self._reads_content else partial(self._compare, one)
            if not self._try(one.id, look):
                return False
            with self._database.writing() as work:
                work.damage.passed(one)
            if not self._rest_since(began):
                return False
        return bool(due or doubtful)

    def _holds_pass(self) -> bool:
        """Claim the pass, or keep it; says whether no other server is at it."""
        with self._database.reading() as work:
            now = work.clock.now()
        if self._held_until is not None and self._held_until - now > LEASE / 2:
            return True
        with self._database.writing() as work:
            held = work.damage.claim(self._holder, now, now + LEASE)
        self._held_until = now + LEASE if held else None
        return held

    def _due(self) -> list[RecordedObject]:
        """Return the next objects as far as the time since the pass began allows."""
        if self._period is None:
            return []
        with self._database.reading() as work:
            now = work.clock.now()
            state = work.damage.scrub_pass()
            following = work.damage.next_objects(state.position, _AT_ONCE)
        elapsed = (now - state.began_at) / self._period
        if (following and not state.total_bytes) or (not following and elapsed >= 1):
            with self._database.writing() as work:
                work.damage.begin_pass(now)
            return []
        before = accumulate((one.size_bytes + OVERHEAD_BYTES for one in following), initial=state.done_bytes)
        allowed = elapsed * state.total_bytes
        return [one for one, done in zip(following, before, strict=False) if done < allowed]

    def _try(self, number: int, look: Callable[[], bool]) -> bool:
        """Look at an object; says whether that is done. One that cannot be read is put off; raises if none can be."""
        try:
            return look()
        except AcaiError as error:
            confirm_store(self._database, self._objects)
            _log.warning("An object could not be verified; it will be tried again in an hour: %s", error)
        with self._database.writing() as work:
            work.damage.postpone(number, work.clock.now() + UNREADABLE_RETRY)
        return True

    def _rest_since(self, began: float) -> bool:
        """Rest several times as long as the work took; says whether to go on."""
        end = time.monotonic() + (time.monotonic() - began) * self._rest
        while not self._must_stop():
            left = end - time.monotonic()
            if left <= 0:
                return True
            self._stopped.wait(min(left, _SLICE_SECONDS))
        return False

    def _read(self, number: int) -> bool:
        """Hash an object's contents and record what was found; says whether it was not stopped."""
        with self._database.reading() as work:
            stored = work.blobs.object(number)
        if stored is None:
            with self._database.writing() as work:
                work.damage.not_suspected(number)
            return True
        wrong = damaged_blobs(self._database, self._objects, stored, must_stop=self._must_stop)
        if wrong is None:
            return False
        with self._database.writing() as work:
            if work.blobs.object(number) != stored:
                return True  # collected, moved or marked in the meantime
            work.blobs.checked(number, wrong, work.clock.now())
            if set(wrong) - stored.wrong:
                work.events.record(stored.project_id, "blobs_quarantined", stored.key, creator=stored.creator)
            if stored.wrong - set(wrong):
                work.events.record(stored.project_id, "blobs_healed", stored.key, creator=stored.creator)
        _tell(stored, set(wrong))
        return True

    def _compare(self, one: RecordedObject) -> bool:
        """Compare an object's size, and read the object if that is not the recorded one."""
        try:
            size = self._objects.size(one.key)
        except ObjectNotFound:
            size = -1
        return size == one.size_bytes or self._read(one.id)

    def _must_stop(self) -> bool:
        """Keep the pass while a large object is read; says whether to stop."""
        return self._stopped.is_set() or not self._holds_pass()


def _tell(stored: StoredObject, wrong: set[int]) -> None:
    if wrong - stored.wrong:
        _log.warning(
            "%d contents in object %s, uploaded by %s, are damaged and not handed out any more. Put the files again "
            "to heal them, or run acai-server repair.",
            len(wrong - stored.wrong),
            stored.key,
            stored.creator,
        )
    if stored.wrong - wrong:
        _log.info("%d damaged contents in object %s are sound again.", len(stored.wrong - wrong), stored.key)
