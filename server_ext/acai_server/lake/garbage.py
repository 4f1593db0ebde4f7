"""Collections of garbage: beginning, joining and following them. What one does is in `collecting.py` and beside it."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from acai_jupyter.contract.errors import AcaiError, NotFound
from acai_jupyter.contract.garbage import CollectGarbage, Collection, CollectionState, GarbageKind
from acai_server.db import sight
from acai_server.lake.collecting import Report, Run, Stopped, Terms
from acai_server.lake.freeing import Freeing
from acai_server.lake.old_jobs import sweep_jobs
from acai_server.lake.sweeping import sweep_chunks, sweep_moved, sweep_store
from acai_server.lake.unknown import sweep_unknown
from acai_server.loops import Periodic

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import datetime

    from acai_jupyter.contract.ids import ProjectId, SessionId, UserId
    from acai_server.db.database import Database
    from acai_server.db.sweeping import DeadSet
    from acai_server.lake.deletion_guard import DeletionGuard
    from acai_server.lake.retention import Rules
    from acai_server.lake.tidying import Tidying
    from acai_server.objects.protocol import ObjectStore

REMEMBERED = 100
STOP_SECONDS = 10.0
FIRST_AFTER_SECONDS = 600.0
"""Who has just started a server has better things for it to do."""
WHOLE = CollectGarbage()
"""What the server collects by itself."""
_SETS_AT_ONCE = 1000
_log = logging.getLogger(__name__)


@dataclass
class _Begun:
    """A collection and how far it is."""

    key: str
    project: ProjectId
    user: UserId | None
    request: CollectGarbage
    started_at: datetime
    state: CollectionState = CollectionState.RUNNING
    reason: str = ""
    report: Report = field(default_factory=Report)

    @property
    def is_dry(self) -> bool:
        """Whether nothing is freed: a list of unknown objects that names no number is one too."""
        return self.request.dry_run or (self.request.unknown and self.request.confirmed_count is None)

    def public(self) -> Collection:
        return Collection(
            id=self.key,
            state=self.state,
            is_dry_run=self.is_dry,
            unknown=self.report.unknown(),
            started_at=self.started_at,
            step=self.report.step,
            garbage=self.report.garbage(),
            reason=self.reason,
        )


class Collections:
    """One collection runs at a time. They are remembered while the server runs; nothing is lost when one is cut off."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        tidying: Tidying,
        retention: Rules,
        terms: Terms,
        *,
        guard: DeletionGuard,
        making_room: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._guard = guard
        self._database = database
        self._objects = objects
        self._tidying = tidying
        self._retention = retention
        self._terms = terms
        self._making_room = making_room
        """Gives a full disk some room while a collection runs."""
        self._begun: OrderedDict[str, _Begun] = OrderedDict()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._one = threading.Lock()
        self._stopped = threading.Event()

    def begin(self, project: ProjectId, user: UserId | None, request: CollectGarbage) -> Collection:
        """Begin a collection, or join the one of this kind that has not ended."""
        sight.must_see_all()
        with self._lock:
            for one in self._begun.values():
                running = one.state is CollectionState.RUNNING and not self._stopped.is_set()
                if running and (one.project, one.request) == (project, request):
                    return one.public()
            begun = self._new(project, user, request)
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            thread = threading.Thread(target=self._run, args=(begun,), name="acai-collection", daemon=True)
            self._threads.append(thread)
            thread.start()
            return begun.public()

    def collect(self, project: ProjectId, user: UserId | None = None, request: CollectGarbage = WHOLE) -> Collection:
        """Run a collection to its end."""
        with self._lock:
            begun = self._new(project, user, request)
        self._run(begun)
        return begun.public()

    def get(self, project: ProjectId, key: str) -> Collection:
        """Return how far a collection is."""
        sight.must_see_all()
        with self._lock:
            begun = self._begun.get(key)
        if begun is None or begun.project != project:
            raise NotFound(f"There is no collection '{key[:64]}', or its server has ended since; begin another.")
        return begun.public()

    def stop(self) -> None:
        """End what runs, between two steps that belong together. Safe to call twice."""
        self._stopped.set()
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join(STOP_SECONDS)

    def _new(self, project: ProjectId, user: UserId | None, request: CollectGarbage) -> _Begun:
        with self._database.reading() as work:
            now = work.clock.now()
        begun = _Begun(uuid4().hex, project, user, request, now)
        self._begun[begun.key] = begun
        ended = [key for key, one in self._begun.items() if one.state is not CollectionState.RUNNING]
        for key in ended[: max(0, len(self._begun) - REMEMBERED)]:
            del self._begun[key]
        return begun

    def _run(self, begun: _Begun) -> None:
        try:
            with self._one, self._making_room():
                self._steps(begun)
            begun.state = CollectionState.FINISHED
        except Stopped:
            begun.reason = "the server was stopped"
            begun.state = CollectionState.FAILED
        except AcaiError as error:
            _log.warning("A collection of garbage has ended early: %s", error.message)
            begun.reason = error.message
            begun.state = CollectionState.FAILED
        except Exception:  # noqa: BLE001 (who follows it must be told of its end, whatever it was)
            _log.exception("A collection of garbage failed.")
            begun.reason = "the log of the server says why"
            begun.state = CollectionState.FAILED

    def _steps(self, begun: _Begun) -> None:
        with self._database.reading() as work:
            now = work.clock.now()
        run = Run(
            database=self._database,
            objects=self._objects,
            project=begun.project,
            terms=self._terms,
            is_dry=begun.is_dry,
            started_at=now,
            report=begun.report,
            guard=self._guard,
            stopped=self._stopped,
        )
        if not run.is_dry:
            self._guard.look()
        if begun.request.unknown:
            run.begin("looking for unknown objects")
            sweep_unknown(run, begun.request.confirmed_count)
            run.report.step = "done"
            return
        run.begin("applying the rules of what is kept")
        self._outdated(run, begun.user)
        run.begin("looking for deleted jobs")
        folders = sweep_jobs(run, begun.user)
        run.begin("looking for deleted file sets")
        sets = _dead_sets(run)
        dropped = _old_bases(run)
        run.begin("looking for contents that nothing refers to")
        Freeing(run, self._tidying).run(dropped)
        run.begin("freeing what was moved earlier")
        sweep_moved(run)
        run.begin("looking for lists that nothing refers to")
        sweep_chunks(run, sets, dropped)
        run.begin("looking through the store")
        sweep_store(run, folders if run.is_dry else set())
        run.report.step = "done"

    def _outdated(self, run: Run, user: UserId | None) -> None:
        """Bury what the rules do not keep. That frees nothing yet: it can be brought back for a while."""
        of = self._retention
        found = of.outdated(run.project) if run.is_dry else of.bury_outdated(run.project, user)
        run.report.add(GarbageKind.OUTDATED_SETS, len(found.file_sets), 0, found.file_sets)
        run.report.add(GarbageKind.OUTDATED_FILES, found.file_versions, 0, found.examples)


def _dead_sets(run: Run) -> list[DeadSet]:
    """Say of sets that were deleted long ago that they do not come back; an undo is either before that or refused."""
    if run.is_dry:
        with run.database.reading() as work:
            found = work.sweeping.dead_sets(run.project, run.cutoff)
    else:
        found = []
        while page := _collected_sets(run):
            found += page
    run.report.add(GarbageKind.DELETED_SETS, len(found), 0, [one.ref for one in found])
    return found


def _collected_sets(run: Run) -> list[DeadSet]:
    run.go_on()
    with run.database.writing() as work:
        work.uploads.lock_project(run.project)
        page = work.sweeping.dead_sets(run.project, run.cutoff, _SETS_AT_ONCE)
        work.sweeping.collect_sets(page, work.clock.now())
        return page


def _old_bases(run: Run) -> set[SessionId]:
    """Let nobody be based on sessions that are old, or that have one over them; returns those."""
    ended, superseded = run.started_at - run.terms.bases, run.started_at - run.terms.superseded
    if run.is_dry:
        with run.database.reading() as work:
            return set(work.sweeping.old_bases(run.project, ended, superseded))
    with run.database.writing() as work:
        work.uploads.lock_project(run.project)
        old = work.sweeping.old_bases(run.project, ended, superseded)
        return set(old) - set(work.sweeping.drop_roots(run.project, old))


class GarbageCollector(Periodic):
    """Collects the garbage of each project by itself, a while after its start and at intervals; at none of 0 never."""

    def __init__(
        self,
        database: Database,
        collections: Collections,
        *,
        interval_seconds: float,
        first_after_seconds: float = FIRST_AFTER_SECONDS,
    ) -> None:
        super().__init__("garbage collector", interval_seconds)
        self._database = database
        self._collections = collections
        self._interval_seconds = interval_seconds
        self._first_after_seconds = min(first_after_seconds, interval_seconds)

    def start(self) -> None:
        """Start the loop, unless it is to do nothing."""
        if self._interval_seconds:
            super().start()

    def step(self) -> bool:
        """Collect in one project after the other."""
        if self._stopped.wait(self._first_after_seconds):
            return False
        self._first_after_seconds = 0
        with self._database.reading() as work:
            projects = work.sweeping.projects()
        for project in projects:
            if not self._stopped.is_set():
                self._collections.collect(project)
        return False
