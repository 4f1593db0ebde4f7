"""Whole notebooks as jobs: papermill and a real kernel run them, and as they were executed they are outputs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

import acai_jupyter as acai
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest

if TYPE_CHECKING:
    from tests.integration.places import Server

PRINTS = """import sys, acai_jupyter
from lib import doubled
acai_jupyter.tag("lr", lr)
print("lr", lr)
print("warned", file=sys.stderr)"""
SHOWS = "from IPython.display import HTML\ndisplay(HTML('<b>shown</b>'))\ndoubled(lr)"
FAILS = "def fall():\n    raise KeyError('no such key')\nfall()"


def cell(source: str, *tags: str) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "source": source,
        "metadata": {"tags": list(tags)},
        "outputs": [],
        "execution_count": None,
    }


@pytest.fixture
def here(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    for name, value in server.place.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(server.place.work)
    server.place.write("lib.py", "def doubled(value): return 2 * value\n")
    return server


def write(server: Server, name: str, *cells: dict[str, Any]) -> None:
    whole = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
    server.place.write(name, json.dumps(whole))


def executed(job: acai.Job, name: str, ref: str | None = None) -> Any:
    if ref is None:
        assert job.output is not None
        ref = job.output.ref
    found = acai.fileset(ref)
    (path,) = [file.path for file in found if file.path.endswith(name)]
    return nbformat.reads(acai.cat(f"{path}@{found.ref}").decode(), 4)


def test_a_notebook_runs_with_its_parameters_and_is_an_output(here: Server) -> None:
    write(here, "analysis.ipynb", cell("lr = 1", "parameters"), cell(PRINTS), cell("!echo from a shell"), cell(SHOWS))
    job = acai.submit("analysis.ipynb", parameters={"lr": 0.5}, output="report").wait(90)
    assert job.state == "finished", job.logs()
    lines = [line.rstrip("\r") for line in job.logs().split("\n") if "ACAI_TAG" not in line]
    assert [line for line in lines if line] == ["lr 0.5", "warned", "from a shell"]
    assert job.attributes["lr"] == 0.5
    shown = here.client().call(endpoints.GET_DISPLAYS, job=job.number).displays
    assert [one["data"].get("text/html") for one in shown] == ["<b>shown</b>", None]
    assert shown[1]["data"]["text/plain"] == "1.0"
    found = executed(job, "analysis.ipynb")
    assert found.cells[1].source.splitlines()[-1] == "lr = 0.5"
    printed = [output.text for output in found.cells[2].outputs]
    assert printed == ["lr 0.5\n", "warned\n"]
    assert found.cells[-1].outputs[-1].data["text/plain"] == "1.0"


def test_a_notebook_whose_cell_fails_is_kept_up_to_there(here: Server) -> None:
    write(here, "fails.ipynb", cell("print('before')"), cell(FAILS), cell("print('after')"))
    job = acai.submit("fails.ipynb").wait(90)
    assert job.state == "failed"
    log = job.logs()
    assert log.startswith("before\n")
    assert "KeyError" in log
    assert "fall()" in log
    assert log.endswith("fails.ipynb failed in its cell [2]\n")
    assert "after" not in log
    partial = job.snapshot.partial
    assert partial is not None
    found = executed(job, "fails.ipynb", partial)
    failed = next(one for one in found.cells if one.cell_type == "code" and one.source == FAILS)
    assert failed.outputs[-1].ename == "KeyError"


def test_each_job_of_a_sweep_has_its_own_values_as_what_they_are(here: Server) -> None:
    write(here, "swept.ipynb", cell("lr, kind = 1, ''", "parameters"), cell("print(repr(lr), repr(kind))"))
    sweep = acai.sweep("swept.ipynb", {"lr": [0.5, "2"]}, parameters={"kind": "it's"}).wait(90)
    assert [job.logs() for job in sweep] == ['0.5 "it\'s"\n', "'2' \"it's\"\n"]


def test_a_notebook_that_cannot_run_is_refused_before_anything_is_kept(here: Server) -> None:
    before = here.client().call(endpoints.LIST_EVENTS).last
    write(here, "any.ipynb", cell("1"))
    here.place.write("requirements.txt", "--no-index\n")
    with pytest.raises(BadRequest, match="the environment of --env lacks papermill and ipykernel"):
        acai.submit("any.ipynb", env="requirements.txt")
    with pytest.raises(BadRequest, match="takes no arguments"):
        acai.submit("any.ipynb", args=[1])
    assert here.client().call(endpoints.LIST_EVENTS).last == before
