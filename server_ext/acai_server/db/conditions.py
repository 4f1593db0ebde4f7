"""Compiles what a query says of a thing to SQL that is true, or false, of each row; never unknown.

`Sql` carries text and parameters together, so that their order is right by construction. A value is reached by the
primary key of the attributes from the thing's row: a database without statistics cannot choose a worse way.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.query import regex
from acai_jupyter.contract.query.binding import type_of
from acai_jupyter.contract.query.builtin import BUILT_IN, TAGS, SubjectKind, ValueType
from acai_jupyter.contract.query.tree import (
    And,
    Comparison,
    Contains,
    Has,
    Leaf,
    Literal,
    Matches,
    Not,
    OneOf,
    Operator,
    Or,
    Term,
)
from acai_server.db import batches
from acai_server.db.attributes import TYPES
from acai_server.db.subjects import KINDS, SubjectRecords

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId

SQLITE_MATCHES = "acai_matches"
"""The function that `database.py` gives to SQLite."""


_ALIASED = """
    (SELECT l.number FROM file_set_alias l WHERE l.file_set_id = s.id AND l.alias = ? ORDER BY l.id DESC LIMIT 1)"""


@dataclass(frozen=True)
class Sql:
    """A piece of SQL with its parameters."""

    text: str
    parameters: tuple[Any, ...] = ()

    def __add__(self, other: Sql | str) -> Sql:
        more = other if isinstance(other, Sql) else Sql(other)
        return Sql(self.text + more.text, self.parameters + more.parameters)

    def __radd__(self, other: str) -> Sql:
        return Sql(other) + self


TRUE, FALSE = Sql("TRUE"), Sql("FALSE")


def join(separator: str, pieces: Iterable[Sql]) -> Sql:
    """Put pieces together."""
    found = list(pieces)
    text = separator.join(piece.text for piece in found)
    return Sql(text, tuple(value for piece in found for value in piece.parameters))


def all_of(pieces: Iterable[Sql]) -> Sql:
    """Return what is true where all are."""
    found = [piece for piece in pieces if piece != TRUE]
    return join(" AND ", found) if found else TRUE


class Conditions:
    """Conditions on one kind of thing. `row` is the SQL of the thing's id."""

    def __init__(self, session: Session, project: ProjectId, kind: SubjectKind, keys: Mapping[str, int]) -> None:
        self._session = session
        self._project = project
        self._kind = kind
        self._keys = keys
        self._is_postgres = session.get_bind().dialect.name == "postgresql"
        self._subjects = SubjectRecords(session)

    def term(self, term: Term, row: str = "e.id") -> Sql:
        """Compile a term."""
        match term:
            case And(terms):
                return "(" + all_of(self.term(one, row) for one in terms) + ")"
            case Or(terms):
                return "(" + join(" OR ", [self.term(one, row) for one in terms]) + ")"
            case Not(inner):
                return "NOT " + self.term(inner, row)
            case leaf:
                return self._leaf(leaf, row)

    def value(self, key: str, column: str, row: str = "e.id") -> Sql:
        """Return a column of an attribute; NULL where the thing has none."""
        return self._lookup(Sql(f"a.{column}"), self._keys[key], row)

    def compared(self, value: Literal, operator: Operator, alias: str) -> Sql:
        """Compare the attribute in a row with a value; the row's type is asked elsewhere."""
        column = "text" if isinstance(value, str) else "number"
        return Sql(f"{alias}.{column} {operator.value} ?", (stored(value),))

    def matched(self, expression: str | Sql, pattern: str) -> Sql:
        """Match a text with a regular expression."""
        node = regex.read(pattern)
        if self._is_postgres:
            return "(" + (Sql("") + expression) + Sql(" ~ ?)", (regex.write(node, regex.POSTGRES),))
        return Sql(f"{SQLITE_MATCHES}(?, ", (regex.write(node, regex.RE2),)) + expression + ")"

    def _leaf(self, leaf: Leaf, row: str) -> Sql:
        if leaf.key == TAGS:
            return self._of_labels(leaf, row)
        kind = BUILT_IN[self._kind].get(leaf.key)
        if kind is ValueType.REFERENCE:
            return self._of_references(leaf)
        if kind is not None:
            return self._of_built_in(leaf)
        return self._of_attribute(leaf, row)

    def _of_attribute(self, leaf: Leaf, row: str) -> Sql:
        key = self._keys.get(leaf.key)
        if key is None:
            return FALSE
        if isinstance(leaf, Has):
            return "(" + self._lookup(Sql("1"), key, row) + " IS NOT NULL)"
        return "coalesce(" + self._lookup(self._of_row(leaf), key, row) + ", FALSE)"

    def _of_row(self, leaf: Leaf) -> Sql:
        match leaf:
            case Comparison(_, Operator.UNEQUAL, value):
                return "NOT (" + self._typed(value, self.compared(value, Operator.EQUAL, "a")) + ")"
            case Comparison(_, operator, value):
                return self._typed(value, self.compared(value, operator, "a"))
            case OneOf(_, values):
                return self._one_of(values)
            case Matches(_, pattern):
                return Sql("(a.type = ? AND ", (TYPES[ValueType.TEXT],)) + self.matched("a.text", pattern) + ")"
        return FALSE

    def _one_of(self, values: tuple[Literal, ...]) -> Sql:
        """Compare with many values by one list for each type: SQLite counts how deep its conditions are."""
        of_type: dict[ValueType, list[Literal]] = {}
        for value in values:
            of_type.setdefault(type_of(value), []).append(value)
        options = []
        for kind, same in of_type.items():
            column, marks = "text" if kind is ValueType.TEXT else "number", ", ".join("?" * len(same))
            options.append(Sql(f"(a.type = ? AND a.{column} IN ({marks}))", (TYPES[kind], *map(stored, same))))
        return "(" + join(" OR ", options) + ")"

    def _typed(self, value: Literal, condition: Sql) -> Sql:
        return Sql("(a.type = ? AND ", (TYPES[type_of(value)],)) + condition + ")"

    def _lookup(self, what: Sql, key: int, row: str) -> Sql:
        where = Sql(f" FROM attribute a WHERE a.subject_id = {row} AND a.key_id = ?)", (key,))
        return "(SELECT " + what + where

    def _of_labels(self, leaf: Leaf, row: str) -> Sql:
        key = self._keys.get(TAGS)
        if key is None:
            return FALSE
        labels = Sql(f"EXISTS (SELECT 1 FROM attribute_label l WHERE l.subject_id = {row} AND l.key_id = ?", (key,))
        match leaf:
            case Contains(_, label):
                return labels + Sql(" AND l.label = ?)", (label,))
            case Matches(_, pattern):
                return labels + " AND " + self.matched("l.label", pattern) + ")"
        return labels + ")"

    def _of_built_in(self, leaf: Leaf) -> Sql:
        expression = self._subjects.expression(self._kind, leaf.key)
        match leaf:
            case Comparison(key, operator, value):
                condition = Sql(f"{expression} {operator.value} ?", (self.built_in_value(value),))
                near = KINDS[self._kind].near.get(key)
                if near is not None and operator is Operator.EQUAL:
                    return "(" + Sql(near, (self._project, value)) + " AND " + condition + ")"
            case OneOf(_, values):
                marks = ", ".join("?" * len(values))
                condition = Sql(f"{expression} IN ({marks})", tuple(map(self.built_in_value, values)))
            case Matches(_, pattern):
                condition = self.matched(expression, pattern)
            case _:
                return Sql(f"({expression} IS NOT NULL)")
        return "coalesce(" + condition + ", FALSE)"

    def built_in_value(self, value: Literal) -> Any:
        """Return a value as a built-in key is compared with it."""
        return batches.as_stored(self._session, value) if isinstance(value, datetime) else value

    def _of_references(self, leaf: Leaf) -> Sql:
        source = KINDS[self._kind].keys[leaf.key]
        some = f"EXISTS (SELECT 1 FROM {source}"
        match leaf:
            case Comparison(_, Operator.UNEQUAL, str(value)):
                equal = Sql(some + " AND ") + _is_set(value) + ")"
                return Sql(f"({some}) AND NOT ") + equal + ")"
            case Comparison(_, _, str(value)):
                condition = _is_set(value)
            case OneOf(_, values):
                condition = "(" + join(" OR ", [_is_set(str(value)) for value in values]) + ")"
            case Matches(_, pattern):
                condition = self.matched("(s.name || ':' || v.number)", pattern)
            case _:
                condition = TRUE
        return Sql(some + " AND ") + condition + ")"


def _is_set(ref: str) -> Sql:
    """Whether a file set is the one that a reference names; without a version any of its versions is."""
    name, colon, version = ref.partition(":")
    if not colon:
        return Sql("s.name = ?", (name,))
    if version == "latest":
        return Sql("(s.name = ? AND v.number = s.latest)", (name,))
    if not version.isdigit():
        return Sql(f"(s.name = ? AND v.number = {_ALIASED})", (name, version))
    if not version.isascii() or len(version) >= 10:  # noqa: PLR2004 (what a number fits into)
        return FALSE
    return Sql("(s.name = ? AND v.number = ?)", (name, int(version)))


def stored(value: Literal) -> float | str:
    """Return a value as an attribute keeps it."""
    if isinstance(value, datetime):
        return value.timestamp()
    return value if isinstance(value, str) else float(value)
