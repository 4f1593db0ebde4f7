"""Jobs as people look at them while they live: why one waits, how long it will probably take, what it costs."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.jobs import LessMemory, Waiting
from acai_jupyter.contract.overviews import Overview
from acai_jupyter.contract.states import END_STATES, LIVE_STATES, JobState
from acai_server.engine import waiting
from acai_server.engine.attempts import runner_name
from acai_server.engine.rehearsal import RUNS

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId
    from acai_jupyter.contract.jobs import Attempt, Job
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.engine.protocols import MemoryNeeds, Prices
    from acai_server.runners.protocol import Runner

EXPLAINED = 10
"""Of so many waiting jobs an overview says why: each is a look at the whole queue."""


class Showing:
    """Jobs with what is known of them at this moment."""

    def __init__(
        self, database: Database, runner: Runner, prices: Prices, quota: int, memory: MemoryNeeds | None = None
    ) -> None:
        self._database = database
        self._runner = runner
        self._prices = prices
        self._quota = quota
        self._memory = memory

    def job(self, project: ProjectId, number: int) -> Job:
        """Return a job, and why it waits if it does."""
        with self._database.reading() as work:
            found = self._living(work, project, work.shown_jobs.find(project, number))
        return self._spared(self._priced(found))

    def overview(self, project: ProjectId, most: int) -> Overview:
        """Return a project's jobs at a glance, at most so many of each kind."""
        with self._database.reading() as work:
            chosen, shown = work.overviews, work.shown_jobs
            running = [self._living(work, project, job) for job in shown.of(chosen.running(project, most))]
            queued = [
                self._living(work, project, job) for job in shown.of(chosen.waiting(project, min(most, EXPLAINED)))
            ]
            recent = shown.of(chosen.recent(project, most))
            states = chosen.states(project)
        return Overview(
            running=[_slim(self._priced(job)) for job in reversed(running)],
            waiting=[_slim(job) for job in sorted(queued, key=lambda job: (-job.priority, job.number))],
            recent=[_slim(job) for job in sorted(recent, key=lambda job: job.ended_at or job.created_at, reverse=True)],
            states=states,
        )

    def _living(self, work: Work, project: ProjectId, found: Job) -> Job:
        """Add what is known only of a job that has not ended."""
        if found.state in END_STATES:
            return found
        runs = work.queue.run_seconds(project, work.jobs.find(project, found.number).template, RUNS)
        return msgspec.structs.replace(
            found,
            waiting=self._waiting(work, project, found),
            expected_seconds=statistics.median(runs) if runs else None,
        )

    def _waiting(self, work: Work, project: ProjectId, found: Job) -> Waiting | None:
        if found.state is JobState.QUEUED:
            return waiting.explain(work, work.jobs.find(project, found.number), self._runner, self._quota)
        if found.state is not JobState.LAUNCHING:
            return None
        job = work.jobs.find(project, found.number)
        attempt = work.attempts.last(job.id)
        why = "" if attempt is None else self._runner.why_waiting(runner_name(job, attempt))
        return Waiting(why, 1) if why else None

    def _priced(self, found: Job) -> Job:
        """Add what a job costs while it lives."""
        if found.state not in LIVE_STATES:
            return found
        last = found.attempts[-1]
        return msgspec.structs.replace(found, attempts=[*found.attempts[:-1], self._with_price(found, last)])

    def _spared(self, found: Job) -> Job:
        """Add what a finished job would have cost with less memory, if that was enough."""
        last = found.attempts[-1] if found.attempts else None
        used = last.usage.max_memory_bytes if last is not None and last.usage is not None else None
        if self._memory is None or found.state is not JobState.FINISHED or last is None or not used:
            return found
        less = self._memory.less_bytes(used)
        if less >= last.memory_bytes or last.billed_seconds is None:
            return found
        paid = last.billed_seconds * found.nodes
        now, then = (self._cost(found, last, memory, paid) for memory in (last.memory_bytes, less))
        return msgspec.structs.replace(found, less_memory=LessMemory(less, now - then)) if then < now else found

    def _with_price(self, found: Job, attempt: Attempt) -> Attempt:
        price = self._cost(found, attempt, attempt.memory_bytes, 3600.0 * found.nodes)
        return msgspec.structs.replace(attempt, usd_per_hour=price)

    def _cost(self, found: Job, attempt: Attempt, memory_bytes: int, seconds: float) -> float:
        """What an attempt would cost with so much memory for so long."""
        gpus, gpu_type = found.resources.gpus, found.resources.gpu_type
        share = attempt.vcpu, memory_bytes
        return self._prices.cost_usd(*share, seconds, gpus=gpus, gpu_type=gpu_type, version=attempt.price_book)


def _slim(found: Job) -> Job:
    """Leave out what fills most of a job: what its attempts ran with, and their samples."""
    attempts = [msgspec.structs.replace(one, environment={}, usage=None, tag_misses=[]) for one in found.attempts]
    return msgspec.structs.replace(found, attempts=attempts)
