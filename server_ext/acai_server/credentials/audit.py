"""The audit log of a server: what counts is written down before it is answered."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acai_jupyter.contract.audit import AuditPage
from acai_jupyter.contract.foreign import one_line

if TYPE_CHECKING:
    from acai_jupyter.contract.audit import AuditQuery
    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.audit import NewEntry
    from acai_server.db.database import Database
    from acai_server.db.sight import Opened


MAX_THING = 500
ROOM_FOR_COUNT = len(" and 1,000,000 more")


class Audit:
    """Added to and read, never changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def write(self, entry: NewEntry) -> None:
        """Write down what somebody did, or was refused."""
        with self._database.adding() as work:
            work.audit.add(entry, work.clock.now())

    def write_reads(self, entry: NewEntry, opened: Opened) -> None:
        """Write down what of what somebody looked into is restricted. Nothing, where nothing is."""
        assert entry.project_id is not None, "restrictions are a project's"
        with self._database.reading() as work:
            found = work.restricted.among(entry.project_id, opened)
        if found:
            self.write(replace(entry, thing=joined(found)))

    def page(self, project: ProjectId, query: AuditQuery) -> AuditPage:
        """Return what was done in a project, the newest first."""
        with self._database.reading() as work:
            return AuditPage(*work.audit.page(project, query))


def joined(things: list[str]) -> str:
    """Name as many as there is room for, and count the others."""
    shown = ""
    for place, thing in enumerate(map(one_line, things)):
        longer = f"{shown}, {thing}" if shown else thing[: MAX_THING - ROOM_FOR_COUNT]
        if len(longer) > MAX_THING - ROOM_FOR_COUNT:
            return f"{shown} and {len(things) - place:,} more"
        shown = longer
    return shown
