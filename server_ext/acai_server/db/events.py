"""Records of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, insert, select, text

from acai_jupyter.contract.events import Event, EventPage
from acai_server.db.tables import EventRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId
    from acai_server.clock import Clock

CHANNEL = "acai_events"
_COMMIT_ORDER_LOCK = 0x4143_4149


class EventRecords:
    """Events of one transaction are kept back until its end, where they get their numbers."""

    def __init__(self, session: Session, clock: Clock, backend: str) -> None:
        self._session = session
        self._clock = clock
        self._backend = backend
        self._pending: list[dict[str, Any]] = []

    def record(self, project: ProjectId, kind: str, subject: str, **details: Any) -> None:
        """Tell of a change that this transaction makes."""
        row = {"project_id": project, "kind": kind, "subject": subject, "details": details}
        self._pending.append(row | {"created_at": self._clock.now()})

    def flush(self) -> bool:
        """Write what was recorded; says whether there was anything.

        PostgreSQL hands out numbers before it commits, so two transactions could become visible in the other order
        and a reader would miss the lower number. The lock is held from numbering to commit.
        """
        if not self._pending:
            return False
        if self._backend == "postgresql":
            self._session.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _COMMIT_ORDER_LOCK})
        self._session.execute(insert(EventRow), self._pending)
        if self._backend == "postgresql":
            self._session.execute(text("SELECT pg_notify(:channel, '')"), {"channel": CHANNEL})
        self._pending = []
        return True

    def after(self, project: ProjectId, since: int, limit: int) -> EventPage:
        """Return the events after a number, or say that some of them are gone."""
        newest, oldest = self._bounds()
        if since > newest or since < oldest - 1:
            return EventPage([], newest, reload=True)
        query = select(EventRow).where(EventRow.project_id == project, EventRow.number > since)
        rows = self._session.scalars(query.order_by(EventRow.number).limit(limit)).all()
        events = [Event(row.number, row.kind, row.subject, row.created_at, row.details) for row in rows]
        return EventPage(events, events[-1].number if events else since)

    def newest(self) -> int:
        """Return the number of the newest event."""
        return self._bounds()[0]

    def _bounds(self) -> tuple[int, int]:
        """The newest and the oldest number kept. The newest is never pruned, so that the count goes on."""
        newest, oldest = self._session.execute(select(func.max(EventRow.number), func.min(EventRow.number))).one()
        return newest or 0, oldest or 1

    def newest_time(self) -> datetime | None:
        """Return when the newest event was written."""
        query = select(EventRow.created_at).order_by(EventRow.number.desc()).limit(1)
        return self._session.scalar(query)

    def prune(self, before: datetime) -> int:
        """Drop the events written before a moment, except the newest; returns how many."""
        newest = self.newest()
        gone = self._session.execute(delete(EventRow).where(EventRow.created_at < before, EventRow.number < newest))
        return int(getattr(gone, "rowcount", 0))
