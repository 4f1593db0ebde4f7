"""What a cell displays is kept while its program runs, and costs little. Runs on Python 3.8: so does what it tests."""

from __future__ import annotations

import json
import threading
import time
from typing import TYPE_CHECKING, Any

from tests.agents import bench_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.agents import Bench

PATIENCE_SECONDS = 60.0


def kept(bench: Bench) -> list[Any]:
    return [one["data"].get("text/plain") for one in bench.displays()]


def until_kept(bench: Bench, wanted: list[Any]) -> None:
    deadline, pause = time.monotonic() + PATIENCE_SECONDS, threading.Event()
    while kept(bench) != wanted:
        assert time.monotonic() < deadline, kept(bench)
        pause.wait(0.02)


def started(bench: Bench, text: str) -> Any:
    files = (("cell.py", text.encode(), True),)
    return bench.start(bench.launch([bench.python, "-u", "cell.py"], files, as_cell=True))


def test_displays_are_kept_as_they_are_made_renewed_and_cleared(tmp_path: Path) -> None:
    bench, gates = bench_in(tmp_path), [tmp_path / "first", tmp_path / "second"]
    cell = (
        "import os, time\n"
        "def wait_for(gate):\n"
        "    while not os.path.exists(gate): time.sleep(0.02)\n"
        "display(1)\nshown = display(2, display_id=True)\n"
        "wait_for({!r})\nshown.update(3)\nwait_for({!r})\n"
        "from IPython.display import clear_output\nclear_output()\n'end'\n".format(*map(str, gates))
    )
    process = started(bench, cell)
    until_kept(bench, ["1", "2"])
    gates[0].touch()
    until_kept(bench, ["1", "3"])
    gates[1].touch()
    outcome = bench.end(process)
    assert outcome.status == 0, outcome.errors
    assert kept(bench) == ["'end'"]
    assert outcome.record["displays_bytes"] == len(json.dumps(bench.displays()))
    told = [said["displays"] for said in outcome.said if "displays" in said]
    assert [times for times, _ in told] == list(range(1, len(told) + 1))


def test_what_is_renewed_in_a_loop_is_sent_seldom(tmp_path: Path) -> None:
    bench = bench_in(tmp_path)
    cell = "shown = display(0, display_id=True)\nfor n in range(500): shown.update(n)\n"
    outcome = bench.end(started(bench, cell))
    assert kept(bench) == ["499"]
    told = [said for said in outcome.said if "displays" in said]
    assert len(told) <= 2 + outcome.record["run_seconds"]


def test_a_program_that_is_ended_has_kept_what_it_displayed(tmp_path: Path) -> None:
    bench = bench_in(tmp_path)
    process = started(bench, "display('here')\nimport time\ntime.sleep(600)\n")
    until_kept(bench, ["'here'"])
    process.terminate()
    outcome = bench.end(process)
    assert outcome.record["was_stopped"]
    assert kept(bench) == ["'here'"]


def test_what_displays_nothing_sends_nothing(tmp_path: Path) -> None:
    bench = bench_in(tmp_path)
    outcome = bench.run_cell("x = 1")
    assert bench.read("displays") is None
    assert outcome.record["displays_bytes"] == 0
