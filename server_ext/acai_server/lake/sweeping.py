"""The steps of a collection that free pieces of manifests, moved packs, and what is left in the store.

An object whose owner is unknown is reported and stays: see `ownership`.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from acai_jupyter.contract.garbage import GarbageKind
from acai_server.lake import marking
from acai_server.lake.collecting import EXAMPLES
from acai_server.lake.ownership import ownership
from acai_server.objects.keys import owner_of, project_prefix

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from acai_jupyter.contract.ids import ObjectKey, SessionId
    from acai_server.db.garbage import Bare
    from acai_server.db.sweeping import DeadSet
    from acai_server.db.work import Work
    from acai_server.lake.collecting import Run

_CHUNKS_AT_ONCE = 500
_OBJECTS_AT_ONCE = 500
_KEYS_AT_ONCE = 1000


def sweep_chunks(run: Run, sets: list[DeadSet], dropped: set[SessionId]) -> None:
    """Drop the pieces of manifests that no set and no session has that a later one may be based on."""
    before = run.started_at - run.terms.chunks
    with run.database.reading() as work:
        load, seen = run.loader(work), set[bytes]()
        for root in work.sweeping.set_roots(run.project, run.cutoff if run.is_dry else None):
            marking.mark(root, load, seen)
        for one in work.sweeping.upload_roots(run.project):
            if one.in_use or one.session not in dropped:
                marking.mark(one.root, load, seen)
        load, passed = run.loader(work, all_there=False), set(seen)
        of_sets = {chunk for one in sets for chunk in marking.mark(one.root, load, passed)}
    after = b""
    while True:
        run.go_on()
        with run.database.reading() as work:
            page = work.sweeping.unused(run.project, before, after, _CHUNKS_AT_ONCE)
        if not page:
            return
        after = max(page)
        dead = {chunk: size for chunk, size in page.items() if chunk not in seen}
        if dead and not run.is_dry:
            with run.database.writing() as work:
                dead = work.sweeping.drop_chunks(run.project, sorted(dead), before)
        listed = sum(size for chunk, size in dead.items() if chunk in of_sets)
        others = [size for chunk, size in dead.items() if chunk not in of_sets]
        run.report.add(GarbageKind.DELETED_SETS, 0, listed)
        run.report.add(GarbageKind.LEFTOVERS, len(others), sum(others))


def sweep_moved(run: Run) -> None:
    """Drop packs that were emptied so long ago that nobody can be reading them, and such as never held anything."""
    before = run.started_at - run.terms.urls
    for kind, look in ((GarbageKind.MOVED, _emptied), (GarbageKind.LEFTOVERS, _bare)):
        after = 0
        while page := _swept(run, partial(look, run, before, after)):
            after = page[-1].id
            size = sum(one.size_bytes for one in page)
            run.report.add(kind, len(page), size, [one.key for one in page[:EXAMPLES]])


def _emptied(run: Run, before: datetime, after: int, work: Work) -> list[Bare]:
    return work.garbage.emptied(run.project, before, after, _OBJECTS_AT_ONCE)


def _bare(run: Run, before: datetime, after: int, work: Work) -> list[Bare]:
    return work.garbage.bare(run.project, before, after, _OBJECTS_AT_ONCE)


def _swept(run: Run, look: Callable[[Work], list[Bare]]) -> list[Bare]:
    """Drop a page of objects in which nothing is, and return it."""
    run.go_on()
    if run.is_dry:
        with run.database.reading() as work:
            return look(work)
    with run.database.writing() as work:
        page = look(work)
        work.garbage.free([one.id for one in page])
    run.objects.delete_all(one.key for one in page)
    return page


def sweep_store(run: Run, counted: set[str]) -> None:
    """Drop objects without a record of sessions and jobs that ended too long ago for anyone to record them.

    Objects in the folders of jobs that were counted before are not counted again.
    """
    before = run.started_at - run.terms.urls
    objects = run.objects.listed(project_prefix(run.project))
    while page := {one.key: one.size_bytes for one in islice(objects, _KEYS_AT_ONCE)}:
        run.go_on()
        with run.database.reading() as work:
            found = ownership(work, [key for key in page if not _is_in(key, counted)], before)
        for kind, some in ((GarbageKind.LEFTOVERS, found.released), (GarbageKind.UNKNOWN, found.unknown)):
            run.report.add(kind, len(some), sum(page[key] for key in some), some[:EXAMPLES])
        if not run.is_dry:
            run.objects.delete_all(found.released)


def _is_in(key: ObjectKey, folders: set[str]) -> bool:
    owner = owner_of(key) if folders else None
    return owner is not None and owner.folder in folders
