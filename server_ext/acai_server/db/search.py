"""Finds things: compiles a query to SQL and chooses the way in.

Nobody keeps statistics for us, so the ways are tried: whichever condition has few things goes first, and these are
sorted; when all have many, the index of the key to order by is walked from its end, and the walk stops early.
A page ends with the values of its last row; the next one begins after them.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from msgspec import structs
from sqlalchemy.exc import DataError, DBAPIError, ProgrammingError

from acai_jupyter.contract.errors import BadRequest, SearchTooLong
from acai_jupyter.contract.query.binding import type_of
from acai_jupyter.contract.query.builtin import BUILT_IN, TAGS, SubjectKind, ValueType
from acai_jupyter.contract.query.tree import (
    And,
    Comparison,
    Contains,
    Has,
    Leaf,
    Matches,
    OneOf,
    Operator,
    Order,
    Query,
    Term,
    keys,
)
from acai_server.db import batches
from acai_server.db.attributes import TYPES, AttributeRecords
from acai_server.db.conditions import FALSE, Conditions, Sql, all_of, join, stored
from acai_server.db.subjects import ALWAYS_THERE, KINDS, SubjectRecords

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId

FEW = 1000
"""So many things are looked at and sorted in a few milliseconds. Where every condition has more, a walk meets a match
soon: the more things, the longer it may be, and still some milliseconds for a million."""
LONGEST_SECONDS = 10
_NO_RANK = {True: 0, False: 9}
_RANGES = (Operator.LESS, Operator.AT_MOST, Operator.GREATER, Operator.AT_LEAST, Operator.EQUAL)
# The plan is ours: to walk in order, and to look up by key what stands beside. It is made for these settings each time.
_POSTGRES_PLAN = """SELECT set_config('plan_cache_mode', 'force_custom_plan', true),
    set_config('enable_hashjoin', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true), set_config('enable_material', 'off', true),
    set_config('join_collapse_limit', '1', true), set_config('from_collapse_limit', '1', true),
    set_config('jit', 'off', true), set_config('max_parallel_workers_per_gather', '0', true),
    set_config('statement_timeout', ?, true)"""


_POSTGRES_SORTS = "SELECT set_config('enable_sort', ?, true), set_config('statement_timeout', ?, true)"
_LEAST_SECONDS = 0.5
"""What is left to a statement near the end of a search, and to those that tell of what was found."""


@dataclass(frozen=True)
class Cursor:
    """Where a page ended: in which segment of which way, after which values of its columns."""

    known: int
    """How many of the query's keys were in use: with another that comes into use, the stretches are others."""
    way: int
    segment: int
    values: list[Any]


@dataclass(frozen=True)
class _Way:
    """A way in: rows of an index that a part of the conditions is true of."""

    table: str
    where: Sql
    covers: tuple[Leaf, ...]
    key: str = ""
    type: ValueType | None = None


@dataclass(frozen=True)
class _Column:
    """Something to order by. What is NULL comes last either way."""

    sql: Sql
    descending: bool
    can_be_null: bool = False

    @property
    def order(self) -> Sql:
        """What stands after ORDER BY."""
        return self.sql + (" DESC" if self.descending else " ASC") + (" NULLS LAST" if self.can_be_null else "")

    def after(self, value: Any) -> Sql:
        """What comes after a value."""
        if value is None:
            return FALSE
        behind = self.sql + Sql(f" {'<' if self.descending else '>'} ?", (value,))
        return "(" + behind + " OR " + self.sql + " IS NULL)" if self.can_be_null else behind

    def equal(self, value: Any) -> Sql:
        """What has a value."""
        return self.sql + " IS NULL" if value is None else self.sql + Sql(" = ?", (value,))


@dataclass(frozen=True)
class _Segment:
    """A stretch of the answer that one index gives in order. All of one come before those of the next."""

    source: str
    where: Sql
    columns: list[_Column]
    sorts: bool = False
    """Whether its things come in another order and are sorted."""


class SearchRecords:
    """Searches in one project."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._is_postgres = session.get_bind().dialect.name == "postgresql"
        self._end = self._least = 0.0

    def find(
        self,
        project: ProjectId,
        kind: SubjectKind,
        query: Query,
        after: Cursor | int | None,
        limit: int,
        *,
        few: int = FEW,
        seconds: float = LONGEST_SECONDS,
    ) -> tuple[list[int], Cursor | None]:
        """Return the rows of a page, and where to continue if there is more; a number as `after` passes over so many.

        Which way is taken changes nothing of the answer; `few` is where it changes.
        """
        skip, after = (after, None) if isinstance(after, int) else (0, after)
        with self.watched(seconds, is_continued=after is not None):
            known = AttributeRecords(self._session).keys(project, kind, keys(query))
            if after is not None and after.known != len(known):
                raise BadRequest(reason="a key of this query came into use meanwhile; search again from the beginning")
            search = _Search(self._session, project, kind, query, known, few)
            rows: list[int] = []
            cursors: list[Cursor] = []
            for number, segment in enumerate(search.segments(None if after is None else after.way)):
                if after is not None and number < after.segment:
                    continue
                begin = after.values if after is not None and number == after.segment else None
                found = self._read(segment, begin, limit + 1 - len(rows), skip)
                skip -= skip if found else self._passed(segment, skip)
                for row, *values in found:
                    rows.append(row)
                    cursors.append(Cursor(len(known), search.way, number, values))
                if len(rows) > limit:
                    return rows[:limit], cursors[limit - 1]
        return rows, None

    def matching(self, project: ProjectId, kind: SubjectKind, query: Query) -> tuple[str, Sql] | None:
        """Return what stands after FROM and after WHERE for the things of a query; None where there can be none."""
        known = AttributeRecords(self._session).keys(project, kind, keys(query))
        search = _Search(self._session, project, kind, structs.replace(query, order=()), known, FEW)
        return next(((segment.source, segment.where) for segment in search.segments(None)), None)

    def _passed(self, segment: _Segment, most: int) -> int:
        """How many things of a stretch are passed over, at most so many."""
        if not most:
            return 0
        inner = f"SELECT 1 FROM {segment.source} WHERE " + segment.where + f" LIMIT {most}"
        return int(
            batches.select(self._session, f"SELECT count(*) FROM ({inner.text}) AS passed", *inner.parameters)[0][0]
        )

    def _read(self, segment: _Segment, begin: list[Any] | None, limit: int, skip: int) -> list[tuple[Any, ...]]:
        columns = segment.columns
        if self._is_postgres:
            left = _milliseconds(max(self._least, self._end - time.monotonic()))
            batches.select(self._session, _POSTGRES_SORTS, "on" if segment.sorts else "off", left)
        if begin is not None and len(begin) != len(columns):
            raise BadRequest(reason="'after' is not the 'next' of a page")
        where = segment.where if begin is None else all_of([segment.where, _after(columns, begin)])
        order = join(", ", [column.order for column in columns])
        what = join(", ", [Sql("e.id"), *(column.sql for column in columns)])
        sql = (
            "SELECT "
            + what
            + f" FROM {segment.source} WHERE "
            + where
            + " ORDER BY "
            + order
            + f" LIMIT {limit} OFFSET {skip}"
        )
        return batches.select(self._session, sql.text, *sql.parameters)

    @contextmanager
    def watched(self, seconds: float, *, is_continued: bool = False) -> Iterator[None]:
        """End a search that takes too long."""
        self._end, self._least = time.monotonic() + seconds, min(seconds, _LEAST_SECONDS)
        try:
            if self._is_postgres:
                batches.select(self._session, _POSTGRES_PLAN, _milliseconds(seconds))
                yield
            else:
                with batches.interrupted(self._session, seconds):
                    yield
        except DBAPIError as error:
            cause = error.orig
            if type(cause).__name__ == "QueryCanceled" or str(cause) == "interrupted":
                raise SearchTooLong(seconds=seconds) from error
            if is_continued and isinstance(error, DataError | ProgrammingError):
                raise BadRequest(reason="'after' is not the 'next' of a page") from error
            raise


def _milliseconds(seconds: float) -> str:
    return f"{max(1, round(seconds * 1000))}ms"


def _after(columns: list[_Column], begin: list[Any]) -> Sql:
    """What comes after a row, column by column."""
    options = []
    for number, (column, value) in enumerate(zip(columns, begin, strict=True)):
        same = [c.equal(v) for c, v in zip(columns[:number], begin, strict=False)]
        options.append(all_of([*same, column.after(value)]))
    first = columns[0]
    if first.can_be_null:
        return "(" + join(" OR ", ["(" + option + ")" for option in options]) + ")"
    reached = first.sql + Sql(f" {'<=' if first.descending else '>='} ?", (begin[0],))  # lets an index begin there
    return reached + " AND (" + join(" OR ", ["(" + option + ")" for option in options]) + ")"


class _Search:
    def __init__(
        self, session: Session, project: ProjectId, kind: SubjectKind, query: Query, known: dict[str, int], few: int
    ) -> None:
        self._session = session
        self._project = project
        self._kind = kind
        self._query = query
        self._few = few
        self._keys = known
        self._conditions = Conditions(session, project, kind, known)
        self._subjects = SubjectRecords(session)
        self._is_sqlite = session.get_bind().dialect.name == "sqlite"
        self._terms = _conjuncts(query.where)
        self.way = -1

    def segments(self, chosen: int | None) -> Iterator[_Segment]:
        """Iterate over the stretches of the answer, by the way that an earlier page chose."""
        if any(isinstance(term, Leaf) and self._is_never(term) for term in self._terms):
            return
        ways = self._ways()
        self.way = self._narrowest(ways) if chosen is None else min(chosen, len(ways) - 1)
        best = ways[self.way] if self.way >= 0 else None
        first = self._query.order[0] if self._query.order else None
        if best is None and first is not None and self._is_attribute(first.key):
            yield from self._walk(first, ways)
            return
        if best is None and first is None:
            best = self._by_expression()
        orders = [column for order in self._query.order for column in self._order(order)]
        segment = self._segment(best, [*orders, self._newest(best)])
        yield replace(segment, sorts=best is not None)

    def _is_never(self, leaf: Leaf) -> bool:
        return leaf.key not in self._keys and (leaf.key == TAGS or self._is_attribute(leaf.key))

    def _is_attribute(self, key: str) -> bool:
        return key not in BUILT_IN[self._kind] and key != TAGS

    # -- ways in

    def _ways(self) -> list[_Way]:
        """All ways that the conditions joined by 'and' offer."""
        ranges: dict[tuple[str, ValueType], list[Comparison]] = {}
        ways = []
        for term in self._terms:
            match term:
                case Comparison(key, operator, value) if self._is_attribute(key) and operator in _RANGES:
                    ranges.setdefault((key, type_of(value)), []).append(term)
                case OneOf(key, values) if self._is_attribute(key) and len({type_of(v) for v in values}) == 1:
                    ways.append(self._of_values(term))
                case Contains(_, label):
                    where = Sql("d.key_id = ? AND d.label = ?", (self._keys[TAGS], label))
                    ways.append(_Way("attribute_label", where, (term,)))
        return [*ways, *(self._of_range(key, kind, found) for (key, kind), found in ranges.items())]

    def _of_range(self, key: str, kind: ValueType, found: list[Comparison]) -> _Way:
        bounds = [self._conditions.compared(one.value, one.operator, "d") for one in found]
        return _Way("attribute", all_of([self._typed(key, kind), *bounds]), tuple(found), key, kind)

    def _of_values(self, term: OneOf) -> _Way:
        kind = type_of(term.values[0])
        column = "text" if kind is ValueType.TEXT else "number"
        marks = ", ".join("?" * len(term.values))
        some = Sql(f"d.{column} IN ({marks})", tuple(stored(value) for value in term.values))
        return _Way("attribute", all_of([self._typed(term.key, kind), some]), (term,), "", kind)

    def _typed(self, key: str, kind: ValueType) -> Sql:
        if kind is ValueType.TEXT:
            return Sql("d.key_id = ? AND d.text IS NOT NULL", (self._keys[key],))
        return Sql("d.key_id = ? AND d.type = ? AND d.number IS NOT NULL", (self._keys[key], TYPES[kind]))

    def _narrowest(self, ways: list[_Way]) -> int:
        """The number of the way with the fewest things, if they are few; else -1."""
        walked = self._query.order[0].key if self._query.order else ""
        counted = [(self._count(way), number) for number, way in enumerate(ways) if not walked or way.key != walked]
        least = min(counted, default=(self._few, 0))
        return least[1] if least[0] < self._few else -1

    def _count(self, way: _Way) -> int:
        inner = f"SELECT 1 FROM {self._indexed(way)} WHERE " + way.where + f" LIMIT {self._few}"
        sql = "SELECT count(*) FROM (" + inner + ") AS counted"
        return int(batches.select(self._session, sql.text, *sql.parameters)[0][0])

    def _by_expression(self) -> _Way | None:
        """All texts of a key, for a regular expression that nothing narrows."""
        for term in self._terms:
            if isinstance(term, Matches) and self._is_attribute(term.key):
                matched = self._conditions.matched("d.text", term.pattern)
                where = all_of([self._typed(term.key, ValueType.TEXT), matched])
                return _Way("attribute", where, (term,), "", ValueType.TEXT)
        return None

    def _indexed(self, way: _Way) -> str:
        if not self._is_sqlite or way.table != "attribute":
            return f"{way.table} d"
        return f"attribute d INDEXED BY ix_attribute_{'text' if way.type is ValueType.TEXT else 'number'}"

    # -- segments

    def _walk(self, order: Order, ways: list[_Way]) -> Iterator[_Segment]:
        """Walk the index of the first key to order by: type after type, then what does not have the key."""
        if order.key in self._keys:
            bound = {way.type: way for way in ways if way.key == order.key}
            known = sorted(TYPES, key=lambda kind: TYPES[kind], reverse=order.descending)
            for kind in [kind for kind in known if not bound or kind in bound]:
                yield self._one_type(order, bound.get(kind) or self._of_range(order.key, kind, []))
        if not self._must_have(order.key):
            missing = "NOT " + self._conditions.term(Has(order.key))
            rest = [column for other in self._query.order[1:] for column in self._order(other)]
            segment = self._segment(None, [*rest, self._newest(None)])
            yield replace(segment, where=all_of([segment.where, missing]))

    def _one_type(self, order: Order, way: _Way) -> _Segment:
        column = Sql("d.text" if way.type is ValueType.TEXT else "d.number")
        rest = [column for other in self._query.order[1:] for column in self._order(other)]
        return self._segment(way, [_Column(column, order.descending), *rest, self._newest(way)])

    def _must_have(self, key: str) -> bool:
        return any(isinstance(term, Leaf) and term.key == key for term in self._terms)

    def _segment(self, way: _Way | None, columns: list[_Column]) -> _Segment:
        tables, visible = self._subjects.tables(self._kind), Sql(KINDS[self._kind].visible, (self._project,))
        if way is None:
            where = all_of([visible, *(self._conditions.term(term) for term in self._terms)])
            return _Segment(tables, where, columns)
        rest = [term for term in self._terms if not any(term is covered for covered in way.covers)]
        conditions = [self._conditions.term(term, "d.subject_id") for term in rest]
        own, _, others = tables.partition(f" {self._join} ")
        source = f"{self._indexed(way)} {self._join} {own} ON e.id = d.subject_id"
        source += f" {self._join} {others}" if others else ""
        # Looked up by its id: of a table that was not analysed yet PostgreSQL would go through all of the project.
        looked_up = replace(visible, text=visible.text.replace("e.project_id =", "e.project_id + 0 ="))
        return _Segment(source, all_of([way.where, *conditions, looked_up]), columns)

    @property
    def _join(self) -> str:
        return "CROSS JOIN" if self._is_sqlite else "JOIN"

    def _newest(self, way: _Way | None) -> _Column:
        if way is not None:
            return _Column(Sql("d.subject_id"), descending=True)
        # Jobs are numbered as they come, and have an index by project and number.
        return _Column(Sql("e.number" if self._kind is SubjectKind.JOB else "e.id"), descending=True)

    def _order(self, order: Order) -> list[_Column]:
        """What orders by a key where no index does: what is missing comes last."""
        if self._is_attribute(order.key):
            return self._order_attribute(order)
        expression = Sql(self._subjects.expression(self._kind, order.key))
        if _is_always_there(self._kind, order.key):
            return [_Column(expression, order.descending)]
        return [_Column(expression, order.descending, can_be_null=True)]

    def _order_attribute(self, order: Order) -> list[_Column]:
        if order.key not in self._keys:
            return []
        rank = Sql(f", {_NO_RANK[order.descending]})")
        pieces = (("type", rank), ("number", Sql(", 0)")), ("text", Sql(", '')")))
        return [
            _Column("coalesce(" + self._conditions.value(order.key, column) + default, order.descending)
            for column, default in pieces
        ]


def _conjuncts(term: Term) -> list[Term]:
    """What all has to be true."""
    if isinstance(term, And):
        return [one for inner in term.terms for one in _conjuncts(inner)]
    return [term]


def _is_always_there(kind: SubjectKind, key: str) -> bool:
    return key in ALWAYS_THERE or key == "created_at" or (kind is SubjectKind.FILE_SET and key == "name")
