"""Records of actions: the edges of the provenance graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from acai_jupyter.contract.ids import ActionId, FileSetVersionId, JobId, JobNumber, ProjectId, UserId
from acai_jupyter.contract.states import ActionKind, InputRole
from acai_server.db.tables import ActionInputRow, ActionOutputRow, ActionRow, JobRow, UserRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session


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


class ActionRecords:
    """Actions are written with the thing they made, in its transaction, and never changed."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(
        self,
        project: ProjectId,
        user: UserId,
        kind: ActionKind,
        inputs: list[tuple[FileSetVersionId, InputRole]],
        output: FileSetVersionId,
        now: datetime,
        job: JobId | None = None,
    ) -> None:
        """Record what made a file set version."""
        row = ActionRow(project_id=project, user_id=user, kind=kind.value, job_id=job, created_at=now)
        self._session.add(row)
        self._session.flush()
        rows = [
            {"action_id": row.id, "position": position, "file_set_version_id": version, "role": role.value}
            for position, (version, role) in enumerate(inputs)
        ]
        if rows:
            self._session.execute(insert(ActionInputRow), rows)
        self._session.add(ActionOutputRow(file_set_version_id=output, action_id=row.id))

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
