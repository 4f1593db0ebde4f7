"""What is drawn of a graph, and the forms of a drawing that need no script."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acai_jupyter.contract.drawings import MAX_DRAWN, Drawing, DrawnNode, ShapeKind
from acai_jupyter.contract.filesets import FileSet
from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.provenance import Action, ActionInput, ActionJob, Graph, Node
from acai_jupyter.contract.states import ActionKind, InputRole, JobState
from acai_server.provenance import looks, svg, words
from acai_server.provenance.drawing import SIBLINGS, Wishes, draw

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SVG = "{http://www.w3.org/2000/svg}"


def node(ref: str, *, more: tuple[int, int] = (0, 0), **fields: Any) -> Node:
    name, _, version = ref.rpartition(":")
    found = FileSet(name, int(version), 3, 2048, NOW, "ada", **fields)
    return Node(found, more_back=more[0], more_forward=more[1])


def action(number: int, kind: ActionKind, inputs: list[str], outputs: list[str], **fields: Any) -> Action:
    used = [ActionInput(ref, InputRole.DATA) for ref in inputs]
    return Action(str(number), kind, NOW, "ada", [*used, *fields.pop("others", [])], outputs, **fields)


def job(number: int, inputs: list[str], outputs: list[str], *, group: str = "", **fields: Any) -> Action:
    given = {"name": "", "state": JobState.FINISHED, "reason": ""} | fields.pop("given", {})
    found = ActionJob(JobNumber(number), command="x", template="t", parameters={}, group=group or str(number), **given)
    return action(number, ActionKind.JOB, inputs, outputs, job=found, **fields)


def drawn(graph: Graph, **wishes: Any) -> Drawing:
    return draw(graph, Wishes(**wishes), "A title")


def found(drawing: Drawing, name: str) -> DrawnNode:
    return next(one for one in drawing.nodes if one.id == name)


def sweep(count: int) -> Graph:
    members = [job(number, ["data:1"], [f"model:{number}"], group="s") for number in range(1, count + 1)]
    nodes = [node("data:1"), *(node(f"model:{number}") for number in range(1, count + 1))]
    return Graph("data:1", nodes, members)


def test_a_set_a_job_an_upload_and_a_creation_are_told_apart_by_shape_and_word() -> None:
    actions = [
        action(1, ActionKind.UPLOAD, [], ["raw:1"]),
        action(2, ActionKind.CREATION, ["raw:1"], ["data:1"]),
        job(3, ["data:1"], ["model:1"]),
    ]
    drawing = drawn(Graph("data:1", [node("raw:1"), node("data:1"), node("model:1")], actions))
    kinds = {one.kind: (one.label, one.words.split(" · ")[0]) for one in drawing.nodes}
    assert kinds == {
        ShapeKind.FILE_SET: ("model:1", "file set"),
        ShapeKind.UPLOAD: ("upload", "by ada"),
        ShapeKind.CREATION: ("creation", "by ada"),
        ShapeKind.JOB: ("job 3", "finished"),
    }
    shapes = {look.name: look.shape for look in looks.LOOKS if look.shape}
    assert len(set(shapes.values())) == len(shapes) == len(ShapeKind)
    assert {(edge.source, edge.target) for edge in drawing.edges} == {
        ("action:1", "raw:1"),
        ("raw:1", "action:2"),
        ("action:2", "data:1"),
        ("data:1", "action:3"),
        ("action:3", "model:1"),
    }


def test_code_is_no_node() -> None:
    code = ActionInput("job-code:1", InputRole.CODE)
    drawing = drawn(Graph("a:1", [node("a:1")], [job(1, ["a:1"], [], others=[code])]))
    assert {one.id for one in drawing.nodes} == {"a:1", "action:1"}


def test_a_job_without_input_has_a_source_mark() -> None:
    drawing = drawn(Graph("noise:1", [node("noise:1")], [job(1, [], ["noise:1"])]))
    assert found(drawing, "source:1").kind is ShapeKind.SOURCE
    assert found(drawing, "source:1").x < found(drawing, "action:1").x


def test_a_failed_job_is_dashed_with_what_it_kept_and_says_why() -> None:
    failed = job(1, ["a:1"], ["part:1"], partial=["part:1"], given={"state": JobState.FAILED, "reason": "exit 1"})
    drawing = drawn(Graph("a:1", [node("a:1"), node("part:1")], [failed]))
    assert "failed" in found(drawing, "action:1").classes
    assert found(drawing, "action:1").words.startswith("failed")
    assert "failed: exit 1" in found(drawing, "action:1").about
    dashed = [edge.target for edge in drawing.edges if looks.PARTIAL in edge.classes]
    assert dashed == ["part:1"]


def test_a_deleted_set_is_a_tombstone() -> None:
    drawing = drawn(Graph("a:1", [node("a:1", deleted_at=NOW)], []))
    assert looks.DELETED in drawing.nodes[0].classes
    assert drawing.nodes[0].words == "file set · deleted"


def test_siblings_of_a_sweep_are_one_until_they_are_opened() -> None:
    drawing = drawn(sweep(40))
    assert found(drawing, "group:s").label == "37 more jobs"
    assert len([one for one in drawing.nodes if one.kind is ShapeKind.JOB]) == SIBLINGS
    opened = drawn(sweep(40), opened={"group:s"})
    assert len([one for one in opened.nodes if one.kind is ShapeKind.JOB]) == 40


def test_of_a_sweep_what_is_looked_at_is_not_hidden() -> None:
    assert {"model:5", "action:5"} <= {one.id for one in drawn(sweep(40), held={"model:5"}).nodes}
    followed = Graph("data:1", sweep(40).nodes, [*sweep(40).actions, job(99, ["model:7"], [])])
    assert {"model:7", "action:7", "action:99"} <= {one.id for one in drawn(followed).nodes}


def test_four_siblings_are_drawn_each_as_one_more_says_nothing() -> None:
    assert not [one for one in drawn(sweep(SIBLINGS + 1)).nodes if one.kind is ShapeKind.GROUP]


def test_a_query_fades_what_it_is_not_true_of_and_takes_what_matches_out_of_the_sweep() -> None:
    drawing = drawn(sweep(40), matching={"model:9", "9"})
    assert found(drawing, "group:s").count == 39
    bright = {one.id for one in drawing.nodes if looks.FADED not in one.classes}
    assert bright == {"model:9", "action:9"}


def test_never_more_than_so_many_nodes_are_drawn() -> None:
    drawing = drawn(sweep(MAX_DRAWN), opened={"group:s"})
    assert len(drawing.nodes) <= MAX_DRAWN
    assert drawing.is_cut
    assert not drawn(sweep(40)).is_cut


def test_a_drawing_keeps_the_places_of_the_one_before() -> None:
    before = drawn(sweep(40))
    places = {one.id: (one.x, one.y) for one in before.nodes}
    after = drawn(sweep(40), opened={"group:s"}, places=places)
    kept = {one.id: (one.x, one.y) for one in after.nodes if one.id in places}
    assert len(kept) == len(places) - 1
    assert all(kept[one] == pytest.approx(places[one], abs=0.2) for one in kept)


def test_what_is_not_drawn_is_counted_on_its_node() -> None:
    drawing = drawn(Graph("a:1", [node("a:1", more=(1, 1200))], []))
    assert (drawing.nodes[0].back, drawing.nodes[0].forward) == (1, 1200)
    written = ET.fromstring(svg.write(drawing))
    more = [one for one in written.iter(f"{SVG}text") if one.get("class") == "acai-more"]
    assert [one.text for one in more] == ["+1", "+1,200"]
    assert all(float(one.get("y", "")) < drawing.nodes[0].y for one in more), "its own line goes through it"
    assert ".acai-graph .acai-more{color:" in svg.write(drawing)


@pytest.mark.parametrize("name", ["W" * 20, "m" * 40, "i" * 80, "模" * 15, "experiment-of-tuesday-2026"])
def test_a_name_stays_within_its_shape_and_keeps_its_number(name: str) -> None:
    label = drawn(Graph(f"{name}:12", [node(f"{name}:12")], [])).nodes[0].label
    assert label.endswith(":12")
    assert words.width(label) * words.LABEL_SIZE < looks.SIZES[ShapeKind.FILE_SET][0]


def test_what_is_usual_is_not_cut() -> None:
    long = job(31, [], ["digits-scaled:3"], given={"billed_seconds": 750.0})
    drawing = drawn(Graph("digits-scaled:3", [node("digits-scaled:3")], [long]))
    assert found(drawing, "digits-scaled:3").label == "digits-scaled:3"
    assert found(drawing, "action:31").words == "finished · 12 min 30 s"


def test_a_job_whose_name_is_cut_has_the_whole_of_it_beside() -> None:
    long = job(1, [], ["a:1"], given={"name": "an experiment of tuesday"})
    one = found(drawn(Graph("a:1", [node("a:1")], [long])), "action:1")
    assert "…" in one.label
    assert one.name == "job 1 · an experiment of tuesday"
    assert not found(drawn(Graph("a:1", [node("a:1")], [job(1, [], ["a:1"])])), "action:1").name


# -- as SVG


def test_the_svg_says_in_words_what_it_shows() -> None:
    written = ET.fromstring(svg.write(drawn(Graph("m:1", [node("d:1"), node("m:1")], [job(3, ["d:1"], ["m:1"])]))))
    assert written.get("role") == "img"
    named = {one.get("id"): one.text for one in written if one.tag in (f"{SVG}title", f"{SVG}desc")}
    labelled = (written.get("aria-labelledby") or "").split()
    assert [named[one] for one in labelled] == ["A title", "job 3 (finished): from d:1 to m:1."]
    assert {one.text for one in written.iter(f"{SVG}text")} == {"d:1", "m:1", "job 3", "file set · 3 files", "finished"}


def test_the_svg_is_read_without_its_style() -> None:
    written = ET.fromstring(svg.write(drawn(Graph("m:1", [node("m:1")], []))))
    shape = next(one for one in written.iter() if one.get("class", "").startswith("acai-file-set"))
    assert shape.get("fill", "").startswith("#")
    assert shape.get("stroke", "").startswith("#")


def test_the_svg_follows_themes() -> None:
    style = svg.write(drawn(Graph("m:1", [node("m:1")], [])))
    assert "@media (prefers-color-scheme:dark)" in style
    assert '[data-jp-theme-light="false"]' in style
    assert "var(--acai-file-set-fill," in style


@settings(max_examples=40, deadline=None)
@given(st.text(min_size=1, max_size=40))
def test_no_name_becomes_markup(name: str) -> None:
    hostile = f"<script>x</script>{name}\"'&"
    plain = ET.fromstring(svg.write(drawn(Graph("a:1", [node("a:1")], [job(1, ["a:1"], [], given={"name": "x"})]))))
    written = svg.write(drawn(Graph("a:1", [node("a:1")], [job(1, ["a:1"], [], given={"name": hostile})])))
    assert [one.tag for one in ET.fromstring(written).iter()] == [one.tag for one in plain.iter()]
