"""Watches live attempts: what their agents say moves the job, their end hands it to the recorder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.contract import loglines
from acai_jupyter.contract.errors import StoreFull
from acai_jupyter.contract.states import LIVE_STATES, JobState
from acai_server.engine.attempts import runner_name
from acai_server.loops import Loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.ids import JobId
    from acai_server.db.database import Database
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.runners.protocol import Ended, Runner

BUSY_SECONDS = 0.25
"""How often the words of agents are read while any runs; their end is noticed at once."""
IDLE_SECONDS = 60.0


class Monitor:
    """After a restart it adopts what still runs: all it needs is in the database and with the runner."""

    def __init__(
        self,
        database: Database,
        runner: Runner,
        record: Callable[[StoredJob, StoredAttempt, Ended], None],
        is_starting: Callable[[JobId], bool],
        *,
        busy_seconds: float = BUSY_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._database = database
        self._runner = runner
        self._record = record
        self._is_starting = is_starting
        self._busy_seconds = busy_seconds
        self._idle_seconds = idle_seconds
        self._read: dict[str, int] = {}
        self._names: list[str] = []
        self._loop = Loop("monitor", self.step, self._wait, runner.wake)

    def start(self) -> None:
        """Start the loop."""
        self._loop.start()

    def stop(self) -> None:
        """End the loop. Safe to call twice."""
        self._loop.stop()

    def wake(self) -> None:
        """Look again now."""
        self._runner.wake()

    def step(self) -> bool:
        """Look at every live attempt once; says whether one ended, which may let another begin."""
        with self._database.reading() as work:
            live = [job for job in work.jobs.open() if job.state in LIVE_STATES]
            attempts = [(job, work.jobs.last_attempt(job.id)) for job in live]
        names, any_ended = [], False
        for job, attempt in attempts:
            if attempt is None or self._is_starting(job.id):
                continue
            name = runner_name(job, attempt)
            ended = self._runner.ended(name)
            if ended is None:
                self._listen(job, attempt, name)
                names.append(name)
                continue
            self._end(job, attempt, name, ended)
            any_ended = True
        self._names = names
        return any_ended

    def _end(self, job: StoredJob, attempt: StoredAttempt, name: str, ended: Ended) -> None:
        try:
            self._listen(job, attempt, name)
            self._record(job, attempt, ended)
        except StoreFull:  # what the attempt left may be what fills the disk; what counts is in the object store
            self._runner.clean(name)
            raise
        self._runner.clean(name)
        self._read.pop(name, None)

    def _wait(self) -> None:
        self._runner.wait(self._names, self._busy_seconds if self._names else self._idle_seconds)

    def _listen(self, job: StoredJob, attempt: StoredAttempt, name: str) -> None:
        """Read what the agent said since the last time. Hearing it again after a restart changes nothing."""
        while printed := self._runner.printed(name, self._read.get(name, 0)):
            _, said, used = loglines.split(printed, attempt.key)
            for words in said:
                self._hear(job, attempt, words)
            if not used:
                return
            self._read[name] = self._read.get(name, 0) + used

    def _hear(self, job: StoredJob, attempt: StoredAttempt, words: dict[str, Any]) -> None:
        """Follow what an agent says of its state; an end is believed only by the recorder."""
        said = words.get("state")
        if said not in LIVE_STATES:
            return
        state = JobState(said)
        with self._database.writing() as work:
            if work.jobs.advance(job.id, state, "", work.clock.now(), attempt.id):
                work.events.record(job.project_id, f"job_{state.value}", f"job {job.number}", state=state.value)
