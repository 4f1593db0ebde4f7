"""The engine as the API sees it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import Conflict, ObjectNotFound
from acai_jupyter.contract.jobs import Displays, JobPage, LogPlace
from acai_jupyter.contract.templates import template_of
from acai_server.engine import killing, removing
from acai_server.engine.attempts import slot_key
from acai_server.engine.launcher import Launcher
from acai_server.engine.log_search import LogSearch
from acai_server.engine.logs import Logs
from acai_server.engine.monitor import Interface, Monitor
from acai_server.engine.past_runs import PastRuns
from acai_server.engine.planning import Planner
from acai_server.engine.recorder import Recorder
from acai_server.engine.registry import Registry
from acai_server.engine.scheduler import Scheduler
from acai_server.engine.showing import Showing
from acai_server.engine.sweeps import Sweeps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from acai_jupyter.contract.ids import JobId, ProjectId, UserId
    from acai_jupyter.contract.jobs import (
        CreateJob,
        FoundLines,
        Job,
        JobRequest,
        KilledJobs,
        LogPage,
        MissReport,
        ResourceLimits,
    )
    from acai_jupyter.contract.overviews import Overview
    from acai_jupyter.contract.projects import Machine
    from acai_jupyter.contract.queries import LogLines
    from acai_jupyter.contract.sweeps import CreateSweep, Sweep
    from acai_server.db.database import Database
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.db.work import Work
    from acai_server.engine.protocols import FileSetStore, Forecast, MemoryNeeds, OnUnread, Prices, Purse
    from acai_server.engine.read_limit import ReadLimit
    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Ended, Runner

MAX_DISPLAYS_BYTES = 64 * 1024**2


class Engine:
    """Registry and logs for whoever asks; scheduler and monitor as loops between `start` and `stop`."""

    def __init__(  # noqa: PLR0913 (all that an engine stands on)
        self,
        database: Database,
        objects: ObjectStore,
        file_sets: FileSetStore,
        prices: Prices,
        runner: Runner,
        *,
        quota: int,
        limits: ResourceLimits | None = None,
        forecast: Forecast | None = None,
        memory: MemoryNeeds | None = None,
        purse: Purse | None = None,
        place: str = "",
        patience_seconds: float = 0.0,
        signing: ObjectStore | None = None,
        on_unread: OnUnread | None = None,
    ) -> None:
        self._database = database
        self._objects = objects
        self._runner = runner
        self._quota = quota
        self._showing = Showing(database, runner, prices, quota, memory)
        self._forecast = PastRuns(prices, forecast)
        self._purse = purse
        self._registry = Registry(database, file_sets, runner, limits, self._afford, memory, prices.gpu_type)
        self.sweeps = Sweeps(database, self._registry)
        self.planner = Planner(database, file_sets, self._registry, runner, prices, self._forecast, quota)
        self._logs = Logs(database, objects, runner)
        self._recorder = Recorder(database, objects, file_sets, prices, runner, on_unread)
        self._place = place
        self._launcher = Launcher(database, objects, file_sets, prices, runner, place, signing)
        self.scheduler = Scheduler(database, runner, self._launch, quota=quota)
        interface = Interface(self._end, self._launcher.renew, self._launcher.is_starting, self._is_ours)
        self.monitor = Monitor(database, runner, interface, patience_seconds=patience_seconds)

    def start(self) -> None:
        """Start the loops; what still runs from before is adopted."""
        self.monitor.start()
        self.scheduler.start()
        self.scheduler.wake()

    def stop(self) -> None:
        """End the loops. What runs goes on."""
        self.scheduler.stop()
        self._launcher.stop()
        self.monitor.stop()

    def wake(self) -> None:
        """Look again now: another server may have changed something."""
        self.scheduler.wake()
        self.monitor.wake()

    def machine(self) -> Machine:
        """Return what the runner can hold at once."""
        return self._runner.machine()

    def submit(self, project: ProjectId, user: UserId, request: CreateJob, submission: str = "") -> Job:
        """Take a job in."""
        job = self._registry.submit(project, user, request, submission)
        self.scheduler.wake()
        return job

    def submit_sweep(self, project: ProjectId, user: UserId, wanted: CreateSweep, submission: str = "") -> Sweep:
        """Take a group of jobs in."""
        sweep = self.sweeps.submit(project, user, wanted, submission)
        self.scheduler.wake()
        return sweep

    def check(self, project: ProjectId, request: CreateJob) -> None:
        """Refuse what would be refused if it was submitted."""
        with self._database.reading() as work:
            self._registry.look(work, project, self._registry.fitted(work, project, [request]))

    def submit_if(
        self, project: ProjectId, user: UserId, request: CreateJob, tag: str, still: Callable[[Work], bool]
    ) -> Job | None:
        """Take a job in, with a tag, if something still holds in the transaction that writes it."""
        job = self._registry.submit_if(project, user, request, tag, still)
        self.scheduler.wake()
        return job

    def end_tagged(self, work: Work, project: ProjectId, user: UserId, tag: str) -> int:
        """Ask for the end of all jobs with a tag that have not ended; returns how many these are."""
        return killing.ask_tagged(work, project, user, tag)

    def kill_sweep(self, project: ProjectId, user: UserId, tag: str) -> Sweep:
        """End the jobs of a group."""
        sweep = self.sweeps.kill(project, user, tag)
        self.wake()
        return sweep

    def job(self, project: ProjectId, number: int) -> Job:
        """Return a job, and why it waits if it does."""
        return self._showing.job(project, number)

    def overview(self, project: ProjectId, most: int) -> Overview:
        """Return a project's jobs at a glance."""
        return self._showing.overview(project, most)

    def has_ended(self, project: ProjectId, number: int) -> bool:
        """Whether a job is over; cheap, as it is asked often."""
        with self._database.reading() as work:
            return work.jobs.has_ended(project, number)

    def jobs(self, project: ProjectId, before: int | None, limit: int) -> JobPage:
        """Return jobs, the newest first."""
        with self._database.reading() as work:
            found = work.shown_jobs.page(project, before, limit + 1)
        return JobPage(found[:limit], found[limit - 1].number if len(found) > limit else None)

    def request(self, project: ProjectId, number: int) -> JobRequest:
        """Return all that is needed to run a job again."""
        with self._database.reading() as work:
            return work.shown_jobs.request(project, number)

    def log(self, project: ProjectId, number: int, offset: int, attempt: int | None = None, node: int = 0) -> LogPage:
        """Return a stretch of a job's log, of one of its nodes."""
        return self._logs.page(project, number, offset, attempt, node)

    def log_lines(
        self, project: ProjectId, number: int, query: LogLines, reading: ReadLimit | None = None
    ) -> FoundLines:
        """Return lines of an attempt's log; of a live one, of those printed until now. Reads only as far as allowed."""
        if not query.error and not query.text:
            return self._logs.lines(project, number, query, reading)
        stream = self._logs.stream(project, number, query.attempt, query.offset, query.node)
        search = LogSearch(stream, reading, LogPlace(query.offset, query.lines))
        if query.error:
            return search.first_error()
        if query.after is not None or query.before is not None:
            return search.nearest(query.text, query.after, query.before)
        return search.lines_with(query.text)

    def log_stream(
        self, project: ProjectId, number: int, attempt: int | None = None, offset: int = 0, node: int = 0
    ) -> Iterator[bytes]:
        """Give the bytes of an attempt's log, as they were printed on one of its nodes, from one on."""
        return self._logs.stream(project, number, attempt, offset, node)

    def displays(self, project: ProjectId, number: int) -> Displays:
        """Return what a job's cell displayed, in its last attempt."""
        with self._database.reading() as work:
            job = work.jobs.find(project, number)
            attempt = work.attempts.last(job.id)
        if attempt is None:
            return Displays([])
        try:
            body = self._objects.get(slot_key(job, attempt, "displays"), 0, MAX_DISPLAYS_BYTES)
            found: list[dict[str, Any]] = decoding.from_json(body, list[dict[str, Any]])
        except (ObjectNotFound, msgspec.MsgspecError):  # a program can write anything there
            return Displays([])
        return Displays(found)

    def explain_miss(self, project: ProjectId, number: int) -> MissReport:
        """Say why no earlier result answered a job."""
        return self._registry.explain_miss(project, number)

    def kill(self, project: ProjectId, user: UserId, number: int) -> Job:
        """End a job: one that waits at once, one that lives as soon as its program has ended."""
        with self._database.writing() as work:
            job = work.jobs.find(project, number)
            if not killing.ask(work, job, user):
                raise Conflict(reason=f"job {number} is {job.state.value}; there is nothing to end")
            found = work.shown_jobs.find(project, number)
        self.wake()
        return found

    def kill_jobs(self, project: ProjectId, user: UserId, numbers: list[int]) -> KilledJobs:
        """End jobs; those that have ended stay as they are."""
        with self._database.writing() as work:
            found = killing.ask_all(work, project, numbers, user)
        self.wake()
        return found

    def remove(self, project: ProjectId, number: int, *, undo: bool) -> Job:
        """Delete a job that has ended, or bring it back."""
        return removing.remove(self._database, project, number, undo=undo)

    def end_for(self, work: Work, job: JobId, user: UserId, why: str) -> None:
        """End a job though nobody asked for it; what it has left is kept."""
        killing.ask(work, work.jobs.by_id(job), user, why)

    def _afford(self, work: Work, project: ProjectId, user: UserId, wanted: Sequence[CreateJob]) -> None:
        first = wanted[0]
        expect = partial(self._forecast.expect, work, project, template_of(first), first)
        if self._purse is not None:
            self._purse.check(work, project, user, expect, len(wanted))

    def _is_ours(self, attempt: StoredAttempt) -> bool:
        """Whether the runner here is to know an attempt; without a place there is only this server to know any."""
        return not self._place or attempt.runner == self._place

    def _launch(self, job: StoredJob) -> None:
        self._launcher.launch(job, self._quota, self._launched)

    def _launched(self) -> None:
        """See to a job that was started, or could not be: then there may be room for another."""
        self.monitor.wake()
        self.scheduler.wake()

    def _end(self, job: StoredJob, attempt: StoredAttempt, ended: Ended, heard: Callable[[Work], None]) -> None:
        self._recorder.record(job, attempt, ended, heard)
        self.scheduler.wake()
