"""Queries as hypothesis makes them, written as text, and what they mean: a plain evaluation to hold databases against.

A thing is a dictionary from keys to values; `tags` is a list of labels, and so is a built-in key that names file sets.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import strategies as st

from acai_jupyter.contract.query import regex
from acai_jupyter.contract.query.binding import type_of
from acai_jupyter.contract.query.builtin import TAGS, ValueType
from acai_jupyter.contract.query.lexer import KEYWORDS
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
    Order,
    Query,
    Term,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

Thing = dict[str, Any]
NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)
TEXTS = ["", "BERT", "bert", "GPT", "it's", "a b", "100%", "é", "z\n", "_", "\\", "Ä😀", "B"]
NUMBERS = [-1.5, 0.0, 1.0, 0.1, 0.5, 1e300, 3.0]
TIMES = [NOON, NOON + timedelta(days=1), NOON - timedelta(seconds=0.25)]
LITERALS: list[Literal] = [*TEXTS, *NUMBERS, *TIMES, True, False]
LABELS = ["a", "reviewed", "sweep-7", "é"]
PATTERNS = [
    "B",
    "^B.RT$",
    "(?i)bert",
    "^$",
    "[^a-z]",
    "E|e",
    r"\w{2,4}",
    "x*",
    ".",
    r"\s",
    "😀",
    "[😀-😂Ä]",
    r"\\",
    "%",
]
_WORD = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\Z")


class Ref(NamedTuple):
    """A file set version as a built-in key names it."""

    name: str
    number: int
    is_latest: bool

    def __str__(self) -> str:
        return f"{self.name}:{self.number}"

    def is_called(self, text: Literal) -> bool:
        """Whether a text in a query means this one."""
        return text in (self.name, str(self)) or (self.is_latest and text == f"{self.name}:latest")


class Key(NamedTuple):
    """A key to make conditions on, and what it is compared with."""

    name: str
    values: st.SearchStrategy[Literal] = st.sampled_from(LITERALS)
    type: ValueType = ValueType.TEXT

    def leaves(self) -> st.SearchStrategy[Term]:
        """Make conditions on it that mean something."""
        name, is_list = st.just(self.name), self.type in (ValueType.LIST, ValueType.REFERENCE)
        found: list[st.SearchStrategy[Term]] = [st.builds(Has, name)]
        if self.type is not ValueType.LIST:
            operators = [Operator.EQUAL, Operator.UNEQUAL] if is_list else list(Operator)
            found += [
                st.builds(Comparison, name, st.sampled_from(operators), self.values),
                st.builds(OneOf, name, st.lists(self.values, min_size=1, max_size=3).map(tuple)),
            ]
        if not is_list:
            found.append(st.builds(_between, name, self.values, self.values))
        if is_list:
            found.append(st.builds(Contains, name, self.values))
        if is_list or self.type is ValueType.TEXT:
            found.append(st.builds(Matches, name, st.sampled_from(PATTERNS)))
        return st.one_of(found)


KEYS = [Key(name) for name in ("accuracy", "model", "mixed", "params.lr", "limit", "unused")]
LIST = Key(TAGS, st.sampled_from([*LABELS, "nobody's"]), ValueType.LIST)


def _between(key: str, low: Literal, high: Literal) -> Term:
    return And((Comparison(key, Operator.AT_LEAST, low), Comparison(key, Operator.AT_MOST, high)))


def terms(keys: list[Key]) -> st.SearchStrategy[Term]:
    """Make conditions on these keys."""
    return st.recursive(
        st.one_of([key.leaves() for key in keys]),
        lambda inner: st.one_of(
            st.builds(Not, inner),
            st.lists(inner, min_size=2, max_size=4).map(lambda found: And(tuple(found))),
            st.lists(inner, min_size=2, max_size=3).map(lambda found: Or(tuple(found))),
        ),
        max_leaves=6,
    )


def queries(keys: list[Key]) -> st.SearchStrategy[Query]:
    """Make whole queries."""
    names = [key.name for key in keys if key.type not in (ValueType.LIST, ValueType.REFERENCE)]
    orders = st.lists(st.builds(Order, st.sampled_from(names), st.booleans()), max_size=3, unique_by=lambda o: o.key)
    limits = st.one_of(st.none(), st.integers(1, 30))
    return st.builds(Query, st.one_of(terms(keys), st.just(And(()))), orders.map(tuple), limits)


# -- as text


class Plainly:
    """Chooses the plain form of everything; a `Random` in its place chooses any."""

    def random(self) -> float:
        """Return what chooses it."""
        return 1.0


def written(query: Query, chance: Plainly | Random | None = None) -> str:
    """Write a query, in one of the ways in which it can be written."""
    writer = _Writer(chance or Plainly())
    parts = [] if query.where == And(()) else [writer.term(query.where)]
    if query.order:
        parts.append("order by " + ", ".join(_key(o.key) + (" desc" if o.descending else "") for o in query.order))
    if query.limit is not None:
        parts.append(f"limit {query.limit}")
    return " ".join(parts)


class _Writer:
    def __init__(self, chance: Plainly | Random) -> None:
        self._chance = chance

    def term(self, term: Term) -> str:  # noqa: PLR0911 (one line for each kind)
        match term:
            case And((Comparison(key, Operator.AT_LEAST, low), Comparison(other, Operator.AT_MOST, high))) if (
                key == other and self._lucky()
            ):
                border = f"{written_value(low)} {self._word('and')} {written_value(high)}"
                return f"{_key(key)} {self._word('between')} {border}"
            case And(inner):
                return "(" + f" {self._word('and')} ".join(map(self.term, inner)) + ")"
            case Or(inner):
                return "(" + f" {self._word('or')} ".join(map(self.term, inner)) + ")"
            case Not(Matches(key, pattern)) if self._lucky():
                return f"{_key(key)}!~{written_value(pattern)}"
            case Not(OneOf() | Contains() as inner) if self._lucky():
                return self._leaf(inner, f"{self._word('not')} {self._word('in')}")
            case Not(inner):
                return f"{self._word('not')} {self.term(inner)}"
            case leaf:
                return self._leaf(leaf, self._word("in"))

    def _leaf(self, leaf: Leaf, among: str) -> str:
        match leaf:
            case Comparison(key, operator, value):
                return f"{_key(key)} {self._sign(operator)} {written_value(value)}"
            case OneOf(key, values):
                return f"{_key(key)} {among} ({', '.join(map(written_value, values))})"
            case Matches(key, pattern):
                return f"{_key(key)} ~ {written_value(pattern)}"
            case Contains(key, label):
                return f"{written_value(label)} {among} {_key(key)}"
            case Has(key):
                return f"{self._word('has')}({_key(key)})"

    def _lucky(self) -> bool:
        return self._chance.random() < 0.5

    def _word(self, word: str) -> str:
        return word.upper() if self._lucky() else word

    def _sign(self, operator: Operator) -> str:
        other = {Operator.EQUAL: "==", Operator.UNEQUAL: "<>"}.get(operator)
        return other if other and self._lucky() else operator.value


def written_value(value: Literal) -> str:
    """Write a value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return value.isoformat()
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def _key(key: str) -> str:
    return key if _WORD.match(key) and key not in KEYWORDS else f'"{key}"'


# -- what it means


def answer(query: Query, things: list[Thing]) -> list[Thing]:
    """Return the things, given from the oldest to the newest, that a query is true of, in its order."""
    found = [thing for thing in reversed(things) if holds(query.where, thing)]
    for order in reversed(query.order):
        found.sort(key=cmp_to_key(_comparing(order)))
    return found[: query.limit]


def holds(term: Term, thing: Thing) -> bool:  # noqa: PLR0911 (one line for each kind)
    """Whether a term is true of a thing."""
    match term:
        case And(inner):
            return all(holds(one, thing) for one in inner)
        case Or(inner):
            return any(holds(one, thing) for one in inner)
        case Not(inner):
            return not holds(inner, thing)
        case Has(key):
            return thing.get(key) not in (None, [])
        case Contains(key, label):
            return any(_is(one, label) for one in thing.get(key) or [])
        case Matches(key, pattern):
            return any(isinstance(text, str | Ref) and found(pattern, str(text)) for text in _many(thing.get(key)))
        case OneOf(key, values):
            return any(_compare(thing.get(key), Operator.EQUAL, value) for value in values)
        case Comparison(key, operator, value):
            return _compare(thing.get(key), operator, value)


def found(pattern: str, text: str) -> bool:
    """Whether an expression is found in a text, as Python's own engine has it."""
    return re.search(regex.write(regex.read(pattern), regex.PYTHON), text) is not None


def _many(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _is(one: Any, text: Literal) -> bool:
    return one.is_called(text) if isinstance(one, Ref) else bool(one == text)


def _compare(have: Any, operator: Operator, wanted: Literal) -> bool:
    if have is None or have == []:
        return False
    if isinstance(have, list):
        return any(_is(one, wanted) for one in have) is (operator is Operator.EQUAL)
    is_same = type_of(have) is type_of(wanted)
    if not is_same or operator in (Operator.EQUAL, Operator.UNEQUAL):
        return (is_same and have == wanted) is (operator is Operator.EQUAL) and (
            operator in (Operator.EQUAL, Operator.UNEQUAL)
        )
    by: dict[Operator, bool] = {
        Operator.LESS: have < wanted,
        Operator.AT_MOST: have <= wanted,
        Operator.GREATER: have > wanted,
        Operator.AT_LEAST: have >= wanted,
    }
    return by[operator]


_RANKS = [ValueType.BOOLEAN, ValueType.NUMBER, ValueType.TIME, ValueType.TEXT]


def _comparing(order: Order) -> Callable[[Thing, Thing], int]:
    def compare(one: Thing, other: Thing) -> int:
        a, b = one.get(order.key), other.get(order.key)
        if a is None or b is None:
            return (a is None) - (b is None)
        left, right = (_RANKS.index(type_of(a)), a), (_RANKS.index(type_of(b)), b)
        less = left[0] < right[0] if left[0] != right[0] else a < b
        if left == right:
            return 0
        return -1 if less is not order.descending else 1

    return compare
