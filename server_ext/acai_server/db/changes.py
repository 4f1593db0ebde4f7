"""Records of who changed which attributes, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import func, select

from acai_jupyter.contract import decoding
from acai_jupyter.contract.metadata import Change
from acai_server.db import batches
from acai_server.db.tables import AttributeChangeRow, UserRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.query.builtin import SubjectKind


_COLUMNS = ("subject_kind", "subject_id", "user_id", "at", "changes")


_ORDER_LOCK = 0x4143_4348 << 32
"""With a project's id behind it: nobody waits for what is changed in another project."""


class ChangeRecords:
    """One row for all that one request changed on one thing."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._pending: list[tuple[ProjectId, tuple[Any, ...]]] = []

    def add(
        self,
        project: ProjectId,
        kind: SubjectKind,
        user: UserId,
        now: datetime,
        changes: list[tuple[int, dict[str, Any]]],
    ) -> None:
        """Write down what a user changed on things: set, deleted, added_labels, removed_labels."""
        at = batches.as_stored(self._session, now)
        for subject, changed in changes:
            self._pending.append((project, (kind.value, subject, user, at, msgspec.json.encode(changed).decode())))

    def flush(self) -> None:
        """Write what was added, last of all in a transaction: nobody else waits for long.

        Places are counted by the numbers of rows, so these become visible in their order. PostgreSQL gives them when it
        is the transaction's turn.
        """
        if not self._pending:
            return
        if self._session.get_bind().dialect.name == "postgresql":
            for project in sorted({project for project, _ in self._pending}):  # in one order everywhere
                batches.select(self._session, "SELECT pg_advisory_xact_lock(?)", _ORDER_LOCK + project)
        batches.load(self._session, AttributeChangeRow, _COLUMNS, [row for _, row in self._pending])
        self._pending = []

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
    return decoding.convert({"number": number, "at": at, "user": user, **changes}, Change)
