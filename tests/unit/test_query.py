"""Queries are read as they are written, and what is wrong with one is said with its place."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.errors import BadQuery
from acai_jupyter.contract.query.binding import bind
from acai_jupyter.contract.query.builtin import BUILT_IN, WELL_KNOWN, SubjectKind, is_reserved
from acai_jupyter.contract.query.conditions import Condition, from_conditions
from acai_jupyter.contract.query.lexer import KEYWORDS
from acai_jupyter.contract.query.parser import parse
from acai_jupyter.contract.query.tree import (
    And,
    Comparison,
    Contains,
    Has,
    Matches,
    Not,
    OneOf,
    Operator,
    Or,
    Order,
    Query,
    Term,
    keys,
    leaves,
)
from acai_server.db.subjects import KINDS
from acai_server.testing import queries

if TYPE_CHECKING:
    from random import Random

NOW = datetime(2026, 11, 18, 1, 30, tzinfo=timezone(timedelta(hours=-5)))
MIDNIGHT = datetime(2026, 11, 18, 5, tzinfo=UTC)


def read(text: str) -> Query:
    return parse(text, NOW)


def one(text: str) -> Term:
    return read(text).where


def without_places(term: Term) -> Term:  # noqa: PLR0911 (one line for each kind)
    match term:
        case And(terms):
            return And(tuple(map(without_places, terms)))
        case Or(terms):
            return Or(tuple(map(without_places, terms)))
        case Not(inner):
            return Not(without_places(inner))
        case Comparison(key, operator, value):
            return Comparison(key, operator, value)
        case OneOf(key, values):
            return OneOf(key, values)
        case Matches(key, pattern):
            return Matches(key, pattern)
        case Contains(key, label):
            return Contains(key, label)
        case Has(key):
            return Has(key)


def test_the_example_of_the_design_is_read() -> None:
    text = "model = 'BERT' and precision > 0.5 and created_at > today() - 7d order by precision desc limit 10"
    assert read(text) == Query(
        And(
            (
                Comparison("model", Operator.EQUAL, "BERT", 1),
                Comparison("precision", Operator.GREATER, 0.5, 20),
                Comparison("created_at", Operator.GREATER, MIDNIGHT - timedelta(days=7), 40),
            )
        ),
        (Order("precision", descending=True, column=75),),
        10,
    )


ODD_KEYS = [queries.Key(name) for name in ("in", "x-1", "not", "has", "a.b-", "k" * 128)]


@given(queries.queries([*queries.KEYS, *ODD_KEYS, queries.LIST]), st.randoms(use_true_random=False))
def test_what_is_written_in_any_way_is_read_back(query: Query, chance: Random) -> None:
    found = read(queries.written(query, chance))
    assert without_places(found.where) == query.where
    assert [(order.key, order.descending) for order in found.order] == [(o.key, o.descending) for o in query.order]
    assert found.limit == query.limit


def test_and_binds_closer_than_or_and_not_closest() -> None:
    a, b, c = (Comparison(key, Operator.EQUAL, 1.0) for key in "abc")
    assert without_places(one("a = 1 or b = 1 and not c = 1")) == Or((a, And((b, Not(c)))))
    assert without_places(one("NOT (a == 1 OR b = 1) And c = 1")) == And((Not(Or((a, b))), c))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("now()", NOW),
        ("today()", MIDNIGHT),
        ("TODAY() - 7d", MIDNIGHT - timedelta(days=7)),
        ("now()-2h", NOW - timedelta(hours=2)),
        ("now() + 1.5w", NOW + timedelta(weeks=1.5)),
        ("now() - 30min", NOW - timedelta(minutes=30)),
        ("now() - 90m", NOW - timedelta(minutes=90)),
        ("now() - 10s", NOW - timedelta(seconds=10)),
        ("today() - 1mo", datetime(2026, 10, 18, 5, tzinfo=UTC)),
        ("today() - 11mo", datetime(2025, 12, 18, 5, tzinfo=UTC)),
        ("now() + 2mo", datetime(2027, 1, 18, 6, 30, tzinfo=UTC)),
        ("today() - 1y", datetime(2025, 11, 18, 5, tzinfo=UTC)),
        ("2026-11-18", MIDNIGHT),
        ("2026-11-18T06:00:00Z", MIDNIGHT + timedelta(hours=1)),
        ("2026-11-18T06:00+01:00", MIDNIGHT),
        ("2026-11-18T00:00:00.5", MIDNIGHT + timedelta(seconds=0.5)),
    ],
)
def test_times(text: str, moment: datetime) -> None:
    term = one(f"created_at > {text}")
    assert isinstance(term, Comparison)
    assert term.value == moment


@pytest.mark.parametrize(
    ("day", "text", "wanted"),
    [("2026-03-31", "1mo", "2026-02-28"), ("2024-02-29", "1y", "2023-02-28"), ("2024-03-31", "1mo", "2024-02-29")],
)
def test_a_month_without_the_day_ends_with_its_last(day: str, text: str, wanted: str) -> None:
    found = parse(f"a = today() - {text}", datetime.fromisoformat(f"{day}T10:00:00+00:00")).where
    assert found == Comparison("a", Operator.EQUAL, datetime.fromisoformat(f"{wanted}T00:00:00+00:00"))


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("a between 1 and 2 and b = 1", 3),
        ("a not between 1 and 2", 2),
        ("a in (1, 'x', true)", 1),
        ("a not in (1)", 1),
        ("'x' in tags and 'y' not in tags", 2),
        ("a !~ 'x' and a <> 1", 2),
        ("has(a) and not has(b)", 2),
        ("", 0),
        ("order by a", 0),
        ("limit 3", 0),
    ],
)
def test_every_form_is_read(text: str, term: int) -> None:
    assert len(leaves(one(text))) == term


@pytest.mark.parametrize(
    ("text", "column", "reason"),
    [
        ("accuracy > and x", 12, "expected a value after '>', found 'and'"),
        ("accuracy >", 11, "expected a value after '>', found the end"),
        ("accuracy", 9, "expected one of = != < <= > >= ~ !~ in between after accuracy, found the end"),
        ('model = "BERT"', 9, "a text is written in single quotes: 'BERT'"),
        ("model = BERT", 9, "expected a value after '='; a text stands in single quotes: 'BERT'"),
        ("model = 'BERT", 9, "the text that begins here does not end"),
        ('"model = 1', 1, "the name that begins here does not end"),
        ("(a = 1", 7, "expected ')', found the end"),
        ("a = 1)", 6, "expected 'and', 'or', 'order by', 'limit' or the end, found ')'"),
        ("a = 1 b = 2", 7, "expected 'and', 'or'"),
        ("a in 1", 6, "expected '(' and values after 'in'"),
        ("a in ()", 7, "expected a value, found ')'"),
        ("'x' = tags", 5, "expected 'in' and the key of a list"),
        ("a ~ 5", 5, "expected a regular expression in single quotes, found '5'"),
        ("a ~ 'it''s ('", 12, "this '(' is not closed"),
        ("a = now() - 5", 13, "expected a duration like 7d, 2h, 30min or 1mo, found '5'"),
        ("a = now() - 99999999w", 13, "before or after all time"),
        ("a = 1 limit 0", 13, "a limit is a whole number from 1 to 1,000,000"),
        ("a = 1 limit 1.5", 13, "a limit is a whole number"),
        ("a = 1 limit", 12, "expected a number after 'limit'"),
        ("order a", 7, "expected 'by' after 'order'"),
        ("order by a, b, c, d", 19, "more than 3 keys to order by"),
        ("a = 12abc", 5, "this is no number"),
        ("a = 1e999", 5, "the number is too large"),
        ("a = 'x\0'", 7, "a text has neither NUL characters nor surrogates"),
        ("'\0' in tags", 2, "a text has neither NUL characters"),
        ("a ~ '\ud800'", 6, "a text has neither NUL characters nor surrogates"),
        ("a = nan", 5, "expected a value after '='"),
        ("and = 1", 1, 'and is a word of the language; as a key it stands in double quotes: "and"'),
        ("a = 1 and In > 2", 11, 'as a key it stands in double quotes: "In"'),
        ("has(limit)", 5, 'as a key it stands in double quotes: "limit"'),
        ("order by desc", 10, 'as a key it stands in double quotes: "desc"'),
        ("has = 1", 1, 'as a key it stands in double quotes: "has"'),
        ("limit = 1", 1, 'as a key it stands in double quotes: "limit"'),
        ("a = 1 or order < 2", 10, 'as a key it stands in double quotes: "order"'),
        ("lower(a) = 'x'", 1, "there is no function lower; there are has(key), now() and today()"),
        ("a > yesterday()", 5, "there is no function yesterday; there are now() and today()"),
        ("a = now() - 1.5mo", 13, "this is no number, date or duration"),
        ("a = today() - 9999y", 15, "before or after all time"),
        (f"a = now() + {'9' * 400}mo", 13, "before or after all time"),
        ("a in (1, 2", 11, "expected ',' or ')', found the end"),
        ("a between 1 or 2", 13, "expected 'and' between the two values"),
        ("a = 1; drop table job", 6, "';' means nothing here"),
        ("é = 1", 1, "means nothing here"),
        ("has a", 5, "expected '(' after 'has'"),
        (f"{'k' * 129} = 1", 1, "a key has at most 128"),
        ('"a b" = 1', 1, "a key has at most 128 letters, digits"),
        ("not", 4, "expected a key, 'not', 'has' or '(', found the end"),
        ("a = - 'x'", 7, "expected a number after '-'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text: str, column: int, reason: str) -> None:
    with pytest.raises(BadQuery) as refused:
        read(text)
    assert refused.value.details["column"] == column
    assert reason in refused.value.message
    *_, shown, pointer = refused.value.message.splitlines()
    assert pointer[:-1].isspace()
    assert pointer.endswith("^")
    assert len(pointer) <= len(shown) + 1


def test_the_pointer_stands_below_the_place_in_a_long_query() -> None:
    with pytest.raises(BadQuery) as refused:
        read("a = 1 and " * 50 + "b = ? and " + "c = 1 and " * 50 + "d = 1")
    *_, shown, pointer = refused.value.message.splitlines()
    assert shown[len(pointer) - 1] == "?"
    assert len(shown) < 70


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000_000,
        "(" * 5000,
        "not " * 2000 + "a = 1",
        " and ".join(["a = 1"] * 201),
        f"a in ({', '.join(['1'] * 501)})",
        "'" * 9999,
        "a = '" + "''" * 4990,
    ],
)
@pytest.mark.timeout(20)
def test_what_is_too_much_is_refused(text: str) -> None:
    with pytest.raises(BadQuery):
        read(text)


@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from([*sorted(KEYWORDS), "a", "'x'", "1", "(", ")", "=", "~", ",", "-", "now", "2026-11-01", "7d"])
    ).map(" ".join)
)
def test_whatever_is_written_is_read_or_refused_with_a_place_in_it(text: str) -> None:
    column = 1
    try:
        read(text)
    except BadQuery as error:
        column = error.details["column"]
    assert 1 <= column <= len(text) + 1


def test_keys_are_told_once_in_the_order_of_the_text() -> None:
    assert keys(read("b = 1 and (a > 1 or not has(b)) order by c, a")) == ["b", "a", "c"]


# -- built-in keys


def test_every_built_in_key_is_known_to_the_database_and_none_is_well_known() -> None:
    assert {kind: list(names) for kind, names in BUILT_IN.items()} == {k: list(v.keys) for k, v in KINDS.items()}
    assert not any(is_reserved(key) for key in WELL_KNOWN)
    assert all(is_reserved(key) for names in BUILT_IN.values() for key in names)


def test_a_text_is_read_as_a_time_where_a_time_is_meant() -> None:
    bound = bind(read("created_at > '2026-11-18' and released > '2026-11-18'"), SubjectKind.JOB, NOW)
    assert [leaf.value for leaf in leaves(bound.where) if isinstance(leaf, Comparison)] == [MIDNIGHT, "2026-11-18"]


def test_a_key_of_one_kind_has_no_type_on_another() -> None:
    with pytest.raises(BadQuery, match="is a number"):
        bind(read("vcpu = 'x'"), SubjectKind.JOB, NOW)
    bind(read("vcpu = 'x'"), SubjectKind.FILE_SET, NOW)


# -- the original's conditions


def test_conditions_become_the_query_that_says_the_same() -> None:
    conditions = [
        Condition("model", value="BERT"),
        Condition("precision", range=[0.5, None]),
        Condition("recall", range=[0.1, 0.9], best="min"),
        Condition("note", regex="^a"),
    ]
    text = (
        "model = 'BERT' and precision >= 0.5 and recall >= 0.1 and recall <= 0.9 and note ~ '^a' "
        "order by recall limit 1"
    )
    found, wanted = from_conditions(conditions), read(text)
    assert without_places(found.where) == without_places(wanted.where)
    assert ([order.key for order in found.order], found.limit) == (["recall"], 1)
    assert from_conditions([]) == read("")


@pytest.mark.parametrize(
    "conditions",
    [
        [Condition("a")],
        [Condition("a", best="max"), Condition("b", best="min")],
        [Condition("a", regex="(")],
        [Condition("a", value=1)] * 201,
        [Condition("a", value="\0")],
        [Condition("a", range=["\ud800", None])],
        [Condition("a", regex="\0")],
    ],
)
def test_conditions_that_say_nothing_or_too_much_are_refused(conditions: list[Condition]) -> None:
    with pytest.raises(BadQuery):
        from_conditions(conditions)
