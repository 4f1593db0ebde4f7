"""Reads queries.

    query      = [ or ] [ "order" "by" order { "," order } ] [ "limit" number ]
    or         = and { "or" and }
    and        = not { "and" not }
    not        = "not" not | "(" or ")" | condition
    condition  = "has" "(" key ")"
               | text [ "not" ] "in" key
               | key ( = | != | < | <= | > | >= ) value
               | key ( ~ | !~ ) text
               | key [ "not" ] "in" "(" value { "," value } ")"
               | key [ "not" ] "between" value "and" value
    key        = word | a word of the language in double quotes
    value      = text | number | "true" | "false" | time
    time       = date | ( "now" | "today" ) "(" ")" [ ( + | - ) duration ]
    order      = key [ "asc" | "desc" ]

Words are understood in any case. A key that is also a word of the language stands in double quotes.
"""

from __future__ import annotations

import math
import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from acai_jupyter.contract.query import regex
from acai_jupyter.contract.query.lexer import KEYWORDS, Token, fault, tokens
from acai_jupyter.contract.query.tree import (
    And,
    Comparison,
    Contains,
    Has,
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
    from collections.abc import Sequence

    from acai_jupyter.contract.errors import BadQuery

MAX_DEPTH = 50
MAX_TERMS = 200
MAX_VALUES = 500
MAX_ORDERS = 3
MAX_LIMIT = 1_000_000
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}\Z")
_UNITS = {"s": 1, "m": 60, "min": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_MONTHS = {"mo": 1, "y": 12}
_COMPARISONS = (*Operator, "~", "!~")
_ENDS_OF_KEYS = (*_COMPARISONS, ")", ",", "end")
_NAMES = {"end": "the end", "text": "a text", "word": "a name", "quoted": "a name"}


def parse(text: str, now: datetime) -> Query:
    """Read a query. `now` has the zone of who asks: their `today()` begins at their midnight."""
    return _Parser(text, now).query()


class _Parser:
    def __init__(self, text: str, now: datetime) -> None:
        self._text = text
        self._now = now
        self._tokens = tokens(text)
        self._next = 0
        self._depth = self._terms = self._values = 0

    def query(self) -> Query:
        self._refuse_word(_COMPARISONS)
        where = And(()) if self._token.kind in ("end", "order", "limit") else self._or()
        order = self._order()
        limit = self._limit()
        if self._token.kind != "end":
            raise self._expected("'and', 'or', 'order by', 'limit' or the end")
        return Query(where, order, limit)

    # -- what is true of a thing

    def _or(self) -> Term:
        terms = [self._and()]
        while self._skip("or"):
            terms.append(self._and())
        return terms[0] if len(terms) == 1 else Or(tuple(terms))

    def _and(self) -> Term:
        terms = [self._not()]
        while self._skip("and"):
            terms.append(self._not())
        return terms[0] if len(terms) == 1 else And(tuple(terms))

    def _not(self) -> Term:
        start = self._token
        if start.kind not in ("not", "("):
            return self._condition()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise fault(self._text, start.position, f"more than {MAX_DEPTH} parentheses and 'not' inside each other")
        if self._skip("not"):
            term: Term = Not(self._not())
        else:
            self._take("(")
            term = self._or()
            self._take(")", "')'")
        self._depth -= 1
        return term

    def _condition(self) -> Term:
        self._refuse_word(_COMPARISONS)
        start = self._token
        self._terms += 1
        if self._terms > MAX_TERMS:
            raise fault(self._text, start.position, f"more than {MAX_TERMS} conditions in one query")
        if self._skip("has"):
            self._take("(", "'(' after 'has'")
            key = self._key()
            self._take(")", "')'")
            return Has(key, start.position + 1)
        if start.kind == "text":
            return self._label(start)
        key = self._key("a key, 'not', 'has' or '('")
        return self._about(key, start.position + 1)

    def _label(self, start: Token) -> Term:
        label = _unquoted(self._take("text").text)
        is_not = self._skip("not")
        if not self._skip("in"):
            raise self._expected("'in' and the key of a list after a text that stands first, as in 'reviewed' in tags")
        term = Contains(self._key(), label, start.position + 1)
        return Not(term) if is_not else term

    def _about(self, key: str, column: int) -> Term:
        token = self._token
        if token.kind in ("~", "!~"):
            self._take(token.kind)
            term: Term = Matches(key, self._pattern(), column)
            return Not(term) if token.kind == "!~" else term
        if token.kind in list(Operator):
            self._take(token.kind)
            return Comparison(key, Operator(token.kind), self._value(f"a value after '{token.text}'"), column)
        is_not = self._skip("not")
        if self._skip("in"):
            term = OneOf(key, self._list(), column)
        elif self._skip("between"):
            low = self._value()
            self._take("and", "'and' between the two values")
            high = self._value()
            pair = (Comparison(key, Operator.AT_LEAST, low, column), Comparison(key, Operator.AT_MOST, high, column))
            term = And(pair)
        else:
            self._refuse_call(key, column - 1, "has(key), now() and today()")
            raise self._expected(f"one of = != < <= > >= ~ !~ in between after {key}")
        return Not(term) if is_not else term

    def _list(self) -> tuple[Literal, ...]:
        self._take("(", "'(' and values after 'in'")
        values = [self._value()]
        while self._skip(","):
            values.append(self._value())
        self._take(")", "',' or ')'")
        return tuple(values)

    def _pattern(self) -> str:
        token = self._take("text", "a regular expression in single quotes")
        pattern = _unquoted(token.text)
        try:
            regex.read(pattern)
        except regex.BadPattern as error:
            # A doubled quote before the place moves it by one.
            shift = pattern[: error.position].count("'")
            raise fault(self._text, token.position + 1 + error.position + shift, error.reason) from error
        return pattern

    # -- order and limit

    def _order(self) -> tuple[Order, ...]:
        if not self._skip("order"):
            return ()
        self._take("by", "'by' after 'order'")
        orders = [self._one_order()]
        while self._skip(","):
            orders.append(self._one_order())
        if len(orders) > MAX_ORDERS:
            raise fault(self._text, orders[MAX_ORDERS].column - 1, f"more than {MAX_ORDERS} keys to order by")
        return tuple(orders)

    def _one_order(self) -> Order:
        column = self._token.position + 1
        key = self._key("a key to order by")
        descending = self._skip("desc")
        if not descending:
            self._skip("asc")
        return Order(key, descending, column)

    def _limit(self) -> int | None:
        if not self._skip("limit"):
            return None
        token = self._take("number", "a number after 'limit'")
        if not token.text.isdigit() or not 1 <= int(token.text) <= MAX_LIMIT:
            raise fault(self._text, token.position, f"a limit is a whole number from 1 to {MAX_LIMIT:,}")
        return int(token.text)

    # -- values

    def _value(self, what: str = "a value") -> Literal:
        self._values += 1
        token = self._token
        if self._values > MAX_VALUES:
            raise fault(self._text, token.position, f"more than {MAX_VALUES} values in one query")
        if token.kind == "quoted":
            raise fault(self._text, token.position, f"a text is written in single quotes: '{token.text}'")
        if token.kind == "word":
            return self._moment(token, what)
        value = literal_of(token, self._now)
        if value is None and token.kind in ("+", "-"):
            return self._signed()
        if value is None:
            raise self._expected(what)
        self._next += 1
        return self._sound(value, token)

    def _signed(self) -> float:
        sign = self._take(self._token.kind)
        token = self._take("number", f"a number after '{sign.kind}'")
        value = self._sound(float(token.text), token)
        assert isinstance(value, float)
        return -value if sign.kind == "-" else value

    def _sound(self, value: Literal, token: Token) -> Literal:
        if isinstance(value, float) and not math.isfinite(value):
            raise fault(self._text, token.position, "the number is too large")
        return value

    def _moment(self, token: Token, what: str) -> datetime:
        moment = {"now": self._now, "today": self._now.replace(hour=0, minute=0, second=0, microsecond=0)}
        name = token.text.lower()
        if name not in moment:
            self._next += 1
            self._refuse_call(token.text, token.position, "now() and today()")
            known = f"{what}; a text stands in single quotes: '{token.text}'"
            raise fault(self._text, token.position, f"expected {known}")
        self._next += 1
        self._take("(", f"'()' after '{name}'")
        self._take(")", f"'()' after '{name}'")
        sign = self._token.kind
        if sign not in ("+", "-"):
            return moment[name].astimezone(UTC)
        self._next += 1
        size = self._take("duration", "a duration like 7d, 2h, 30min or 1mo")
        try:
            return _shifted(moment[name], size.text, -1 if sign == "-" else 1)
        except (OverflowError, ValueError) as error:
            raise fault(self._text, size.position, "that is before or after all time") from error

    def _key(self, what: str = "a key") -> str:
        token = self._token
        self._refuse_word(_ENDS_OF_KEYS)
        if token.kind not in ("word", "quoted"):
            raise self._expected(what)
        if not _KEY.match(token.text):
            raise fault(self._text, token.position, "a key has at most 128 letters, digits, '_', '.' and '-'")
        self._next += 1
        return token.text

    # -- words

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _skip(self, kind: str) -> bool:
        found = self._token.kind == kind
        self._next += found
        return found

    def _take(self, kind: str, what: str = "") -> Token:
        token = self._token
        if token.kind != kind:
            raise self._expected(what or f"'{kind}'")
        self._next += 1
        return token

    def _refuse_word(self, ends: Sequence[str]) -> None:
        """Say how a word of the language is meant as a key, when what follows shows that it is."""
        token = self._token
        if token.kind in KEYWORDS and self._tokens[self._next + 1].kind in ends:
            reason = f'{token.text} is a word of the language; as a key it stands in double quotes: "{token.text}"'
            raise fault(self._text, token.position, reason)

    def _refuse_call(self, name: str, position: int, known: str) -> None:
        if self._token.kind == "(":
            raise fault(self._text, position, f"there is no function {name[:40]}; there are {known}")

    def _expected(self, what: str) -> BadQuery:
        token = self._token
        found = _NAMES.get(token.kind) if token.kind == "end" else f"'{token.text[:40]}'"
        return fault(self._text, token.position, f"expected {what}, found {found}")


def literal_of(token: Token, now: datetime) -> Literal | None:
    """Return the value that a single word stands for, None if it is none. Times without a zone are in that of `now`."""
    match token.kind:
        case "text":
            return _unquoted(token.text)
        case "number":
            return float(token.text)
        case "true" | "false":
            return token.kind == "true"
        case "time":
            return read_time(token.text, now)
    return None


def read_time(text: str, now: datetime) -> datetime | None:
    """Read an ISO date or time; one without a zone is in that of `now`. None if it is none."""
    try:
        moment = datetime.fromisoformat(text.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'")


def _shifted(moment: datetime, duration: str, sign: int) -> datetime:
    """Return a time so much later. Months and years are those of the calendar: 31 March less a month is 28 February."""
    unit = duration.lstrip("0123456789.")
    size = sign * float(duration.removesuffix(unit))
    if unit not in _MONTHS:
        return moment.astimezone(UTC) + timedelta(seconds=size * _UNITS[unit])
    year, month = divmod(moment.year * 12 + moment.month - 1 + math.floor(size * _MONTHS[unit]), 12)
    day = min(moment.day, monthrange(year, month + 1)[1])
    return moment.replace(year=year, month=month + 1, day=day).astimezone(UTC)
