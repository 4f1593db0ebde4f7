"""The notebooks that come with it, run from top to bottom by `nbconvert --execute` on a real server."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

from acai_jupyter.contract.states import JobState
from tests.docs.pages import ROOT
from tests.integration.places import BIN, Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.places import Server

pytestmark = pytest.mark.timeout(600)  # dozens of jobs, each of which imports scikit-learn
NOTEBOOKS = ROOT / "notebooks"
FEWER = 'settings = {"rate": [0.1, 0.3], "depth": [2], "count": [20]}'
"""In the place of the 36 settings."""
JOBS = "/v1/projects/default/jobs"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = Place(tmp_path_factory.mktemp("home"))
    shutil.copy(NOTEBOOKS / "make_digits.py", place.work)
    subprocess.run([sys.executable, "make_digits.py", "digits"], cwd=place.work, check=True)
    yield place.start()
    place.close()


def execute(server: Server, name: str) -> str:
    """Run a notebook, and return what its cells have shown."""
    notebook = nbformat.read(NOTEBOOKS / name, 4)
    given = [at for at, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", ())]
    for at in given:
        notebook.cells.insert(at + 1, nbformat.v4.new_code_cell(FEWER))
    place = server.place
    nbformat.write(notebook, place.work / name)
    command = [str(BIN / "jupyter-nbconvert"), "--execute", "--to", "notebook", "--inplace", name]
    done = subprocess.run(
        command, env=place.environment, cwd=place.work, capture_output=True, text=True, timeout=580, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    cells = nbformat.read(place.work / name, 4).cells
    return "\n".join(shown(output) for cell in cells for output in cell.get("outputs", []))


def shown(output: Any) -> str:
    return str(output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"])


def labelled(server: Server, label: str) -> list[dict[str, Any]]:
    """The jobs with a label."""
    jobs: list[dict[str, Any]] = server.get(f"{JOBS}?limit=200")["jobs"]
    return [job for job in jobs if label in server.get(f"{JOBS}/{job['number']}")["tags"]]


def sweep_of(said: str) -> str:
    """The tag of the sweep that a notebook has shown."""
    found = re.search(r"sweep-\d+", said)
    assert found is not None
    return found[0]


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: str(path.name))
def test_each_is_stored_as_nobody_has_run_it(path: Path) -> None:
    notebook = nbformat.read(path, 4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code)


def test_the_quick_start_ends_with_a_result_that_is_traced_compared_and_found(server: Server) -> None:
    said = execute(server, "quick-start.ipynb")
    assert "1,798 files" in said
    assert "10 new, 1,788 unchanged" in said
    assert "digits:1 → model:1" in said
    assert "digits:2 → model:2" in said
    assert "digits:1 → digits:2" in said  # why they differ
    board = said[said.rindex("file set ") :].splitlines()
    assert [line.split()[0] for line in board[1:3]] == ["model:2", "model:1"]


def test_sixteen_jobs_are_searched_for_the_best(server: Server) -> None:
    another = {"command": ["true"], "tags": ["search"], "attributes": {"accuracy": 2.0, "gini": 2.0}}
    server.ask("POST", JOBS, another)  # of a search before this one
    said = execute(server, "sixteen-jobs.ipynb")
    assert "2.0" not in said[said.index("accuracy") :].split()
    jobs = labelled(server, sweep_of(said))
    assert [job["state"] for job in jobs] == [JobState.FINISHED] * 16
    found = [(float(job["attributes"]["accuracy"]), job["output"]) for job in jobs]
    assert len({tuple(sorted(job["parameters"].items())) for job in jobs}) == 16
    best = max(accuracy for accuracy, _ in found)
    assert best > 0.95
    assert said.strip().splitlines()[-1].split()[0] in {output for accuracy, output in found if accuracy == best}


def test_each_setting_is_trained_and_then_judged(server: Server) -> None:
    server.ask(
        "POST", JOBS, {"command": ["true"], "tags": ["evaluated"], "attributes": {"gini": 2.0, "trees": "trees:1"}}
    )
    said = execute(server, "seventy-two-jobs.ipynb")
    assert "2.0" not in said[said.rindex("gini") :].split()
    judged = labelled(server, f"{sweep_of(said)}-judged")
    assert [job["state"] for job in judged] == [JobState.FINISHED] * 2
    trees = {job["attributes"]["trees"] for job in judged}
    assert trees == {"trees:1", "trees:2"}
    assert all(0.5 < job["attributes"]["gini"] <= 1 for job in judged)
    assert trees <= set(said.split())


def test_the_whole_of_it_is_seventy_two_jobs() -> None:
    cells = nbformat.read(NOTEBOOKS / "seventy-two-jobs.ipynb", 4).cells
    found: dict[str, Any] = {}
    exec(next(cell.source for cell in cells if "parameters" in cell.metadata.get("tags", ())), found)
    rates, depths, counts = (len(set(found["settings"][name])) for name in ("rate", "depth", "count"))
    assert 2 * rates * depths * counts == 72


def test_machines_are_chosen_by_what_was_measured(server: Server) -> None:
    said = execute(server, "choosing-machines.ipynb")
    assert server.get("/v1/projects/default/sweeps/profile-1")["sentence"] == "6 of 6 runs are in"
    for title in ("Under its cost, ", "Under its time, "):
        lines = said[said.index(title) :].splitlines()
        assert lines[1].startswith("guessed     1 vCPU  2048 MB")
        assert lines[1].endswith(" measured")
        # On a busy machine the guess may have been the best there is, and run times may differ too much to choose by.
        if "needs" not in lines[0] and "too uncertain to decide by" not in lines[0]:
            assert lines[2].endswith(" by the model")
            assert lines[3].endswith((" measured", "larger than this machine: not measured"))
    chosen = [job for job in server.get(f"{JOBS}?limit=200")["jobs"] if "predicted_seconds" in job["attributes"]]
    assert all(job["state"] == "finished" and job["parameters"] == {"epoch": 24} for job in chosen)


def test_a_result_is_compared_explained_done_again_and_taken_away(server: Server) -> None:
    said = execute(server, "reproducing.ipynb")
    assert "patients:1 → patients:2" in said
    assert "identical" in said
    assert "1 of 1 file" in said or "differs" in said or "equal within" in said
    assert "all as they were" in said
