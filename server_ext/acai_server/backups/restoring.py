"""Putting a backup into an empty place: bytes first, then all records in one transaction.

Being ended half-way leaves bytes and no record; the same line goes on from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import BadRequest, Conflict
from acai_jupyter.contract.ids import ObjectKey
from acai_server.backups import form
from acai_server.backups.copying import copy, has, in_threads
from acai_server.db.filling import filling, refuse_filled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from acai_jupyter.contract.ids import AttemptId, JobId
    from acai_server.backups.form import KeptObject, Note
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.objects.protocol import ObjectStore


def restore(
    database: Database,
    objects: ObjectStore,
    folder: Path,
    kept: ObjectStore,
    interrupted: Callable[[Work, JobId, AttemptId], object],
) -> Note:
    """Fill an empty database and an empty store; `interrupted` says what becomes of jobs that held a machine."""
    note = form.read_note(folder)
    if note.project is not None:
        raise BadRequest(f"{folder} holds the project '{note.project}' alone. Import it: acai-server import {folder}")
    form.check(folder, note)
    refuse_filled(database, note.revision)
    listed = [one for page in form.objects_of(folder / note.records) for one in page]
    _refuse_filled(objects, listed)
    for _ in in_threads(lambda one: _copy(kept, objects, one), listed):
        pass
    with filling(database, note.revision) as (work, finish):
        for table in note.tables:
            for columns, rows in form.pages(folder / note.records, table):
                work.dumps.add(table, columns, rows)
        finish()
        work.uploads.give_up_pending()
        for job, attempt, _ in work.attempts.live():
            interrupted(work, job, attempt)
    return note


def _copy(kept: ObjectStore, objects: ObjectStore, one: KeptObject) -> None:
    if not has(objects, ObjectKey(one.key), one.size_bytes):
        copy(kept, objects, one.key, one.key, one.size_bytes, one.sha256)


def _refuse_filled(objects: ObjectStore, listed: list[KeptObject]) -> None:
    """Refuse a store that has other objects than such as an interrupted restore has left."""
    known = {one.key for one in listed}
    stranger = next((key for key in objects.keys("p") if key not in known), None)
    if stranger is not None:
        raise Conflict(reason=f"the object store is not empty, it has '{stranger}'; nothing is written over")
