"""Making a backup while the server runs: records in one view of the database, then the bytes that they speak of.

Bytes are written before the record of them, so all that the view speaks of is in the store. What is freed while bytes
are copied was deleted before, beyond coming back; that it is gone is no fault.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec

from acai_jupyter import trees
from acai_jupyter.contract.errors import BadRequest, Conflict, HashMismatch, ObjectNotFound, ProjectNotFound
from acai_jupyter.contract.ids import ObjectKey, ProjectId
from acai_server.backups import form
from acai_server.backups.copying import copy, has, in_threads
from acai_server.backups.form import KeptObject, Note, RecordsNote
from acai_server.db import dumps, schema
from acai_server.db.dumps import StoredObject
from acai_server.objects.durable import flush_folder
from acai_server.objects.keys import JobOwner, owner_of, project_prefix

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.objects.protocol import ObjectStore

_KEYS_AT_ONCE = 1000
_PASSING = "launch"
"""What a job is started with: it is made anew for each attempt, and is of no use afterwards."""


class Backup:
    """Copies what is kept into a folder, whose objects `kept` are; what is there from the last time, not again."""

    def __init__(
        self, database: Database, objects: ObjectStore, folder: Path, kept: ObjectStore, version: str = ""
    ) -> None:
        self._database = database
        self._objects = objects
        self._folder = folder
        self._kept = kept
        self._version = version
        self.troubles: list[str] = []
        """What was found to be wrong with what is kept, in sentences."""

    def make(self, project: str | None = None) -> Note:
        """Make the backup, of one project or of all."""
        with _alone(self._folder):
            known = self._known(project)
            records = self._folder / f"records-{uuid4().hex[:8]}"
            records.mkdir(mode=0o700)
            try:
                note = self._make(project, records, known)
            except BaseException:
                trees.remove(str(records))
                raise
            self._drop_older(note)
            return note

    def _make(self, project: str | None, records: Path, known: dict[str, KeptObject]) -> Note:
        notes: dict[str, RecordsNote] = {}
        with self._database.reading() as work:
            made_at, only, identity = work.clock.now(), _find(work, project), work.identity.get().name
            for table in dumps.TABLES:
                if only is None or dumps.of_project(table):
                    with form.writing(records, table, dumps.columns_of(table), notes) as file:
                        for rows in work.dumps.rows(table, only):
                            file.add(rows)
            spoken_of = list(work.dumps.objects(only))
            last_jobs = {ProjectId(one): last for one, last in work.dumps.last_jobs() if only in (None, one)}
        kept = self._copied([*spoken_of, *self._of_jobs(last_jobs)], known)
        listed: dict[str, RecordsNote] = {}
        with form.writing(records, form.OBJECTS, form.OBJECT_COLUMNS, listed) as file:
            file.add(kept)
        note = Note(
            version=self._version,
            revision=schema.HEAD,
            made_at=made_at,
            project=project,
            project_id=only,
            records=records.name,
            tables=notes,
            objects=listed[form.OBJECTS],
            objects_bytes=sum(one.size_bytes for one in kept),
            identity=identity,
        )
        _write(self._folder, note)
        return note

    def _of_jobs(self, last_jobs: dict[ProjectId, int]) -> Iterator[StoredObject]:
        """Give the objects of attempts that have no record: logs, displays, results. Those of other databases stay."""
        for project, last in last_jobs.items():
            keys = self._objects.keys(f"{project_prefix(project)}jobs/")
            while page := list(islice(keys, _KEYS_AT_ONCE)):
                named = [(key, job) for key in page if isinstance(job := owner_of(key), JobOwner)]
                with self._database.reading() as work:
                    jobs = work.sweeping.jobs(project, sorted({job.number for _, job in named}))
                for key, job in named:
                    is_ours = job.number <= last and job.number in jobs and jobs[job.number].folder == job.folder
                    if is_ours and job.slot not in (_PASSING, "pack"):
                        yield StoredObject(key, -1, None)

    def _copied(self, wanted: list[StoredObject], known: dict[str, KeptObject]) -> list[KeptObject]:
        found = in_threads(lambda one: self._copy(one, known.get(one.key)), wanted)
        return [one for one in found if one is not None]

    def _copy(self, wanted: StoredObject, before: KeptObject | None) -> KeptObject | None:
        size = None if wanted.size_bytes < 0 else wanted.size_bytes
        sha256 = None if wanted.sha256 is None else wanted.sha256.hex()
        if before is not None and size in (None, before.size_bytes) and has(self._kept, ObjectKey(before.key), size):
            return before
        try:
            return copy(self._objects, self._kept, wanted.key, wanted.key, size, sha256)
        except HashMismatch:
            self.troubles.append(f"'{wanted.key}' holds other bytes than were recorded; it is kept as it is.")
            return copy(self._objects, self._kept, wanted.key, wanted.key, None, None)
        except ObjectNotFound:
            with self._database.reading() as work:
                if work.dumps.has_object(wanted.key):
                    self.troubles.append(f"'{wanted.key}' is not in the object store.")
            return None

    def _known(self, project: str | None) -> dict[str, KeptObject]:
        """Return what the folder has from the last time; a folder with something else in it is refused."""
        if (self._folder / form.NOTE).exists():
            last = form.read_note(self._folder)
            if last.project != project:
                was = "all projects" if last.project is None else f"the project '{last.project}'"
                raise BadRequest(f"{self._folder} holds {was}. Name another folder.")
            known = {one.key: one for page in form.objects_of(self._folder / last.records) for one in page}
            self._refuse_other_database(last, known)
            return known
        strangers = [path.name for path in self._folder.iterdir() if not _is_ours(path.name)]
        if strangers:
            raise BadRequest(f"{self._folder} holds '{strangers[0]}', which is no backup's. Name another folder.")
        return {}

    def _refuse_other_database(self, last: Note, known: dict[str, KeptObject]) -> None:
        """Refuse to replace the backup of another database, which would delete its objects."""
        with self._database.reading() as work:
            if last.identity:
                is_same = last.identity == work.identity.get().name
            else:  # of version 0.1
                is_same = not known or bool(work.sweeping.recorded(known))
        if not is_same:
            raise BadRequest(f"{self._folder} holds the backup of another database. Name another folder.")

    def _drop_older(self, note: Note) -> None:
        for path in self._folder.glob("records-*"):
            if path.name != note.records:
                trees.remove(str(path))
        wanted = {one.key for page in form.objects_of(self._folder / note.records) for one in page}
        self._kept.delete_all([key for key in self._kept.keys("") if key not in wanted])


def _find(work: Work, project: str | None) -> ProjectId | None:
    if project is None:
        return None
    found = work.projects.find(project)
    if found is None:
        raise ProjectNotFound(project=project)
    return found


def _is_ours(name: str) -> bool:
    return name in ("lock", form.OBJECTS, form.NOTE) or name.startswith(("records-", f".{form.NOTE}"))


def _write(folder: Path, note: Note) -> None:
    """Let the note take the place of the last one, when all that it speaks of is on the disk."""
    for path in (folder / note.records).iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())
    flush_folder(folder / note.records)
    partial = folder / f".{form.NOTE}.{uuid4().hex[:8]}"
    with partial.open("wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(note)))
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / form.NOTE)
    flush_folder(folder)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Make the folder, for nobody else, and let nobody else write to it meanwhile."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise BadRequest(f"{folder} cannot be written to ({error.strerror}). Name another folder.") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Conflict(reason=f"another backup is being made in {folder}") from None
    else:
        yield
    finally:
        os.close(descriptor)
