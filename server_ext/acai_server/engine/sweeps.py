"""Sweeps: groups of jobs that are submitted, looked at and ended together. What holds one together is its tag."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.errors import JobRefused, SweepNotFound, TooManyRows
from acai_jupyter.contract.sweeps import Sweep, SweepRow, SweepTable, combinations, fault
from acai_server.engine import killing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.jobs import CreateJob, Job
    from acai_jupyter.contract.sweeps import CreateSweep
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.engine.registry import Registry

MOST_ROWS = 10_000
"""Of a table: ten times what one sweep can submit. A tag can be put on any number of jobs."""


def requests_of(wanted: CreateSweep) -> list[CreateJob]:
    """Return a request for each combination; refuse what makes none, or too many."""
    common = wanted.job.parameters
    wrong = fault(wanted.values, common)
    if wrong:
        raise JobRefused(reason=f"its sweep {wrong}")
    return [msgspec.structs.replace(wanted.job, parameters={**common, **one}) for one in combinations(wanted.values)]


class Sweeps:
    """All that is done with groups of jobs."""

    def __init__(self, database: Database, registry: Registry) -> None:
        self._database = database
        self._registry = registry

    def submit(self, project: ProjectId, user: UserId, wanted: CreateSweep, submission: str = "") -> Sweep:
        """Take all its jobs in, or none."""
        tag = self._registry.submit_sweep(project, user, requests_of(wanted), submission)
        return self.find(project, tag)

    def find(self, project: ProjectId, tag: str) -> Sweep:
        """Return how its jobs stand."""
        with self._database.reading() as work:
            return _standing(work, project, tag)

    def counts(self, project: ProjectId, tag: str) -> tuple[int, int]:
        """Return how many jobs it has, and how many of them have ended; one is told more that is still to be made."""
        with self._database.reading() as work:
            count, ended = work.sweeps.counts(project, tag)
            profiling = work.profilings.with_tag(project, tag)
            return count + (profiling is not None and profiling.ended_at is None), ended

    def table(self, project: ProjectId, tag: str) -> SweepTable:
        """Return its jobs with what they differ in."""
        with self._database.reading() as work:
            rows = work.sweeps.jobs(project, tag)
            if len(rows) > MOST_ROWS:
                told = f"{len(rows):,} jobs have this tag, and a table holds {MOST_ROWS:,}; find jobs by a query."
                raise TooManyRows(told, limit=MOST_ROWS)
            jobs = work.shown_jobs.of(rows)
            if not jobs and work.profilings.with_tag(project, tag) is None:
                raise SweepNotFound(tag=_shown(tag))
        return SweepTable(
            tag,
            _differing([job.parameters for job in jobs]) or list(jobs[0].parameters if jobs else []),
            list(dict.fromkeys(key for job in jobs for key in job.attributes)),
            [_row(job) for job in jobs],
        )

    def kill(self, project: ProjectId, user: UserId, tag: str) -> Sweep:
        """End all its jobs that have not ended; nothing is wrong with none. A profiling makes no further ones."""
        with self._database.writing() as work:
            profiling = work.profilings.with_tag(project, tag)
            if profiling is not None:
                name = work.jobs.user_name(user)
                work.profilings.end(profiling.id, f"killed by {name}", work.clock.now(), has_failed=True)
            killing.ask_tagged(work, project, user, tag)
            return _standing(work, project, tag)


def _standing(work: Work, project: ProjectId, tag: str) -> Sweep:
    found, profiling = work.sweeps.standing(project, tag), work.profilings.with_tag(project, tag)
    if not found and profiling is None:
        raise SweepNotFound(tag=_shown(tag))
    states = Counter(state for _, state in found)
    sweep = Sweep(tag, [number for number, _ in found], dict(states), work.sweeps.cost_usd(project, tag))
    if profiling is None:
        return sweep
    goes_on = profiling.ended_at is None
    told = profiling.sentence, None if goes_on else profiling.has_failed
    return msgspec.structs.replace(sweep, goes_on=goes_on, sentence=told[0], has_failed=told[1])


def _differing(many: Sequence[Mapping[str, object]]) -> list[str]:
    """Return the keys that do not have one value in all, in the order in which they are first met."""
    keys = dict.fromkeys(key for one in many for key in one)
    absent = object()
    return [key for key in keys if len({_hashed(one.get(key, absent)) for one in many}) > 1]


def _hashed(value: object) -> tuple[type, object]:
    return type(value), value


def _row(job: Job) -> SweepRow:
    costs = [one.cost_usd for one in job.attempts if one.cost_usd is not None]
    return SweepRow(
        job=job.number,
        state=job.state,
        reason=job.reason,
        parameters=job.parameters,
        attributes=job.attributes,
        created_at=job.created_at,
        output=job.output,
        billed_seconds=job.attempts[-1].billed_seconds if job.attempts else None,
        cost_usd=sum(costs) if costs else None,
    )


def _shown(tag: str) -> str:
    return ascii(tag[:80])[1:-1]
