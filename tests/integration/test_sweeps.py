"""Sweeps on a real server: from a shell, from a cell and from Python, followed to their end and found again."""

from __future__ import annotations

import json
import pickle
import shlex
import signal
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import acai_jupyter as acai
from acai_jupyter.client.http import Client
from acai_jupyter.commands import sweeps
from acai_jupyter.commands.interrupts import Unwatched
from acai_jupyter.commands.views import ShellView
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest, JobFailed, NotFound, SweepNotFound
from acai_jupyter.contract.states import JobState
from tests.integration.faces import Notebook, ipython
from tests.integration.places import Place
from tests.integration.test_following import on_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.places import Server

TRAIN = """
import os, pathlib
import acai_jupyter as acai
lr, depth = float(os.environ["ACAI_PARAM_LR"]), int(os.environ["ACAI_PARAM_DEPTH"])
pathlib.Path("output").mkdir(exist_ok=True)
pathlib.Path("output/net.txt").write_text(f"{lr} {depth}")
acai.tag("accuracy", round(1 - lr / depth, 3))
"""
WAITS = "import time\ntime.sleep(600)\n"
GRID: dict[str, list[Any]] = {"lr": [0.1, 0.02], "depth": [2, 4]}
BEST = {"lr": 0.02, "depth": 4}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("place"))
    (place.work / "train.py").write_text(TRAIN)
    (place.work / "waits.py").write_text(WAITS)
    yield place
    place.close()


@pytest.fixture(scope="module")
def server(place: Place) -> Server:
    return place.start()


@pytest.fixture
def here(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Let Python calls of this process find the server."""
    for name, value in server.place.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(server.place.work)
    return server


@pytest.fixture
def notebook(here: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    with ipython(here.place, monkeypatch) as shell:
        yield Notebook(shell, capsys)


def shell(place: Place, line: str, status: int = 0) -> str:
    done = place.acai(*shlex.split(line))
    assert done.returncode == status, (line, done.stdout, done.stderr)
    return done.stdout if status < 2 else done.stderr


def submitted(place: Place, line: str) -> str:
    return str(json.loads(shell(place, f"submit --json {line}"))["tag"])


# -- from a shell


def test_a_line_submits_the_product_and_its_tag_finds_it_again(here: Server) -> None:
    said = shell(here.place, "submit --sweep lr=0.1,0.02 --sweep depth=2,4 --output net --tag stage=draft train.py")
    tag = said.split(" ")[0]
    assert tag.startswith("sweep-")
    assert f"4 jobs · 4 queued · watch: acai attach {tag} · end all: acai kill {tag}" in said
    ended = shell(here.place, f"wait {tag}")
    assert ended.replace("under ", "").startswith(f"{tag} · 4 jobs · 4 finished · $")
    found = json.loads(shell(here.place, f"""find jobs "'{tag}' in tags order by accuracy desc limit 1" --json"""))
    assert len(found["rows"]) == 1
    best = acai.job(int(found["rows"][0]["thing"]))
    assert {name: best.parameters[name] for name in GRID} == BEST
    table = shell(here.place, f"job {tag}").splitlines()
    assert table[1].split()[:6] == ["job", "lr", "depth", "state", "accuracy", "stage"]
    assert len(table) == 6
    plain = json.loads(shell(here.place, f"job --json {tag}"))
    assert sorted(row["output"].split(":")[0] for row in plain["rows"]) == ["net"] * 4
    assert len({row["output"] for row in plain["rows"]}) == 4  # each made a version of its own


def test_a_terminal_sees_one_line_of_progress_that_goes_when_all_have_ended(here: Server) -> None:
    tag = submitted(here.place, "--sweep lr=0.1,0.02 --sweep depth=2,4 --output net train.py")
    progress, _, rest = on_terminal(here.place, "attach", tag).rpartition("\r")
    assert f"\r{tag} · 4 jobs · " in progress
    assert "\n" not in progress
    assert rest.startswith(f"{tag} · 4 jobs · 4 finished")


def test_an_interrupt_after_the_end_says_that_it_has_ended(here: Server, capsys: pytest.CaptureFixture[str]) -> None:
    tag = submitted(here.place, "--sweep lr=0.1,0.02 -p depth=2 train.py")

    class Late(Client):
        def call(self, endpoint: Any, body: Any = None, /, *, query: Any = None, **known: Any) -> Any:
            if endpoint is endpoints.GET_SWEEP_TABLE:
                signal.raise_signal(signal.SIGINT)
            return super().call(endpoint, body, query=query, **known)

    with pytest.raises(Unwatched, match=f"{tag} has ended"):
        sweeps.live(Late(here.client().connection), tag, ShellView())
    said = capsys.readouterr().err
    assert "2 finished" in said
    assert "Still running" not in said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--sweep lr train.py", "'lr' is not NAME=VALUE"),
        ("--sweep lr=1,,2 train.py", "quote a value with commas or quotes"),
        ("--sweep lr=1,1 train.py", "--sweep has the value 1 of lr twice."),
        ("--sweep lr=1 --sweep lr=2 train.py", "--sweep lr is given twice"),
        ("-p lr=1 --sweep lr=2,3 train.py", "--sweep varies lr, which is a parameter of all jobs too."),
        (
            "--sweep a=1,2,3,4,5,6,7,8,9,10,11 --sweep b=1,2,3,4,5,6,7,8,9,10 --sweep c=1,2,3,4,5,6,7,8,9,10 train.py",
            "--sweep makes 1,100 jobs (11 by 10 by 10); 1,000 is the most.",
        ),
    ],
)
def test_what_makes_no_sweep_is_one_sentence(here: Server, line: str, words: str) -> None:
    said = shell(here.place, f"submit {line}", status=2)
    assert words in said
    assert len(said.splitlines()) == 1


def test_a_sweep_whose_jobs_fail_is_a_failure(here: Server) -> None:
    tag = submitted(here.place, "--sweep code=0,3 -- 'exit $ACAI_PARAM_CODE'")
    assert shell(here.place, f"wait {tag}", status=1).startswith(f"{tag} · 2 jobs · 1 finished, 1 failed")
    assert shell(here.place, f"attach {tag}", status=1).splitlines()[-1].split()[:5] == [
        str(acai.sweep_of(tag).jobs[1].number), "3", "failed", "(exit", "3)",
    ]  # fmt: skip
    with pytest.raises(JobFailed, match="1 of the 2 jobs"):
        acai.sweep_of(tag).result()


def test_one_line_ends_all_of_it(here: Server) -> None:
    tag = submitted(here.place, "--sweep n=1,2,3,4,5,6 waits.py")
    ended = shell(here.place, f"kill {tag}")
    assert ended.startswith(f"{tag} · 6 jobs")
    assert acai.sweep_of(tag).wait(120).states == {JobState.KILLED: 6}
    assert "neither" not in shell(here.place, "kill sweep-999999", status=3)
    assert "either jobs or sweeps" in shell(here.place, f"kill {tag} 1", status=2)


# -- from Python


@pytest.mark.usefixtures("here")
def test_python_gets_a_handle_that_outlives_its_kernel() -> None:
    sweep = acai.sweep("train.py", GRID, output="net", parameters={"seed": 1})
    assert len(sweep) == 4
    again = pickle.loads(pickle.dumps(sweep))
    assert again == sweep == acai.sweep_of(sweep.tag)
    assert again.wait(120).has_ended
    best = sweep.best("accuracy")
    assert (best.parameters, sweep.best("accuracy", lowest=True).parameters["lr"]) == ({"seed": 1, **BEST}, 0.1)
    assert [job.number for job in sweep] == sweep.snapshot.jobs
    frame = sweep.frame()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame["lr"]) == [0.1, 0.1, 0.02, 0.02]
    assert frame.accuracy.idxmax() == 3
    assert sweep.cost_usd == pytest.approx(frame.cost_usd.sum())
    with pytest.raises(NotFound, match="What they have: accuracy"):
        sweep.best("acuracy")


@pytest.mark.usefixtures("here")
def test_what_a_notebook_shows_of_it() -> None:
    sweep = acai.sweep("train.py", GRID).wait(120)
    forms = sweep._repr_mimebundle_()
    assert forms["application/vnd.acai.sweep+json"]["table"]["tag"] == sweep.tag
    assert forms["text/plain"].startswith(f"{sweep.tag} · 4 jobs · 4 finished")
    assert forms["text/html"].count("<tr>") == 5


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("values", [None, {}, {"lr": []}, {"lr": "abc"}, {"lr": [None]}, {"1": [1]}])
def test_what_python_cannot_combine_is_one_sentence(values: Any) -> None:
    with pytest.raises(BadRequest) as refused:
        acai.sweep("train.py", values)
    assert "\n" not in refused.value.message


@pytest.mark.usefixtures("here")
def test_a_tag_that_nobody_has_is_not_found() -> None:
    with pytest.raises(SweepNotFound, match="no job with the tag 'sweep-999999'"):
        acai.sweep_of("sweep-999999")


@pytest.mark.usefixtures("here")
def test_hundreds_of_jobs_are_one_request() -> None:
    sweep = acai.sweep(command="true", values={"a": list(range(10)), "b": list(range(20))}, priority=-5)
    try:
        assert len({job.code for job in acai.jobs(f"'{sweep.tag}' in tags", limit=200)}) == 1
        assert len(sweep) == 200
    finally:
        sweep.kill()
    assert sweep.wait(120).has_ended


# -- from a cell


def test_a_cell_runs_once_for_each_combination(notebook: Notebook) -> None:
    outcome, shown = notebook.run(f"%%acai run --sweep lr=0.1,0.02 --sweep depth=2,4 --output net\n{TRAIN}")
    assert outcome.success
    assert " · 4 jobs · 4 finished" in shown
    assert "accuracy" in shown
    outcome, _ = notebook.run("_.best('accuracy').parameters['lr']")
    assert outcome.result == BEST["lr"]


def test_a_sweep_brings_back_no_variables(notebook: Notebook) -> None:
    outcome, shown = notebook.run("%%acai run --sweep n=1,2 --receive a\na = 1")
    assert not outcome.success
    assert "--receive brings back the variables of one job" in shown


def test_a_cell_whose_jobs_fail_stops_run_all(notebook: Notebook) -> None:
    outcome, shown = notebook.run("%%acai run --sweep n=0,1\nimport os\n1 / int(os.environ['ACAI_PARAM_N'])")
    assert not outcome.success
    assert "1 finished, 1 failed" in shown


class Impatient(ShellView):
    """Somebody who interrupts again as soon as it is said that the jobs go on."""

    prog = "%acai"

    def __init__(self, *, again: bool) -> None:
        self.said: list[str] = []
        self._again = again

    def say(self, text: str) -> None:
        self.said.append(text)
        if self._again:
            signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("again", [False, True])
def test_an_interrupt_ends_the_watching_and_a_second_the_jobs(again: bool) -> None:
    view, client = Impatient(again=again), Client()
    sweep = acai.sweep("waits.py", {"n": [1, 2, 3]})

    def interrupt() -> None:
        while JobState.RUNNING not in sweep.states:
            client.call(endpoints.LIST_EVENTS, query={"since": 0, "wait_seconds": 1})
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    if again:
        assert sweeps.live(client, sweep.tag, view).failed
    else:
        with pytest.raises(Unwatched, match=f"{sweep.tag} goes on"):
            sweeps.live(client, sweep.tag, view)
        assert JobState.KILLED not in sweep.states
        sweep.kill()
    thread.join()
    hint = f"Follow again: %acai attach {sweep.tag}. End all: %acai kill {sweep.tag} (or interrupt again within 3 s)."
    assert view.said == [f"Still running as {sweep.tag}. {hint}"]
    assert sweep.wait(120).states == {JobState.KILLED: 3}


# -- a server that is away meanwhile


def test_it_goes_on_over_a_restart_of_the_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = Place(tmp_path)
    (place.work / "train.py").write_text(TRAIN)
    try:
        server = place.start()
        for name, value in place.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(place.work)
        sweep = acai.sweep("train.py", {"lr": [0.1, 0.02, 0.03], "depth": [2, 4]})
        server.end()
        place.start()
        assert acai.sweep_of(sweep.tag).wait(100).states == {JobState.FINISHED: 6}
    finally:
        place.close()


def test_a_sweep_of_a_cell_has_what_was_sent_in_each_job(notebook: Notebook) -> None:
    notebook.run("base = {'offset': 10}")
    outcome, shown = notebook.run(
        "%%acai run --sweep n=1,2 --send base\nimport acai_jupyter, os\n"
        "acai_jupyter.tag('sum', base['offset'] + int(os.environ['ACAI_PARAM_N']))"
    )
    assert outcome.success, shown
    assert "sending base" in shown
    sweep = notebook.shell.user_ns["_"]
    assert [row.attributes["sum"] for row in sweep.table.rows] == [11, 12]
    forms = sweep._repr_mimebundle_()
    kept = forms["application/vnd.acai.sweep+json"]
    assert (kept["project"], kept["count"], len(kept["table"]["rows"])) == ("default", 2, 2)
    assert "best by sum: job " in forms["text/html"]
    assert " · best" in forms["text/plain"]


def test_a_table_of_more_jobs_than_it_can_hold_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with closing(Place(tmp_path / "crowded")) as crowded:
        server = crowded.start()
        assert crowded.acai("submit", "--tag", "+many", "--", "true").returncode == 0
        columns = [name for _, name, *_ in crowded.sql("PRAGMA table_info(job)")]
        changed = {
            "id": "j.id + n.i",
            "number": "j.number + n.i",
            "state": "'finished'",
            "ended_at": "j.created_at",
            "submission": "NULL",
        }
        values = ", ".join(changed.get(name, f"j.{name}") for name in columns)
        numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)"
        crowded.sql(
            f"{numbers} INSERT INTO job ({', '.join(columns)}) SELECT {values} FROM job j, n WHERE j.number = 1"
        )
        labels = [name for _, name, *_ in crowded.sql("PRAGMA table_info(attribute_label)")]
        moved = ", ".join("l.subject_id + n.i" if name == "subject_id" else f"l.{name}" for name in labels)
        crowded.sql(
            f"{numbers} INSERT INTO attribute_label ({', '.join(labels)}) SELECT {moved} FROM attribute_label l, n"
        )
        answer = server.ask("GET", "/v1/projects/default/sweeps/many/table")
        assert (answer.status, answer.code) == (413, "too_many_rows")
        assert "10,001 jobs have this tag" in answer.error["message"]
        assert len(server.get("/v1/projects/default/sweeps/many")["jobs"]) == 10_001
        server.end()
