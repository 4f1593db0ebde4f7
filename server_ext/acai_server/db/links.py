"""Which names of file sets hang together, and the newest version of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from acai_jupyter.contract.states import InputRole
from acai_server.db import batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import FileSetVersionId, ProjectId

_PAGE = 200
_NUMBER = "CASE WHEN s.latest > 0 THEN s.latest ELSE s.last END"
"""What stands for a name: its newest version that is not deleted, or a tombstone."""
_NEWEST = f"""
    SELECT s.id, s.name, v.id, v.number FROM file_set s
    JOIN file_set_version v ON v.file_set_id = s.id AND v.number = {_NUMBER}
    WHERE s.project_id = ? AND"""  # noqa: S608 (SQL of ours)
_BELOW = f"{_NEWEST} s.role = ? AND v.id < ? ORDER BY v.id DESC LIMIT ?"
_SOURCES = "SELECT source_id, target_id FROM file_set_link WHERE target_id IN"
_TARGETS = "SELECT source_id, target_id FROM file_set_link WHERE source_id IN"
_ARE_NEWEST = """
    SELECT v.id FROM file_set_version v JOIN file_set s ON s.id = v.file_set_id AND s.latest = v.number WHERE v.id IN"""
_NO_LIMIT = 2**62


class Newest(NamedTuple):
    """A name of file sets and the version that stands for it."""

    file_set: int
    name: str
    version: FileSetVersionId
    number: int


class LinkRecords:
    """Links between names."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def newest(self, project: ProjectId, before: int | None) -> Iterator[Newest]:
        """Iterate over the names of data sets, those whose newest version is the newest first."""
        below = _NO_LIMIT if before is None else before
        while rows := batches.select(self._session, _BELOW, project, InputRole.DATA.value, below, _PAGE):
            yield from (Newest(*row) for row in rows)
            below = rows[-1][2]

    def named(self, project: ProjectId, file_sets: Iterable[int]) -> list[Newest]:
        """Return names, those whose newest version is the newest first."""
        rows = batches.select_in(self._session, f"{_NEWEST} s.id IN", file_sets, project)
        return sorted((Newest(*row) for row in rows), key=lambda one: -one.version)

    def which_are_newest(self, versions: list[FileSetVersionId]) -> list[FileSetVersionId]:
        """Return those of the versions that are the newest of their names."""
        found = {row[0] for row in batches.select_in(self._session, _ARE_NEWEST, versions)}
        return [one for one in versions if one in found]

    def component(self, file_set: int, most: int) -> tuple[set[int], set[tuple[int, int]]]:
        """Return all names that hang together with one, and the links between them, source first.

        When they are more than so many, those that are near.
        """
        seen, links, level = {file_set}, set[tuple[int, int]](), {file_set}
        while level and len(seen) < most:
            found = {
                (source, target)
                for sql in (_SOURCES, _TARGETS)
                for source, target in batches.select_in(self._session, sql, level)
            }
            links |= found
            level = {name for link in found for name in link} - seen
            seen |= level
        return seen, links
