"""Records of the life of jobs. Every transition is one conditional update, so nothing moves a job twice."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import select, update

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import JobNotFound
from acai_jupyter.contract.ids import AttemptId, FileSetVersionId, JobId, JobNumber, ProjectId, UserId
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.states import END_STATES, JOB_TRANSITIONS, ActionKind, InputRole, JobState
from acai_server.db import batches, rows, sight
from acai_server.db.actions import ActionRecords
from acai_server.db.attempts import AttemptEnd, AttemptRecords, StoredAttempt
from acai_server.db.attributes import AttributeRecords
from acai_server.db.queue import Share
from acai_server.db.restricted import RestrictedRecords
from acai_server.db.tables import JobRow, UserRow
from acai_server.objects.keys import job_folder

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from acai_server.db.identity import KnownIdentity

__all__ = ["AttemptEnd", "JobRecords", "StoredAttempt", "StoredJob"]

Inputs = list[tuple[FileSetVersionId, InputRole]]
_SOURCES = {
    target: ", ".join(f"'{source.value}'" for source, targets in JOB_TRANSITIONS.items() if target in targets) or "NULL"
    for target in JobState
}
_INPUTS = "SELECT file_set_version_id, role FROM job_input WHERE job_id = ? ORDER BY position"
_ENDED = "SELECT ended_at FROM job WHERE project_id = ? AND number = ?"
_NEXT_NUMBER = "UPDATE project SET last_job = last_job + 1 WHERE id = ? RETURNING last_job, restrictions"
_ADD_INPUT = "INSERT INTO job_input (job_id, position, file_set_version_id, role) VALUES (?, ?, ?, ?)"
_READ = """
    SELECT id, project_id, user_id, number, state, reason, request, vcpu, memory_bytes, gpus, template, created_at,
    memo, not_before, kill_asked_at, output_version_id, ended_at, deleted_at,
    object_folder FROM job WHERE"""
_USER_NAME = "SELECT name FROM user_account WHERE id = ?"
_SET_OUTPUT = "UPDATE job SET output_version_id = ? WHERE id = ? AND output_version_id IS NULL"
_LAST_STEP = "SELECT max(at) FROM transition WHERE job_id = ?"
_STEP = "INSERT INTO transition (job_id, attempt_id, state, reason, at) VALUES (?, ?, ?, ?, ?)"


@dataclass(frozen=True)
class StoredJob:
    """A job as the engine sees it. `vcpu`, `memory_bytes` and `gpus` are what each node of its next attempt gets."""

    id: JobId
    project_id: ProjectId
    user_id: UserId
    number: JobNumber
    state: JobState
    reason: str
    request: CreateJob
    inputs: Inputs
    vcpu: float
    memory_bytes: int
    gpus: int
    template: str
    created_at: datetime
    memo: bytes | None = None
    not_before: datetime | None = None
    kill_asked_at: datetime | None = None
    output_version_id: FileSetVersionId | None = None
    ended_at: datetime | None = None
    deleted_at: datetime | None = None
    object_folder: str = ""

    @property
    def share(self) -> Share:
        """What its next attempt takes of machines, all nodes together."""
        nodes = self.request.nodes
        return Share(nodes * self.vcpu, nodes * self.memory_bytes, nodes * self.gpus)


class JobRecords:
    """Jobs by project and number."""

    def __init__(self, session: Session, identity: KnownIdentity) -> None:
        self._session = session
        self._identity = identity
        self._attempts = AttemptRecords(session)
        self._is_open: dict[ProjectId, bool] = {}
        """Of projects that are locked: whether nothing of them is restricted."""

    def next_number(self, project: ProjectId) -> JobNumber:
        """Take the project's next number. A transaction that fails gives it back, so there are no gaps."""
        number, restrictions = batches.select(self._session, _NEXT_NUMBER, project)[0]
        self._is_open[project] = not restrictions  # and stays so: who restricts something has to lock the project
        return JobNumber(number)

    def create(
        self,
        project: ProjectId,
        user: UserId,
        request: CreateJob,
        inputs: Inputs,
        now: datetime,
        *,
        number: JobNumber | None = None,
        **known: Any,
    ) -> StoredJob:
        """Write a queued job, with the project's next number unless it has one already.

        What else is known of it: `template`, `memo`, `submission`.
        """
        if request.output is not None:
            sight.refuse_set(request.output)
            sight.refuse_folder(request.output_root or f"/{request.output}")
        number = self.next_number(project) if number is None else number
        share = request.resources
        row = JobRow(project_id=project, number=number, user_id=user, state=JobState.QUEUED.value, created_at=now)
        row.reason = ""
        row.request, row.priority = msgspec.to_builtins(request), request.priority
        row.vcpu, row.memory_bytes, row.gpus = share.vcpu, share.memory_bytes, share.gpus
        row.nodes = request.nodes
        row.object_folder = job_folder(number, self._identity.of(self._session), secrets.token_hex(4))
        for name, value in known.items():
            setattr(row, name, value)
        rows.insert(self._session, row)
        used = [(row.id, position, version, role.value) for position, (version, role) in enumerate(inputs)]
        batches.change(self._session, _ADD_INPUT, used)
        ActionRecords(self._session).begin(project, user, ActionKind.JOB, inputs, now, JobId(row.id))
        restricted = RestrictedRecords(self._session)
        if not self._is_open.get(project) and restricted.borders(project) is not None:
            restricted.submitted(project, JobId(row.id), request.output, request.output_root)
        self._add_transition(row.id, None, JobState.QUEUED, "", now)
        attributes = AttributeRecords(self._session)
        attributes.add_parameters(project, row.id, request.parameters)
        return self._stored(row, inputs)

    def answer(self, job: StoredJob, earlier: StoredJob, reason: str, now: datetime) -> None:
        """Finish a job that was just written with the result of an earlier one: it never runs."""
        values = {"state": JobState.FINISHED.value, "reason": reason, "ended_at": now, "answered_by_id": earlier.id}
        values["output_version_id"] = earlier.output_version_id
        self._session.execute(update(JobRow).where(JobRow.id == job.id).values(**values))
        self._add_transition(job.id, None, JobState.FINISHED, reason, now)

    def submitted(self, project: ProjectId, user: UserId, submission: str) -> JobNumber | None:
        """Return the first job that came of a submission."""
        query = select(JobRow.number).where(JobRow.project_id == project, JobRow.user_id == user)
        number = self._session.scalar(query.where(JobRow.submission == submission))
        return None if number is None else JobNumber(number)

    def by_id(self, job: JobId) -> StoredJob:
        """Return one job."""
        return self._stored(batches.select(self._session, f"{_READ} id = ?", job)[0])

    def find(self, project: ProjectId, number: int) -> StoredJob:
        """Return one job by the number that people know."""
        found = batches.select(self._session, f"{_READ} project_id = ? AND number = ?", project, number)
        if not found:
            raise JobNotFound(job=number)
        job = self._stored(found[0])
        opened = sight.opened()
        if opened is not None:
            opened.jobs[job.id] = number
        return job

    def has_ended(self, project: ProjectId, number: int) -> bool:
        """Whether a job is over."""
        found = batches.select(self._session, _ENDED, project, number)
        if not found:
            raise JobNotFound(job=number)
        return found[0][0] is not None

    def open(self) -> list[StoredJob]:
        """Return the jobs that have not ended, as they came."""
        query = select(JobRow).where(JobRow.ended_at.is_(None)).order_by(JobRow.id)
        return [self._stored(row) for row in self._session.scalars(query)]

    def newest_with(self, project: ProjectId, memo: bytes, before: StoredJob | None = None) -> StoredJob | None:
        """Return the newest job that finished, by itself, and that is the same in all its result depends on.

        With `before`, one that had finished when that job was submitted.
        """
        query = (
            select(JobRow)
            .where(JobRow.project_id == project, JobRow.memo == memo, JobRow.state == JobState.FINISHED.value)
            .where(JobRow.answered_by_id.is_(None), JobRow.deleted_at.is_(None))
            .order_by(JobRow.number.desc())
            .limit(1)
        )
        if before is not None:
            query = query.where(JobRow.ended_at <= before.created_at, JobRow.id != before.id)
        row = self._session.scalar(query)
        return None if row is None else self._stored(row)

    def answering(self, job: JobId) -> StoredJob | None:
        """Return the earlier job whose result this one was given."""
        earlier = self._session.scalar(select(JobRow.answered_by_id).where(JobRow.id == job))
        return None if earlier is None else self.by_id(JobId(earlier))

    def finished_like(self, job: StoredJob, most: int) -> list[StoredJob]:
        """Return the last jobs of the same template that finished before this one was submitted, the newest first."""
        query = (
            select(JobRow)
            .where(JobRow.project_id == job.project_id, JobRow.template == job.template, JobRow.ended_at.is_not(None))
            .where(JobRow.state == JobState.FINISHED.value, JobRow.ended_at <= job.created_at, JobRow.id != job.id)
            .where(JobRow.answered_by_id.is_(None), JobRow.deleted_at.is_(None))
            .order_by(JobRow.ended_at.desc())
            .limit(most)
        )
        return [self._stored(row) for row in self._session.scalars(query)]

    def advance(self, job: JobId, to: JobState, reason: str, now: datetime, attempt: AttemptId | None = None) -> bool:
        """Move a job if it may go there from where it is; says whether this call moved it.

        Its last step may be of a server whose clock is a little ahead of this one's: no job ends before it began.
        """
        now = max(now, self._last_step(job, now))
        moved = self._move(job, to, {"reason": reason, "ended_at": now if to in END_STATES else None})
        if moved:
            self._add_transition(job, attempt, to, reason, now)
        return moved

    def retry(self, job: JobId, reason: str, now: datetime, *, not_before: datetime, memory_bytes: int) -> bool:
        """Queue a job again whose attempt ended badly, with so much memory for the next; says whether it did."""
        values = {"reason": reason, "ended_at": None, "not_before": not_before, "memory_bytes": memory_bytes}
        now = max(now, self._last_step(job, now))
        moved = self._move(job, JobState.QUEUED, values)
        if moved:
            self._add_transition(job, None, JobState.QUEUED, reason, now)
        return moved

    def begin_attempt(
        self,
        job: StoredJob,
        runner: str,
        key: str,
        now: datetime,
        *,
        quota: int | None = None,
        price_book: int | None = None,
    ) -> StoredAttempt | None:
        """Move a queued job to launching and write its next attempt; None when it may not go, or not yet.

        `quota` is how many jobs a user without a quota of their own may have live at once; without one, any number.
        """
        if quota is not None and not self._attempts.may_begin(job.project_id, job.user_id, quota, now):
            return None
        values = {"reason": "", "not_before": None}
        if not self._move(job.id, JobState.LAUNCHING, values, " AND kill_asked_at IS NULL"):
            return None
        attempt = self._attempts.add(job.id, runner, key, price_book)
        now = max(now, self._last_step(job.id, now))
        self._add_transition(job.id, attempt.id, JobState.LAUNCHING, "", now)
        return attempt

    def end_attempt(self, attempt: AttemptId, end: AttemptEnd) -> None:
        """Write down how an attempt ended."""
        self._attempts.end(attempt, end)

    def ask_to_kill(self, job: JobId, user: UserId, now: datetime, reason: str | None = None) -> bool:
        """Note that a job is to end, and who said so, or why it must; says whether this call was the first."""
        query = (
            update(JobRow)
            .where(JobRow.id == job, JobRow.ended_at.is_(None), JobRow.kill_asked_at.is_(None))
            .values(kill_asked_at=now, killed_by_id=user, kill_reason=reason)
        )
        return bool(self._session.scalars(query.returning(JobRow.id)).all())

    def user_name(self, user: UserId) -> str:
        """Return a user's name."""
        return str(batches.select(self._session, _USER_NAME, user)[0][0])

    def why_killed(self, job: JobId) -> tuple[str, bool]:
        """Return why a job is to end: who asked, or what made it necessary; and whether it was that."""
        query = select(UserRow.name, JobRow.kill_reason).join(JobRow, JobRow.killed_by_id == UserRow.id)
        found = self._session.execute(query.where(JobRow.id == job)).first()
        name, reason = (None, None) if found is None else found
        return (f"killed by {name}", False) if reason is None else (reason, True)

    def set_output(self, job: JobId, version: FileSetVersionId) -> None:
        """Record what a job made; once written it never changes."""
        batches.changed(self._session, _SET_OUTPUT, version, job)

    def set_partial(self, job: JobId, version: FileSetVersionId) -> None:
        """Record what a failed program left; once written it never changes."""
        left = update(JobRow).where(JobRow.id == job, JobRow.partial_version_id.is_(None))
        self._session.execute(left.values(partial_version_id=version))

    def bury(self, job: JobId, now: datetime) -> bool:
        """Delete a job that has ended; says whether this call did."""
        query = update(JobRow).where(JobRow.id == job, JobRow.ended_at.is_not(None), JobRow.deleted_at.is_(None))
        return bool(self._session.scalars(query.values(deleted_at=now).returning(JobRow.id)).all())

    def bring_back(self, job: JobId) -> bool:
        """Undo a deletion, unless what belongs to the job is gone; says whether this call did."""
        query = update(JobRow).where(JobRow.id == job, JobRow.deleted_at.is_not(None), JobRow.collected_at.is_(None))
        return bool(self._session.scalars(query.values(deleted_at=None).returning(JobRow.id)).all())

    def collected(self, jobs: list[JobId], now: datetime) -> list[JobId]:
        """Note that what belongs to deleted jobs goes now; returns those that nobody brought back meanwhile."""
        query = update(JobRow).where(JobRow.id.in_(jobs), JobRow.deleted_at.is_not(None), JobRow.collected_at.is_(None))
        return [JobId(row) for row in self._session.scalars(query.values(collected_at=now).returning(JobRow.id))]

    def _move(self, job: JobId, to: JobState, values: dict[str, Any], condition: str = "") -> bool:
        """The one conditional update; by hand, as each job goes through several."""
        self._session.flush()
        stored = [self._as_stored(value) for value in values.values()]
        columns = ", ".join(f"{name} = ?" for name in values)
        sql = f"UPDATE job SET state = ?, {columns} WHERE id = ? AND state IN ({_SOURCES[to]}){condition}"
        moved = batches.changed(self._session, sql, to.value, *stored, job) == 1
        if moved:
            self._session.expire_all()
        return moved

    def _as_stored(self, value: Any) -> Any:
        return batches.as_stored(self._session, value) if isinstance(value, datetime) else value

    def _inputs(self, job: int) -> Inputs:
        found = batches.select(self._session, _INPUTS, job)
        return [(FileSetVersionId(version), InputRole(role)) for version, role in found]

    def _stored(self, row: Any, inputs: Inputs | None = None) -> StoredJob:
        return StoredJob(
            id=JobId(row.id),
            project_id=ProjectId(row.project_id),
            user_id=UserId(row.user_id),
            number=JobNumber(row.number),
            state=JobState(row.state),
            reason=row.reason,
            request=decoding.convert(rows.as_json(row.request), CreateJob),
            inputs=self._inputs(row.id) if inputs is None else inputs,
            vcpu=row.vcpu,
            memory_bytes=row.memory_bytes,
            gpus=row.gpus,
            template=row.template,
            created_at=batches.as_time(row.created_at),
            memo=row.memo,
            not_before=rows.as_time(row.not_before),
            kill_asked_at=rows.as_time(row.kill_asked_at),
            output_version_id=None if row.output_version_id is None else FileSetVersionId(row.output_version_id),
            ended_at=rows.as_time(row.ended_at),
            deleted_at=rows.as_time(row.deleted_at),
            object_folder=row.object_folder or job_folder(row.number),
        )

    def _last_step(self, job: JobId, now: datetime) -> datetime:
        return rows.as_time(batches.select(self._session, _LAST_STEP, job)[0][0]) or now

    def _add_transition(self, job: int, attempt: AttemptId | None, state: JobState, reason: str, now: datetime) -> None:
        batches.changed(self._session, _STEP, job, attempt, state.value, reason, self._as_stored(now))
