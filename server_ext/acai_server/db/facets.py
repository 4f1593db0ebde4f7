"""Counts what a query is true of, in all and by the values of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.metadata import Counted, Facet, FacetValue
from acai_jupyter.contract.query.builtin import BUILT_IN, TAGS, SubjectKind, ValueType
from acai_server.db import batches
from acai_server.db.attributes import AttributeRecords, as_value
from acai_server.db.conditions import Sql
from acai_server.db.search import LONGEST_SECONDS, SearchRecords
from acai_server.db.subjects import SubjectRecords, built_in_value

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId
    from acai_jupyter.contract.query.tree import Query


class FacetRecords:
    """Counts in one project."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._search = SearchRecords(session)

    def count(self, project: ProjectId, kind: SubjectKind, query: Query, keys: list[str], most: int) -> Counted:
        """Return how many there are, and at most so many values of each key, the most frequent first."""
        with self._search.watched(LONGEST_SECONDS):
            matching = self._search.matching(project, kind, query)
            if matching is None:
                return Counted(0, [Facet(key, []) for key in keys])
            source, where = matching
            count = int(self._select(f"SELECT count(*) FROM {source} WHERE " + where)[0][0])
            facets = [Facet(key, self._values(project, kind, matching, key, most)) for key in keys]
        return Counted(count if query.limit is None else min(count, query.limit), facets)

    def _values(
        self, project: ProjectId, kind: SubjectKind, matching: tuple[str, Sql], key: str, most: int
    ) -> list[FacetValue]:
        built_in = BUILT_IN[kind].get(key)
        if built_in is ValueType.REFERENCE:
            raise BadRequest(reason=f"'{key}' names file sets, which are not counted")
        if built_in is not None:
            value = SubjectRecords(self._session).expression(kind, key)
            found = self._grouped(matching, value, most)
            return [
                FacetValue(told, count) for row, count in found if (told := built_in_value(built_in, row)) is not None
            ]
        numbers = AttributeRecords(self._session).keys(project, kind, [key])
        if key not in numbers:
            return []
        return (
            self._labels(matching, numbers[key], most) if key == TAGS else self._attribute(matching, numbers[key], most)
        )

    def _grouped(self, matching: tuple[str, Sql], value: str, most: int) -> list[tuple[Any, ...]]:
        source, where = matching
        inner = f"SELECT {value} AS value FROM {source} WHERE " + where
        outer = "SELECT value, count(*) FROM (" + inner + ") AS held WHERE value IS NOT NULL GROUP BY value"
        return self._select(outer + f" ORDER BY count(*) DESC, value LIMIT {most}")

    def _labels(self, matching: tuple[str, Sql], key: int, most: int) -> list[FacetValue]:
        found = self._joined(matching, "attribute_label", "l.label", key, most)
        return [FacetValue(label, count) for label, count in found]

    def _attribute(self, matching: tuple[str, Sql], key: int, most: int) -> list[FacetValue]:
        found = self._joined(matching, "attribute", "l.type, l.number, l.text", key, most)
        return [FacetValue(as_value(*row), count) for *row, count in found]

    def _joined(
        self, matching: tuple[str, Sql], table: str, columns: str, key: int, most: int
    ) -> list[tuple[Any, ...]]:
        source, where = matching
        inner = f"SELECT e.id FROM {source} WHERE " + where
        sql = f"SELECT {columns}, count(*) FROM (" + inner + f") AS held JOIN {table} l ON l.subject_id = held.id "
        sql += Sql("AND l.key_id = ?", (key,)) + f" GROUP BY {columns} ORDER BY count(*) DESC, {columns} LIMIT {most}"
        return self._select(sql)

    def _select(self, sql: Sql) -> list[tuple[Any, ...]]:
        return batches.select(self._session, sql.text, *sql.parameters)
