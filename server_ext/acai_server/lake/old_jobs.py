"""The step of a collection that frees what deleted jobs left: logs, displays and records, and sets of theirs alone.

The rows of the jobs stay, and so do what they made and the actions: provenance stays whole.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import ObjectNotFound
from acai_jupyter.contract.garbage import GarbageKind
from acai_server.db.batches import pages
from acai_server.lake.burying import PAGE, bury, bury_unneeded, let_others_in, loader, unheld
from acai_server.lake.collecting import EXAMPLES
from acai_server.lake.holding import own_entries
from acai_server.objects.keys import folder_prefix

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import JobNumber, ObjectKey, ProjectId, UserId
    from acai_server.db.sweeping import SetOfJobs
    from acai_server.db.work import Work
    from acai_server.lake.collecting import Run
    from acai_server.lake.holding import FileVersion

_JOBS_AT_ONCE = 200
_KEYS_AT_ONCE = 1000
_TOLD = 100


def sweep_jobs(run: Run, user: UserId | None) -> set[str]:
    """Free what was left by jobs that were deleted too long ago to be brought back; returns their folders."""
    found: set[str] = set()
    after = 0
    while page := _collected(run, after):
        after = max(page)
        with run.database.reading() as work:
            folders = {number: owner.folder for number, owner in work.sweeping.jobs(run.project, page).items()}
        found.update(folders.values())
        for number in page:
            run.report.add(GarbageKind.DELETED_JOBS, 1, _freed(run, folders[number]), [f"job {number}"])
    _bury_sets(run, user)
    return found


def _collected(run: Run, after: int) -> list[JobNumber]:
    """Say of a page of jobs that they do not come back; an undo is either before that or refused."""
    run.go_on()
    if run.is_dry:
        with run.database.reading() as work:
            return list(work.sweeping.dead_jobs(run.project, run.cutoff, after, _JOBS_AT_ONCE))
    with run.database.writing() as work:
        dead = work.sweeping.dead_jobs(run.project, run.cutoff, after, _JOBS_AT_ONCE)
        gone = set(work.jobs.collected(list(dead.values()), work.clock.now()))
        return [number for number, job in dead.items() if job in gone]


def _freed(run: Run, folder: str) -> int:
    """Drop the objects of a job that have no record: those in which outputs rest go with the outputs."""
    size = 0
    keys = iter(run.objects.keys(folder_prefix(run.project, folder)))
    while page := list(islice(keys, _KEYS_AT_ONCE)):
        run.go_on()
        with run.database.reading() as work:
            recorded = work.sweeping.recorded(page)
        bare = [key for key in page if key not in recorded]
        size += sum(_size(run, key) for key in bare)
        if not run.is_dry:
            run.objects.delete_all(bare)
    return size


def _size(run: Run, key: ObjectKey) -> int:
    try:
        return run.objects.size(key)
    except ObjectNotFound:
        return 0


def _bury_sets(run: Run, user: UserId | None) -> None:
    """Delete code, laid together inputs and partial outputs that no other job has: they can be brought back."""
    with run.database.reading() as work:
        going = work.sweeping.sets_of_jobs(run.project, run.cutoff)
    if going and not run.is_dry:
        with run.database.writing() as work:
            work.uploads.lock_project(run.project)
            going = work.sweeping.sets_of_jobs(run.project, run.cutoff)
            for one in going:
                work.file_sets.lock(one.file_set_id)
                work.file_sets.mark(one.file_set_id, [one.id], work.clock.now())
            if going:
                refs = [one.ref for one in going]
                told = {"file_sets": refs[:_TOLD], "count": len(refs), "rule": "deleted jobs"}
                who = {} if user is None else {"user": work.uploads.creator(user)}
                subject = refs[0] if len(refs) == 1 else f"{len(refs)} file sets"
                work.events.record(run.project, "file_sets_removed", subject, **told, **who)
        _bury_files(run, going)
    run.report.add(GarbageKind.OUTDATED_SETS, len(going), 0, [one.ref for one in going[:EXAMPLES]])


def _bury_files(run: Run, sets: list[SetOfJobs]) -> None:
    """Delete the files of those sets that no other set holds; inputs that were laid together have none of their own.

    Of code the newest version of each path stays, as always; partial outputs are in a folder of their own.
    """
    for is_partial, act in ((False, bury_unneeded), (True, _bury_all)):
        roots = [one.root for one in sets if one.is_partial is is_partial and not one.is_input]
        with run.database.reading() as work:
            living = set(work.file_sets.living(run.project).values())
        entries = own_entries(roots, living, loader(run.database, run.project)) if roots else iter(())
        for page in pages(((entry.path, entry.version) for entry in entries), PAGE):
            run.go_on()
            with run.database.writing() as work:
                work.uploads.lock_project(run.project)
                act(work, run.project, page)
            let_others_in()


def _bury_all(work: Work, project: ProjectId, wanted: list[FileVersion]) -> int:
    named = set(wanted)
    alive = work.burials.alive(project, {path for path, _ in wanted})
    versions = [one for some in alive.values() for one in some if (one.path, one.number) in named]
    return bury(work, project, unheld(work, project, versions))
