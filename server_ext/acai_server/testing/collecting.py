"""Days that pass by hand, and collections of garbage in them: what the suite about garbage does."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import event

from acai_jupyter.contract.filesets import RemovedFileSets, RemoveFileSets
from acai_jupyter.contract.garbage import CollectGarbage, CollectionState, Garbage, GarbageKind
from acai_server.lake import manifests
from acai_server.lake.collecting import Terms
from acai_server.lake.deletion_guard import AlwaysAllowed
from acai_server.lake.garbage import Collections
from acai_server.objects.keys import project_prefix
from acai_server.testing.lakes import engine_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy.engine import Connection

    from acai_server.db.database import Database
    from acai_server.testing.lakes import LakeUser

Found = dict[GarbageKind, Garbage]
GRACE = timedelta(days=7)
URLS = timedelta(hours=26)
"""After so long nobody can be reading what was moved."""


class Days:
    """A clock that is set forward by hand."""

    def __init__(self) -> None:
        self._moment = datetime(2026, 1, 1, tzinfo=UTC)
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """Return the time."""
        with self._lock:
            return self._moment

    def go_on(self, step: timedelta = GRACE) -> None:
        """Let time pass: a little more than is said."""
        with self._lock:
            self._moment += step + timedelta(seconds=1)


def collections_of(user: LakeUser, terms: Terms | None = None) -> Collections:
    """Return what collects garbage as a server of this user does."""
    lake = user.lake
    return Collections(
        user.database, user.objects, lake.tidying, lake.retention, terms or Terms(grace=GRACE), guard=AlwaysAllowed()
    )


def collect(user: LakeUser, terms: Terms | None = None, *, dry_run: bool = False) -> Found:
    """Run a collection in the user's project; returns what it found."""
    done = collections_of(user, terms).collect(user.member.project_id, user.member.user_id, CollectGarbage(dry_run))
    assert (done.state, done.is_dry_run) == (CollectionState.FINISHED, dry_run), done.reason
    return {one.kind: one for one in done.garbage}


def collect_as_announced(user: LakeUser, terms: Terms | None = None) -> Found:
    """Run a collection, and one before that only looks: it changes nothing, and finds what is then freed."""
    before = state_of(user)
    announced = collect(user, terms, dry_run=True)
    assert state_of(user) == before
    stored, chunks = sum(sizes(user).values()), sum(chunks_of(user).values())
    freed = collect(user, terms)
    assert numbers(freed) == numbers(announced)
    moved = size_of(freed, GarbageKind.COPIES)  # is freed with what was moved, later
    not_freed = (GarbageKind.PACKS, GarbageKind.UNKNOWN)
    now = sum(one.size_bytes for kind, one in freed.items() if kind not in not_freed) - moved
    if GarbageKind.PACKS not in freed:
        assert stored + chunks - sum(sizes(user).values()) - sum(chunks_of(user).values()) == now
    return freed


def numbers(found: Found) -> dict[GarbageKind, tuple[int, int]]:
    """Return counts and bytes."""
    return {kind: (one.count, one.size_bytes) for kind, one in found.items()}


def of_store(found: Found) -> Found:
    """Leave out the lists of uploads on which nobody is based any more: they have no names to give as examples."""
    return {kind: one for kind, one in found.items() if kind is not GarbageKind.LEFTOVERS or one.examples}


def size_of(found: Found, kind: GarbageKind) -> int:
    """Return the bytes of a kind."""
    return found[kind].size_bytes if kind in found else 0


def sizes(user: LakeUser) -> dict[str, int]:
    """Return what the store has of the user's project, with the size of each object."""
    return {key: user.objects.size(key) for key in user.objects.keys(project_prefix(user.member.project_id))}


def chunks_of(user: LakeUser) -> dict[bytes, int]:
    """Return the pieces of manifests that are kept, with their sizes."""
    with user.database.connect() as connection:
        sql = f"SELECT sha256, length(body) FROM chunk WHERE project_id = {user.member.project_id}"  # noqa: S608 (ours)
        return {bytes(row[0]): int(row[1]) for row in connection.exec_driver_sql(sql)}


def needed_chunks(user: LakeUser) -> set[bytes]:
    """Return the pieces of the manifests of all sets that are not collected, and of sessions to be based on."""
    project = user.member.project_id
    with user.database.reading() as work:
        roots = {*work.sweeping.set_roots(project), *(one.root for one in work.sweeping.upload_roots(project))}
        found: set[bytes] = set()
        while roots:
            found |= roots
            opened = [manifests.opened(body) for body in work.sweeping.chunks(project, sorted(roots)).values()]
            assert len(opened) == len(roots), "a piece of a manifest is missing"
            roots = {chunk for _, branches in opened for _, chunk in branches} - found
    return found


def state_of(user: LakeUser) -> object:
    """Return all that a collection could change."""
    tables = ("file_version", "file_set_version", "object", "blob", "chunk", "upload_session", "event")
    with user.database.connect() as connection:
        rows = [connection.exec_driver_sql(f'SELECT * FROM "{name}" ORDER BY 1, 2').all() for name in tables]  # noqa: S608
    return sizes(user), rows


def remove_set(user: LakeUser, ref: str, *, undo: bool = False, files: bool = False) -> RemovedFileSets:
    """Delete a set, or take that back."""
    request = RemoveFileSets(undo=undo, files=files)
    return user.lake.keeping.change(user.member.project_id, user.member.user_id, ref, request)


@contextmanager
def before_write(database: Database, number: int, act: Callable[[], object]) -> Iterator[list[bool]]:
    """Let something happen just before a transaction that writes begins, the how manieth is said; says if it did."""
    engine = engine_of(database)
    left = number
    done: list[bool] = []

    def connect(connection: Connection) -> None:
        nonlocal left
        if done or not connection.get_execution_options().get("acai_writes"):
            return
        if left:
            left -= 1
            return
        done.append(True)
        act()

    event.listen(engine, "engine_connect", connect)
    try:
        yield done
    finally:
        event.remove(engine, "engine_connect", connect)
