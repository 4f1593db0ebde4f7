"""Holds a query against the keys of what is searched: a built-in one has one type, and a time may come as a text."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.query.builtin import BUILT_IN, TAGS, SubjectKind, ValueType
from acai_jupyter.contract.query.lexer import fault
from acai_jupyter.contract.query.parser import read_time
from acai_jupyter.contract.query.tree import (
    And,
    Comparison,
    Contains,
    Leaf,
    Literal,
    Matches,
    Not,
    OneOf,
    Operator,
    Or,
    Order,
    Query,
    Term,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acai_jupyter.contract.errors import BadQuery

_EXAMPLES = {
    ValueType.NUMBER: "a number",
    ValueType.TEXT: "a text in single quotes",
    ValueType.BOOLEAN: "true or false",
    ValueType.TIME: "a time like 2026-11-01, now() or today() - 7d",
    ValueType.REFERENCE: "a file set in single quotes, like 'digits' or 'digits:2'",
}
_OF_REFERENCES = (Operator.EQUAL, Operator.UNEQUAL)


def type_of(value: Literal) -> ValueType:
    """Return the type of a value."""
    if isinstance(value, bool):
        return ValueType.BOOLEAN
    if isinstance(value, datetime):
        return ValueType.TIME
    return ValueType.TEXT if isinstance(value, str) else ValueType.NUMBER


def bind(query: Query, kind: SubjectKind, now: datetime, text: str = "") -> Query:
    """Return the query as it is meant for one kind of thing, or say which part of its text means nothing there."""
    binder = _Binder(BUILT_IN[kind], now, text)
    for order in query.order:
        binder.check_order(order)
    return msgspec.structs.replace(query, where=binder.term(query.where))


class _Binder:
    def __init__(self, known: Mapping[str, ValueType], now: datetime, text: str) -> None:
        self._known = known
        self._now = now
        self._text = text

    def check_order(self, order: Order) -> None:
        if order.key == TAGS or self._known.get(order.key) is ValueType.REFERENCE:
            raise self._fault(order.key, order.column, "is a list and has no order")

    def term(self, term: Term) -> Term:
        match term:
            case And(terms):
                return And(tuple(self.term(one) for one in terms))
            case Or(terms):
                return Or(tuple(self.term(one) for one in terms))
            case Not(inner):
                return Not(self.term(inner))
            case leaf:
                return self._leaf(leaf)

    def _leaf(self, leaf: Leaf) -> Leaf:
        if leaf.key == TAGS:
            if isinstance(leaf, Comparison | OneOf):
                raise self._fault(TAGS, leaf.column, "is a list: write 'x' in tags")
            return leaf
        wanted = self._known.get(leaf.key)
        if isinstance(leaf, Contains):
            if wanted is not ValueType.REFERENCE:
                raise self._fault(leaf.key, leaf.column, f"is not a list; the list is {TAGS}")
            return Comparison(leaf.key, Operator.EQUAL, leaf.label, leaf.column)
        return leaf if wanted is None else self._of_type(leaf, wanted)

    def _of_type(self, leaf: Leaf, wanted: ValueType) -> Leaf:
        match leaf:
            case Comparison(key, operator, value, column):
                if wanted is ValueType.REFERENCE and operator not in _OF_REFERENCES:
                    raise self._fault(key, column, "names file sets, which are equal or not; neither is the greater")
                return Comparison(key, operator, self._value(leaf, value, wanted), column)
            case OneOf(key, values, column):
                return OneOf(key, tuple(self._value(leaf, value, wanted) for value in values), column)
            case Matches(key, _, column) if wanted not in (ValueType.TEXT, ValueType.REFERENCE):
                raise self._fault(key, column, f"is a {wanted.value}; '~' is for texts")
        return leaf

    def _value(self, leaf: Leaf, value: Literal, wanted: ValueType) -> Literal:
        if wanted is ValueType.TIME and isinstance(value, str):
            moment = read_time(value, self._now)
            if moment is not None:
                return moment
        given = type_of(value)
        if given is wanted or (wanted is ValueType.REFERENCE and given is ValueType.TEXT):
            return value
        raise self._fault(leaf.key, leaf.column, f"is a {wanted.value}; compare it with {_EXAMPLES[wanted]}")

    def _fault(self, key: str, column: int, reason: str) -> BadQuery:
        return fault(self._text, column - 1, f"{key} {reason}")
