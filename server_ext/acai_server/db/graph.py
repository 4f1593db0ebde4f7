"""Steps in the provenance graph, and what is known of the actions in it."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.ids import ActionId, FileSetVersionId, JobNumber, ProjectId
from acai_jupyter.contract.provenance import COUNTED, MAX_INPUTS, ActionJob
from acai_jupyter.contract.query.builtin import PARAMETERS, SubjectKind
from acai_jupyter.contract.specs import parse_set
from acai_jupyter.contract.states import ActionKind, InputRole, JobState
from acai_server.db import batches
from acai_server.db.actions import StoredAction
from acai_server.db.attributes import AttributeRecords
from acai_server.db.rows import as_json, as_time

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.specs import SetRef

_MADE_BY = "SELECT file_set_version_id, action_id FROM action_output WHERE file_set_version_id IN"
_USES = """
    SELECT DISTINCT action_id FROM action_input WHERE file_set_version_id = ? AND action_id < ?
    ORDER BY action_id DESC LIMIT ?"""
_AROUND = """
    SELECT v.id, o.action_id, (SELECT count(*) FROM (SELECT DISTINCT i.action_id FROM action_input i
        WHERE i.file_set_version_id = v.id LIMIT ?) q)
    FROM file_set_version v LEFT JOIN action_output o ON o.file_set_version_id = v.id WHERE v.id IN"""
_ACTIONS = """
    SELECT a.id, a.kind, a.created_at, u.name AS creator, a.job_id, j.number AS job,
    j.partial_version_id AS partial, o.file_set_version_id AS output FROM action a
    JOIN user_account u ON u.id = a.user_id LEFT JOIN job j ON j.id = a.job_id
    LEFT JOIN action_output o ON o.action_id = a.id WHERE a.project_id = ? AND a.id IN"""
_INPUTS = "SELECT action_id, file_set_version_id, role FROM action_input WHERE position < ? AND action_id IN"
_MORE_INPUTS = "SELECT action_id, count(*) FROM action_input WHERE position >= ? AND action_id IN"
_OF_JOB = "SELECT a.id FROM action a JOIN job j ON j.id = a.job_id WHERE j.project_id = ? AND j.number = ?"
_JOBS = {
    "sqlite": """
        SELECT j.id, j.number, j.state, j.reason, j.template, j.ended_at, j.deleted_at, e.number AS answered_by,
        json_extract(j.request, '$.name') AS name, json_extract(j.request, '$.parameters') AS parameters,
        json_quote(json_extract(j.request, '$.command')) AS command
        FROM job j LEFT JOIN job e ON e.id = j.answered_by_id WHERE j.id IN""",
    "postgresql": """
        SELECT j.id, j.number, j.state, j.reason, j.template, j.ended_at, j.deleted_at, e.number AS answered_by,
        j.request ->> 'name' AS name, j.request -> 'parameters' AS parameters, j.request -> 'command' AS command
        FROM job j LEFT JOIN job e ON e.id = j.answered_by_id WHERE j.id IN""",
}
_ATTEMPTS = "SELECT job_id, run_seconds, billed_seconds, cost_usd FROM attempt WHERE job_id IN"
_STARTS = "SELECT job_id, min(at) FROM transition WHERE state = ? AND job_id IN"
_WRITTEN = """
    SELECT u.ended_at, n.name AS creator, j.number AS job, u.result FROM file f
    JOIN file_version v ON v.file_id = f.id JOIN upload_session u ON u.id = v.session_id
    JOIN user_account n ON n.id = u.user_id LEFT JOIN job j ON j.id = u.job_id
    WHERE f.project_id = ? AND f.path = ? AND v.number = ?"""
_NO_LIMIT = 2**62


@dataclass(frozen=True)
class Written:
    """Who wrote a file version when: a job, or an upload, which may have made a file set of it."""

    creator: str
    created_at: datetime
    job: JobNumber | None
    file_set: SetRef | None


class GraphRecords:
    """What can be asked of the graph without going far in it."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._dialect = session.get_bind().dialect.name

    def of_job(self, project: ProjectId, number: int) -> ActionId | None:
        """Return the action that a job is."""
        found = batches.select(self._session, _OF_JOB, project, number)
        return ActionId(found[0][0]) if found else None

    def made_by(self, versions: Iterable[FileSetVersionId]) -> dict[FileSetVersionId, ActionId]:
        """Return the actions that made file set versions."""
        return dict(batches.select_in(self._session, _MADE_BY, versions))

    def uses(self, version: FileSetVersionId, limit: int, before: ActionId | None = None) -> list[ActionId]:
        """Return the actions that used a file set version in whatever role, the newest first."""
        below = _NO_LIMIT if before is None else before
        return [row[0] for row in batches.select(self._session, _USES, version, below, limit)]

    def around(self, versions: Iterable[FileSetVersionId]) -> dict[FileSetVersionId, tuple[ActionId | None, int]]:
        """Return what made file set versions, and how many actions used them; no more than so many are counted."""
        rows = batches.select_in(self._session, _AROUND, versions, COUNTED)
        return {version: (action, uses) for version, action, uses in rows}

    def written(self, project: ProjectId, path: str, number: int) -> Written:
        """Return who wrote a file version that is there."""
        row: Any = batches.select(self._session, _WRITTEN, project, path, number)[0]
        file_set = (as_json(row.result) or {}).get("file_set")
        made = None if file_set is None else parse_set(file_set)
        return Written(row.creator, batches.as_time(row.ended_at), row.job, made)

    def with_jobs(self, actions: list[ActionId]) -> list[ActionId]:
        """Return those of the actions that are jobs."""
        sql = "SELECT id FROM action WHERE job_id IS NOT NULL AND id IN"
        found = {row[0] for row in batches.select_in(self._session, sql, actions)}
        return [action for action in actions if action in found]

    def actions(self, project: ProjectId, ids: Iterable[ActionId]) -> dict[ActionId, StoredAction]:
        """Return actions of a project, the first inputs of each, and how many more it has."""
        outputs: dict[int, list[FileSetVersionId]] = defaultdict(list)
        known: dict[int, Any] = {}
        for row in batches.select_in(self._session, _ACTIONS, ids, project, behind=" ORDER BY a.id, output"):
            known[row.id] = row
            if row.output is not None:
                outputs[row.id].append(FileSetVersionId(row.output))
        inputs: dict[int, list[Any]] = defaultdict(list)
        for action, version, role in batches.select_in(
            self._session, _INPUTS, known, MAX_INPUTS, behind=" ORDER BY action_id, position"
        ):
            inputs[action].append((FileSetVersionId(version), InputRole(role)))
        full = [action for action, used in inputs.items() if len(used) == MAX_INPUTS]
        more = dict(batches.select_in(self._session, _MORE_INPUTS, full, MAX_INPUTS, behind=" GROUP BY action_id"))
        return {
            ActionId(row.id): StoredAction(
                id=ActionId(row.id),
                kind=ActionKind(row.kind),
                job=None if row.job is None else JobNumber(row.job),
                creator=row.creator,
                created_at=batches.as_time(row.created_at),
                inputs=inputs[row.id],
                outputs=outputs[row.id],
                job_id=row.job_id,
                partial=row.partial,
                more_inputs=more.get(row.id, 0),
            )
            for row in known.values()
        }

    def jobs(self, project: ProjectId, actions: Iterable[StoredAction]) -> dict[ActionId, ActionJob]:
        """Return what a drawing shows of the jobs among actions."""
        of = {action.job_id: action for action in actions if action.job_id is not None}
        attempts: dict[int, list[Any]] = defaultdict(list)
        for row in batches.select_in(self._session, _ATTEMPTS, of, behind=" ORDER BY number"):
            attempts[row.job_id].append(row)
        starts = dict(
            batches.select_in(self._session, _STARTS, of, JobState.LAUNCHING.value, behind=" GROUP BY job_id")
        )
        records = AttributeRecords(self._session)
        attributes = records.of_many(project, SubjectKind.JOB, of)
        tags = records.labels_of(project, SubjectKind.JOB, of)
        found = {}
        for row in batches.select_in(self._session, _JOBS[self._dialect], of):
            tried = attempts[row.id]
            found[of[row.id].id] = ActionJob(
                number=row.number,
                name=row.name or "",
                state=JobState(row.state),
                reason=row.reason,
                command=as_json(row.command) if self._dialect == "sqlite" else row.command,
                template=row.template,
                parameters=as_json(row.parameters) or {},
                group=_group(row.template, of[row.id]),
                attempts=len(tried),
                started_at=as_time(starts.get(row.id)),
                ended_at=as_time(row.ended_at),
                run_seconds=tried[-1].run_seconds if tried else None,
                billed_seconds=_sum(one.billed_seconds for one in tried),
                cost_usd=_sum(one.cost_usd for one in tried),
                answered_by=row.answered_by,
                deleted_at=as_time(row.deleted_at),
                attributes=_given(attributes.get(row.id, {})),
                tags=tags.get(row.id, []),
            )
        return found


def _given(attributes: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in attributes.items() if not key.startswith(PARAMETERS)}


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _group(template: str, action: StoredAction) -> str:
    """Stand for what the jobs of a sweep have in common."""
    inputs = sorted(f"{role.value} {version}" for version, role in action.inputs)
    return hashlib.sha256("\n".join([template, *inputs]).encode()).hexdigest()[:12]
