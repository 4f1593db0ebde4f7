"""Jobs as Python objects, and live in the cells of a real kernel."""

from __future__ import annotations

import json
import pickle
import re
import threading
from typing import TYPE_CHECKING, Any

import pytest

import acai_jupyter as acai
from acai_jupyter.client.http import Client
from acai_jupyter.commands.displays import cleaned
from acai_jupyter.contract.errors import Conflict, JobFailed, JobNotFound, NotFound
from tests.integration.places import Server, until
from tests.integration.test_following import ended, is_running, submit
from tests.integration.test_magics import execute, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def here(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server that this process finds as its user's."""
    for name, value in server.place.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(server.place.work)
    return server


def test_a_job_is_submitted_followed_and_looked_at(here: Server, tmp_path: Path) -> None:
    program = "import acai_jupyter\nprint('a\\nb')\nacai_jupyter.tag('accuracy', 0.97)\n"
    here.place.write("train.py", f"{program}open('output/m', 'w').write('m')\nprint('end', end='')")
    job = acai.submit("train.py", output="model")
    assert isinstance(job, acai.Job)
    assert [line for line in job.follow() if "ACAI_TAG" not in line] == ["a", "b", "end"]
    assert job.wait() is job
    assert (job.state, job.has_ended, job.exit_code) == ("finished", True, 0)
    assert job.attributes["accuracy"] == 0.97
    assert job.output is not None
    assert job.output.ref == "model:1"
    job.output.get(tmp_path / "out")
    assert (tmp_path / "out" / "model" / "m").read_text() == "m"
    assert job.result() == job.output
    assert job.logs().startswith("a\nb\n")
    assert job.cost_usd
    assert job.cost_usd > 0
    assert repr(job).startswith(f"job {job.number} · finished · ")
    assert job.why() == repr(job)
    acai.annotate(job, {"stage": "final"}, add=["good"])
    assert (job.attributes["stage"], job.tags) == ("final", ["good"])


def test_a_handle_tells_how_the_job_stands_when_it_is_asked(here: Server, tmp_path: Path) -> None:
    number = submit(here, f"print('here'); wait_for({str(tmp_path / 'gate')!r})")
    job = acai.job(number)
    until(lambda: is_running(here, number), "the job running")
    until(lambda: job.state == "running", "its being seen")
    assert job.why().startswith(f"job {number} is running")
    assert job.output is None
    with pytest.raises(TimeoutError, match=f"job {number} is running after 0.1 s"):
        job.wait(timeout=0.1)
    (tmp_path / "gate").touch()
    assert job.wait().state == "finished"


def test_a_job_that_did_not_finish_is_an_error_only_where_its_result_is_asked_for(here: Server) -> None:
    job = acai.job(ended(here, "sys.exit(3)"))
    assert job.wait().reason == "exit 3"
    with pytest.raises(JobFailed, match=rf"job {job.number} failed \(exit 3\)"):
        job.result()
    with pytest.raises(NotFound, match="no attempt 2; it has had 1"):
        job.logs(attempt=2)
    with pytest.raises(JobNotFound):
        acai.job(99999)


def test_jobs_are_found_ended_and_deleted(here: Server, tmp_path: Path) -> None:
    numbers = [submit(here, f"wait_for({str(tmp_path / 'gate')!r})", tags=["to-end"]) for _ in range(2)]
    found = acai.jobs("'to-end' in tags")
    assert sorted(job.number for job in found) == numbers
    acai.kill(*found)
    assert {job.state for job in acai.wait(*numbers)} == {"killed"}
    assert acai.why(numbers[0]).startswith(f"job {numbers[0]} was killed by ")
    with pytest.raises(Conflict, match="nothing to end"):
        acai.kill(numbers[0])
    acai.remove_job(numbers[0])
    assert numbers[0] not in [job.number for job in acai.jobs()]
    assert [job.number for job in acai.jobs(limit=1)] == numbers[1:]
    acai.remove_job(found[0], undo=True)


def test_a_handle_can_be_pickled_without_a_token_and_told_apart(here: Server) -> None:
    number = ended(here, "")
    job = acai.job(number)
    sent = pickle.dumps(job)
    assert here.token.encode() not in sent
    assert pickle.loads(sent) == job
    assert len({job, acai.job(number), acai.job(number - 1) if number > 1 else job}) <= 2
    assert json.loads(json.dumps(job.plain()))["number"] == number


def test_a_handle_shows_nothing_hostile(here: Server) -> None:
    evil = "<img src=x onerror=alert(1)>\x1b]0;x\x07"
    job = acai.job(ended(here, "print(1)", description=evil, tags=["<b>"], attributes={"a": evil}))
    html = job._repr_html_()
    assert html
    for bad in ("<img", "<b>", "\x1b", "\x07"):
        assert bad not in html
    assert "\x1b" not in repr(job)
    assert set(job._repr_mimebundle_()) == {"text/plain", "text/html", "application/vnd.acai.job+json"}


def test_a_handle_shows_what_was_known_when_the_server_is_gone(here: Server) -> None:
    job = acai.job(ended(here, ""))
    lost = acai.Job(Client(here.client().connection.__class__("http://127.0.0.1:9", "none")), job.number)
    assert repr(lost) == f"job {job.number}"
    assert lost._repr_mimebundle_() == {"text/plain": f"job {job.number}"}


@pytest.mark.parametrize("odd", [None, 3, "x", [], {"data": 3}, {"data": {}}, {"metadata": {}}])
def test_what_is_no_display_is_left_out(odd: Any) -> None:
    assert cleaned([odd], is_own=True) == []


def test_of_others_only_forms_that_run_nothing_are_shown() -> None:
    active = {"text/html": "<script>", "application/javascript": "x", "image/svg+xml": "<svg/>", "text/plain": "x"}
    assert cleaned([{"data": active, "metadata": {"text/html": {}}}], is_own=False) == [
        {"data": {"text/plain": "x"}, "metadata": {}}
    ]
    assert cleaned([{"data": active}], is_own=True) == [{"data": active, "metadata": {}}]


# -- the cells of a kernel


@pytest.fixture(scope="module")
def kernel(server: Server) -> Iterator[str]:
    """A kernel with the extension loaded."""
    name = server.ask("POST", "/api/kernels", {"name": "python3"}, base="").json["id"]
    execute(server, name, "%load_ext acai_jupyter\nimport acai_jupyter as acai")
    yield name
    server.ask("DELETE", f"/api/kernels/{name}", base="")


def streamed(messages: list[dict[str, Any]]) -> str:
    return "".join(m["content"]["text"] for m in messages if m["msg_type"] == "stream")


def displayed(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [m["content"]["data"] for m in messages if m["msg_type"] == "display_data"]


def renewed(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """What takes the place of a display in the end."""
    found: dict[str, Any] = [m["content"]["data"] for m in messages if m["msg_type"] == "update_display_data"][-1]
    return found


def test_a_cell_shows_its_log_then_what_it_displayed_then_how_it_ended(server: Server, kernel: str) -> None:
    cell = "%%acai run\nfrom IPython.display import HTML, display\nimport sys\n"
    cell += "for n in range(3): print(f'\\r{n}', end='', flush=True)\n"
    cell += "print('\\x1b]0;title\\x07\\x1b[31mred\\x1b[0m')\ndisplay(HTML('<b>bold</b>'))\n[1, 2]"
    messages = execute(server, kernel, cell)
    assert streamed(messages).rpartition("\r")[2] == "2\x1b[31mred\x1b[0m\n"
    begun, first, second = displayed(messages)
    line = renewed(messages)
    assert first["text/html"] == "<b>bold</b>"
    assert second["text/plain"] == "[1, 2]"
    assert " · finished · " in line["text/plain"]
    number = line["application/vnd.acai.job+json"]["number"]
    assert begun["text/plain"] == f"job {number} queued · watch: %acai attach {number}"
    assert begun["application/vnd.acai.job+json"]["number"] == number
    again = execute(server, kernel, f"%acai attach {number}")
    assert [bundle["text/plain"] for bundle in displayed(again)[1:]] == [first["text/plain"], second["text/plain"]]
    assert renewed(again)["text/plain"] == line["text/plain"]
    value = execute(server, kernel, f"acai.job({number}).displays[0]")
    assert next(m for m in value if m["msg_type"] == "execute_result")["content"]["data"]["text/html"] == "<b>bold</b>"


def test_displays_of_a_cached_answer_are_trusted_by_who_made_them(server: Server, kernel: str) -> None:
    cell = "from IPython.display import HTML, display\ndisplay(HTML('<script>window.x = 1</script>'))"
    first = execute(server, kernel, f"%%acai run --output made\n{cell}")
    maker = renewed(first)["application/vnd.acai.job+json"]["number"]
    mine = execute(server, kernel, f"%%acai run --cached --output made\n{cell}")
    assert displayed(mine)[1]["text/html"] == "<script>window.x = 1</script>", "one's own job made it"

    place, now = server.place, "2026-01-01 00:00:00"
    place.sql("INSERT INTO user_account (name, created_at, is_global_admin) VALUES (?, ?, ?)", ("mallory", now, False))
    place.sql(f"UPDATE job SET user_id = (SELECT max(id) FROM user_account) WHERE number = {int(maker)}", ())
    answer = execute(server, kernel, f"%%acai run --cached --output made\n{cell}")
    number = renewed(answer)["application/vnd.acai.job+json"]["number"]
    again = execute(server, kernel, f"%acai attach {number}")
    handle = execute(server, kernel, f"acai.job({number}).displays[0]")
    assert server.get(f"/v1/projects/default/jobs/{number}")["answered_by"] == maker
    for messages in (answer, again):
        assert [set(bundle) for bundle in displayed(messages)[1:]] == [{"text/plain"}]
    assert set(next(m for m in handle if m["msg_type"] == "execute_result")["content"]["data"]) == {"text/plain"}


def test_nothing_is_printed_by_python_calls(here: Server, capfd: pytest.CaptureFixture[str]) -> None:
    job = acai.submit(command="echo said; echo no >&2", cpu=0.5, memory="512Mi")
    failed = acai.submit(command="exit 3", cpu=0.5, memory="512Mi")
    sweep = acai.sweep(command="true", values={"x": [1, 2]}, cpu=0.5, memory="512Mi")
    assert list(job.follow()) == ["said", "no"]
    with pytest.raises(JobFailed):
        failed.result()
    assert [one.number for one in acai.wait(job)] == [job.number]
    assert sweep.wait().has_ended
    assert acai.logs(job) == "said\nno\n"
    for value in (job, failed, sweep, acai.jobs(), acai.status(), acai.why(job), acai.find("jobs"), job.displays):
        repr(value)
    acai.submit(command="true", plan=True)
    assert capfd.readouterr() == ("", "")
    assert here


def gated(gate: Path) -> str:
    return f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)\n"


def test_what_a_cell_displays_comes_while_it_runs_and_changes_in_its_place(
    server: Server, kernel: str, tmp_path: Path
) -> None:
    gates, seen = [tmp_path / "first", tmp_path / "second"], []
    cell = f"%%acai run\nprint('before')\ndisplay('one')\nlast = display('two', display_id=True)\n{gated(gates[0])}"
    cell += f"last.update('three')\n{gated(gates[1])}print('after')\n'four'"

    def watch(message: dict[str, Any]) -> None:
        data = message["content"].get("data", {}).get("text/plain", "")
        seen.append(message["content"].get("text", data))
        if data == "'two'":
            gates[0].touch()
        if data == "'three'":
            gates[1].touch()

    messages = execute(server, kernel, cell, watch)
    # A kernel may send lines that are printed soon after each other in one message.
    order = re.findall(r"^(?:before|after|'one'|'two'|'three'|'four')$", "\n".join(seen), re.MULTILINE)
    assert order == ["before", "'one'", "'two'", "'three'", "after", "'four'"]
    _, one, two, four = displayed(messages)
    assert [one["text/plain"], two["text/plain"], four["text/plain"]] == ["'one'", "'two'", "'four'"]
    number = renewed(messages)["application/vnd.acai.job+json"]["number"]
    kept = [str(one) for one in acai.Job(server.client(), number).displays]
    assert kept == ["'one'", "'three'", "'four'"]


def test_what_a_cell_clears_is_cleared_in_the_notebook(server: Server, kernel: str, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    cell = f"%%acai run\ndisplay('gone')\n{gated(gate)}from IPython.display import clear_output\nclear_output()"

    def watch(message: dict[str, Any]) -> None:
        if message["content"].get("data", {}).get("text/plain") == "'gone'":
            gate.touch()

    messages = execute(server, kernel, cell, watch)
    place = next(m["content"]["transient"]["display_id"] for m in messages if "'gone'" in str(m["content"].get("data")))
    last = [m["content"]["data"] for m in messages if m["content"].get("transient", {}).get("display_id") == place][-1]
    assert last == {"text/plain": ""}


def test_a_failing_cell_shows_its_own_lines_and_one_sentence(server: Server, kernel: str) -> None:
    messages = execute(
        server, kernel, "%%acai run --keep-partial\nopen('output/x', 'w').write('x')\nraise ValueError('no')"
    )
    assert 'File "cell", line 3, in <module>' in streamed(messages)
    error = next(m["content"] for m in messages if m["msg_type"] == "error")
    assert len(error["traceback"]) == 1
    assert " failed (exit 1) after " in error["traceback"][0]
    _, _, way = error["traceback"][0].partition(" · log kept · partial outputs: ")
    assert len(displayed(messages)) == 1
    assert " failed (exit 1) after " in renewed(messages)["text/plain"]
    name = way.split()[2].removeprefix("@")
    execute(server, kernel, way)
    assert (server.place.work / name / "x").read_text() == "x"


def test_a_detached_cell_returns_at_once_and_can_be_watched(server: Server, kernel: str, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    cell = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)\nprint('over')"
    said = displayed(execute(server, kernel, f"%%acai run --detach\n{cell}"))[0]
    number = said["application/vnd.acai.job+json"]["number"]
    assert said["text/plain"].endswith(f" · watch: %acai attach {number}")
    gate.touch()
    assert streamed(execute(server, kernel, f"%acai attach {number}")) == "over\n"


@pytest.mark.parametrize(
    ("interrupted_at", "state"),
    [(["here"], "running"), (["here", "Still running"], "killed"), (["here"] * 5, "killed")],
)
def test_interrupting_a_cell_leaves_its_job_and_interrupting_again_ends_it(
    server: Server, kernel: str, tmp_path: Path, interrupted_at: list[str], state: str
) -> None:
    gate = tmp_path / "gate"
    cell = f"import pathlib, time\nprint('here')\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)"
    seen: list[dict[str, Any]] = []
    is_told = {"here": threading.Event(), "Still running": threading.Event()}

    def watch(message: dict[str, Any]) -> None:
        text = message["content"].get("text", "")
        for word, event in is_told.items():
            if word in text:
                event.set()

    running = threading.Thread(
        target=lambda: seen.extend(execute(server, kernel, f"%%acai run\n{cell}", watch)), daemon=True
    )
    running.start()
    for word in interrupted_at:
        assert is_told[word].wait(120)
        server.ask("POST", f"/api/kernels/{kernel}/interrupt", base="")
    running.join(120)
    number = acai_number(shown(seen))
    again = f"Follow again: %acai attach {number}. End it: %acai kill {number} (or interrupt again within 3 s)."
    assert f"Still running as job {number}. {again}\n" in streamed(seen)
    error = next(m["content"] for m in seen if m["msg_type"] == "error")["traceback"]
    assert (f"job {number} goes on" if state == "running" else f"job {number} was killed by ") in "".join(error)
    assert server.get(f"/v1/projects/default/jobs/{number}")["state"] == state
    gate.touch()
    server.place.acai("wait", str(number))


def acai_number(text: str) -> int:
    return int(text.partition("Still running as job ")[2].partition(".")[0])
