"""The condition list of the original ACAI: value, range, max, min and regex, all joined by and. It becomes a query."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from acai_jupyter.contract.errors import BadQuery
from acai_jupyter.contract.query import regex
from acai_jupyter.contract.query.lexer import is_text
from acai_jupyter.contract.query.parser import MAX_TERMS
from acai_jupyter.contract.query.tree import And, Comparison, Matches, Operator, Order, Query, Term

Plain = str | float | bool


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One condition on one key. `max` and `min` keep the one thing that has the most, or the least, of it."""

    key: Annotated[str, msgspec.Meta(pattern="^[A-Za-z_][A-Za-z0-9_.-]{0,127}(?!\\n)$")]
    value: Plain | None = None
    range: Annotated[list[Plain | None], msgspec.Meta(min_length=2, max_length=2)] | None = None
    """From and to, both included; null for an open end."""
    regex: str | None = None
    best: Literal["max", "min"] | None = None


def from_conditions(conditions: list[Condition]) -> Query:
    """Return the query that says the same."""
    terms = [term for number, one in enumerate(conditions, 1) for term in _terms(one, number)]
    if len(terms) > MAX_TERMS:
        raise BadQuery(f"More than {MAX_TERMS} conditions in one query.", column=1)
    orders = [Order(one.key, one.best == "max") for one in conditions if one.best is not None]
    if len(orders) > 1:
        raise BadQuery("Only one condition can ask for the most or the least.", column=1)
    where = terms[0] if len(terms) == 1 else And(tuple(terms))
    if not orders:
        return Query(where)
    return Query(where, tuple(orders), 1)


def _terms(condition: Condition, number: int) -> list[Term]:
    key, found = condition.key, list[Term]()
    given = (condition.value, condition.regex, *(condition.range or ()))
    if not all(is_text(text) for text in given if isinstance(text, str)):
        raise BadQuery(f"The condition on {key} has a text with NUL characters or surrogates.", column=number)
    if condition.value is not None:
        found.append(Comparison(key, Operator.EQUAL, _literal(condition.value), number))
    low, high = condition.range or [None, None]
    if low is not None:
        found.append(Comparison(key, Operator.AT_LEAST, _literal(low), number))
    if high is not None:
        found.append(Comparison(key, Operator.AT_MOST, _literal(high), number))
    if condition.regex is not None:
        try:
            regex.read(condition.regex)
        except regex.BadPattern as error:
            reason = f"{error.reason} (character {error.position + 1} of the expression for {key})"
            raise BadQuery(column=number, reason=reason, excerpt="") from error
        found.append(Matches(key, condition.regex, number))
    if not found and condition.best is None:
        raise BadQuery(f"The condition on {key} says nothing: give value, range, regex or best.", column=number)
    return found


def _literal(value: Plain) -> str | float | bool:
    return value if isinstance(value, bool | str) else float(value)
