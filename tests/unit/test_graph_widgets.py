"""A drawing in the terms of Cytoscape, and in forms without a script. No browser, no kernel."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from math import hypot

import pytest

from acai_jupyter.commands import graph_forms
from acai_jupyter.contract.drawings import Direction, Drawing, DrawnEdge, DrawnNode, Look, ShapeKind
from acai_jupyter.widgets import elements

HOSTILE = "<img src=x onerror=alert(1)>"


def node(name: str, kind: ShapeKind, x: float, *, about: str = "", back: int = 0, forward: int = 0) -> DrawnNode:
    thing = name if kind is ShapeKind.FILE_SET else name.removeprefix("action:")
    return DrawnNode(name, kind, name, "words", about, x, 0, 150, 42, [kind.value], thing, back, forward)


def drawing(svg: str | None = None, *, back: int = 0, forward: int = 0) -> Drawing:
    nodes = [
        node("data:1", ShapeKind.FILE_SET, 0, back=back, forward=forward),
        node("action:7", ShapeKind.JOB, 200, about=f"Job 7 {HOSTILE}."),
        node("model:1", ShapeKind.FILE_SET, 400),
    ]
    links = (("data:1", "action:7"), ("action:7", "model:1"))
    edges = [DrawnEdge(f"{a} → {b}", a, b, [(75, 0), (100, 0), (125, 0)], ["edge"], "action:7") for a, b in links]
    return Drawing("model:1", f"Provenance of {HOSTILE}", nodes, edges, -100, -50, 600, 100, [], svg=svg)


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags += [tag, *(name for name, _ in attrs)]

    def handle_data(self, data: str) -> None:
        self.words += data


def test_a_handle_stands_where_there_is_more_and_opens_that() -> None:
    found = elements.nodes(drawing(back=1, forward=1200))
    back, forward = elements.handle("data:1", Direction.BACK), elements.handle("data:1", Direction.FORWARD)
    assert found.keys() == {"data:1", "action:7", "model:1", back, forward}
    assert (found[back]["data"]["label"], found[forward]["data"]["label"]) == ("+", "+1,200")
    assert found[back]["position"]["x"] < -75 < 75 < found[forward]["position"]["x"]
    assert elements.opened_by(forward) == ("data:1", Direction.FORWARD)
    assert elements.opened_by("data:1") is None


def test_what_is_selected_looks_so_with_the_lines_of_an_action() -> None:
    assert "selected" in elements.nodes(drawing(), "action:7")["action:7"]["classes"]
    assert all("selected" in one["classes"] for one in elements.edges(drawing(), "action:7").values())
    assert not any("selected" in one["classes"] for one in elements.edges(drawing(), "model:1").values())


@pytest.mark.parametrize("end", [(300.0, 0.0), (300.0, 120.0), (300.0, -90.0)])
def test_bends_are_where_the_drawing_has_them(end: tuple[float, float]) -> None:
    start, points = (10.0, 20.0), [(60.0, 20.0), (60.0, 70.0), (200.0, -5.0)]
    weights, distances = elements.bends(points, start, end)
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = hypot(dx, dy)
    found = [
        (start[0] + weight * dx - distance * dy / length, start[1] + weight * dy + distance * dx / length)
        for weight, distance in zip(weights, distances, strict=True)
    ]
    assert found == [pytest.approx(point) for point in points]


def test_what_is_wide_of_a_line_is_not_wide_of_a_node() -> None:
    rules = elements.style([Look("failed", line="#b3261e", line_width=1.5, dashed=True)])
    of_node = next(one["style"] for one in rules if one["selector"] == "node.failed")
    of_edge = next(one["style"] for one in rules if one["selector"] == "edge.failed")
    assert "width" not in of_node
    assert of_node["border-width"] == of_edge["width"] == 1.5


def test_the_html_is_a_picture_and_a_table_that_says_the_same() -> None:
    written = Tags(graph_forms.html(drawing("<svg/>")))
    assert {"img", "alt", "table", "caption", "th", "scope"} <= set(written.tags)
    for word in ("data:1", "model:1", "action:7, words", "2 file sets and 1 job."):
        assert word in written.words
    assert re.search(r'src="data:image/svg\+xml;base64,[\w+/=]+"', graph_forms.html(drawing("<svg/>")))


def test_no_name_becomes_html() -> None:
    written = Tags(graph_forms.html(drawing()))
    assert "img" not in written.tags
    assert HOSTILE in written.words


def test_the_text_has_a_line_for_each_action() -> None:
    lines = graph_forms.text(drawing()).splitlines()
    assert lines[1:] == ["  data:1 → action:7, words → model:1"]
