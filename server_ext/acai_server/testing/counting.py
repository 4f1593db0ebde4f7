"""What counting owes: what a plain evaluation counts, and a page from any place on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.metadata import CountThings, FindThings, Order, ThingChange, Time
from acai_jupyter.contract.query.binding import bind
from acai_jupyter.contract.query.builtin import TAGS, SubjectKind
from acai_jupyter.contract.query.parser import parse
from acai_server.testing import libraries, queries
from acai_server.testing.libraries import Library, library
from acai_server.testing.queries import KEYS, LIST, NOON
from acai_server.testing.searches import OF_JOBS, SHARED, WAYS

if TYPE_CHECKING:
    from random import Random

    from acai_jupyter.contract.metadata import Facet
    from acai_jupyter.contract.query.tree import Query
    from acai_server.db.database import Database
    from acai_server.testing.queries import Thing

FACETS = ["state", "creator", "name", "model", "mixed", TAGS]


class CountingSuite:
    """Derive from this with a fixture `database` that gives an empty one with all tables."""

    @pytest.fixture
    def database(self) -> Database:
        raise NotImplementedError

    @pytest.fixture
    def made(self, database: Database) -> Library:
        return library(database)

    def test_every_query_is_counted_and_entered_at_any_place(self, made: Library) -> None:
        things = libraries.jobs(made)
        keys = [*OF_JOBS, *(key for key in KEYS if key.name in ("accuracy", "model", "mixed")), LIST]

        @SHARED
        @given(queries.queries(keys), st.randoms(use_true_random=False), st.integers(0, 70), st.sampled_from(WAYS))
        def check(query: Query, chance: Random, skip: int, few: int) -> None:
            text = queries.written(query, chance)
            bound = bind(parse(text, NOON), SubjectKind.JOB, NOON, text)
            wanted = [thing["thing"] for thing in queries.answer(query, things)]
            with made.database.reading() as work:
                rows, _ = work.search.find(made.project, SubjectKind.JOB, bound, skip, 70, few=few)
                names = work.subjects.names(SubjectKind.JOB, rows)
                counted = work.facets.count(made.project, SubjectKind.JOB, bound, FACETS, 1000)
            left = None if query.limit is None else max(0, query.limit - skip)
            assert [names[row] for row in rows][:left] == wanted[skip:]
            assert counted.count == len(wanted)
            matching = queries.answer(msgspec.structs.replace(query, limit=None), things)
            assert {facet.key: _told(facet) for facet in counted.facets} == {
                key: _plain(matching, key) for key in FACETS
            }

        check()

    def test_what_is_asked_for_replaces_the_order_of_a_query_and_pages_go_on_in_it(self, made: Library) -> None:
        jobs = [str(made.submit()) for _ in range(7)]
        made.change_all(*(ThingChange(job, set={"loss": float(at % 3)}) for at, job in enumerate(jobs)))
        wanted = made.things("job", "order by loss desc, number")
        order = [Order("loss", descending=True), Order("number")]
        asked = FindThings(SubjectKind.JOB, "order by number", limit=3, order=order)
        first = made.service.find(made.project, asked)
        second = made.service.find(made.project, msgspec.structs.replace(asked, after=first.next or ""))
        assert [row.thing for row in (*first.rows, *second.rows)] == wanted[:6]
        middle = made.service.find(made.project, msgspec.structs.replace(asked, skip=2))
        assert [row.thing for row in middle.rows] == wanted[2:5]
        behind = made.service.find(made.project, msgspec.structs.replace(asked, after=middle.next or ""))
        assert [row.thing for row in behind.rows] == wanted[5:]
        with pytest.raises(BadRequest):
            made.service.find(made.project, msgspec.structs.replace(asked, after=first.next or "", skip=1))
        with pytest.raises(BadRequest):  # it begins in another order
            made.service.find(made.project, msgspec.structs.replace(asked, after=first.next or "", order=[]))

    def test_a_limit_in_the_query_holds_however_far_one_enters(self, made: Library) -> None:
        jobs = [str(made.submit()) for _ in range(5)]
        asked = FindThings(SubjectKind.JOB, "order by number limit 3", skip=2)
        assert [row.thing for row in made.service.find(made.project, asked).rows] == jobs[2:3]
        assert made.service.find(made.project, msgspec.structs.replace(asked, skip=3)).rows == []
        counted = made.service.count(made.project, CountThings(SubjectKind.JOB, "limit 3"))
        assert counted.count == 3

    def test_what_cannot_be_counted_is_said(self, made: Library) -> None:
        made.submit()
        with pytest.raises(BadRequest, match="file sets"):
            made.service.count(made.project, CountThings(SubjectKind.JOB, "", ["input"]))
        assert made.service.count(made.project, CountThings(SubjectKind.JOB, "", ["nobody.s"])).facets[0].values == []


def _told(facet: Facet) -> dict[tuple[type, Any], int]:
    return {_typed(one.value): one.count for one in facet.values}


def _plain(things: list[Thing], key: str) -> dict[tuple[type, Any], int]:
    held = [thing.get(key) for thing in things]
    values = [one for value in held for one in (value if isinstance(value, list) else [value])]
    return dict(Counter(_typed(one) for one in values if one is not None))


def _typed(value: Any) -> tuple[type, Any]:
    """A value with its type: to Python, 1 and true are one."""
    value = value.time if isinstance(value, Time) else value
    return (float, float(value)) if type(value) is int else (type(value), value)
