"""Records of attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from acai_server.db.tables import AttributeRow

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId

Value = str | int | float | bool


class AttributeRecords:
    """Keys and values on things."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def set(self, project: ProjectId, kind: str, subject: int, values: dict[str, str | float]) -> None:
        """Set attributes of one thing; the others stay."""
        for key, value in values.items():
            row = AttributeRow(project_id=project, subject_kind=kind, subject_id=subject, key=key)
            row.number = value if isinstance(value, int | float) else None
            row.text = value if isinstance(value, str) else None
            self._session.merge(row)

    def of(self, project: ProjectId, kind: str, subject: int) -> dict[str, Value]:
        """Return all attributes of one thing."""
        query = select(AttributeRow).where(
            AttributeRow.project_id == project,
            AttributeRow.subject_kind == kind,
            AttributeRow.subject_id == subject,
        )
        rows = self._session.scalars(query.order_by(AttributeRow.key))
        values = ((row.key, row.number if row.text is None else row.text) for row in rows)
        return {key: value for key, value in values if value is not None}
