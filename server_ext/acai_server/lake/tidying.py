"""Dropping what nobody needs of upload sessions that have ended. Each can be interrupted, and done again."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.states import UploadState

if TYPE_CHECKING:
    from acai_server.db.database import Database
    from acai_server.db.uploads import StoredUpload
    from acai_server.lake.deletion_guard import DeletionGuard
    from acai_server.lake.direct import DirectPath
    from acai_server.objects.protocol import ObjectStore

_ROWS_AT_ONCE = 500
"""Few, as on a full disk a transaction has only the spare room."""
_KEYS_AT_ONCE = 1000


class Tidying:
    """Of one that was given up nothing stays; of a committed one what its records name."""

    def __init__(
        self, database: Database, objects: ObjectStore, direct: DirectPath | None, guard: DeletionGuard
    ) -> None:
        self._guard = guard
        self._database = database
        self._objects = objects
        self._direct = direct

    def tidy(self, stored: StoredUpload, *, for_good: bool) -> None:
        """Drop what is not needed of an ended session; not for good while a URL that it gave may still take bytes.

        Raises `DeletionPaused`, and changes nothing, while objects may not be deleted: it is done later.
        """
        self._guard.check()
        committed = stored.state is UploadState.COMMITTED
        self._forget_rows(stored, committed=committed)
        self._drop_parts(stored)
        prefix = stored.object_prefix
        if committed:
            self._drop_untold(stored, prefix)
        else:
            self._objects.delete_all(self._objects.keys(prefix))
        if self._direct is not None:
            self._direct.drop(prefix, only_unfinished=committed)
        with self._database.writing() as work:
            work.uploads.tidied(stored.id, work.clock.now(), for_good=for_good)

    def _forget_rows(self, stored: StoredUpload, *, committed: bool) -> None:
        more = True
        while more:
            with self._database.writing() as work:
                work.uploads.lock_project(stored.project_id)
                if committed:
                    more = work.staging.forget_kept(stored.id, _ROWS_AT_ONCE)
                else:
                    more = work.staging.forget(stored.id, _ROWS_AT_ONCE) or work.blobs.forget(stored.id, _ROWS_AT_ONCE)

    def _drop_parts(self, stored: StoredUpload) -> None:
        with self._database.reading() as work:
            expected = work.uploads.expected(stored.id)
        for number, wanted in expected.items():
            if wanted.parts_id is not None:
                self._objects.drop_parts(object_key(stored, number), wanted.parts_id)

    def _drop_untold(self, stored: StoredUpload, prefix: str) -> None:
        """Drop objects that arrived and were never told, as their sender was killed and sent them again."""
        keys = self._objects.keys(prefix)
        while page := list(islice(keys, _KEYS_AT_ONCE)):
            with self._database.reading() as work:
                told = work.blobs.told(stored.id, page)
            self._objects.delete_all(key for key in page if key not in told)


def object_key(stored: StoredUpload, number: int) -> ObjectKey:
    """Return the key of a session's object."""
    return ObjectKey(f"{stored.object_prefix}{number}")
