"""Deleting versions of file sets, and bringing them back until a grace period has ended."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import Conflict
from acai_jupyter.contract.filesets import RemovedFileSets
from acai_jupyter.contract.specs import parse_set
from acai_server.db import sight
from acai_server.db.batches import pages
from acai_server.lake.burying import PAGE, bury_unneeded, let_others_in, load_in, loader, restore
from acai_server.lake.holding import held, own_entries

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from acai_jupyter.contract.filesets import RemoveFileSets
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_server.db.burials import Mark, StoredVersion
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.work import Work
    from acai_server.lake.holding import FileVersion

GRACE = timedelta(days=7)
EVERY = 1_000_000_000
_TOLD = 100
_CLOCKS = timedelta(days=1)
"""Servers of one database may differ by so much in what they think the time is."""


class Keeping:
    """Tombstones of file sets. What can be brought back, and until when, is `grace`."""

    def __init__(self, database: Database, *, grace: timedelta = GRACE) -> None:
        self._database = database
        self._grace = grace

    def change(self, project: ProjectId, user: UserId, text: str, request: RemoveFileSets) -> RemovedFileSets:
        """Delete a version, or all versions of a name that is given without one; or bring them back."""
        if request.undo:
            return self._restore(project, user, text)
        return self._remove(project, user, text, files=request.files)

    def _remove(self, project: ProjectId, user: UserId, text: str, *, files: bool) -> RemovedFileSets:
        with self._database.writing() as work:
            now = work.clock.now()
            work.uploads.lock_project(project)
            chosen = _chosen(work, project, text)
            going = [stored for stored in chosen if stored.public.deleted_at is None]
            _refuse_needed(work, project, going)
            _mark(work, project, user, going, now)
        roots = [stored.root for stored in chosen if stored.collected_at is None]
        with sight.everything():  # what others need is kept, whoever may see them
            count = self._bury_files(project, roots) if files else 0
        refs = [stored.public.ref for stored in going]
        return RemovedFileSets(refs, count, now + self._grace if going or count else None)

    def _bury_files(self, project: ProjectId, roots: list[bytes]) -> int:
        with self._database.reading() as work:
            living = set(work.file_sets.living(project).values())
        entries = own_entries(roots, living, loader(self._database, project))
        count = 0
        for page in pages(((entry.path, entry.version) for entry in entries), PAGE):
            with self._database.writing() as work:
                work.uploads.lock_project(project)
                count += bury_unneeded(work, project, page)
            let_others_in()
        return count

    def _restore(self, project: ProjectId, user: UserId, text: str) -> RemovedFileSets:
        """Bring back the files first: a set is there only when all is that it holds."""
        mark: Mark = (0, 0)
        count = 0
        while True:
            with self._database.writing() as work:
                work.uploads.lock_project(project)
                coming = _restorable(work, project, text)
                # What is deleted meanwhile comes last in the order of commits; at its end the project is still locked.
                with sight.everything():
                    found, mark = work.burials.deleted(project, _since(work, coming), mark, PAGE)
                    kept = held({stored.root for stored in coming}, _named(found), load_in(work, project))
                    count += restore(work, project, [one for one in found if (one.path, one.number) in kept])
                if len(found) < PAGE or not coming:
                    _mark(work, project, user, coming, None)
                    return RemovedFileSets([stored.public.ref for stored in coming], count)
            let_others_in()


def _chosen(work: Work, project: ProjectId, text: str) -> list[StoredFileSet]:
    """The versions that a text names, the deleted ones too. Their name is locked, so that no new one comes."""
    ref = parse_set(text)
    sight.refuse_set(ref.name)
    name = work.file_sets.name(project, ref.name, lock=True)
    if name is None or ":" in text:
        return [work.file_sets.find(project, ref, or_deleted=True)]
    return work.file_sets.versions(name.id, None, EVERY)


def _restorable(work: Work, project: ProjectId, text: str) -> list[StoredFileSet]:
    deleted = [stored for stored in _chosen(work, project, text) if stored.public.deleted_at is not None]
    found = [stored for stored in deleted if stored.collected_at is None]
    if deleted and not found:
        raise Conflict(reason=f"'{text}' was deleted too long ago, and what it listed has been collected")
    return found


def _since(work: Work, coming: list[StoredFileSet]) -> datetime:
    """No file version of these sets can have been deleted before that, as they were there."""
    moments = [stored.public.deleted_at for stored in coming if stored.public.deleted_at is not None]
    return min(moments, default=work.clock.now()) - _CLOCKS


def _named(versions: list[StoredVersion]) -> Iterator[FileVersion]:
    return ((one.path, one.number) for one in versions)


def _refuse_needed(work: Work, project: ProjectId, going: list[StoredFileSet]) -> None:
    for stored in going:
        public = stored.public
        if public.aliases:
            alias = public.aliases[0]
            taken = f"take it away with acai fileset alias {public.name} {alias} --remove"
            raise Conflict(reason=f"'{public.ref}' has the alias '{alias}'; {taken}")
    used = work.file_sets.in_use(going[0].file_set_id) if going else {}
    job = next((used[stored.id] for stored in going if stored.id in used), None)
    if job is not None:
        ref = next(stored.public.ref for stored in going if stored.id in used)
        who = f"job {job}" if work.subjects.jobs(project, [job]) else "a job"
        raise Conflict(reason=f"{who}, which has not ended, uses '{ref}'; wait for it to end")


def _mark(work: Work, project: ProjectId, user: UserId, sets: list[StoredFileSet], deleted_at: datetime | None) -> None:
    if not sets:
        return
    work.file_sets.mark(sets[0].file_set_id, [stored.id for stored in sets], deleted_at)
    refs = [stored.public.ref for stored in sets]
    kind = "file_sets_restored" if deleted_at is None else "file_sets_removed"
    told = {"file_sets": refs[:_TOLD], "count": len(refs), "user": work.uploads.creator(user)}
    work.events.record(project, kind, refs[0] if len(refs) == 1 else sets[0].public.name, **told)
