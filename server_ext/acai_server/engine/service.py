"""The engine as the API sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.jobs import JobPage
from acai_server.engine.launcher import Launcher
from acai_server.engine.logs import Logs
from acai_server.engine.monitor import Monitor
from acai_server.engine.recorder import Recorder
from acai_server.engine.registry import Registry
from acai_server.engine.scheduler import Scheduler

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.jobs import CreateJob, Job, LogPage
    from acai_jupyter.contract.projects import Machine
    from acai_server.db.database import Database
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.engine.protocols import FileSetStore, Prices
    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Ended, Runner


class Engine:
    """Registry and logs for whoever asks; scheduler and monitor as loops between `start` and `stop`."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        file_sets: FileSetStore,
        prices: Prices,
        runner: Runner,
        *,
        quota: int,
    ) -> None:
        self._database = database
        self._runner = runner
        self._registry = Registry(database, file_sets, runner)
        self._logs = Logs(database, objects, runner)
        self._recorder = Recorder(database, objects, file_sets, prices)
        self._launcher = Launcher(database, objects, file_sets, runner)
        self.scheduler = Scheduler(database, runner.machine, self._launch, quota=quota)
        self.monitor = Monitor(database, runner, self._end, self._launcher.is_starting)

    def start(self) -> None:
        """Start the loops; what still runs from before is adopted."""
        self.monitor.start()
        self.scheduler.start()
        self.scheduler.wake()

    def stop(self) -> None:
        """End the loops. What runs goes on."""
        self.scheduler.stop()
        self.monitor.stop()

    def machine(self) -> Machine:
        """Return what the runner can hold at once."""
        return self._runner.machine()

    def submit(self, project: ProjectId, user: UserId, request: CreateJob) -> Job:
        """Take a job in."""
        job = self._registry.submit(project, user, request)
        self.scheduler.wake()
        return job

    def job(self, project: ProjectId, number: int) -> Job:
        """Return a job."""
        with self._database.reading() as work:
            return work.jobs.public(project, number)

    def jobs(self, project: ProjectId, before: int | None, limit: int) -> JobPage:
        """Return jobs, the newest first."""
        with self._database.reading() as work:
            found = work.jobs.page(project, before, limit + 1)
        return JobPage(found[:limit], found[limit - 1].number if len(found) > limit else None)

    def log(self, project: ProjectId, number: int, offset: int) -> LogPage:
        """Return a stretch of a job's log."""
        return self._logs.page(project, number, offset)

    def _launch(self, job: StoredJob) -> None:
        self._launcher.launch(job)
        self.monitor.wake()

    def _end(self, job: StoredJob, attempt: StoredAttempt, ended: Ended) -> None:
        self._recorder.record(job, attempt, ended)
        self.scheduler.wake()
