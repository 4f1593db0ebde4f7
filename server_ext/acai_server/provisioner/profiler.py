"""Makes the runs of profilings. All that counts is in the database, so any server goes on where another was."""

from __future__ import annotations

import logging
import threading
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.errors import AcaiError, BadRequest, Conflict
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.profiles import Configuration
from acai_jupyter.contract.profilings import (
    MAX_RUNS,
    MEMORIES_BYTES,
    SAMPLED,
    VCPUS,
    Design,
    Profiling,
    ProfilingPlan,
)
from acai_jupyter.contract.sweeps import combination, combinations, fault
from acai_server.db.sight import everything, seeing
from acai_server.loops import Loop

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence
    from datetime import datetime

    from acai_jupyter.contract.ids import JobNumber, ProjectId, UserId
    from acai_jupyter.contract.jobs import CreateJob, ResourceLimits, Resources
    from acai_jupyter.contract.profilings import CreateProfiling, Sample
    from acai_server.db.database import Database
    from acai_server.db.profilings import ProfiledRun, StoredProfiling
    from acai_server.db.sight import Sight
    from acai_server.db.work import Work
    from acai_server.provisioner.campaigns import Campaign, Candidate, Move, Start, Try
    from acai_server.provisioner.prices import Prices
    from acai_server.provisioner.protocols import Jobs
    from acai_server.provisioner.service import Provisioner

PRIORITY = -100
BUSY_SECONDS = 2.0
"""So often the cost of runs that go on is looked at."""
IDLE_SECONDS = 30.0
LOG_LINES = 3
MINUTE = 60.0
SOME = 500
"""So many of too many runs are looked at to say what all would cost."""
_log = logging.getLogger(__name__)


class Profiler:
    """Takes profilings in, and goes on with all that are open."""

    def __init__(
        self,
        database: Database,
        jobs: Jobs,
        prices: Prices,
        limits: ResourceLimits,
        known: Provisioner,
        sight_of: Callable[[ProjectId, UserId], Sight | None],
    ) -> None:
        self._database = database
        self._sight_of = sight_of
        """How somebody sees a project now; it raises where they may not run anything there any more."""
        self._jobs = jobs
        self._prices = prices
        self._limits = limits
        self._known = known
        self._are_open = True
        self._wanted = threading.Event()
        self._loop = Loop("profiler", self.step, self._wait, self._wanted.set)

    def start(self) -> None:
        """Start the loop."""
        self._loop.start()

    def stop(self) -> None:
        """End the loop. Safe to call twice."""
        self._loop.stop()

    def wake(self) -> None:
        """Look again now, if anything is open: a job may have ended."""
        if self._are_open:
            self._wanted.set()

    def plan(self, project: ProjectId, wanted: CreateProfiling) -> ProfilingPlan:
        """Say what it would be; refuse what would be refused."""
        campaign = self._checked(project, wanted)
        whole = [one for one in campaign.candidates if not one.is_sample]
        template, count = wanted.job.template, len(campaign.candidates)
        asked = [Configuration(dict(one.parameters), _share(wanted.job, one)) for one in whole]
        runs, said = self._known.guess(project, template, asked)
        if not said:
            return ProfilingPlan(template, wanted.design, count, campaign.at_once())
        seconds, cost = sum(one.seconds for one in said), sum(one.cost_usd for one in said)
        return ProfilingPlan(
            template, wanted.design, count, campaign.at_once(), runs, seconds / campaign.at_once(), cost
        )

    def create(self, project: ProjectId, user: UserId, wanted: CreateProfiling) -> Profiling:
        """Take one in, and begin with it."""
        campaign = self._checked(project, wanted)
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            other = work.profilings.open_of(project, wanted.job.template)
            if other is not None:
                reason = f"{one_line(wanted.job.template)} is being profiled by {other.tag}; wait for it, or kill it"
                raise Conflict(reason=reason)
            stored = work.profilings.create(project, user, wanted, work.clock.now())
        self._are_open = True
        self._advance(stored)
        self._wanted.set()
        with self._database.reading() as work:
            now = work.profilings.with_tag(project, stored.tag)
        assert now is not None
        count = len(campaign.candidates)
        return Profiling(
            wanted.job.template,
            now.tag,
            wanted.design,
            count,
            now.sentence or f"up to {count} runs",
            now.ended_at is not None,
        )

    def step(self) -> bool:
        """Go on with each; says whether anything was begun or ended."""
        self._wanted.clear()
        with self._database.reading() as work:
            stored = work.profilings.open()
        self._are_open = bool(stored)
        moved = [self._advance_safely(one) for one in stored]
        return any(moved)

    def _wait(self) -> None:
        self._wanted.wait(BUSY_SECONDS if self._are_open else IDLE_SECONDS)

    def _advance_safely(self, stored: StoredProfiling) -> bool:
        """One that makes trouble does not hold up the others."""
        try:
            return self._advance(stored)
        except Exception:  # noqa: BLE001 (whatever it was, the others must go on)
            _log.exception("%s could not go on; it will be tried again.", stored.tag)
            return False

    def _advance(self, stored: StoredProfiling) -> bool:
        campaign = self._campaign(stored.request)
        with self._database.reading() as work:
            runs = work.profilings.runs(stored.project_id, stored.tag)
            now = work.clock.now()
            newest_first = self._known.observations(work, stored.project_id, stored.request.job.template)
        places = _places(campaign.candidates, stored.request.job)
        tries = [self._try(campaign, run, places[_key(run)], now) for run in runs if _key(run) in places]
        move = campaign.move(tries, newest_first[::-1], (now - stored.created_at).total_seconds())
        if move.is_over:
            return self._end(stored, move)
        begun = False
        for start in move.starts:
            if not self._begin(stored, campaign, start, runs, len(runs) + begun):
                break
            begun = True
        return begun

    def _begin(
        self, stored: StoredProfiling, campaign: Campaign, start: Start, runs: Sequence[ProfiledRun], count: int
    ) -> bool:
        candidate = campaign.candidates[start.candidate]
        request = self._request(stored, candidate, start.limit_seconds, runs)

        def still(work: Work) -> bool:
            with everything():
                now = work.profilings.with_tag(stored.project_id, stored.tag)
                made = work.profilings.runs(stored.project_id, stored.tag)
            return now is not None and now.ended_at is None and len(made) == count

        of = stored.project_id, stored.user_id
        try:  # as its user may now: somebody may have closed to them what it is given
            made = seeing(self._sight_of(*of), self._jobs.submit_if, *of, request, stored.tag, still)
        except AcaiError as error:  # what was given is gone, or does not fit any more
            from acai_server.provisioner.campaigns import Move

            self._end(
                stored, Move(sentence=f"no further run can be made: {error.message}", is_over=True, has_failed=True)
            )
            return False
        return made is not None

    def _end(self, stored: StoredProfiling, move: Move) -> bool:
        sentence = move.sentence
        if move.culprit is not None and move.has_failed:
            sentence = f"{sentence}. {self._first_lines(stored.project_id, move.culprit)}"
        with self._database.writing() as work:
            ended = work.profilings.end(stored.id, sentence, work.clock.now(), has_failed=move.has_failed)
            if ended:
                self._jobs.end_tagged(work, stored.project_id, stored.user_id, stored.tag)
                work.events.record(stored.project_id, "profiling_ended", stored.tag, sentence=sentence)
        self._jobs.wake()
        return ended

    def _first_lines(self, project: ProjectId, job: JobNumber) -> str:
        try:
            lines = [line.strip() for line in self._jobs.log(project, job, 0).text.splitlines() if line.strip()]
        except AcaiError:
            lines = []
        said = "; ".join(one_line(line[:200]) for line in lines[:LOG_LINES])
        return f"Job {job} printed: {said}" if said else f"Job {job} printed nothing"

    def _request(
        self, stored: StoredProfiling, one: Candidate, limit: float | None, runs: Sequence[ProfiledRun]
    ) -> CreateJob:
        job = stored.request.job
        limits = [seconds for seconds in (job.time_limit_seconds, limit) if seconds is not None]
        return msgspec.structs.replace(
            job,
            parameters={**job.parameters, **one.parameters},
            resources=_share(job, one),
            memory_as_used=False,
            attributes={**job.attributes, **_sampled(stored.request, one)},
            priority=PRIORITY,
            time_limit_seconds=min(limits, default=None),
            cached=False,
            inputs=self._inputs(stored, runs, is_sample=one.is_sample),
        )

    def _inputs(self, stored: StoredProfiling, runs: Sequence[ProfiledRun], *, is_sample: bool) -> list[str]:
        """The versions that the first run was given, so that all are given the same; a sample names its own."""
        if is_sample and stored.request.sample is not None:
            return stored.request.sample.inputs
        runs = [run for run in runs if SAMPLED not in run.request.attributes]
        version = next((run.input_version for run in runs if run.input_version is not None), None)
        if version is None:
            return stored.request.job.inputs
        from acai_jupyter.contract.ids import FileSetVersionId

        with self._database.reading() as work:
            known = work.file_sets.by_id([FileSetVersionId(version)])[FileSetVersionId(version)]
        return [f"@{known.public.ref}"]

    def _try(self, campaign: Campaign, run: ProfiledRun, place: int, now: datetime) -> Try:
        from acai_server.provisioner.campaigns import ENDING_SECONDS, HELD, Try

        one, share = campaign.candidates[place], run.request.resources
        cost = partial(
            self._prices.cost_usd,
            one.vcpu,
            one.memory_bytes,
            gpus=share.gpus,
            gpu_type=share.gpu_type,
            version=run.price_book,
        )
        live = 0.0 if run.billed_since is None else max(0.0, (now - run.billed_since).total_seconds())
        limit = run.request.time_limit_seconds
        most = 0.0 if limit is None else cost(limit + ENDING_SECONDS)
        held = any(text.startswith(HELD) for text in run.held)
        return Try(
            place,
            run.number,
            run.state,
            spent_usd=run.spent_usd + cost(live),
            most_usd=run.spent_usd + most,
            held=held,
            ran_out_of_memory=run.ran_out_of_memory,
        )

    def _checked(self, project: ProjectId, wanted: CreateProfiling) -> Campaign:
        """Refuse what cannot be meant."""
        job = wanted.job
        if not job.template:
            raise BadRequest("A profile has a name: --name NAME.")
        if wanted.sample is not None and wanted.design is Design.FULL:
            raise BadRequest("A sample is for runs that are chosen one by one: --design adaptive.")
        shares = self._shares(wanted)
        count = prod(map(len, wanted.values.values())) * len(shares)
        if count > MAX_RUNS:
            raise BadRequest(self._too_many(project, wanted, count))
        wrong = fault(wanted.values, job.parameters) if wanted.values else ""
        if wrong:
            raise BadRequest(f"The profile {one_line(job.template)} {wrong}.")
        campaign = self._campaign(wanted)
        for share in shares:
            sample = next(one for one in campaign.candidates if (one.vcpu, one.memory_bytes) == share)
            parameters = {**job.parameters, **sample.parameters}
            self._jobs.check(
                project, msgspec.structs.replace(job, parameters=parameters, resources=_share(job, sample))
            )
        if wanted.sample is not None:
            self._jobs.check(project, msgspec.structs.replace(job, inputs=wanted.sample.inputs))
        return campaign

    def _too_many(self, project: ProjectId, wanted: CreateProfiling, count: int) -> str:
        """Say how many runs it would be, and what they would cost: by earlier runs, else if each took so long."""
        from acai_server.provisioner.sentences import duration, money

        known, cost = self._cost_of_all(project, wanted, count)
        if known:
            told = f"about {money(cost)}, by {known:,} earlier run{'s' if known > 1 else ''}"
        else:
            shares, limit = self._shares(wanted), wanted.job.time_limit_seconds
            hourly = sum(self._usd_per_hour(wanted.job, *share) for share in shares) / len(shares)
            seconds, how = (MINUTE, "if each takes") if limit is None else (limit, "if each takes its limit of")
            told = f"{money(hourly / 3600 * seconds * count)} {how} {duration(seconds)}, which no earlier run tells"
        name = one_line(wanted.job.template)
        return f"The profile {name} would be {count:,} runs and cost {told}; {MAX_RUNS:,} runs are the most."

    def _cost_of_all(self, project: ProjectId, wanted: CreateProfiling, count: int) -> tuple[int, float]:
        """Say from how many earlier runs what all would cost, by some that lie evenly among them; 0 when none tells."""
        from acai_server.provisioner.campaigns import Candidate

        shares = self._shares(wanted)
        places = [count * number // SOME for number in range(SOME)]
        asked = [
            Configuration(
                {**wanted.job.parameters, **combination(wanted.values, place // len(shares))},
                _share(wanted.job, Candidate({}, *shares[place % len(shares)])),
            )
            for place in places
        ]
        known, said = self._known.guess(project, wanted.job.template, asked)
        return known, count * sum(one.cost_usd for one in said) / SOME

    def _campaign(self, wanted: CreateProfiling) -> Campaign:
        from acai_server.provisioner.campaigns import Campaign, Candidate, rates

        given = list(combinations(wanted.values)) if wanted.values else [{}]
        kinds = [(None, False)] if wanted.sample is None else _kinds(wanted.sample)
        shares = self._shares(wanted)
        candidates = [Candidate(one, *share, *kind) for one in given for share in shares for kind in kinds]
        hourly = [self._usd_per_hour(wanted.job, one.vcpu, one.memory_bytes) for one in candidates]
        return Campaign(
            wanted.design,
            candidates,
            rates(candidates, hourly),
            self._jobs.machine(),
            wanted.max_cost_usd,
            wanted.max_seconds,
        )

    def _usd_per_hour(self, job: CreateJob, vcpu: float, memory_bytes: int) -> float:
        gpus = job.resources.gpus
        named = self._prices.gpu_type(gpus, job.resources.gpu_type)
        return self._prices.cost_usd(vcpu, memory_bytes, 3600.0, gpus=gpus, gpu_type=named)

    def _shares(self, wanted: CreateProfiling) -> list[tuple[float, int]]:
        """The machines to try: those that were named, else those of the original that there are."""
        limits, machine = self._limits, self._jobs.machine()
        cpus = wanted.vcpus or [
            cpu
            for cpu in VCPUS
            if limits.min_vcpu <= cpu <= min(limits.max_vcpu, machine.cpus) and not cpu % limits.vcpu_step
        ]
        most = min(limits.max_memory_bytes, machine.memory_bytes)
        memories = wanted.memories_bytes or [
            size
            for size in MEMORIES_BYTES
            if limits.min_memory_bytes <= size <= most and not size % limits.memory_step_bytes
        ]
        cpus, memories = cpus or [wanted.job.resources.vcpu], memories or [wanted.job.resources.memory_bytes]
        return [(cpu, memory) for cpu in dict.fromkeys(cpus) for memory in dict.fromkeys(memories)]


def _kinds(sample: Sample) -> list[tuple[int, bool]]:
    return [(sample.size_bytes, True), (sample.of_bytes, False)]


def _sampled(wanted: CreateProfiling, one: Candidate) -> dict[str, float]:
    if not one.is_sample or wanted.sample is None:
        return {}
    return {SAMPLED: round(wanted.sample.size_bytes / max(1, wanted.sample.of_bytes), 4)}


def _share(job: CreateJob, one: Candidate) -> Resources:
    return msgspec.structs.replace(job.resources, vcpu=one.vcpu, memory_bytes=one.memory_bytes, max_memory_bytes=None)


def _places(candidates: Sequence[Candidate], job: CreateJob) -> dict[Hashable, int]:
    """The number of each candidate, by what its jobs are known by; others were given the tag by hand."""
    return {
        (one.is_sample, one.vcpu, one.memory_bytes, frozenset({**job.parameters, **one.parameters}.items())): place
        for place, one in enumerate(candidates)
    }


def _key(run: ProfiledRun) -> Hashable:
    share = run.request.resources
    is_sample = SAMPLED in run.request.attributes
    return is_sample, share.vcpu, share.memory_bytes, frozenset(run.request.parameters.items())
