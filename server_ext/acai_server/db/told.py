"""Events as somebody is told them from whom a part of the project is hidden: as if nothing had happened there.

What is not known to be of something that they see is left out, so that a new kind of event tells nothing too much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.contract.specs import parse_spec
from acai_server.db import batches

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from acai_jupyter.contract.events import Event
    from acai_jupyter.contract.ids import ProjectId

_OF_ALL = frozenset(("user_created", "user_changed", "user_removed", "retention_changed", "access_changed"))
_LISTS = ("things", "file_sets")
"""Details that name things."""
_JOB = "SELECT 1 FROM job WHERE project_id = ? AND number = ?"
_NAMED = "SELECT 1 FROM file_set WHERE project_id = ? AND name = ?"
_FILE = """
    SELECT v.number FROM file f JOIN file_version v ON v.file_id = f.id
    WHERE f.project_id = ? AND f.path = ? AND v.number IS NOT NULL"""
_UPLOADED = """
    SELECT 1 FROM upload_session s JOIN file_version v ON v.session_id = s.id JOIN file f ON f.id = v.file_id
    WHERE s.project_id = ? AND s.key = ? LIMIT 1"""
_VERSION = """
    SELECT 1 FROM file_set_version v JOIN file_set n ON n.id = v.file_set_id
    WHERE n.project_id = ? AND n.name = ? AND v.number = ?"""


class Told:
    """What of a page of events may be told."""

    def __init__(self, session: Session, project: ProjectId) -> None:
        self._session = session
        self._project = project
        self._known: dict[str, bool] = {}

    def of(self, events: list[Event]) -> list[Event]:
        """Return those events that are of something visible, each with what is visible of it."""
        return [told for event in events if (told := self._told(event)) is not None]

    def _told(self, event: Event) -> Event | None:
        if event.kind in _OF_ALL:
            return event
        if event.kind == "files_committed":
            return msgspec.structs.replace(event, subject="files", details={}) if self._sees_upload(event) else None
        lists = {name: list(filter(self._sees, event.details[name])) for name in _LISTS if name in event.details}
        if lists:
            return self._shortened(event, lists) if any(lists.values()) else None
        if event.kind == "alias_changed":
            return event if self._sees_alias(event) else None
        return event if self._sees(event.subject) else None

    def _shortened(self, event: Event, lists: dict[str, list[str]]) -> Event:
        """An event of several things, of which some may be hidden."""
        if all(lists[name] == event.details[name] for name in lists):
            return event
        (seen,) = lists.values()
        counted = {"count": len(seen)} if "count" in event.details else {}
        subject = seen[0] if len(seen) == 1 else f"{len(seen)} things"
        return msgspec.structs.replace(event, subject=subject, details={**event.details, **lists, **counted})

    def _sees_upload(self, event: Event) -> bool:
        """Whether the user sees any file version that an upload made."""
        return bool(batches.select(self._session, _UPLOADED, self._project, event.details.get("upload", "")))

    def _sees_alias(self, event: Event) -> bool:
        name = event.subject.partition(":")[0]
        numbers = [event.details[key] for key in ("version", "was") if event.details.get(key) is not None]
        return self._sees(name) and all(self._sees(f"{name}:{number}") for number in numbers)

    def _sees(self, thing: str) -> bool:
        if thing not in self._known:
            try:
                self._known[thing] = self._looks(thing)
            except AcaiError:  # it is not the name of anything
                self._known[thing] = False
        return self._known[thing]

    def _looks(self, thing: str) -> bool:
        number = thing.removeprefix("job ")
        if number.isdecimal():
            return bool(batches.select(self._session, _JOB, self._project, int(number)))
        if thing.startswith("/"):
            spec = parse_spec(thing)
            known = batches.select(self._session, _FILE, self._project, spec.path)
            return any(spec.version in (None, number) for (number,) in known)
        name, _, version = thing.partition(":")
        found: list[Any]
        if version.isdecimal():
            found = batches.select(self._session, _VERSION, self._project, name, int(version))
        else:
            found = batches.select(self._session, _NAMED, self._project, name)
        return bool(found)
