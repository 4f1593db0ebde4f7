"""`--env` on a real server: the lock is kept, the environment is built once, and what runs in it is what was locked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import acai_jupyter as acai
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest, NotFound
from tests.integration.faces import Notebook, ipython
from tests.integration.places import Place
from tests.wheels import requirements, wheel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.places import Server

CELL = "import acai_jupyter, tiny\nacai_jupyter.tag('value', tiny.VALUE)\ntiny.VALUE"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = Place(tmp_path_factory.mktemp("place"))
    wheel(place.work / "wheels", "tiny", "1.0", "VALUE = 1\n")
    place.write("requirements.txt", requirements(place.work / "wheels", "tiny"))
    place.write("train.py", "import sys, tiny\nprint(tiny.VALUE, 'numpy' in sys.modules)\n")
    yield place.start()
    place.close()


@pytest.fixture
def notebook(server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    with ipython(server.place, monkeypatch) as shell:
        yield Notebook(shell, capsys)


def test_a_job_runs_in_its_own_environment_from_a_plan_to_its_replay(notebook: Notebook, server: Server) -> None:
    outcome, shown = notebook.run(f"%%acai run --plan --env requirements.txt\n{CELL}")
    assert outcome.success, shown
    assert "1 package, to be built" in shown
    outcome, shown = notebook.run(f"%%acai run --env requirements.txt --output made\n{CELL}")
    assert outcome.success, shown
    assert "building the environment with uv" in shown
    job = notebook.shell.user_ns["_"]
    assert job.attributes["value"] == 1
    assert job.attempts[-1].environment["packages"] == {"tiny": "1.0"}
    outcome, shown = notebook.run(f"%%acai run --plan --env requirements.txt\n{CELL}")
    assert "1 package, cached" in shown
    asked = server.client().call(endpoints.GET_REQUEST, job=job.number).request
    assert asked.lock is not None
    assert asked.lock.packages == {"tiny": "1.0"}

    _, shown = notebook.run(f"%%acai run --cached --env requirements.txt --output made\n{CELL}")
    assert f"answered by job {job.number}" in shown
    wheel(server.place.work / "wheels", "tiny", "2.0", "VALUE = 2\n")
    outcome, shown = notebook.run(f"%%acai run --cached --env requirements.txt --output made\n{CELL}")
    assert (notebook.shell.user_ns["_"].attributes["value"], "answered" in shown) == (2, False)
    again = json.loads(server.place.acai("replay", str(job.number), "--json").stdout)
    number = int(again["steps"][0]["again"].split()[-1]) if isinstance(again, dict) else 0
    replayed = server.client().call(endpoints.GET_JOB, job=number)
    assert replayed.attributes["value"] == 1


def test_scripts_commands_and_python_take_one_too(notebook: Notebook, server: Server) -> None:
    del notebook
    job = acai.submit("train.py", env="requirements.txt").wait(120)
    assert job.logs().endswith("False\n")
    done = acai.submit(command="python -c 'import tiny; print(tiny.__file__)'", env="requirements.txt").wait(120)
    assert str(server.place.data / "environments") in done.logs()
    sweep = acai.sweep("train.py", {"lr": [1, 2]}, env="requirements.txt").wait(120)
    assert {one.state.value for one in sweep} == {"finished"}


def test_what_is_wrong_with_one_is_said_before_anything_is_kept(notebook: Notebook, server: Server) -> None:
    del notebook
    before = server.client().call(endpoints.LIST_EVENTS).last
    server.place.write("wrong.txt", requirements(server.place.work / "wheels", "tiny>7"))
    with pytest.raises(BadRequest, match=r"wrong\.txt cannot be locked: No solution found"):
        acai.submit("train.py", env="wrong.txt")
    with pytest.raises(NotFound, match=r"No file \./nothing\.txt"):
        acai.submit("train.py", env="nothing.txt")
    assert server.client().call(endpoints.LIST_EVENTS).last == before
