"""What kernel clients other than JupyterLab are sent: one that knows widgets, and one that does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.commands.results import Result
from acai_jupyter.magics.live_widget import LiveWidget
from tests.integration.test_magics import execute, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.places import Server

WIDGET = "application/vnd.jupyter.widget-view+json"
JOB = "application/vnd.acai.job+json"
SWEEP = "application/vnd.acai.sweep+json"
GRAPH = "application/vnd.acai.provenance+json"
KINDS = {JOB, SWEEP, "application/vnd.acai.jobs+json"}


@pytest.fixture(scope="module")
def kernel(server: Server) -> Iterator[str]:
    name = server.ask("POST", "/api/kernels", {"name": "python3"}, base="").json["id"]
    execute(server, name, "%load_ext acai_jupyter\nimport acai_jupyter as acai")
    yield name
    server.ask("DELETE", f"/api/kernels/{name}", base="")


def gated(gate: Path) -> str:
    return f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)\n"


def bundles(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was shown of jobs, in the order of coming."""
    found = [m["content"].get("data", {}) for m in messages]
    return [data for data in found if KINDS & set(data)]


def opened(messages: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The states of widgets that were made, by their ids."""
    return {
        m["content"]["comm_id"]: m["content"]["data"]["state"]
        for m in messages
        if m["msg_type"] == "comm_open" and m["content"]["target_name"] == "jupyter.widget"
    }


@pytest.mark.parametrize("options", ["", "--sweep x=1,2"])
def test_a_front_end_with_widgets_is_sent_a_live_view_while_the_job_runs(
    server: Server, kernel: str, tmp_path: Path, options: str
) -> None:
    pytest.importorskip("ipywidgets")
    gate = tmp_path / "gate"

    def watch(message: dict[str, Any]) -> None:
        if WIDGET in message["content"].get("data", {}):
            gate.touch()

    cell = f"%%acai run {options} --cpu 0.5 --memory 512Mi\n{gated(gate)}print('over')"
    messages = execute(server, kernel, cell, watch, asks=True)
    first, *later = bundles(messages)
    assert WIDGET not in first  # it is there at once, and costs nothing
    last = later[-1]
    assert {"text/plain", "text/html", WIDGET} <= set(last)
    states = opened(messages)
    view = states[last[WIDGET]["model_id"]]
    assert view["_model_name"] == "VBoxModel"
    renewed = [
        m["content"]["data"]["state"]["value"]
        for m in messages
        if m["msg_type"] == "comm_msg" and "value" in m["content"]["data"].get("state", {})
    ]
    assert any("finished" in str(value) for value in renewed)


def test_what_ends_before_a_moment_is_over_has_no_view() -> None:
    shown: list[Any] = []
    result = Result("job 1 finished", None, "job")
    soon = LiveWidget(result, shown.append, seconds=3600)
    soon.start()
    assert soon.end(result) is result
    assert shown == []


def test_whatever_shows_what_is_live_has_a_view_and_what_has_ended_its_card(
    server: Server, kernel: str, tmp_path: Path
) -> None:
    pytest.importorskip("ipywidgets")
    gate = tmp_path / "gate"

    def seen(code: str, **metadata: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        messages = execute(server, kernel, code, asks=True, **metadata)
        (bundle,) = bundles(messages)
        assert {"text/plain", "text/html"} <= set(bundle)
        return bundle, opened(messages).get(bundle.get(WIDGET, {}).get("model_id", ""), {})

    cell = f"--cpu 0.5 --memory 512Mi\n{gated(gate)}"
    begun, view = seen(f"%%acai run --detach --handle long {cell}")
    number = begun[JOB]["number"]
    assert view["_model_name"] == "VBoxModel"
    sweep, view = seen(f"%%acai run --detach --sweep x=1,2 --handle all {cell}")
    assert view["_model_name"] == "VBoxModel"
    looks = [f"%acai job {number}", "long", f"%acai job {sweep[SWEEP]['table']['tag']}", "all"]
    for look in looks:
        assert seen(look)[1]["_model_name"] == "VBoxModel", look
        assert seen(look, deletedCells=[])[1] == {}, look  # JupyterLab has our own
    gate.touch()
    execute(server, kernel, "long.wait(); all.wait()")
    for look in looks:
        assert WIDGET not in seen(look)[0], look
    assert seen("%acai jobs")[1]["_model_name"] == "VBoxModel"  # others may come
    assert WIDGET not in seen("%acai find jobs 'number > 0' --columns state")[0]  # the table has these, the view others


def test_a_view_is_for_somebody_whose_front_end_has_none_of_ours(server: Server, kernel: str) -> None:
    asked = "from acai_jupyter.magics.live_widget import is_wanted\nprint('wanted', is_wanted())"
    assert "wanted True" in shown(execute(server, kernel, asked, asks=True))
    assert "wanted False" in shown(execute(server, kernel, asked, asks=True, deletedCells=[]))  # JupyterLab
    assert "wanted False" in shown(execute(server, kernel, asked))  # nbconvert: nobody sits there


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("%acai provenance", "Provenance of the project"),
        ("%acai provenance numbers:1", "Provenance of numbers:1"),
        ("acai.provenance('numbers:1')", "Provenance of numbers:1"),
    ],
)
def test_what_came_from_what_is_drawn_under_the_cell(server: Server, kernel: str, line: str, title: str) -> None:
    server.place.write("numbers.txt", "1")
    assert server.place.acai("put", "numbers.txt", "/numbers/", "--as", "numbers").returncode == 0
    messages = execute(server, kernel, line, asks=True)
    (bundle,) = [data for m in messages if GRAPH in (data := m["content"].get("data", {}))]
    assert bundle[GRAPH]["title"] == title
    assert "numbers:1" in {node["thing"] for node in bundle[GRAPH]["nodes"]}
    assert all("numbers:1" in bundle[kind] for kind in ("text/plain", "text/html", "image/svg+xml"))
    assert opened(messages)[bundle[WIDGET]["model_id"]]["_model_name"] == "VBoxModel"


def test_a_front_end_without_widgets_has_the_card_and_the_text(server: Server, kernel: str) -> None:
    execute(server, kernel, "import sys\nsys.modules['ipywidgets'] = None")  # as where it is not installed
    cell = "%%acai run --cpu 0.5 --memory 512Mi\nprint('over')"
    messages = execute(server, kernel, cell, asks=True) + execute(server, kernel, "%acai jobs", asks=True)
    assert opened(messages) == {}
    assert all({"text/plain", "text/html"} <= set(bundle) and WIDGET not in bundle for bundle in bundles(messages))
    assert "finished" in bundles(messages)[-2]["text/plain"]
    execute(server, kernel, "del sys.modules['ipywidgets']")
