"""Decides which job starts next: fair between users, within their quota, when the runner can hold it."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

from acai_jupyter.contract.states import LIVE_STATES, JobState
from acai_server.loops import Loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.projects import Machine
    from acai_server.db.database import Database
    from acai_server.db.jobs import StoredJob

IDLE_SECONDS = 5.0
Queue = tuple["ProjectId", "UserId"]


def choose(jobs: list[StoredJob], quota: int, machine: Machine) -> StoredJob | None:
    """Return the job to start now, of all that have not ended, given in queue order. Pure.

    The first of each user's queue may go; among these the one whose user holds least.
    """
    live = [job for job in jobs if job.state in LIVE_STATES]
    held: Counter[Queue] = Counter((job.project_id, job.user_id) for job in live)
    vcpu = machine.cpus - sum(job.request.resources.vcpu for job in live)
    memory = machine.memory_bytes - sum(job.request.resources.memory_bytes for job in live)
    heads: dict[Queue, StoredJob] = {}
    for job in jobs:
        if job.state is JobState.QUEUED:
            heads.setdefault((job.project_id, job.user_id), job)
    fitting = [
        (held[queue], position, job)
        for position, (queue, job) in enumerate(heads.items())
        if held[queue] < quota and job.request.resources.vcpu <= vcpu and job.request.resources.memory_bytes <= memory
    ]
    return min(fitting, key=lambda choice: choice[:2])[2] if fitting else None


class Scheduler:
    """Sleeps until something was submitted or ended. It keeps nothing: the state is in the database."""

    def __init__(
        self,
        database: Database,
        machine: Callable[[], Machine],
        launch: Callable[[StoredJob], None],
        *,
        quota: int,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._database = database
        self._machine = machine
        self._launch = launch
        self._quota = quota
        self._idle_seconds = idle_seconds
        self._wanted = threading.Event()
        self._loop = Loop("scheduler", self.step, self._wait, self.wake)

    def start(self) -> None:
        """Start the loop."""
        self._loop.start()

    def stop(self) -> None:
        """End the loop. Safe to call twice."""
        self._loop.stop()

    def wake(self) -> None:
        """Look again now."""
        self._wanted.set()

    def step(self) -> bool:
        """Start one job if one may start; says whether it did."""
        with self._database.reading() as work:
            job = choose(work.jobs.open(), self._quota, self._machine())
        if job is not None:
            self._launch(job)
        return job is not None

    def _wait(self) -> None:
        self._wanted.wait(self._idle_seconds)
        self._wanted.clear()
