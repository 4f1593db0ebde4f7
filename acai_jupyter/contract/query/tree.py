"""What a query says, as a tree. Each leaf speaks of one key; `column` is where it stood, for errors."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import msgspec

Literal = str | float | bool | datetime
"""A value as it is compared. Numbers are floating-point, times are in UTC."""


class Operator(StrEnum):
    """How a value is compared with another."""

    EQUAL = "="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="


class Comparison(msgspec.Struct, frozen=True):
    """`key > 0.5`. False where the key is missing; values of two types are unequal, and neither is the greater."""

    key: str
    operator: Operator
    value: Literal
    column: int = 1


class OneOf(msgspec.Struct, frozen=True):
    """`key in ('a', 'b')`."""

    key: str
    values: tuple[Literal, ...]
    column: int = 1


class Matches(msgspec.Struct, frozen=True):
    """`key ~ 'expression'`: the expression is found somewhere in the text."""

    key: str
    pattern: str
    column: int = 1


class Contains(msgspec.Struct, frozen=True):
    """`'label' in tags`."""

    key: str
    label: str
    column: int = 1


class Has(msgspec.Struct, frozen=True):
    """`has(key)`."""

    key: str
    column: int = 1


class Not(msgspec.Struct, frozen=True):
    """True where the other is false."""

    term: Term


class And(msgspec.Struct, frozen=True):
    """True where all are; of nothing, always."""

    terms: tuple[Term, ...]


class Or(msgspec.Struct, frozen=True):
    """True where one of them is."""

    terms: tuple[Term, ...]


Leaf = Comparison | OneOf | Matches | Contains | Has
Term = Comparison | OneOf | Matches | Contains | Has | Not | And | Or


class Order(msgspec.Struct, frozen=True):
    """One key to order by. Things without it come last either way."""

    key: str
    descending: bool = False
    column: int = 1


class Query(msgspec.Struct, frozen=True):
    """A whole query. Without an order the newest come first; among equals too."""

    where: Term = And(())
    order: tuple[Order, ...] = ()
    limit: int | None = None


def leaves(term: Term) -> list[Leaf]:
    """Return all that speaks of a key, in the order of the text."""
    match term:
        case And(terms) | Or(terms):
            return [leaf for one in terms for leaf in leaves(one)]
        case Not(inner):
            return leaves(inner)
        case leaf:
            return [leaf]


def keys(query: Query) -> list[str]:
    """Return the keys that a query speaks of, each once, in the order of the text."""
    named = [leaf.key for leaf in leaves(query.where)] + [order.key for order in query.order]
    return list(dict.fromkeys(named))
