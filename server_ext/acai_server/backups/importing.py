"""Bringing one project from another server: bytes first, then its records with new ids, in one transaction."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import BadRequest, Conflict
from acai_jupyter.contract.ids import ObjectKey, ProjectId
from acai_jupyter.contract.states import JobState
from acai_server.backups import form
from acai_server.backups.copying import copy, has, in_threads
from acai_server.db import dumps, schema
from acai_server.db.renumbering import Renumbering

if TYPE_CHECKING:
    from pathlib import Path

    from acai_server.backups.form import KeptObject, Note
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.objects.protocol import ObjectStore

_NOT_ENDED = "it had not ended when its project was exported; submit it again"
_TABLES_WITH_NAMES = ("project", "user_account", "price_book")


class Import:
    """Brings an exported project into a server that may have others, and may run meanwhile."""

    def __init__(self, database: Database, objects: ObjectStore, folder: Path, kept: ObjectStore) -> None:
        self._database = database
        self._objects = objects
        self._kept = kept
        self._folder = folder
        self.note = form.read_note(folder)

    def run(self, name: str | None = None) -> Note:
        """Do it, under the project's own name or another."""
        note = self.note
        if note.project is None or note.project_id is None:
            raise BadRequest(f"{self._folder} holds a whole server. Restore it: acai-server restore {self._folder}")
        if note.revision != schema.HEAD:
            raise Conflict(
                reason=f"it was exported at revision {note.revision} of the tables, and these are at {schema.HEAD}; "
                "bring both servers to one version, and export again"
            )
        form.check(self._folder, note)
        self._check_tables()
        project = self._room_for(name or note.project)
        with self._database.reading() as work:
            identity = work.identity.get().name
            numbers = Renumbering(work.dumps, note.project_id, project, identity=identity)
            listed = [one for page in form.objects_of(self._folder / note.records) for one in page]
        for _ in in_threads(lambda one: self._copy(one, numbers.object_key(one.key)), listed):
            pass
        with self._database.writing() as work:
            self._write(work, Renumbering(work.dumps, note.project_id, project, identity=identity), project)
        return note

    def _check_tables(self) -> None:
        """Refuse everything that an export does not have: what is forged could bring a token of a user who is here."""
        expected = {name for name in dumps.TABLES if dumps.of_project(name)}
        odd = sorted(expected ^ set(self.note.tables))
        if odd:
            raise BadRequest(f"{self._folder} is not what an export writes: see the table '{odd[0]}'. Export again.")
        for table in self.note.tables:
            for columns, _ in form.pages(self._folder / self.note.records, table):
                if columns != dumps.columns_of(table):
                    raise BadRequest(f"{self._folder} has other columns of '{table}' than an export. Export again.")

    def _room_for(self, name: str) -> ProjectId:
        """Make the project, which nobody is in yet; one that an interrupted import has left is gone on with."""
        with self._database.writing() as work:
            found = work.projects.create(name, work.clock.now())
            if found is not None:
                return found
            found = work.projects.find(name)
            if found is None or not work.dumps.is_empty(found):
                raise Conflict(reason=f"there is a project '{name}' already; import it under another with --project")
            return found

    def _copy(self, one: KeptObject, key: str) -> None:
        if not has(self._objects, ObjectKey(key), one.size_bytes):
            copy(self._kept, self._objects, one.key, key, one.size_bytes, one.sha256)

    def _write(self, work: Work, numbers: Renumbering, project: ProjectId) -> None:
        for table in self.note.tables:
            for columns, rows in form.pages(self._folder / self.note.records, table):
                if table in _TABLES_WITH_NAMES:
                    names = [column.name for column in columns]
                    for row in rows:
                        self._meet(work, numbers, table, dict(zip(names, row, strict=True)), project)
                else:
                    work.dumps.add(table, columns, numbers.renumbered(table, columns, rows))
        work.uploads.give_up_pending(project)
        self._end_jobs(work, project)

    def _meet(self, work: Work, numbers: Renumbering, table: str, row: dict[str, Any], project: ProjectId) -> None:
        """Take what there is one of on each server: who has the name here is who had it there."""
        if table == "project":
            work.dumps.set_counters(project, row["last_job"], row["last_commit"])
        elif table == "user_account":
            numbers.know(table, row["id"], work.users.ensure(row["name"], work.clock.now()))
        else:
            content = json.loads(row["content"])
            numbers.know(table, row["id"], work.prices.keep(row["runner"], row["region"], content, work.clock.now()))

    def _end_jobs(self, work: Work, project: ProjectId) -> None:
        """End what had not ended: it goes on where it came from."""
        for job in work.jobs.open():
            if job.project_id == project:
                last = work.attempts.last(job.id) if job.state is not JobState.QUEUED else None
                at = None if last is None else last.id
                work.jobs.advance(job.id, JobState.KILLED, _NOT_ENDED, work.clock.now(), at)
