"""Cleans up after upload sessions: abandoned ones, aborts that were cut short, what nobody needs after a commit."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import DeletionPaused
from acai_jupyter.contract.states import UploadState
from acai_server.lake.deletion_guard import AlwaysAllowed
from acai_server.lake.ownership import is_owned
from acai_server.loops import Periodic

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ObjectKey, ProjectId
    from acai_server.db.database import Database
    from acai_server.db.uploads import StoredUpload
    from acai_server.lake.deletion_guard import DeletionGuard
    from acai_server.lake.tidying import Tidying
    from acai_server.objects.protocol import ObjectStore

INTERVAL_SECONDS = 600.0
_AT_ONCE = 20
_QUIET = timedelta(minutes=10)
"""So long a session must have been left alone before what it does not need is dropped."""
_URLS_END = timedelta(hours=25)
"""After so long no URL that an aborted session gave takes bytes any more."""
_SPARE = timedelta(days=2)
"""What is left of an interrupted transfer is kept longer than the session that may still continue it."""


class UploadCollector(Periodic):
    """Runs once at its start and then at every interval."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        tidying: Tidying,
        *,
        kept: timedelta,
        guard: DeletionGuard | None = None,
        interval_seconds: float = INTERVAL_SECONDS,
    ) -> None:
        super().__init__("upload collector", interval_seconds)
        self._database = database
        self._objects = objects
        self._tidying = tidying
        self._kept = kept
        self._guard = guard or AlwaysAllowed()

    def step(self) -> bool:
        """Tidy some sessions; says whether there may be more. While objects may not be deleted, nothing is done."""
        try:
            self._guard.check()
        except DeletionPaused:
            return False
        with self._database.reading() as work:
            now = work.clock.now()
            quiet = min(self._kept, _QUIET)
            before = {
                UploadState.PENDING: now - self._kept,
                UploadState.ABORTED: now - _URLS_END,
                UploadState.COMMITTED: now - quiet,
            }
            found = work.uploads.untidy(before, _AT_ONCE)
        for stored in found:
            if self._stopped.is_set():
                return False
            ended = stored if stored.state is not UploadState.PENDING else self._given_up(stored.project_id, stored.key)
            if ended is not None:
                self._tidying.tidy(ended, for_good=True)
        if not found:
            self._objects.drop_leftovers(now - self._kept - _SPARE, self._is_ours)
        return bool(found)

    def _is_ours(self, key: ObjectKey) -> bool:
        with self._database.reading() as work:
            return is_owned(work, key)

    def _given_up(self, project: ProjectId, key: str) -> StoredUpload | None:
        """Give a session up, unless somebody came back to it."""
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            stored = work.uploads.get(project, key, lock=True)
            if stored.state is not UploadState.PENDING or stored.touched_at > work.clock.now() - self._kept:
                return None
            work.uploads.give_up(stored.id)
            work.events.record(project, "upload_abandoned", stored.label or key)
            return work.uploads.get(project, key)
