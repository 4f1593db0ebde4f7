"""`--plan` on a real server: what would happen is told, what would be refused is refused, and nothing is kept."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest

import acai_jupyter as acai
from acai_jupyter.client import code as snapshots
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError, JobRefused
from tests.integration.faces import Notebook, ipython
from tests.integration.places import Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acai_jupyter.client.http import Client
    from tests.integration.places import Server

PROGRAM = "from lib.nets import net\nprint(net())\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    place = Place(tmp_path_factory.mktemp("place"))
    for name, text in {
        "train.py": PROGRAM,
        "lib/__init__.py": "",
        "lib/nets.py": "from .parts import part\ndef net():\n    return part()\n",
        "lib/parts.py": "def part():\n    return 'a net'\n",
        "lib/unused.py": "",
        "data/a.csv": "1\n",
        "data/b.csv": "22\n",
    }.items():
        place.write(name, text)
    yield place.start()
    place.close()


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


def shell(server: Server, line: str, status: int = 0) -> str:
    done = server.place.acai(*shlex.split(line))
    assert done.returncode == status, (line, done.stdout, done.stderr)
    return done.stdout if status < 2 else done.stderr


def all_there_is(client: Client) -> Any:
    """Events tell of every change."""
    return client.call(endpoints.LIST_EVENTS).last, client.call(endpoints.LIST_JOBS).jobs[:1]


def test_a_plan_says_what_a_job_would_get_and_keeps_nothing(here: Server) -> None:
    acai.put("data", dest="/data", as_="data")
    before = all_there_is(here.client())
    said = shell(here, "submit --plan --input data --output net --cpu 2 --memory 512Mi train.py").splitlines()
    assert said[0] == "plan for 1 job; nothing was submitted"
    rows = {line.split()[0]: line.split(maxsplit=1)[1] for line in said[1:]}
    assert rows["input"] == "data:1 (2 files, 5 B, already there)"
    assert rows["output"] == "net"
    assert rows["code"].startswith("train.py and 3 modules of ./lib (")
    assert rows["environment"].startswith("Python 3.")
    assert rows["machine"].startswith("2 vCPU, 512 MB on this machine, $0.0")
    assert rows["expected"] == "not known: no such job has finished yet"
    assert rows["start"] == "at once"
    assert all_there_is(here.client()) == before


def test_modules_that_a_script_imports_go_along_and_earlier_runs_tell_how_long(here: Server) -> None:
    job = acai.submit("train.py").wait(120)
    assert job.logs() == "a net\n"
    assert job.code is not None
    files = [
        one.path.rpartition("/code.train/")[2]
        for one in here.client().call(endpoints.LIST_ENTRIES, ref=job.code).entries
    ]
    assert files == ["lib/__init__.py", "lib/nets.py", "lib/parts.py", "train.py"]
    expected = acai.submit("train.py", memory="1Gi", plan=True).snapshot.expected
    assert expected is not None
    billed = job.attempts[-1].billed_seconds
    assert (expected.runs, expected.seconds, expected.min_seconds) == (1, billed, billed)
    assert expected.cost_usd == pytest.approx(job.cost_usd)
    assert "from 1 earlier run" in repr(acai.submit("train.py", plan=True))
    assert "512 MB on this machine" in repr(acai.submit("train.py", plan=True))


def test_modules_that_a_cell_imports_go_along(notebook: Notebook) -> None:
    outcome, shown = notebook.run("%%acai run --plan\nfrom lib.nets import net\nnet()")
    assert outcome.success
    assert shown.startswith("plan for 1 job; nothing was submitted\n")
    assert "this cell and 3 modules of ./lib (" in shown
    outcome, shown = notebook.run("%%acai run\nfrom lib.nets import net\nprint(net())")
    assert outcome.success, shown
    assert shown.startswith("a net\n")


@pytest.mark.parametrize(
    "options",
    [
        "--input nothing train.py",
        "--cpu 7.3 train.py",
        "--sweep lr=1,1 train.py",
        "-p lr=1 -p LR=2 train.py",
        "--tag 'cost_usd=1' train.py",
        "--input clash train.py",
        "nothing.py",
        "--image x train.py",
    ],
)
def test_what_submit_refuses_a_plan_refuses_in_the_same_words(here: Server, options: str) -> None:
    here.place.write("clash/train.py", "other")
    acai.put("clash", dest="/", as_="clash")
    said = [here.place.acai("submit", *plan, *shlex.split(options)) for plan in ([], ["--plan"])]
    assert said[0].returncode > 1
    assert said[0].returncode == said[1].returncode
    assert said[0].stderr.replace("code.train:1", "the code") == said[1].stderr


def test_a_plan_of_a_sweep_counts_its_jobs(here: Server) -> None:
    found = json.loads(shell(here, "submit --plan --json --sweep n=1,2,3,4,5,6,7,8 train.py"))
    assert found["jobs"] == 8
    assert 1 <= found["at_once"] <= 8
    assert "plan for 8 jobs, " in shell(here, "submit --plan --sweep n=1,2,3,4,5,6,7,8 train.py")


@pytest.mark.usefixtures("here")
def test_a_plan_names_the_job_that_would_answer() -> None:
    job = acai.submit("train.py", name="answers", parameters={"n": 77}).wait(120)
    found = acai.submit("train.py", parameters={"n": 77}, cached=True, plan=True)
    assert found.snapshot.answered_by == [job.number]
    assert "nothing runs: it is answered by earlier results" in repr(found)


def test_a_plan_says_why_a_job_would_wait(here: Server) -> None:
    here.place.write("waits.py", "import time\ntime.sleep(600)\n")
    blockers = acai.sweep("waits.py", {"n": list(range(6))}, memory="512Mi", cpu=0.5)
    try:
        found = acai.submit("train.py", plan=True).snapshot
        assert found.waiting is not None
        assert found.waiting.place > 1
        assert found.waiting.sentence.startswith("It waits for")
    finally:
        blockers.kill()
    assert blockers.wait(120).has_ended


def test_much_code_is_told_with_what_is_most_of_it(here: Server, tmp_path: Path) -> None:
    folder = tmp_path / "much"
    (folder / "small").mkdir(parents=True)
    (folder / "train.py").write_text("print(1)")
    (folder / ".env").write_text("SECRET=1")
    with (folder / "weights.bin").open("wb") as file:
        file.truncate(snapshots.MUCH_BYTES + 1)
    for number in range(20):
        (folder / "small" / f"{number}.txt").write_text("x")
    said = shell(here, f"submit --plan --code {folder} train.py")
    assert "largest: weights.bin (1 file, 50 MB), small/ (20 files, 20 B), train.py (1 file, 8 B)" in said
    assert "left out: .env (it may hold a secret)" in said
    sent = shell(here, f"submit --code {folder} train.py")
    assert "much code: 22 files, 50 MB; the largest in it: weights.bin (1 file, 50 MB), small/ (20 files" in sent


def test_many_files_are_told_with_where_most_of_them_are(here: Server, tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    (tmp_path / "train.py").write_text("print(1)")
    for number in range(1, snapshots.MUCH_FILES):
        (tmp_path / "many" / f"{number}.txt").touch()
    assert "largest" not in shell(here, f"submit --plan --code {tmp_path} train.py")
    (tmp_path / "many" / "one more.txt").touch()
    said = shell(here, f"submit --plan --code {tmp_path} train.py")
    assert "largest: many/ (2,000 files, 0 B), train.py (1 file, 8 B)" in said


def test_a_folder_can_go_along_with_every_job(here: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACAI_CODE", ".")
    code = acai.submit("train.py", plan=True).snapshot.code
    assert code is not None
    assert (code.modules, code.file_count > 6) == ([], True)
    monkeypatch.setenv("ACAI_CODE", "nowhere")
    with pytest.raises(AcaiError, match="nowhere"):
        acai.submit("train.py", plan=True)
    del here


def test_a_plan_says_what_a_file_leaves_out_and_why(here: Server, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    for name in ("train.py", "big.csv", "notes/a.txt", "__pycache__/x.pyc", ".env"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
    (folder / ".acaiignore").write_text("*.csv\nnotes/\n")
    said = shell(here, f"submit --plan --code {folder} train.py")
    told = [line.strip() for line in said.splitlines() if "left out" in line]
    assert told[0] == "left out: .env (it may hold a secret)"
    assert told[1:3] == [
        "left out: big.csv (matched `*.csv` of .acaiignore)",
        "left out: notes/ (matched `notes/` of .acaiignore)",
    ]
    assert any("__pycache__" in line for line in told[3:])  # what nobody wrote down comes last


def test_a_plan_looks_at_variables_and_at_what_they_would_be_answered_by(notebook: Notebook) -> None:
    notebook.run("value, other, stream = [1, 2], [3], [open('train.py')]")
    cell = "print(value)\nopen('output/x', 'w').write('x')"
    outcome, shown = notebook.run(f"%%acai run --send value --handle first\n{cell}")
    assert outcome.success, shown
    number = notebook.run("first.number")[0].result
    planned = f"%%acai run --plan --cached --send value\n{cell}"
    shown = notebook.run(planned)[1]
    assert "variables    sent: value (list, " in shown
    assert "nothing runs: it is answered by earlier results" in shown
    shown = notebook.run(f"value = [1, 2, 3]\nget_ipython().run_cell({planned!r})")[1]
    assert "nothing runs" not in shown
    assert notebook.run("first.number")[0].result == number
    outcome, shown = notebook.run("%%acai run --plan --send stream\nprint(stream)")
    assert "stream holds an open file" in shown
    notebook.run("stream[0].close()")


@pytest.mark.usefixtures("here")
def test_what_a_notebook_shows_of_a_plan() -> None:
    forms = acai.submit(command="true", plan=True)._repr_mimebundle_()
    assert forms["application/vnd.acai.plan+json"]["jobs"] == 1
    assert forms["text/html"].startswith('<div class="acai-plan"')
    assert forms["text/plain"].startswith("plan for 1 job; nothing was submitted\n")
    with pytest.raises(JobRefused):
        acai.submit(command="true", output_folder="a/../b", plan=True)
