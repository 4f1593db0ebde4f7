"""Records of events."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from acai_jupyter.contract.events import Event, EventPage
from acai_server.db import batches, sight
from acai_server.db.tables import EventRow
from acai_server.db.told import Told

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId
    from acai_server.clock import Clock

_ADD = "INSERT INTO event (project_id, number, kind, subject, details, created_at) VALUES (?, ?, ?, ?, ?, ?)"
CHANNEL = "acai_events"
_TELL = f"""
    INSERT INTO event (project_id, number, kind, subject, details, created_at)
    SELECT ?, coalesce(max(number), 0) + 1, ?, ?, CAST(? AS JSON), ? FROM event WHERE project_id = ?
    RETURNING pg_notify('{CHANNEL}', '')"""  # noqa: S608 (a name of ours)
_BOUNDS = """
    SELECT (SELECT max(number) FROM event WHERE project_id = ?), (SELECT min(number) FROM event WHERE project_id = ?)"""
_PRUNE = """
    DELETE FROM event WHERE created_at < ?
    AND number < (SELECT max(newer.number) FROM event newer WHERE newer.project_id = event.project_id)"""
_COMMIT_ORDER_LOCK = 0x4143_4149 << 32
"""With a project's id behind it: nobody waits for what is told in another project."""
MAX_SUBJECT = 256
"""A path may be longer; PostgreSQL would refuse it."""


class EventRecords:
    """Events of one transaction are kept back until its end, where they get their numbers."""

    def __init__(self, session: Session, clock: Clock, backend: str) -> None:
        self._session = session
        self._clock = clock
        self._backend = backend
        self._pending: list[tuple[Any, ...]] = []
        self._wakes = False

    def wake(self) -> None:
        """Let all who wait for events look again at the end of this transaction, though there is none to tell."""
        self._wakes = True

    def record(self, project: ProjectId, kind: str, subject: str, **details: Any) -> None:
        """Tell of a change that this transaction makes."""
        at = batches.as_stored(self._session, self._clock.now())
        self._pending.append((project, kind, subject[:MAX_SUBJECT], json.dumps(details), at))

    def flush(self) -> bool:
        """Write what was recorded; says whether there was anything.

        Two transactions of PostgreSQL could else give the same numbers, or become visible in the other order so that a
        reader would miss the lower one. The lock is held from numbering to commit.
        """
        if not self._pending and not self._wakes:
            return False
        if self._backend != "postgresql":
            batches.change(self._session, _ADD, list(self._numbered()))
        elif self._pending:
            self._tell()
        else:
            batches.select(self._session, f"SELECT pg_notify('{CHANNEL}', '')")
        self._pending = []
        return True

    def _tell(self) -> None:
        """Number, write and notify in as few steps as can be, while others wait to do so."""
        for project in sorted({told[0] for told in self._pending}):  # in one order everywhere: none waits for the other
            batches.select(self._session, "SELECT pg_advisory_xact_lock(?)", _COMMIT_ORDER_LOCK + project)
        batches.change(self._session, _TELL, [(*told, told[0]) for told in self._pending])

    def _numbered(self) -> Iterator[tuple[Any, ...]]:
        """Give what was recorded with numbers behind those that its project has."""
        last: dict[ProjectId, int] = {}
        for project, *rest in self._pending:
            last[project] = (last[project] if project in last else self.newest(project)) + 1
            yield project, last[project], *rest

    def after(self, project: ProjectId, since: int, limit: int) -> EventPage:
        """Return the events after a number, or say that some of them are gone."""
        newest, oldest = self._bounds(project)
        if since > newest or since < oldest - 1:
            return EventPage([], newest, reload=True)
        events = self.following(project, since, limit)
        last = events[-1].number if events else since
        if not sight.unseen():
            return EventPage(events, last)
        told = Told(self._session, project)
        while not (seen := told.of(events)) and len(events) == limit:
            events = self.following(project, last, limit)
            last = events[-1].number if events else last
        return EventPage(seen, last)

    def visible(self, project: ProjectId, events: list[Event]) -> list[Event]:
        """Return what the caller may see of events."""
        return Told(self._session, project).of(events) if sight.unseen() else events

    def following(self, project: ProjectId, since: int, limit: int) -> list[Event]:
        """Return the events after a number, whether or not the caller may see them."""
        query = select(EventRow).where(EventRow.project_id == project, EventRow.number > since)
        rows = self._session.scalars(query.order_by(EventRow.number).limit(limit))
        return [Event(row.number, row.kind, row.subject, row.created_at, row.details) for row in rows]

    def newest(self, project: ProjectId) -> int:
        """Return the number of a project's newest event."""
        return self._bounds(project)[0]

    def _bounds(self, project: ProjectId) -> tuple[int, int]:
        """The newest and the oldest number kept. The newest is never pruned, so that the count goes on."""
        newest, oldest = batches.select(self._session, _BOUNDS, project, project)[0]
        return newest or 0, oldest or 1

    def newest_time(self) -> datetime | None:
        """Return when the newest event was written."""
        return self._session.scalar(select(func.max(EventRow.created_at)))

    def oldest_time(self) -> datetime | None:
        """Return when the oldest event that is kept was written."""
        return self._session.scalar(select(func.min(EventRow.created_at)))

    def prune(self, before: datetime) -> int:
        """Drop the events written before a moment, except the newest of each project; returns how many."""
        return batches.changed(self._session, _PRUNE, batches.as_stored(self._session, before))
