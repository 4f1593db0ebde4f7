"""The graph over HTTP, at a prompt, in a notebook and from Python, beside jobs that really ran."""

from __future__ import annotations

import getpass
import json
from typing import TYPE_CHECKING

import msgspec
import networkx as nx
import pytest

import acai_jupyter as acai
from acai_jupyter.client import lineages
from acai_jupyter.client.follow import wait
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import FileSetNotFound
from acai_jupyter.contract.lineage import LineageDirection
from tests.integration.faces import Notebook, Shell, ipython

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.faces import Face
    from tests.integration.places import Server

MAKE = "import pathlib, sys; pathlib.Path('output/made').write_text(' '.join(sys.argv[1:]))"
FAIL = "import pathlib; pathlib.Path('output/half').write_text('half'); raise SystemExit(3)"
PROJECT = "/v1/projects/default"


@pytest.fixture(scope="module")
def lived(server: Server) -> Server:
    """Raw data in two versions; each cleaned, the first trained on twice; and a job that failed."""
    shell, client = Shell(server.place), server.client()
    server.place.write("make.py", MAKE)
    server.place.write("fail.py", FAIL)

    def ran(line: str) -> None:
        wait(client, shell.data(f"submit {line}")["number"])

    for version in (1, 2):
        server.place.write("raw/a.txt", f"version {version}")
        shell.said("put raw /raw --as raw")
        ran(f"make.py --input raw:{version} --output clean -p n={version}")
    ran("make.py --input clean:1 --output model -p lr=0.1 -- one")
    ran("make.py --input clean:2 --output model -p lr=0.2 -- two")
    ran("fail.py --input clean:1 --keep-partial")
    shell.said("fileset create best @model:1 /raw/a.txt")
    return server


@pytest.fixture(params=["shell", "notebook"])
def face(
    request: pytest.FixtureRequest,
    lived: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Face]:
    if request.param == "shell":
        yield Shell(lived.place)
        return
    with ipython(lived.place, monkeypatch) as shell:
        yield Notebook(shell, capsys)


def words(line: str) -> str:
    """A line without its times and money, and whoever runs the tests is you."""
    kept = [word for word in line.split(" · ") if "$" not in word and not word[:4].isdigit()]
    return " · ".join("you" if word == getpass.getuser() else word for word in kept)


def test_a_tree_shows_what_a_set_was_made_of_and_what_was_made_of_it(face: Face) -> None:
    back = [words(line) for line in face.said("provenance model:1 --back --depth 3").splitlines()]
    assert back[0] == "model:1 · 1 file, 3 B"
    assert back[1] == "└─ job 3 · you · lr=0.1"
    assert back[2] == "   ├─ clean:1 · 1 file, 0 B"
    assert back[3] == "   │  ├─ job 1 · you · n=1" or back[3] == "   │  └─ job 1 · you · n=1"
    assert "raw:1 · 1 file, 9 B" in back[4]
    assert any(line.lstrip(" │└├─").startswith("code ") for line in back)
    around = [words(line).lstrip(" │└├─") for line in face.said("provenance clean:1").splitlines()]
    assert {"used by", "job 5 · failed, what it left is kept · you", "job-5-partial:1 · 1 file, 4 B"} <= set(around)
    of_job = [words(line) for line in face.said("provenance 3").splitlines()]
    assert of_job[0] == "job 3 · you · lr=0.1"
    assert of_job[-3:] == ["made", "└─ model:1 · 1 file, 3 B", "   └─ 1 more"]


def test_the_project_shows_names_that_hang_together(face: Face) -> None:
    lines = face.said("provenance").splitlines()
    assert "best:1 · 2 files, 12 B · from model" in lines
    assert "model:2 · 1 file, 3 B · from clean" in lines
    page = face.data("provenance")
    (component,) = page["components"]
    assert {"source": "raw", "target": "clean"} in component["links"]


def test_ways_effects_and_origins_are_told_in_lines(face: Face) -> None:
    assert face.said("provenance raw:1 --to best") == "raw:1 → job 1 → clean:1 → job 3 → model:1 → creation → best:1\n"
    assert face.said("provenance best:1 --to raw:1") == face.said("provenance raw:1 --to best")
    assert face.said("provenance raw:2 --to best", 1) == "No way leads from raw:2 to best:1.\n"
    affected = face.said("provenance raw:1 --affected").splitlines()
    assert affected[0] == "raw:1 went into 4 sets and 3 jobs"
    assert {"best:1 · 2 files · newest", "job 5 · failed"} <= set(affected)
    assert face.said("provenance best:1 --affected") == "Nothing was made of best:1.\n"
    origin = [words(line) for line in face.said("provenance /model/made@best:1").splitlines()]
    assert origin[:4] == ["/model/made:1", "└─ in best:1", "   └─ in model:1", "      └─ job 3 · you · lr=0.1"]


def test_formats_are_what_they_say(face: Face) -> None:
    assert face.said("provenance model:1 --back --depth 3 --format dot").startswith('digraph "model:1" {')
    assert json.loads(face.said("provenance model:1 --format prov"))["entity"].keys() >= {"project:raw:1"}
    assert "graphml" in face.said("provenance raw:1 --forward --format graphml")
    events = [json.loads(line) for line in face.said("provenance model:1 --format openlineage").splitlines()]
    assert {event["eventType"] for event in events} == {"START", "COMPLETE"}
    assert json.loads(face.said("provenance model:1 --format json"))["focus"] == "model:1"
    assert '[shape=box, label="raw:1\\n1 file"]' in face.said("provenance model:1 --format dot")


def test_a_job_stands_for_what_it_made(face: Face) -> None:
    assert json.loads(face.said("provenance 3 --format json"))["focus"] == "model:1"
    assert face.said("provenance 1 --to 3") == face.said("provenance clean:1 --to model:1")
    assert face.said("provenance 1 --affected") == face.said("provenance clean:1 --affected")
    for question in ("--affected", "--format dot", "--to best"):
        said = face.said(f"provenance 5 {question}", 6)
        assert "Job 5 made no file set. Name one that it used: acai provenance 5" in said
    assert "the lineage of model:1: 2 jobs" in face.said(f"export 3 {type(face).__name__}.zip")


def test_what_cannot_be_asked_is_said(face: Face) -> None:
    assert "--depth" in face.said("provenance model:1 --depth 0", 2)
    assert "Name a file set, as in: acai provenance model:2 --affected" in face.said("provenance --affected", 2)
    assert "as in: acai provenance model:2 --format dot" in face.said("provenance --format dot", 2)
    assert "as in: acai provenance model:2 --to best" in face.said("provenance --to best", 2)
    assert "is a file" in face.said("provenance /model/made --to raw", 2)
    assert "one direction" in face.said("provenance model:1 --back --forward --format dot", 2)
    assert "Did you mean model" in face.said("provenance modle", 3)
    assert "99" in face.said("provenance 99", 3)


def test_differences_name_the_nearest_cause_first(face: Face) -> None:
    why = face.data("diff model:1 model:2", 1)["why"]
    assert why == [
        "input clean:1 → clean:2 (0 files)",
        "code the same",
        "command make.py one → make.py two",
        "lr 0.1 → 0.2",
        "job 2: input raw:1 → raw:2 (1 file)",
        "job 2: n 1 → 2",
    ]


def test_a_graph_in_python_goes_further_when_asked(lived: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with ipython(lived.place, monkeypatch):
        graph = acai.provenance("model:1", back=True)
        assert (graph.focus, len(graph), "clean:1" in graph, "raw:1" in graph) == ("model:1", 2, True, False)
        assert "raw:1" in graph.back()
        assert "best:1" in graph.forward()
        assert graph.around("raw:1").focus == "raw:1"
        assert repr(graph).startswith("model:1 · 1 file")
        drawn = graph.back(5).to_networkx()
        assert nx.is_directed_acyclic_graph(drawn)
        assert drawn.nodes["job 3"]["parameters"] == {"lr": 0.1}
        assert nx.has_path(drawn, "raw:1", "model:1")
        ancestors = graph.ancestors()
        assert {"raw:1", "clean:1", "model:1"} <= {one.ref for one in ancestors.sets}
        whole, sets = ancestors.to_networkx(), ancestors.to_networkx(actions=False)
        assert nx.ancestors(sets, "model:1") == nx.ancestors(whole, "model:1") & set(sets)
        order = list(nx.topological_sort(whole))
        assert order.index("raw:1") < order.index("clean:1") < order.index("model:1") == len(order) - 1
        assert [*nx.topological_generations(whole)][-1] == ["model:1"]
        assert nx.transitive_closure(nx.transitive_reduction(sets)).edges == nx.transitive_closure(sets).edges
        assert {one.ref for one in graph.descendants().sets} == {"model:1", "best:1"}
        assert graph.paths("raw:1").count == 1
        assert graph.affected().set_count == 1
        assert graph.export("dot").startswith("digraph")
        job = acai.provenance(3)
        assert job.actions[0].outputs == ["model:1"]
        assert job.ancestors().focus == job.around("model:1").ancestors().focus == "model:1"
        assert (job.affected().set_count, job.paths(1).source, job.export("dot")[:17]) == (
            1,
            "clean:1",
            'digraph "model:1"',
        )
        origin = acai.file_origin("/model/made@best")
        assert origin.action is not None
        assert origin.action.job is not None
        assert origin.action.job.number == 3
        assert [cause.what for cause in acai.why_different(3, 4).causes][:2] == ["files", "input"]
        with pytest.raises(FileSetNotFound):
            acai.provenance("nothing").ancestors()


def test_one_step_forward_comes_in_pages(lived: Server) -> None:
    path = f"{PROJECT}/provenance/clean:1/forward"
    first = lived.get(f"{path}?limit=1")
    second = lived.get(f"{path}?limit=1&before={first['next']}")
    jobs = [action["job"]["number"] for page in (first, second) for action in page["actions"]]
    assert (jobs, second["next"]) == ([5, 3], None)
    assert {node["file_set"]["name"] for node in second["nodes"]} == {"clean", "model"}
    back = lived.get(f"{PROJECT}/provenance/model:1/back")
    assert [action["job"]["number"] for action in back["actions"]] == [3]


def test_a_closure_streams_as_lines_and_refusals_have_their_shape(lived: Server) -> None:
    answer = lived.ask("GET", f"{PROJECT}/provenance/model:1/closure")
    assert (answer.status, answer.headers["content-type"]) == (200, "application/x-ndjson")
    lines = [msgspec.json.decode(line) for line in answer.body.splitlines()]
    assert lines[-1][0] == "end"
    refused = lived.ask("GET", f"{PROJECT}/provenance/nothing:1/closure")
    assert (refused.status, refused.json["error"]["code"]) == (404, "file_set_not_found")
    for path in ("closure?limit=0", "export?format=pdf", "closure?surprise=1", "paths", "paths?to=!"):
        assert lived.ask("GET", f"{PROJECT}/provenance/model:1/{path}").status == 400
    exported = lived.ask("GET", f"{PROJECT}/provenance/model:1/export?format=dot")
    assert exported.headers["content-type"] == "text/vnd.graphviz; charset=utf-8"
    assert lived.ask("POST", f"{PROJECT}/provenance/model:1/closure", {}).status == 405


def test_a_closure_can_come_in_pieces_of_any_size(lived: Server) -> None:
    client = lived.client()
    body = b"".join(client.stream(endpoints.GET_CLOSURE, ref="model:1"))
    whole = list(lineages.decoded([body]))
    assert list(lineages.decoded([body[at : at + 7] for at in range(0, len(body), 7)])) == whole
    near = lineages.closure(client, "model:1", LineageDirection.BACK, depth=1)
    assert {"model:1", "clean:1"} <= {one.ref for one in near.sets}
    assert "raw:1" not in {one.ref for one in near.sets}


def test_a_closure_of_what_nobody_used_has_its_end(lived: Server) -> None:
    alone = lineages.closure(lived.client(), "best:1", LineageDirection.FORWARD)
    assert ([one.ref for one in alone.sets], alone.actions, alone.is_cut) == (["best:1"], [], False)
