"""`%acai` and `%%acai run` in a real IPython, with a real server and real jobs behind them."""

from __future__ import annotations

import atexit
import json
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
import websocket
from IPython.core.interactiveshell import InteractiveShell

from acai_jupyter.contract.errors import JobFailed
from tests.integration.places import TOKEN, Place, Server, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

JOBS = "/v1/projects/default/jobs"


@pytest.fixture
def shell(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """An IPython of the server's user, with the extension loaded, in the user's working folder."""
    for name, value in server.place.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(server.place.work)
    shell = InteractiveShell(colors="nocolor")
    assert shell.history_manager is not None
    shell.history_manager.enabled = False
    shell.run_cell("%load_ext acai_jupyter").raise_error()
    yield shell
    atexit.unregister(shell.atexit_operations)
    shell.history_manager.end_session()
    shell.history_manager.db.close()


class Cell:
    """What running a cell did and showed."""

    def __init__(self, shell: InteractiveShell, capsys: pytest.CaptureFixture[str], text: str) -> None:
        capsys.readouterr()
        self.outcome = shell.run_cell(text)
        captured = capsys.readouterr()
        self.shown = captured.out + captured.err

    @property
    def error(self) -> str:
        assert not self.outcome.success
        return str(self.outcome.error_in_exec)


def count(server: Server) -> int:
    return len(server.get(JOBS)["jobs"])


def test_status_says_what_one_is_connected_to(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    cell = Cell(shell, capsys, "%acai status")
    assert cell.outcome.success
    assert "ACAI 0." in cell.shown
    assert "project default" in cell.shown


def test_put_and_a_run_and_one_step_back(
    server: Server, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    server.place.write("digits/1.txt", "one")
    assert "digits:1" in Cell(shell, capsys, "%acai put ./digits /digits --as digits").shown
    text = "print('seen', open('digits/1.txt').read())\nopen('output/model', 'w').write('m')"
    cell = Cell(shell, capsys, f"%%acai run --input digits --output model --cpu 1 --memory 1Gi\n{text}")
    assert cell.outcome.success, cell.shown
    assert cell.shown.startswith("seen one\n")  # the log, and the cell waits for the end
    assert "finished" in cell.shown
    assert "digits:1 → model:1" in cell.shown
    assert "job" in (back := Cell(shell, capsys, "%acai provenance model").shown)
    assert "digits:1" in back


def test_a_braced_or_dollared_word_stays_as_it_was_typed(
    server: Server, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.user_ns["lr"] = "expanded"
    line = "%%acai run -p a={lr} -p b=$lr -p c='{not python' --name '{lr} $lr'"
    cell = Cell(shell, capsys, f"{line}\nimport os; print(os.environ['ACAI_PARAM_A'], '{{lr}}', '$lr')")
    assert cell.outcome.success, cell.shown
    assert "{lr} {lr} $lr" in cell.shown
    job = server.get(JOBS)["jobs"][0]
    assert job["parameters"] == {"a": "{lr}", "b": "$lr", "c": "{not python"}
    assert job["name"] == "{lr} $lr"


def test_a_failing_cell_is_an_error_so_that_run_all_stops(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = Cell(shell, capsys, "%%acai run\nx = 1\nraise ValueError('told you')")
    assert not cell.outcome.success
    assert "ValueError: told you" in cell.shown
    assert "line 3" in cell.shown  # as JupyterLab counts the cell's lines
    assert "failed (exit 1)" in cell.error
    assert "magics.py" not in cell.shown  # nothing of the inside


def test_watching_a_job_that_failed_fails_the_cell_too(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    Cell(shell, capsys, "%%acai run --handle bad\nx = 1\nraise ValueError('told you')")
    number = shell.user_ns["bad"].number
    attached = Cell(shell, capsys, f"%acai attach {number}")
    assert "line 3" in attached.shown
    for cell in (attached, Cell(shell, capsys, f"%acai wait {number}")):
        assert isinstance(cell.outcome.error_in_exec, JobFailed)
        assert "failed (exit 1)" in cell.error
        assert cell.shown.count("failed (exit 1)") == 1
    assert Cell(shell, capsys, f"%acai wait --json {number}").outcome.result["state"] == "failed"
    assert Cell(shell, capsys, f"%acai job {number}").outcome.success  # only looking is no watching


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("!ls", 2),
        ("x = 1\n%time x", 3),
        ("import os\n\nif True:\n    !ls {x}", 5),
        ("%matplotlib inline", 2),
        ("files = !ls", 2),
        ("x = %pwd", 2),
        ("%%time\nx = 1", 2),
    ],
)
def test_lines_of_ipython_are_refused_with_their_number_before_anything_is_submitted(
    server: Server, shell: InteractiveShell, capsys: pytest.CaptureFixture[str], text: str, number: int
) -> None:
    before = count(server)
    cell = Cell(shell, capsys, f"%%acai run\n{text}")
    assert f"Line {number} " in cell.error
    assert "plain Python" in cell.error
    assert count(server) == before


def test_a_cell_that_is_not_python_is_refused_with_its_line(
    server: Server, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    before = count(server)
    assert "Line 3 is not Python" in Cell(shell, capsys, "%%acai run\nx = 1\nx = = 2").error
    assert count(server) == before


@pytest.mark.parametrize(
    "text",
    [
        "%acai nothing",
        "%acai put",
        "%acai put 'unclosed /x",
        "%acai put ./no-such /x",
        "%acai job 999",
        "%acai wait --no-such-option 1",
        "%%acai walk\nx = 1",
        "%%acai\nx = 1",
        "%%acai run --no-such-option\nx = 1",
        "%%acai run --input no-such-set\nx = 1",
        "%%acai run --memory much\nx = 1",
        "%%acai run --cpu 0.3\nx = 1",
    ],
)
def test_misuse_is_one_line(
    server: Server, shell: InteractiveShell, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    before = count(server)
    cell = Cell(shell, capsys, text)
    assert not cell.outcome.success
    assert len(cell.shown.strip().splitlines()) == 1, cell.shown
    assert cell.shown.startswith("UsageError: ")
    assert count(server) == before


def test_help_is_shown_and_is_no_error(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    for line in ("%acai", "%acai --help", "%acai put --help"):
        cell = Cell(shell, capsys, line)
        assert cell.outcome.success
        assert "usage: %acai" in cell.shown


def test_things_are_tagged_and_found_in_a_notebook(
    server: Server, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    server.place.write("found/1.txt", "one")
    Cell(shell, capsys, "%acai put ./found /found --as found")
    assert "found:1 · stage draft · tags new" in Cell(shell, capsys, "%acai tag found stage=draft +new").shown
    assert "1 changed" in Cell(shell, capsys, "%acai tag filesets --where \"'new' in tags\" stage=final -new").shown
    cell = Cell(shell, capsys, "%acai find filesets \"stage = 'final'\" --columns stage,file_count")
    assert [line.split() for line in cell.shown.splitlines()[-2:]] == [
        ["file", "set", "stage", "file_count"],
        ["found:1", "final", "1"],
    ]
    wrong = Cell(shell, capsys, "%acai find filesets \"stage = 'final' and or 1\"").shown.splitlines()
    assert wrong[0].startswith("UsageError: The query is not understood at column 21")
    assert wrong[-1].index("^") == wrong[-2].index("or 1")


def test_a_cell_is_told_which_of_its_lines_are_almost_tags(
    shell: InteractiveShell, capsys: pytest.CaptureFixture[str]
) -> None:
    cell = Cell(shell, capsys, "%%acai run\nprint('plain')\nprint('[ACAI_TAG] job nonsense')")
    assert cell.outcome.success, cell.shown
    assert cell.shown.count("line 2 looks like a tag but there is no colon between key and value") == 1


def test_a_result_can_be_had_as_data(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    assert Cell(shell, capsys, "%acai status --json").outcome.result["project"] == "default"


def test_the_verbs_are_python_too(server: Server, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    server.place.write("train.py", "open('output/x', 'w')")
    text = "import acai_jupyter as acai\njob = acai.submit('train.py', output='by-python', parameters={'lr': 1})"
    cell = Cell(shell, capsys, f"{text}\njob.number, acai.status().project")
    assert cell.outcome.result == (server.get(JOBS)["jobs"][0]["number"], "default"), cell.shown


# -- a kernel that JupyterLab started


def execute(
    server: Server,
    kernel: str,
    code: str,
    watch: Callable[[dict[str, Any]], None] = lambda _: None,
    *,
    asks: bool = False,
    **metadata: Any,
) -> list[dict[str, Any]]:
    """Run a cell in a kernel as a browser does, and return the messages it sent until it was idle.

    `asks` says that somebody could be asked for input.
    """
    address = f"{server.root.replace('http', 'ws', 1)}/api/kernels/{kernel}/channels"
    header = {"msg_id": uuid4().hex, "msg_type": "execute_request", "username": "", "session": "s", "version": "5.3"}
    content = {"code": code, "silent": False, "store_history": False, "user_expressions": {}, "allow_stdin": asks}
    request = {
        "header": header,
        "parent_header": {},
        "metadata": {"cellId": "a-cell", **metadata},
        "content": content,
        "channel": "shell",
    }
    stream = websocket.create_connection(address, header=[f"Authorization: token {TOKEN}"], timeout=120)
    try:
        stream.send(json.dumps(request))
        found: list[dict[str, Any]] = []
        while True:
            message = json.loads(stream.recv())
            if message["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            found.append(message)
            watch(message)
            if message["msg_type"] == "status" and message["content"]["execution_state"] == "idle":
                return found
    finally:
        stream.close()


def shown(messages: list[dict[str, Any]]) -> str:
    """All text that a cell showed."""
    texts = [m["content"].get("text") or m["content"].get("data", {}).get("text/plain", "") for m in messages]
    return "".join(map(str, texts)) + "".join(str(m["content"].get("evalue", "")) for m in messages)


def test_a_kernel_of_jupyterlab_finds_its_server_with_no_configuration(place: Place) -> None:
    server = place.start(program="lab", base_url="/user/me/")
    kernel = server.ask("POST", "/api/kernels", {"name": "python3"}, base="").json["id"]
    assert "ACAI 0." in shown(execute(server, kernel, "%load_ext acai_jupyter\n%acai status"))
    ran = execute(server, kernel, "%%acai run --output made\nopen('output/x', 'w')\nprint('from the job')")
    assert "from the job" in shown(ran)
    assert "finished" in shown(ran)
    assert server.get(f"{JOBS}/1/request")["request"]["template"] == "cell#a-cell ()"
    bundle = next(m["content"]["data"] for m in ran if m["msg_type"] == "display_data")
    assert {"text/plain", "text/html", "application/vnd.acai.job+json"} <= set(bundle)
    failed = execute(server, kernel, "%%acai run\nraise SystemExit(3)")
    assert any(m["msg_type"] == "error" for m in failed)
    assert "exit 3" in shown(failed)
    assert server.ask("GET", "/lab", base="").status == 200
    assert server.ask("DELETE", f"/api/kernels/{kernel}", base="").status == 204


def test_a_cell_without_a_name_is_profiled_as_itself_and_its_machine_is_chosen_by_that(place: Place) -> None:
    server = place.start()
    kernel = server.ask("POST", "/api/kernels", {"name": "python3"}, base="").json["id"]
    execute(server, kernel, "%load_ext acai_jupyter")
    program = "import time\ntime.sleep(0.5 * epoch)\nprint(epoch)"
    line = "%%acai profile --cpus 0.5 --memories 512Mi -p epoch={1,2,3,4}"
    begun = shown(execute(server, kernel, f"{line}\n{program}"))
    assert "profile cell#a-cell (epoch): 4 runs possible, one by one" in begun
    assert "what it teaches: %acai profile show 'cell#a-cell (epoch)'" in begun
    assert "4 of 4 possible runs were made" in shown(execute(server, kernel, "%acai wait profile-1"))
    jobs = server.get(JOBS)["jobs"]
    assert {(job["state"], job["parameters"]["epoch"]) for job in jobs} == {("finished", n) for n in (1, 2, 3, 4)}
    plan = shown(execute(server, kernel, f"%%acai run --plan -p epoch=3 --max-time 30m\n{program}"))
    assert "from 4 earlier runs" in plan
    assert "0.5 vCPU" in plan
    refused = shown(execute(server, kernel, f"%%acai run -p epoch=3 --max-cost 0.000000001\n{program}"))
    assert "you allowed $0.000000001. Nothing was submitted." in refused
    nowhere = shown(execute(server, kernel, f"{line}\n{program}", cellId=None))
    assert "A profile has a name: --name NAME." in nowhere
    assert len(server.get(JOBS)["jobs"]) == 4
    server.ask("DELETE", f"/api/kernels/{kernel}", base="")


def test_a_kernel_goes_to_the_server_that_started_it(place: Place) -> None:
    first = place.start()
    second = place.start()
    kernel = second.ask("POST", "/api/kernels", {"name": "python3"}, base="").json["id"]
    execute(second, kernel, "%load_ext acai_jupyter")
    assert "ACAI 0." in shown(execute(second, kernel, "%acai status"))
    first.end()
    until(lambda: second.status().status == 200 and second.status().json["mode"] == "serving", "the second taking over")
    assert "ACAI 0." in shown(execute(second, kernel, "%acai status"))
    second.ask("DELETE", f"/api/kernels/{kernel}", base="")
