"""Hashes again what was uploaded. No other user's upload leans on a content before; a wrong one is not handed out.

It takes its time: it stands back while somebody uploads, and after each object it rests as long as three like it take.
"""

from __future__ import annotations

import logging
import time
from datetime import timedelta
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import AcaiError
from acai_server.lake.integrity.range_reader import damaged_blobs
from acai_server.lake.integrity.scrubber import UNREADABLE_RETRY
from acai_server.lake.integrity.store_mark import confirm_store
from acai_server.loops import Periodic

if TYPE_CHECKING:
    from acai_server.db.database import Database
    from acai_server.objects.protocol import ObjectStore

INTERVAL_SECONDS = 30.0
REST = 3.0
_AT_ONCE = 20
_BUSY = timedelta(seconds=5)
_PATIENCE = timedelta(minutes=10)
"""While somebody uploads it stands back, for so long."""

_log = logging.getLogger(__name__)


class BlobChecker(Periodic):
    """Looks for objects of sessions that were committed a while ago."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        *,
        delay: timedelta,
        interval_seconds: float = INTERVAL_SECONDS,
        rest: float = REST,
    ) -> None:
        super().__init__("blob checker", min(interval_seconds, max(delay.total_seconds(), 0.05)))
        self._database = database
        self._objects = objects
        self._delay = delay
        self._rest = rest

    def step(self) -> bool:
        """Check some objects; says whether there may be more."""
        with self._database.reading() as work:
            now = work.clock.now()
            busy = work.uploads.is_busy(now - _BUSY)
            before = now - (max(self._delay, _PATIENCE) if busy else self._delay)
            found = work.blobs.unchecked(before, now, _AT_ONCE)
        for number in found:
            began = time.monotonic()
            try:
                self._try(number)
            except AcaiError as error:
                _log.warning("The uploads cannot be verified now; it will be tried later: %s", error)
                return False
            if self._stopped.wait((time.monotonic() - began) * self._rest):
                return False
        return bool(found)

    def _try(self, number: int) -> None:
        """Check an object, or postpone one that cannot be read; raises when the store itself does not answer."""
        try:
            self._check(number)
        except AcaiError as error:
            confirm_store(self._database, self._objects)
            _log.warning("An upload could not be verified; it will be tried again in an hour: %s", error)
            with self._database.writing() as work:
                work.damage.postpone(number, work.clock.now() + UNREADABLE_RETRY)

    def _check(self, number: int) -> None:
        with self._database.reading() as work:
            stored = work.blobs.object(number)
        if stored is None:
            return
        wrong = damaged_blobs(self._database, self._objects, stored, must_stop=self._stopped.is_set)
        if wrong is None:
            return
        with self._database.writing() as work:
            if work.blobs.object(number) != stored:
                return  # collected or moved meanwhile
            work.blobs.checked(stored.id, wrong, work.clock.now())
            if wrong:
                work.events.record(stored.project_id, "blobs_quarantined", stored.key, creator=stored.creator)
        if wrong:
            _log.warning(
                "%d of %d contents in object %s, uploaded by %s, do not match their hashes and are not handed out. "
                "Put the files again to heal them.",
                len(wrong),
                len(stored.blobs),
                stored.key,
                stored.creator,
            )
