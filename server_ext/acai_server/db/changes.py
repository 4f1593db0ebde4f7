"""Records of who changed which attributes, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import func, select

from acai_jupyter.contract.metadata import Change
from acai_server.db import batches
from acai_server.db.tables import AttributeChangeRow, UserRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import UserId
    from acai_jupyter.contract.query.builtin import SubjectKind


_COLUMNS = ("subject_kind", "subject_id", "user_id", "at", "changes")


class ChangeRecords:
    """One row for all that one request changed on one thing."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, kind: SubjectKind, user: UserId, now: datetime, changes: list[tuple[int, dict[str, Any]]]) -> None:
        """Write down what a user changed on things: set, deleted, added_labels, removed_labels."""
        at = batches.as_stored(self._session, now)
        rows = [(kind.value, subject, user, at, msgspec.json.encode(changed).decode()) for subject, changed in changes]
        batches.load(self._session, AttributeChangeRow, _COLUMNS, rows)

    def of(self, kind: SubjectKind, subject: int, before: int | None, limit: int) -> list[Change]:
        """Return the changes of one thing, the newest first, with numbers that count for the thing alone."""
        table = AttributeChangeRow
        place = func.row_number().over(order_by=table.number).label("place")
        counted = (
            select(place, table.at, UserRow.name, table.changes)
            .join(UserRow, UserRow.id == table.user_id)
            .where(table.subject_kind == kind.value, table.subject_id == subject)
            .subquery()
        )
        query = select(counted).order_by(counted.c.place.desc()).limit(limit)
        if before is not None:
            query = query.where(counted.c.place < before)
        return [_change(*row) for row in self._session.execute(query)]


def _change(number: int, at: datetime, user: str, changes: dict[str, Any]) -> Change:
    return msgspec.convert({"number": number, "at": at, "user": user, **changes}, Change)
