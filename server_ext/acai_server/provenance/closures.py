"""Closures as lines of JSON, page by page: an answer of a hundred thousand sets is never held as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import msgspec

from acai_server.db.batches import pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_jupyter.contract.ids import ActionId, FileSetVersionId, ProjectId
    from acai_jupyter.contract.lineage import LineageDirection
    from acai_server.db.database import Database
    from acai_server.db.work import Work

PAGE = 10_000
KeyT = TypeVar("KeyT", bound=int)
_lines = msgspec.json.Encoder().encode_lines


@dataclass(frozen=True)
class Closure:
    """Which sets are in a closure, nearest first, and how many of them have their edges away from the focus in it."""

    focus: str
    versions: list[FileSetVersionId]
    inside: int
    is_cut: bool


def close(
    work: Work, start: FileSetVersionId, focus: str, direction: LineageDirection, depth: int | None, limit: int
) -> Closure:
    """Find a closure."""
    if depth is None:
        found = work.closures.all(start, direction, limit + 1)
        inside = len(found)
    else:
        found, inside = work.closures.within(start, direction, depth, limit + 1)
    versions = found[:limit]
    return Closure(focus, versions, min(inside, len(versions)), len(found) > limit)


class Lines:
    """Reads the lines of a closure: its sets, its actions, the edges between them.

    Nothing of the graph ever changes but names of deleted sets, so each page is read in a transaction of its own.
    """

    def __init__(self, database: Database, project: ProjectId, closure: Closure, direction: LineageDirection) -> None:
        self._database = database
        self._project = project
        self._closure = closure
        self._direction = direction
        self._known = set(closure.versions) if closure.is_cut else None

    def encoded(self) -> Iterator[bytes]:
        """Give the answer, ended by its last line; no piece of it is empty."""
        yield from filter(None, self._pieces())
        yield _lines([("end", self._closure.focus, len(self._closure.versions), self._closure.is_cut)])

    def _pieces(self) -> Iterator[bytes]:
        versions = self._closure.versions
        yield from self._pages(versions, lambda work, page: work.closures.sets(self._project, page))
        actions: dict[ActionId, None] = {}
        for page in pages(versions[: self._closure.inside], PAGE):
            with self._database.reading() as work:
                edges = work.closures.near(page, self._direction)
            actions |= dict.fromkeys(edge[1] for edge in edges)
            yield _lines(edges)
        known = list(actions)
        yield from self._pages(known, lambda work, page: work.closures.actions(self._project, page))
        yield from self._pages(known, self._far)

    def _pages(self, keys: list[KeyT], read: Callable[[Work, list[KeyT]], bytes]) -> Iterator[bytes]:
        for page in pages(keys, PAGE):
            with self._database.reading() as work:
                lines = read(work, page)
            yield lines

    def _far(self, work: Work, actions: list[ActionId]) -> bytes:
        """In an answer that is cut, an action may have edges to sets that are not in it."""
        if self._known is None:
            return work.closures.far_lines(actions, self._direction)
        return _lines([edge for edge in work.closures.far(actions, self._direction) if edge[2] in self._known])
