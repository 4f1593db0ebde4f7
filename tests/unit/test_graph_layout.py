"""Geometry of drawings: everything points to the right, nothing overlaps, and what grows keeps its places."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acai_server.provenance.layout import GAP, Box, lay_out

WIDE, HIGH = 176.0, 44.0


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Box], list[tuple[str, str]]]:
    """Acyclic graphs: links lead from smaller numbers to greater ones."""
    count = draw(st.integers(1, 25))
    boxes = [Box(str(number), WIDE, HIGH) for number in range(count)]
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda pair: pair[0] < pair[1])
    links = draw(st.lists(pairs, max_size=40)) if count > 1 else []
    return boxes, [(str(source), str(target)) for source, target in links]


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_every_link_leads_to_the_right_and_no_two_boxes_overlap(graph: tuple[list[Box], list[tuple[str, str]]]) -> None:
    boxes, links = graph
    laid = lay_out(boxes, links, "0", {})
    assert laid.places.keys() == {box.id for box in boxes}
    for source, target in links:
        assert laid.places[source][0] + WIDE < laid.places[target][0]
    for (x, y), (other_x, other_y) in combinations(laid.places.values(), 2):
        assert abs(x - other_x) >= WIDE - 0.01 or abs(y - other_y) >= HIGH + GAP - 0.01


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_a_line_runs_from_border_to_border(graph: tuple[list[Box], list[tuple[str, str]]]) -> None:
    boxes, links = graph
    laid = lay_out(boxes, links, "0", {})
    assert laid.routes.keys() == set(links)
    for (source, target), points in laid.routes.items():
        (x, y), (end_x, end_y) = laid.places[source], laid.places[target]
        assert points[0] == (x + WIDE / 2, y)
        assert points[-1] == (end_x - WIDE / 2, end_y)
        assert [x for x, _ in points] == sorted(x for x, _ in points)


@settings(max_examples=40, deadline=None)
@given(graphs(), st.floats(-1e4, 1e4), st.floats(-1e4, 1e4))
def test_the_anchor_stands_where_it_stood(graph: tuple[list[Box], list[tuple[str, str]]], x: float, y: float) -> None:
    boxes, links = graph
    assert lay_out(boxes, links, "0", {}).places["0"] == (0.0, 0.0)
    assert lay_out(boxes, links, "0", {"0": (x, y)}).places["0"] == pytest.approx((x, y))


@settings(max_examples=40, deadline=None)
@given(graphs())
def test_what_is_laid_out_again_stays(graph: tuple[list[Box], list[tuple[str, str]]]) -> None:
    boxes, links = graph
    first = lay_out(boxes, links, "0", {}).places
    again = lay_out(boxes, links, "0", first).places
    assert all(abs(again[one][0] - x) < 0.1 and abs(again[one][1] - y) < 0.1 for one, (x, y) in first.items())


def test_what_is_added_moves_nothing_that_was_there() -> None:
    links = [("digits", "job"), ("job", "model")]
    first = lay_out([Box(one, WIDE, HIGH) for one in ("model", "job", "digits")], links, "model", {}).places
    grown = [*links, ("upload", "digits"), ("model", "test"), ("test", "report"), ("digits", "other"), ("other", "set")]
    boxes = [Box(one, WIDE, HIGH) for one in dict.fromkeys(name for link in grown for name in link)]
    second = lay_out(boxes, grown, "model", first).places
    assert {one: second[one] for one in first} == {one: pytest.approx(place, abs=0.1) for one, place in first.items()}


def test_a_link_that_leads_back_is_left_out_and_nothing_hangs() -> None:
    boxes = [Box("a", WIDE, HIGH), Box("b", WIDE, HIGH)]
    laid = lay_out(boxes, [("a", "b"), ("b", "a")], "a", {})
    assert list(laid.routes) == [("a", "b")]


def test_lines_that_need_not_cross_do_not() -> None:
    links = [(f"a{number}", f"b{(number * 7) % 10}") for number in range(10)]
    boxes = [Box(one, WIDE, HIGH) for link in links for one in link]
    places = lay_out(boxes, links, "a0", {}).places
    below = sorted(links, key=lambda link: places[link[0]][1])
    ends = [places[target][1] for _, target in below]
    assert ends == sorted(ends)
