"""A submission is taken in once, whatever becomes of its answer, and who interrupts it is told which job goes on."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.client.submissions import Submitting
from acai_jupyter.commands import verbs
from acai_jupyter.commands.interrupts import Unwatched
from acai_jupyter.commands.running import run_cell
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import ServerUnreachable
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.sweeps import CreateSweep
from acai_jupyter.magics.cell_view import CellView
from tests.integration.faces import ipython

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.client.http import Client
    from tests.integration.places import Server

JOBS = "/v1/projects/default/jobs"
REQUEST = CreateJob(["true"])


def last(server: Server) -> int:
    return int(server.get(f"{JOBS}?limit=1")["jobs"][0]["number"])


def meddled(client: Client, before: Callable[[], None], after: Callable[[], None]) -> Client:
    """The same, where something happens around each submission."""

    class Meddled(type(client)):  # type: ignore[misc]  # it is a class
        def call(self, endpoint: Any, *given: Any, **known: Any) -> Any:
            is_submission = endpoint in (endpoints.CREATE_JOB, endpoints.CREATE_SWEEP)
            if is_submission:
                before()
            found = super().call(endpoint, *given, **known)
            if is_submission:
                after()
            return found

    made: Client = Meddled(client.connection)
    return made


def lost_once() -> Callable[[], None]:
    """The first answer is lost on its way."""
    answers = iter([ServerUnreachable(where="it")])

    def lose() -> None:
        for error in answers:
            raise error

    return lose


def nothing() -> None:
    """Nothing happens."""


def test_the_same_submission_is_the_same_job_and_another_is_another(server: Server) -> None:
    def submit(submission: str) -> int:
        return int(server.ask("POST", f"{JOBS}?submission={submission}", {"command": ["true"]}).json["number"])

    first = submit("a")
    assert submit("a") == first
    assert submit("b") == first + 1
    assert len({submit(""), submit("")}) == 2


def test_a_job_whose_answer_was_lost_is_submitted_once(server: Server) -> None:
    client = meddled(server.client(), nothing, lost_once())
    before = server.client().call(endpoints.CREATE_JOB, REQUEST).number
    assert Submitting(client).job(REQUEST).number == before + 1 == last(server)


def test_a_sweep_whose_answer_was_lost_is_submitted_once(server: Server) -> None:
    client = meddled(server.client(), nothing, lost_once())
    before = server.client().call(endpoints.CREATE_JOB, REQUEST).number
    sweep = Submitting(client).sweep(CreateSweep(REQUEST, {"x": [1, 2]}))
    assert sweep.jobs == [before + 1, before + 2]
    assert last(server) == before + 2


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("at", ["before", "after"])
@pytest.mark.parametrize("options", [[], ["--detach"], ["--sweep", "x=1,2"]])
def test_a_cell_that_is_interrupted_while_it_submits_says_what_goes_on(
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    at: str,
    options: list[str],
) -> None:
    client = meddled(server.client(), interrupt if at == "before" else nothing, interrupt if at == "after" else nothing)
    with ipython(server.place, monkeypatch):
        arguments = verbs.parse_cell([*options, "--output", "o"])
        before = server.client().call(endpoints.CREATE_JOB, REQUEST).number
        with pytest.raises(Unwatched) as left:
            run_cell(client, arguments, "import time\ntime.sleep(300)", CellView({}))
    said = capsys.readouterr().out + str(left.value)
    name = f"sweep-{before + 1}" if "--sweep" in options else str(before + 1)
    assert f"attach {name}" in said
    assert f"kill {name}" in said
    server.place.acai("kill", name)


def test_a_shell_that_is_interrupted_while_it_submits_says_what_goes_on(server: Server) -> None:
    client = meddled(server.client(), nothing, interrupt)
    with pytest.raises(Unwatched) as left:
        verbs.run(verbs.parse("acai", ["submit", "--", "sleep", "300"]), client)
    number = last(server)
    again = f"Follow again: acai attach {number}. End it: acai kill {number}."
    assert str(left.value) == f"Still running as job {number}. {again}"
    assert not left.value.was_said
    server.place.acai("kill", str(number))
