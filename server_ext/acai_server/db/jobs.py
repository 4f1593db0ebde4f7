"""Records of jobs, their attempts and transitions. Every transition is one conditional update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import func, insert, select, update

from acai_jupyter.contract.errors import JobNotFound
from acai_jupyter.contract.ids import AttemptId, FileSetVersionId, JobId, JobNumber, ProjectId, UserId
from acai_jupyter.contract.jobs import Attempt, CreateJob, Job, Transition
from acai_jupyter.contract.states import END_STATES, JOB_TRANSITIONS, InputRole, JobState
from acai_server.db.attributes import AttributeRecords
from acai_server.db.filesets import FileSetRecords
from acai_server.db.tables import AttemptRow, JobInputRow, JobRow, ProjectRow, TransitionRow, UserRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

_SOURCES = {
    target: [source.value for source, targets in JOB_TRANSITIONS.items() if target in targets] for target in JobState
}


@dataclass(frozen=True)
class StoredJob:
    """A job as the engine sees it."""

    id: JobId
    project_id: ProjectId
    user_id: UserId
    number: JobNumber
    state: JobState
    request: CreateJob
    inputs: list[tuple[FileSetVersionId, InputRole]]


@dataclass(frozen=True)
class StoredAttempt:
    """An attempt as the engine sees it."""

    id: AttemptId
    number: int
    runner: str
    key: str
    vcpu: float
    memory_bytes: int


@dataclass(frozen=True)
class AttemptEnd:
    """What is known about an attempt when it is over."""

    exit_code: int | None
    run_seconds: float
    billed_seconds: float
    cost_usd: float
    log_bytes: int


class JobRecords:
    """Jobs by project and number."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def create(
        self,
        project: ProjectId,
        user: UserId,
        request: CreateJob,
        inputs: list[tuple[FileSetVersionId, InputRole]],
        now: datetime,
    ) -> StoredJob:
        """Write a queued job and give it the project's next number."""
        number = self._session.scalars(
            update(ProjectRow)
            .where(ProjectRow.id == project)
            .values(last_job=ProjectRow.last_job + 1)
            .returning(ProjectRow.last_job)
        ).one()
        row = JobRow(project_id=project, number=number, user_id=user, state=JobState.QUEUED.value, created_at=now)
        row.request = msgspec.to_builtins(request)
        self._session.add(row)
        self._session.flush()
        rows = [
            {"job_id": row.id, "position": position, "file_set_version_id": version, "role": role.value}
            for position, (version, role) in enumerate(inputs)
        ]
        if rows:
            self._session.execute(insert(JobInputRow), rows)
        self._add_transition(row.id, None, JobState.QUEUED, "", now)
        return self._stored(row)

    def open(self) -> list[StoredJob]:
        """Return the jobs that have not ended, oldest first within a priority."""
        query = select(JobRow).where(JobRow.ended_at.is_(None)).order_by(JobRow.priority.desc(), JobRow.id)
        return [self._stored(row) for row in self._session.scalars(query)]

    def by_id(self, job: JobId) -> StoredJob:
        """Return one job."""
        return self._stored(self._session.get_one(JobRow, job))

    def find(self, project: ProjectId, number: int) -> StoredJob:
        """Return one job by the number that people know."""
        row = self._session.scalar(select(JobRow).where(JobRow.project_id == project, JobRow.number == number))
        if row is None:
            raise JobNotFound(job=number)
        return self._stored(row)

    def advance(self, job: JobId, to: JobState, reason: str, now: datetime, attempt: AttemptId | None = None) -> bool:
        """Move a job if it may go there from where it is; says whether this call moved it."""
        moved = self._move(job, to, reason, now)
        if moved:
            self._add_transition(job, attempt, to, reason, now)
        return moved

    def set_output(self, job: JobId, version: FileSetVersionId) -> None:
        """Record what a job made; once written it never changes."""
        self._session.execute(
            update(JobRow).where(JobRow.id == job, JobRow.output_version_id.is_(None)).values(output_version_id=version)
        )

    def begin_attempt(self, job: StoredJob, runner: str, key: str, now: datetime) -> StoredAttempt | None:
        """Move a queued job to launching and write its next attempt; None when it is queued no more."""
        if not self._move(job.id, JobState.LAUNCHING, "", now):
            return None
        tries = self._session.scalar(select(func.count()).where(AttemptRow.job_id == job.id)) or 0
        resources = job.request.resources
        row = AttemptRow(job_id=job.id, number=tries + 1, runner=runner, key=key)
        row.vcpu, row.memory_bytes = resources.vcpu, resources.memory_bytes
        self._session.add(row)
        self._session.flush()
        self._add_transition(job.id, AttemptId(row.id), JobState.LAUNCHING, "", now)
        return _attempt(row)

    def end_attempt(self, attempt: AttemptId, end: AttemptEnd) -> None:
        """Write down how an attempt ended."""
        values = {
            "exit_code": end.exit_code,
            "run_seconds": end.run_seconds,
            "billed_seconds": end.billed_seconds,
            "cost_usd": end.cost_usd,
            "log_bytes": end.log_bytes,
        }
        self._session.execute(update(AttemptRow).where(AttemptRow.id == attempt).values(**values))

    def last_attempt(self, job: JobId) -> StoredAttempt | None:
        """Return the newest attempt of a job."""
        query = select(AttemptRow).where(AttemptRow.job_id == job).order_by(AttemptRow.number.desc()).limit(1)
        row = self._session.scalar(query)
        return None if row is None else _attempt(row)

    def public(self, project: ProjectId, number: int) -> Job:
        """Return a job as people see it."""
        query = select(JobRow).where(JobRow.project_id == project, JobRow.number == number)
        row = self._session.scalar(query)
        if row is None:
            raise JobNotFound(job=number)
        return self._public(row)

    def page(self, project: ProjectId, before: int | None, limit: int) -> list[Job]:
        """Return jobs as people see them, the newest first."""
        query = select(JobRow).where(JobRow.project_id == project)
        if before is not None:
            query = query.where(JobRow.number < before)
        return [self._public(row) for row in self._session.scalars(query.order_by(JobRow.number.desc()).limit(limit))]

    def _move(self, job: JobId, to: JobState, reason: str, now: datetime) -> bool:
        values = {"state": to.value, "reason": reason, "ended_at": now if to in END_STATES else None}
        allowed = update(JobRow).where(JobRow.id == job, JobRow.state.in_(_SOURCES[to])).values(**values)
        return bool(self._session.scalars(allowed.returning(JobRow.id)).all())

    def _public(self, row: JobRow) -> Job:
        request = msgspec.convert(row.request, CreateJob)
        inputs = self._inputs(row.id)
        wanted = [version for version, _ in inputs]
        sets = FileSetRecords(self._session).by_id(wanted + self._output(row))
        output = sets[FileSetVersionId(row.output_version_id)].public.ref if row.output_version_id else None
        code = [sets[version].public.ref for version, role in inputs if role is InputRole.CODE]
        return Job(
            number=JobNumber(row.number),
            name=request.name,
            user=self._session.get_one(UserRow, row.user_id).name,
            state=JobState(row.state),
            reason=row.reason,
            command=request.command,
            inputs=[sets[version].public.ref for version, role in inputs if role is InputRole.DATA],
            code=code[0] if code else None,
            output=output,
            parameters=request.parameters,
            resources=request.resources,
            created_at=row.created_at,
            attempts=self._attempts(row.id),
            attributes=AttributeRecords(self._session).of(ProjectId(row.project_id), "job", row.id),
        )

    def _output(self, row: JobRow) -> list[FileSetVersionId]:
        return [FileSetVersionId(row.output_version_id)] if row.output_version_id else []

    def _attempts(self, job: int) -> list[Attempt]:
        steps: dict[int | None, list[Transition]] = {}
        for step in self._session.scalars(
            select(TransitionRow).where(TransitionRow.job_id == job).order_by(TransitionRow.id)
        ):
            steps.setdefault(step.attempt_id, []).append(Transition(JobState(step.state), step.at, step.reason))
        rows = self._session.scalars(select(AttemptRow).where(AttemptRow.job_id == job).order_by(AttemptRow.number))
        return [
            Attempt(
                number=row.number,
                runner=row.runner,
                vcpu=row.vcpu,
                memory_bytes=row.memory_bytes,
                transitions=steps.get(row.id, []),
                exit_code=row.exit_code,
                run_seconds=row.run_seconds,
                billed_seconds=row.billed_seconds,
                cost_usd=row.cost_usd,
            )
            for row in rows
        ]

    def _inputs(self, job: int) -> list[tuple[FileSetVersionId, InputRole]]:
        query = select(JobInputRow).where(JobInputRow.job_id == job).order_by(JobInputRow.position)
        return [(FileSetVersionId(r.file_set_version_id), InputRole(r.role)) for r in self._session.scalars(query)]

    def _stored(self, row: JobRow) -> StoredJob:
        return StoredJob(
            id=JobId(row.id),
            project_id=ProjectId(row.project_id),
            user_id=UserId(row.user_id),
            number=JobNumber(row.number),
            state=JobState(row.state),
            request=msgspec.convert(row.request, CreateJob),
            inputs=self._inputs(row.id),
        )

    def _add_transition(self, job: int, attempt: AttemptId | None, state: JobState, reason: str, now: datetime) -> None:
        row = {"job_id": job, "attempt_id": attempt, "state": state.value, "reason": reason, "at": now}
        self._session.execute(insert(TransitionRow), [row])


def _attempt(row: AttemptRow) -> StoredAttempt:
    return StoredAttempt(
        id=AttemptId(row.id),
        number=row.number,
        runner=row.runner,
        key=row.key,
        vcpu=row.vcpu,
        memory_bytes=row.memory_bytes,
    )
