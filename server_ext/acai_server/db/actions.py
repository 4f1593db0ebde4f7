"""Records of actions: the edges of the provenance graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from acai_jupyter.contract.errors import Conflict
from acai_jupyter.contract.ids import ActionId, FileSetVersionId, JobId, JobNumber, ProjectId, UserId
from acai_jupyter.contract.states import ActionKind, InputRole
from acai_server.db import batches, rows
from acai_server.db.restricted import RestrictedRecords
from acai_server.db.tables import ActionInputRow, ActionOutputRow, ActionRow, ActionSourcesRow, JobRow, UserRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

_SOURCES = """
    SELECT s.sources FROM action_sources s JOIN action_output o ON o.action_id = s.action_id
    WHERE o.file_set_version_id = ?"""
_ADD_INPUT = "INSERT INTO action_input (action_id, position, file_set_version_id, role) VALUES (?, ?, ?, ?)"

_OF_JOB = """
    SELECT a.id, a.project_id, max(i.file_set_version_id) FROM action a LEFT JOIN action_input i ON i.action_id = a.id
    WHERE a.job_id = ? GROUP BY a.id, a.project_id"""
_LINKS = """
    INSERT INTO file_set_link (source_id, target_id)
    SELECT DISTINCT s.file_set_id, t.file_set_id FROM action_output o
    JOIN action_input i ON i.action_id = o.action_id JOIN file_set_version s ON s.id = i.file_set_version_id
    JOIN file_set_version t ON t.id = o.file_set_version_id
    WHERE {} AND i.role = 'data' AND s.file_set_id <> t.file_set_id
    ORDER BY 1, 2 ON CONFLICT (source_id, target_id) DO NOTHING"""
_LINK = _LINKS.format("o.file_set_version_id = ? AND o.action_id = ?")
_LINK_MANY = _LINKS.format("o.action_id BETWEEN ? AND ?")

Loaded = tuple[ActionKind, list[FileSetVersionId], FileSetVersionId]
"""What an action is, what went into it, and what it made."""


@dataclass(frozen=True)
class StoredAction:
    """An action with the file set versions around it."""

    id: ActionId
    kind: ActionKind
    job: JobNumber | None
    creator: str
    created_at: datetime
    inputs: list[tuple[FileSetVersionId, InputRole]]
    outputs: list[FileSetVersionId]
    job_id: JobId | None = None
    partial: FileSetVersionId | None = None
    """What of the outputs a failed program left."""
    more_inputs: int = 0
    """How many are not among `inputs`."""


class ActionRecords:
    """Actions are written with the thing they made, in its transaction, and never changed."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def begin(
        self,
        project: ProjectId,
        user: UserId,
        kind: ActionKind,
        inputs: list[tuple[FileSetVersionId, InputRole]],
        now: datetime,
        job: JobId | None = None,
    ) -> ActionId:
        """Record an action and what goes into it. A job is one as soon as it is submitted."""
        row = ActionRow(project_id=project, user_id=user, kind=kind.value, job_id=job, created_at=now)
        rows.insert(self._session, row)
        used = [(row.id, position, version, role.value) for position, (version, role) in enumerate(inputs)]
        batches.change(self._session, _ADD_INPUT, used)
        return ActionId(row.id)

    def add(
        self,
        project: ProjectId,
        user: UserId,
        kind: ActionKind,
        inputs: list[tuple[FileSetVersionId, InputRole]],
        output: FileSetVersionId,
        now: datetime,
        sources: list[Any] | None = None,
    ) -> None:
        """Record what made a file set version and, as plain data, the sources that it was written down with."""
        newest = max((version for version, _ in inputs), default=None)
        action = self.begin(project, user, kind, inputs, now)
        self._add_output(action, newest, output)
        self._inherit(project, output)
        if sources is not None:
            rows.insert(self._session, ActionSourcesRow(action_id=action, sources=sources))

    def sources_of(self, version: FileSetVersionId) -> list[Any] | None:
        """Return the sources that a file set version was made of, where they were kept."""
        found = batches.select(self._session, _SOURCES, version)
        return rows.as_json(found[0][0]) if found else None

    def add_output(self, job: JobId, version: FileSetVersionId) -> None:
        """Record that a job made a file set version."""
        action, project, newest = batches.select(self._session, _OF_JOB, job)[0]
        self._add_output(ActionId(action), newest, version)
        self._inherit(project, version, job)

    def _add_output(self, action: ActionId, newest: int | None, version: FileSetVersionId) -> None:
        """A set is made after all that it is made of, so ids grow along every edge and the graph has no circle."""
        if newest is not None and newest >= version:
            raise Conflict(reason="a file set cannot be made of itself, nor of what was made after it")
        rows.insert(self._session, ActionOutputRow(file_set_version_id=version, action_id=action))
        if newest is not None:
            batches.changed(self._session, _LINK, version, action)

    def _inherit(self, project: ProjectId, version: FileSetVersionId, job: JobId | None = None) -> None:
        restricted = RestrictedRecords(self._session)
        if restricted.borders(project) is not None:
            restricted.inherit(version, job)

    def load(self, project: ProjectId, user: UserId, actions: Sequence[Loaded], now: datetime) -> None:
        """Record many actions that are no jobs at once, each with its inputs in the role data and its output."""
        if any(used and max(used) >= made for _, used, made in actions):
            raise Conflict(reason="a file set cannot be made of itself, nor of what was made after it")
        at = batches.as_stored(self._session, now)
        ids = list(batches.free_ids(self._session, ActionRow, len(actions)))
        made = [(number, project, kind.value, user, at) for number, (kind, _, _) in zip(ids, actions, strict=True)]
        used = [
            (number, position, version, InputRole.DATA.value)
            for number, (_, inputs, _) in zip(ids, actions, strict=True)
            for position, version in enumerate(inputs)
        ]
        outputs = [(version, number) for number, (_, _, version) in zip(ids, actions, strict=True)]
        batches.load(self._session, ActionRow, ("id", "project_id", "kind", "user_id", "created_at"), made)
        columns = ("action_id", "position", "file_set_version_id", "role")
        batches.load(self._session, ActionInputRow, columns, used)
        batches.load(self._session, ActionOutputRow, ("file_set_version_id", "action_id"), outputs)
        if used:
            batches.changed(self._session, _LINK_MANY, ids[0], ids[-1])

    def of_output(self, version: FileSetVersionId) -> StoredAction | None:
        """Return the action that made a file set version."""
        query = (
            select(ActionRow, JobRow.number, UserRow.name)
            .join(ActionOutputRow, ActionOutputRow.action_id == ActionRow.id)
            .join(UserRow, UserRow.id == ActionRow.user_id)
            .outerjoin(JobRow, JobRow.id == ActionRow.job_id)
            .where(ActionOutputRow.file_set_version_id == version)
        )
        found = self._session.execute(query).one_or_none()
        if found is None:
            return None
        action, number, creator = found
        inputs = select(ActionInputRow).where(ActionInputRow.action_id == action.id).order_by(ActionInputRow.position)
        outputs = select(ActionOutputRow.file_set_version_id).where(ActionOutputRow.action_id == action.id)
        return StoredAction(
            id=ActionId(action.id),
            kind=ActionKind(action.kind),
            job=None if number is None else JobNumber(number),
            creator=creator,
            created_at=action.created_at,
            inputs=[
                (FileSetVersionId(row.file_set_version_id), InputRole(row.role))
                for row in self._session.scalars(inputs)
            ],
            outputs=[FileSetVersionId(version) for version in self._session.scalars(outputs)],
        )
