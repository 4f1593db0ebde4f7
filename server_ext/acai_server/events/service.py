"""Reading events: what changed in a project since a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from acai_jupyter.contract.events import Event, EventPage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.database import Database
    from acai_server.events.protocol import EventBus

PAGE = 500
SLOW_READER_SECONDS = 15.0
HEARTBEAT_SECONDS = 20.0


class News(NamedTuple):
    """The events of a project after one number and up to another, before any visibility filter."""

    begin: int
    last: int
    events: list[Event]


class Events:
    """The table and the bus together."""

    def __init__(
        self,
        database: Database,
        bus: EventBus,
        *,
        slow_reader_seconds: float = SLOW_READER_SECONDS,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ) -> None:
        self._database = database
        self._bus = bus
        self.slow_reader_seconds = slow_reader_seconds
        """Who does not take what was sent for so long is disconnected; they can come back and resume."""
        self.heartbeat_seconds = heartbeat_seconds
        """Who has been told nothing for so long is told that there is nothing."""

    def after(self, project: ProjectId, since: int | None) -> EventPage:
        """Return the events after a number; without one, where the project's stream is now."""
        with self._database.reading() as work:
            if since is None:
                return EventPage([], work.events.newest(project))
            return work.events.after(project, since, PAGE)

    def news(self, since: Mapping[ProjectId, int | None]) -> dict[ProjectId, News]:
        """Return a page of what each project has after a number; without one, where its stream is now."""
        found: dict[ProjectId, News] = {}
        with self._database.reading() as work:
            for project, last in since.items():
                if last is None:
                    newest = work.events.newest(project)
                    found[project] = News(newest, newest, [])
                    continue
                events = work.events.following(project, last, PAGE)
                found[project] = News(last, events[-1].number if events else last, events)
        return found

    def visible(self, project: ProjectId, events: list[Event]) -> list[Event]:
        """Return what the caller may see of events."""
        with self._database.reading() as work:
            return work.events.visible(project, events)

    def now(self) -> datetime:
        """Return the time that expiries are compared with."""
        return self._database.now()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Be woken when there may be more."""
        return self._bus.listen(listener)
