"""Jobs as people see them, many at a time with the same few queries."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import JobNotFound
from acai_jupyter.contract.ids import FileSetVersionId, JobId, JobNumber, ProjectId
from acai_jupyter.contract.jobs import Attempt, CreateJob, Job, JobRequest, Transfer, Transition, Usage
from acai_jupyter.contract.query.builtin import PARAMETERS, SubjectKind
from acai_jupyter.contract.states import InputRole, JobState
from acai_server.db import batches
from acai_server.db.attributes import AttributeRecords
from acai_server.db.filesets import FileSetRecords
from acai_server.db.rows import as_json, as_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.metadata import Value

_JOBS = """
    SELECT id, project_id, user_id, number, state, reason, priority, nodes, CAST(request AS TEXT) AS request,
    output_version_id, partial_version_id, answered_by_id, created_at, kill_asked_at, ended_at, deleted_at
    FROM job WHERE"""
_STEPS = "SELECT job_id, attempt_id, state, at, reason FROM transition WHERE job_id IN"
_ATTEMPTS = """
    SELECT id, job_id, number, runner, vcpu, memory_bytes, exit_code, run_seconds, billed_seconds, cost_usd,
    price_book, log_bytes, machine, seen, tag_misses FROM attempt WHERE job_id IN"""
_INPUTS = "SELECT job_id, file_set_version_id, role FROM job_input WHERE job_id IN"
_USERS = "SELECT id, name FROM user_account WHERE id IN"
_NUMBERS = "SELECT id, number FROM job WHERE id IN"


class _Around:
    """What belongs to some jobs, each kind of it read once."""

    def __init__(self, session: Session, rows: Sequence[Any]) -> None:
        ids = [row.id for row in rows]
        self.steps = _by_job(batches.select_in(session, _STEPS, ids, behind=" ORDER BY id"))
        self.attempts = _by_job(batches.select_in(session, _ATTEMPTS, ids, behind=" ORDER BY number"))
        self.inputs = _by_job(batches.select_in(session, _INPUTS, ids, behind=" ORDER BY position"))
        self.refs = _refs(session, rows, self.inputs)
        self.users = dict(batches.select_in(session, _USERS, {row.user_id for row in rows}))
        earlier = {row.answered_by_id for row in rows if row.answered_by_id is not None}
        self.earlier = dict(batches.select_in(session, _NUMBERS, earlier))
        self.billed = _by_job(batches.select_in(session, _ATTEMPTS, earlier))
        self.attributes: dict[int, dict[str, Value]] = {}
        self.tags: dict[int, list[str]] = {}
        records = AttributeRecords(session)
        for project in {ProjectId(row.project_id) for row in rows}:
            of_project = [row.id for row in rows if row.project_id == project]
            self.attributes |= records.of_many(project, SubjectKind.JOB, of_project)
            self.tags |= records.labels_of(project, SubjectKind.JOB, of_project)


def _by_job(found: Iterable[Any]) -> dict[int, list[Any]]:
    by_job: dict[int, list[Any]] = defaultdict(list)
    for row in found:
        by_job[row.job_id].append(row)
    return by_job


class ShownJobs:
    """Jobs by project and number."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, project: ProjectId, number: int) -> Job:
        """Return one job."""
        row = self._row(project, number)
        return _job(row, _Around(self._session, [row]))

    def page(self, project: ProjectId, before: int | None, limit: int) -> list[Job]:
        """Return jobs that are not deleted, the newest first."""
        wanted, last = ("project_id = ? AND deleted_at IS NULL", "ORDER BY number DESC LIMIT ?")
        if before is None:
            rows = batches.select(self._session, f"{_JOBS} {wanted} {last}", project, limit)
        else:
            rows = batches.select(self._session, f"{_JOBS} {wanted} AND number < ? {last}", project, before, limit)
        around = _Around(self._session, rows)
        return [_job(row, around) for row in rows]

    def of(self, jobs: Sequence[JobId]) -> list[Job]:
        """Return those jobs, by number."""
        rows = list(batches.select_in(self._session, f"{_JOBS} id IN", jobs))
        around = _Around(self._session, rows)
        return [_job(row, around) for row in sorted(rows, key=lambda row: row.number)]

    def request(self, project: ProjectId, number: int) -> JobRequest:
        """Return what was asked for, with every input by its version, and what the last attempt ran with."""
        row = self._row(project, number)
        around = _Around(self._session, [row])
        request, ran = decoding.from_json(row.request, CreateJob), around.attempts[row.id]
        data, code, variables = _inputs(row, around)
        pinned = msgspec.structs.replace(request, code=code, variables=variables)
        return JobRequest(
            number=JobNumber(row.number),
            request=pinned,
            inputs=data,
            environment=as_json(ran[-1].seen).get("environment", {}) if ran else {},
        )

    def _row(self, project: ProjectId, number: int) -> Any:
        found = batches.select(self._session, f"{_JOBS} project_id = ? AND number = ?", project, number)
        if not found:
            raise JobNotFound(job=number)
        return found[0]


def _refs(session: Session, rows: Sequence[Any], inputs: dict[int, list[Any]]) -> dict[int, str]:
    wanted = {used.file_set_version_id for of_job in inputs.values() for used in of_job}
    wanted |= {one for row in rows for one in (row.output_version_id, row.partial_version_id) if one is not None}
    found = FileSetRecords(session).by_id([FileSetVersionId(one) for one in sorted(wanted)])
    return {int(version): stored.public.ref for version, stored in found.items()}


def _inputs(row: Any, around: _Around) -> tuple[list[str], str | None, str | None]:
    """The inputs, the code and the variables, by their versions."""
    by_role: dict[str, list[str]] = defaultdict(list)
    for used in around.inputs[row.id]:
        by_role[used.role].append(around.refs[used.file_set_version_id])
    code, variables = (next(iter(by_role[role]), None) for role in (InputRole.CODE, InputRole.VARIABLES))
    return by_role[InputRole.DATA], code, variables


def _job(row: Any, around: _Around) -> Job:
    request = decoding.from_json(row.request, CreateJob)
    data, code, variables = _inputs(row, around)
    given = around.attributes.get(row.id, {})
    earlier = None if row.answered_by_id is None else around.earlier.get(row.answered_by_id)
    billed = [] if earlier is None else around.billed[row.answered_by_id or 0]
    attempts = around.attempts[row.id]
    return Job(
        number=JobNumber(row.number),
        name=request.name,
        user=around.users[row.user_id],
        state=JobState(row.state),
        reason=row.reason,
        command=request.command,
        inputs=data,
        code=code,
        variables=variables,
        receive=request.receive,
        output=None if row.output_version_id is None else around.refs[row.output_version_id],
        parameters=request.parameters,
        resources=request.resources,
        nodes=request.nodes,
        created_at=batches.as_time(row.created_at),
        attempts=_attempts(row.id, around),
        attributes={key: value for key, value in given.items() if not key.startswith(PARAMETERS)},
        tags=around.tags.get(row.id, []),
        description=request.description,
        partial=None if row.partial_version_id is None else around.refs[row.partial_version_id],
        ended_at=as_time(row.ended_at),
        priority=row.priority,
        has_displays=bool(attempts and as_json(attempts[-1].seen).get("displays_bytes")),
        answered_by=None if earlier is None else JobNumber(earlier),
        saved_seconds=None if earlier is None else sum(one.billed_seconds or 0.0 for one in billed),
        saved_usd=None if earlier is None else sum(one.cost_usd or 0.0 for one in billed),
        deleted_at=as_time(row.deleted_at),
        kill_asked_at=as_time(row.kill_asked_at),
    )


def _attempts(job: int, around: _Around) -> list[Attempt]:
    steps: dict[int | None, list[Transition]] = defaultdict(list)
    for step in around.steps[job]:
        steps[step.attempt_id].append(Transition(JobState(step.state), batches.as_time(step.at), step.reason))
    return [_attempt(row, steps[row.id]) for row in around.attempts[job]]


def _attempt(row: Any, steps: list[Transition]) -> Attempt:
    seen: dict[str, Any] = as_json(row.seen) or {}
    usage = seen.get("usage")
    return Attempt(
        number=row.number,
        runner=row.runner.partition("@")[0],
        vcpu=row.vcpu,
        memory_bytes=row.memory_bytes,
        transitions=steps,
        exit_code=row.exit_code,
        run_seconds=row.run_seconds,
        billed_seconds=row.billed_seconds,
        cost_usd=row.cost_usd,
        price_book=row.price_book,
        log_bytes=seen.get("log_bytes") if row.log_bytes is None else row.log_bytes,
        machine=row.machine,
        held=seen.get("held", []),
        usage=None if usage is None else decoding.convert(usage, Usage),
        transfer=decoding.convert(seen["transfer"], Transfer) if seen.get("transfer") else None,
        environment=seen.get("environment", {}),
        warnings=seen.get("warnings", []),
        tag_misses=as_json(row.tag_misses) or [],
    )
