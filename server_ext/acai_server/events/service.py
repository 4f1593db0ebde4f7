"""Reading events: what changed in a project since a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.events import EventPage

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.database import Database
    from acai_server.events.protocol import EventBus

PAGE = 500


class Events:
    """The table and the bus together."""

    def __init__(self, database: Database, bus: EventBus) -> None:
        self._database = database
        self._bus = bus

    def after(self, project: ProjectId, since: int | None) -> EventPage:
        """Return the events after a number; without one, where the stream is now."""
        with self._database.reading() as work:
            if since is None:
                return EventPage([], work.events.newest())
            return work.events.after(project, since, PAGE)

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Be woken when there may be more."""
        return self._bus.listen(listener)
