"""Drawings of what real jobs made, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets
import pytest

from acai_jupyter.client.connection import Connection
from acai_jupyter.client.follow import wait
from acai_jupyter.client.http import Client
from acai_jupyter.commands import graphs
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.drawings import Direction, ShapeKind
from acai_jupyter.contract.errors import BadQuery, BadRequest
from acai_jupyter.contract.filesets import CreateFileSet
from acai_jupyter.contract.states import JobState
from acai_jupyter.widgets.elements import handle
from acai_jupyter.widgets.explorer import Explorer
from acai_jupyter.widgets.graph import GraphWidget
from acai_jupyter.widgets.provenance import WIDGET, DrawnGraph, GraphView, opened

if TYPE_CHECKING:
    from acai_jupyter.commands.graphs import Graph
    from tests.integration.places import Server

DRAWINGS = "/v1/projects/default/drawings"
ON_A_PAGE = 20
PROGRAM = """
import acai_jupyter, os
acai_jupyter.tag("score", float(os.environ["ACAI_PARAM_RATE"]))
open("output/model", "w").write(os.environ["ACAI_PARAM_RATE"])
"""


def do(server: Server, *words: str) -> None:
    done = server.place.acai(*words)
    assert done.returncode == 0, (done.stdout, done.stderr)


def put(server: Server, name: str, text: str, *options: str) -> None:
    server.place.write(f"{name}/a.txt", text)
    do(server, "put", name, f"/{name}", "--as", name, *options)


@pytest.fixture(scope="module")
def history(server: Server) -> Server:
    """raw:1 → creation → data:1 → six jobs of a sweep → model:1 … model:6 → job 7 → report:1, and a failed job 8."""
    put(server, "raw", "1")
    do(server, "fileset", "create", "data", "@raw")
    server.place.write("train.py", PROGRAM)
    client = server.client()
    for number in range(1, 7):
        words = ("submit", "train.py", "--input", "data", "--output", "model", "-p", f"rate={number / 10}")
        do(server, *words)
        assert wait(client, number).state is JobState.FINISHED
    server.place.write("report.py", "open('output/r', 'w').write('r')")
    do(server, "submit", "report.py", "--input", "model:6", "--output", "report")
    server.place.write("broken.py", "raise SystemExit(3)")
    do(server, "submit", "broken.py", "--input", "model:6")
    assert [wait(client, one).state for one in (7, 8)] == [JobState.FINISHED, JobState.FAILED]
    return server


def draw(server: Server, focus: str, **fields: Any) -> dict[str, Any]:
    answer = server.ask("POST", DRAWINGS, {"focus": focus, **fields})
    assert answer.status == 200, answer.json
    found: dict[str, Any] = answer.json
    return found


def labels(drawing: dict[str, Any], *, bright: bool = False) -> set[str]:
    return {one["label"] for one in drawing["nodes"] if one["label"] and not (bright and "faded" in one["classes"])}


def test_one_step_around_a_set_is_drawn(history: Server) -> None:
    drawing = draw(history, "model:6")
    assert labels(drawing) == {"data:1", "job 6", "model:6", "job 7", "report:1", "job 8"}
    assert drawing["focus"] == "model:6"
    data = next(one for one in drawing["nodes"] if one["id"] == "data:1")
    assert data["back"] == 1
    assert data["forward"] == 5


def test_a_project_is_drawn_by_its_names_what_changed_last_on_top(history: Server) -> None:
    put(history, "alone", "2")
    drawing = draw(history, "", with_svg=True)
    assert labels(drawing) == {"raw:1", "data:1", "model:6", "report:1", "alone:1"}
    ways = {(one["source"], one["target"]) for one in drawing["edges"]}
    assert ways == {("raw:1", "data:1"), ("data:1", "model:6"), ("model:6", "report:1")}
    at = {one["id"]: (one["x"], one["y"]) for one in drawing["nodes"]}
    assert at["raw:1"][0] < at["data:1"][0] < at["model:6"][0] < at["report:1"][0]
    assert at["alone:1"][1] < min(y for name, (_, y) in at.items() if name != "alone:1")
    assert "Provenance of the project" in drawing["svg"]
    assert labels(draw(history, "", query="name = 'raw'"), bright=True) == {"raw:1"}
    assert drawing["next"] is None
    assert history.ask("POST", DRAWINGS, {"focus": "", "before": "raw:1"}).json["nodes"] == []


def test_from_the_project_a_set_is_made_the_centre_and_back_again(history: Server) -> None:
    explorer = Explorer(history.client(), "")
    explorer.click_edge("data:1 → model:6")
    assert explorer.selection is not None
    assert explorer.selection.node.thing == "model:6"
    explorer.centre("model:6")
    assert explorer.drawing.focus == "model:6"
    explorer.whole()
    assert explorer.drawing.focus == ""
    assert "raw:1" in {one.id for one in explorer.drawing.nodes}


def test_opened_step_by_step_it_reaches_the_raw_data_and_nothing_moves(history: Server) -> None:
    first = draw(history, "report:1")
    places = {one["id"]: [one["x"], one["y"]] for one in first["nodes"]}
    steps = [{"node": one, "direction": "back"} for one in ("model:6", "data:1", "raw:1")]
    drawing = draw(history, "report:1", steps=steps, places=places)
    assert labels(drawing) >= {"upload", "raw:1", "creation", "data:1", "job 6", "model:6", "job 7", "report:1"}
    assert {one["id"]: [one["x"], one["y"]] for one in drawing["nodes"] if one["id"] in places} == places


def test_a_sweep_is_one_node_until_it_is_opened(history: Server) -> None:
    drawing = draw(history, "data:1")
    groups = [one for one in drawing["nodes"] if one["kind"] == "group"]
    assert [one["label"] for one in groups] == ["3 more jobs"]
    opened = draw(history, "data:1", steps=[{"node": groups[0]["id"], "direction": "group"}])
    assert labels(opened) >= {f"job {number}" for number in range(1, 7)}


def test_around_a_job_are_what_it_used_and_made(history: Server) -> None:
    drawing = draw(history, "7")
    assert labels(drawing) == {"model:6", "job 7", "report:1"}
    assert next(one["label"] for one in drawing["nodes"] if one["id"] == drawing["focus"]) == "job 7"


def test_only_the_path_is_drawn_whichever_end_comes_first(history: Server) -> None:
    way = {"raw:1", "creation", "data:1", "job 6", "model:6", "job 7", "report:1"}
    assert labels(draw(history, "report:1", path_to="raw:1")) == way
    assert labels(draw(history, "raw:1", path_to="report:1")) == way
    answer = history.ask("POST", DRAWINGS, {"focus": "model:1", "path_to": "report:1"})
    assert (answer.status, answer.json["error"]["message"]) == (
        400,
        "Neither of model:1 and report:1 was made of the other.",
    )


def test_a_query_fades_the_rest_and_finds_what_stood_in_a_sweep(history: Server) -> None:
    assert labels(draw(history, "data:1", query="score = 0.1"), bright=True) == {"job 1", "model:1"}
    assert "job 8" in labels(draw(history, "model:6", query="state = 'failed'"), bright=True)
    answer = history.ask("POST", DRAWINGS, {"focus": "data:1", "query": "score = = 1"})
    assert (answer.status, answer.json["error"]["code"]) == (400, "bad_query")


def sets_drawn(around: Graph) -> set[str]:
    """The sets in what a notebook shows of a graph."""
    bundle = DrawnGraph.of(around)._repr_mimebundle_()
    return {
        one["thing"] for one in bundle["application/vnd.acai.provenance+json"]["nodes"] if one["kind"] == "file-set"
    }


def test_a_notebook_draws_as_many_steps_as_were_asked_for(history: Server) -> None:
    client = history.client()
    assert sets_drawn(graphs.around(client, "report:1")) == {"model:6", "report:1"}
    assert sets_drawn(graphs.around(client, "report:1", back=2)) == {"data:1", "model:6", "report:1"}
    assert sets_drawn(graphs.around(client, "report:1", back=9)) == {"raw:1", "data:1", "model:6", "report:1"}
    assert sets_drawn(graphs.around(client, 7, back=2)) == {"data:1", "model:6", "report:1"}
    assert "report:1" not in sets_drawn(graphs.around(client, "raw:1", forward=2))
    assert "report:1" in sets_drawn(graphs.around(client, "raw:1", forward=3))


@pytest.mark.parametrize("focus", ["report:1", "7", ""])
def test_an_output_has_the_graph_in_every_form(history: Server, focus: str) -> None:
    bundle = GraphView(history.client(), focus)._repr_mimebundle_()
    assert bundle["text/plain"].startswith("Provenance of")
    assert bundle["image/svg+xml"].startswith("<svg ")
    assert "<img " in bundle["text/html"]
    assert "<table>" in bundle["text/html"]
    assert all("model:6" in bundle[kind] for kind in ("text/plain", "text/html", "image/svg+xml"))
    kept = bundle["application/vnd.acai.provenance+json"]
    assert ("model:6" in {one["thing"] for one in kept["nodes"]}, kept["svg"]) == (True, None)
    assert bundle[WIDGET]["model_id"]


def test_what_changed_before_is_on_a_further_page(history: Server) -> None:
    do(history, "project", "create", "many")
    put(history, "first", "1", "--project", "many")
    client = Client(Connection(history.root, history.token, project="many"))
    for number in range(ON_A_PAGE):
        client.call(endpoints.CREATE_FILE_SET, CreateFileSet(f"further{number}", ["/first/"]))
    explorer = Explorer(client, "")
    assert len(drawn(explorer)) == ON_A_PAGE
    assert "first:1" not in drawn(explorer)
    widget = GraphWidget(explorer)
    press(widget, "Older")
    assert drawn(explorer) == {"first:1"}
    assert not is_offered(widget, "Older")
    press(widget, "Start again")
    assert len(drawn(explorer)) == ON_A_PAGE


def test_started_again_a_graph_is_as_far_open_as_at_first(history: Server) -> None:
    client = history.client()
    far = Explorer(client, "report:1", steps=opened(graphs.around(client, "report:1", back=2).answer))
    first = {one.id for one in far.drawing.nodes}
    assert "data:1" in first
    far.centre("data:1")
    far.whole()
    assert {one.id for one in far.drawing.nodes} == first


def test_what_is_not_there_is_told(history: Server) -> None:
    for focus in ("nothing:1", "9999"):
        assert history.ask("POST", DRAWINGS, {"focus": focus}).status == 404
    assert history.ask("POST", DRAWINGS, {"focus": "model:1", "path_to": "nothing"}).status == 404
    assert history.ask("POST", DRAWINGS, {"focus": "model:1", "unknown": 1}).status == 400


def test_the_svg_comes_when_it_is_asked_for(history: Server) -> None:
    assert draw(history, "model:6")["svg"] is None
    assert "job 7 (finished" in draw(history, "model:6", with_svg=True)["svg"]


def test_a_deleted_set_is_still_drawn(history: Server) -> None:
    put(history, "gone", "1")
    do(history, "fileset", "rm", "gone:1")
    drawing = draw(history, "gone:1")
    assert next(one for one in drawing["nodes"] if one["id"] == "gone:1")["words"] == "file set · deleted"


# -- what a person who looks at it does


@pytest.fixture
def explorer(history: Server) -> Explorer:
    return Explorer(history.client(), "report:1")


def drawn(explorer: Explorer) -> set[str]:
    return {one.label for one in explorer.drawing.nodes if one.label}


def named(explorer: Explorer, label: str) -> str:
    return next(one.id for one in explorer.drawing.nodes if one.label == label)


def test_a_person_follows_a_report_back_to_the_raw_data(explorer: Explorer) -> None:
    assert drawn(explorer) == {"model:6", "job 7", "report:1"}
    for one in ("model:6", "data:1", "raw:1"):
        explorer.open(one, Direction.BACK)
        assert one in explorer.looked_at
    assert drawn(explorer) >= {"upload", "raw:1", "creation", "data:1", "job 6", "model:6", "job 7", "report:1"}


def test_a_click_selects_and_two_make_the_centre(explorer: Explorer) -> None:
    explorer.click("model:6", 10.0)
    assert explorer.selection is not None
    assert explorer.selection.node.id == "model:6"
    assert dict(explorer.selection.facts)["score"] == "0.6"
    explorer.click("model:6", 12.0)
    assert explorer.drawing.focus == "report:1"
    explorer.click("model:6", 12.3)
    assert explorer.drawing.focus == "model:6"
    assert "job 8" in drawn(explorer)
    explorer.whole()
    assert explorer.drawing.focus == "report:1"


def test_a_click_on_a_line_selects_its_job_and_its_log_is_opened(explorer: Explorer) -> None:
    explorer.centre("model:6")
    explorer.click_edge(next(one.id for one in explorer.drawing.edges if one.action == named(explorer, "job 6")))
    assert explorer.selection is not None
    assert explorer.selection.node.thing == "6"
    assert dict(explorer.selection.facts)["params.rate"] == "0.6"
    explorer.open_log()
    assert explorer.selection.log is not None
    assert "score" in explorer.selection.log


def test_a_click_on_a_sweep_shows_its_jobs(explorer: Explorer) -> None:
    explorer.centre("model:6")
    explorer.open("data:1", Direction.FORWARD)
    explorer.click(next(one.id for one in explorer.drawing.nodes if one.kind is ShapeKind.GROUP), 1.0)
    assert drawn(explorer) >= {f"job {number}" for number in range(1, 7)}


def test_tags_are_edited_in_place(explorer: Explorer) -> None:
    explorer.select("report:1")
    explorer.set_tags(["good", "new"])
    explorer.tag(["stage=candidate"])
    assert explorer.selection is not None
    assert (explorer.selection.tags, dict(explorer.selection.facts)["stage"]) == (["good", "new"], "candidate")
    explorer.set_tags(["good"])
    assert explorer.selection.tags == ["good"]


def test_only_the_path_is_left_and_the_whole_comes_back(explorer: Explorer) -> None:
    explorer.path_to("raw:1")
    assert explorer.is_path
    assert drawn(explorer) == {"raw:1", "creation", "data:1", "job 6", "model:6", "job 7", "report:1"}
    explorer.whole()
    assert not explorer.is_path
    assert drawn(explorer) == {"model:6", "job 7", "report:1"}


def test_only_the_path_between_any_two_is_left(explorer: Explorer) -> None:
    explorer.open("model:6", Direction.BACK)
    explorer.open("data:1", Direction.BACK)
    explorer.select("raw:1")
    explorer.start_path()
    explorer.select("model:6")
    explorer.end_path()
    assert drawn(explorer) == {"raw:1", "creation", "data:1", "job 6", "model:6"}
    assert (explorer.start, explorer.drawing.focus) == ("", "raw:1")
    explorer.start_path()
    explorer.whole()
    assert explorer.start == ""


def test_what_fails_leaves_all_as_it_was(explorer: Explorer) -> None:
    before = explorer.drawing
    with pytest.raises(BadQuery):
        explorer.filter("score = = 1")
    with pytest.raises(BadRequest):
        explorer.path_to("model:1")
    assert (explorer.drawing, explorer.query, explorer.is_path) == (before, "", False)
    explorer.filter("score > 0.5")
    assert {one.label for one in explorer.drawing.nodes if "faded" not in one.classes} == {"model:6"}


def test_a_name_is_found_and_brought_into_sight(explorer: Explorer) -> None:
    assert [one.id for one in explorer.search("RE")] == ["report:1"]
    assert explorer.find("model")
    assert explorer.selection is not None
    assert (explorer.selection.node.id, explorer.looked_at) == ("model:6", ("model:6",))
    assert not explorer.find("nothing")


def test_whoever_shows_it_hears_of_each_change(explorer: Explorer) -> None:
    heard: list[int] = []
    explorer.on_change(lambda: heard.append(len(explorer.drawing.nodes)))
    explorer.select("report:1")
    explorer.open("model:6", Direction.BACK)
    assert heard == [3, 5]


# -- the widget, without a page


def click(widget: GraphWidget, **data: str) -> None:
    """What the page sends."""
    told = {"widget": "node", "event": "click", "data": {"data": data}}
    canvas_of(widget)._handle_interaction(None, told, None)


def canvas_of(widget: GraphWidget) -> Any:
    seen, _ = widget.box.children[2].children
    return seen.children[0]


def buttons_of(widget: GraphWidget) -> dict[str, ipywidgets.Button]:
    _, bar, middle, _, _ = widget.box.children
    rows = [*bar.children, *middle.children[1].children[1].children]
    return {one.description: one for one in rows if isinstance(one, ipywidgets.Button)}


def is_offered(widget: GraphWidget, words: str) -> bool:
    return buttons_of(widget)[words].layout.display is None


def press(widget: GraphWidget, words: str) -> None:
    """As a person can: what is not shown cannot be pressed."""
    assert is_offered(widget, words)
    buttons_of(widget)[words].click()


def test_a_click_on_the_canvas_shows_what_is_known(explorer: Explorer) -> None:
    widget = GraphWidget(explorer)
    click(widget, id="model:6")
    _, side = widget.box.children[2].children
    assert "<h4>model:6</h4>" in side.children[0].value
    assert "<dt>score</dt><dd>0.6</dd>" in side.children[-1].value


def test_what_is_opened_is_added_behind_and_what_goes_is_hidden(explorer: Explorer) -> None:
    widget = GraphWidget(explorer)
    graph = canvas_of(widget).graph
    before = list(graph.nodes)
    click(widget, id=handle("model:6", Direction.BACK))
    assert list(graph.nodes)[: len(before)] == before
    shown = {one.data["id"] for one in graph.nodes if one.classes != "hidden"}
    assert "data:1" in shown
    assert handle("model:6", Direction.BACK) not in shown


def test_no_error_vanishes(explorer: Explorer) -> None:
    widget = GraphWidget(explorer)
    _, bar, _, said, _ = widget.box.children
    bar.children[1].value = "score = = 1"
    assert 'role="alert"' in said.value
    assert "query is not understood" in said.value
    click(widget, nothing="of ours")
    assert "KeyError" in said.value


def test_what_clicks_do_buttons_do_too(explorer: Explorer) -> None:
    widget = GraphWidget(explorer)
    click(widget, id="model:6")
    press(widget, "← Back")
    assert "data:1" in drawn(explorer)
    press(widget, "Forward →")
    assert "job 8" in drawn(explorer)
    click(widget, id="data:1")
    press(widget, "Path to centre")
    assert drawn(explorer) == {"data:1", "job 6", "model:6", "job 7", "report:1"}
    press(widget, "Make centre")
    assert explorer.drawing.focus == "data:1"
    press(widget, "Start again")
    assert drawn(explorer) == {"model:6", "job 7", "report:1"}
    size = canvas_of(widget).cytoscape_layout["zoom"]
    press(widget, "\N{MINUS SIGN}")
    assert canvas_of(widget).cytoscape_layout["zoom"] < size


def test_what_is_typed_beside_the_graph_changes_what_is_selected(explorer: Explorer) -> None:
    widget = GraphWidget(explorer)
    click(widget, id="model:6")
    _, side = widget.box.children[2].children
    _, _, labels, attribute, facts = side.children
    labels.value = ["typed"]
    attribute.value = "stage=typed"
    assert "<dt>stage</dt><dd>typed</dd>" in facts.value
    kept = explorer._client.call(endpoints.GET_METADATA, query={"thing": "model:6"})
    assert (kept.tags, kept.attributes["stage"]) == (["typed"], "typed")
    labels.value = []
    attribute.value = "stage="
    kept = explorer._client.call(endpoints.GET_METADATA, query={"thing": "model:6"})
    assert (kept.tags, "stage" in kept.attributes) == ([], False)
