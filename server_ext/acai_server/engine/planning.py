"""Plans: the registry's checks and the queue's rules for jobs that nobody has submitted. Only reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acai_jupyter.contract.filesets import Entry
from acai_jupyter.contract.ids import JobId, JobNumber, Sha256
from acai_jupyter.contract.plans import Plan, PlannedEnvironment, PlannedInput
from acai_jupyter.contract.states import JobState
from acai_jupyter.contract.sweeps import CreateSweep
from acai_jupyter.contract.templates import template_of
from acai_server.db.filesets import StoredFileSet
from acai_server.db.jobs import StoredJob
from acai_server.engine import sweeps, waiting
from acai_server.engine.claims import Nesting, Source
from acai_server.engine.inputs import Beside, InputReader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.jobs import CreateJob, Resources, Waiting
    from acai_jupyter.contract.plans import CodeFile, PlanJob
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.engine.inputs import Given
    from acai_server.engine.protocols import FileSetStore, Forecast, Prices
    from acai_server.engine.registry import Registry
    from acai_server.runners.protocol import Runner

_NUMBER = JobNumber(2**31 - 1)
_NOBODY = JobId(-1)
MINUTE = 60
HOUR = 3600


@dataclass(frozen=True)
class Planner:
    """Says what would happen."""

    database: Database
    file_sets: FileSetStore
    registry: Registry
    runner: Runner
    prices: Prices
    forecast: Forecast
    quota: int

    def plan(self, project: ProjectId, user: UserId, wanted: PlanJob) -> Plan:
        """Refuse what would be refused; else say how it would go."""
        try:
            return self._plan(project, user, wanted)
        finally:
            self.forecast.settle()

    def _plan(self, project: ProjectId, user: UserId, wanted: PlanJob) -> Plan:
        jobs = sweeps.requests_of(CreateSweep(wanted.job, wanted.values)) if wanted.values else [wanted.job]
        with self.database.reading() as work:
            jobs = list(self.registry.fitted(work, project, jobs))
            first = jobs[0]
            template = template_of(first)
            code = _files("the code", wanted.code, first.code_root.rstrip("/"))
            variables = _files("the variables", wanted.variables, first.variables_root.rstrip("/"))
            given, earlier = self.registry.look(work, project, jobs, Beside(code, variables))
            answered = [one.number for one in earlier if one is not None]
            share = first.resources
            return Plan(
                jobs=len(jobs),
                template=template,
                inputs=self._inputs(work, project, given),
                output=first.output,
                resources=share,
                runner=self.runner.name,
                usd_per_hour=self._usd_per_hour(share, first.nodes),
                at_once=min(len(jobs), self._at_once(work, (project, user), share, first.nodes)),
                expected=self.forecast.expect(work, project, template, first),
                waiting=None if len(answered) == len(jobs) else self._waiting(work, project, user, first),
                answered_by=answered,
                environment=self._environment(first),
            )

    def _usd_per_hour(self, share: Resources, nodes: int) -> float:
        machine = share.vcpu, share.memory_bytes
        return self.prices.cost_usd(*machine, HOUR * nodes, gpus=share.gpus, gpu_type=share.gpu_type)

    def _environment(self, request: CreateJob) -> PlannedEnvironment | None:
        """What is made for it; of all else the side that submits knows."""
        lock = request.lock
        if lock is None:
            return None
        return PlannedEnvironment(lock.python, len(lock.packages), is_cached=self.runner.is_built(lock))

    def _inputs(self, work: Work, project: ProjectId, given: Given) -> list[PlannedInput]:
        data = given.data
        if data is None:
            return []
        if isinstance(data, StoredFileSet):
            seen = data.public
            return [PlannedInput(seen.ref, seen.file_count, seen.size_bytes, self.runner.shares_disk)]
        reader = InputReader(self.database, self.file_sets, work, project)
        size_bytes = sum(entry.size_bytes for entry in reader.entries(data))
        return [PlannedInput(None, data.file_count, size_bytes, self.runner.shares_disk)]

    def _at_once(self, work: Work, key: tuple[ProjectId, UserId], share: Resources, nodes: int) -> int:
        own, machine = work.queue.quota(key), self.runner.machine()
        quota = self.quota if own is None else own
        rooms = [int(machine.cpus // share.vcpu), machine.memory_bytes // share.memory_bytes]
        rooms += [machine.gpus // share.gpus] if share.gpus else []
        return max(0, min(quota, *(room // nodes for room in rooms)))

    def _waiting(self, work: Work, project: ProjectId, user: UserId, request: CreateJob) -> Waiting | None:
        """Why it would wait; None when it would start at once."""
        share, now = request.resources, work.clock.now()
        job = StoredJob(
            id=_NOBODY,
            project_id=project,
            user_id=user,
            number=_NUMBER,
            state=JobState.QUEUED,
            reason="",
            request=request,
            inputs=[],
            vcpu=share.vcpu,
            memory_bytes=share.memory_bytes,
            gpus=share.gpus,
            template=template_of(request),
            created_at=now,
        )
        found = waiting.explain(work, job, self.runner, self.quota, is_planned=True)
        return None if found.sentence == waiting.AT_ONCE else found


def _files(name: str, files: list[CodeFile], root: str) -> Source | None:
    """Files that are still with who submits, as a source beside the others."""
    if not files:
        return None
    entries = sorted(
        (Entry(f"{root}/{one.path}", 1, 0, Sha256(one.sha256)) for one in files), key=lambda entry: entry.path
    )
    nesting = Nesting(name)
    for entry in entries:
        nesting.take(entry.path)

    def after(path: str) -> Iterator[Entry]:
        return (entry for entry in entries if entry.path > path)

    return Source(name, len(entries), after, f"{root}/")
