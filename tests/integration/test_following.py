"""Watching jobs from a shell: every byte once, whatever happens to the server; interrupts end only the watching."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.client.follow import wait
from acai_jupyter.client.http import Client
from tests.integration.places import BIN, Place, Server, until
from tests.servers import answers

if TYPE_CHECKING:
    from collections.abc import Iterator

JOBS = "/v1/projects/default/jobs"
ODD = b"\xff\xfe\0 50%\r100%\r\n\x1b[31mred\x1b[0m\x1b]0;title\x07 \xc3\n"
WAITS = """
import pathlib, sys, time
def wait_for(path):
    while not pathlib.Path(path).exists():
        time.sleep(0.02)
"""


def submit(server: Server, program: str, **asked: Any) -> int:
    body = {"command": ["python", "-u", "-c", f"{WAITS}\n{program}"], **asked}
    answer = server.ask("POST", JOBS, body)
    assert answer.status == 201, answer.body
    return int(answer.json["number"])


def ended(server: Server, program: str, **asked: Any) -> int:
    number = submit(server, program, **asked)
    wait(server.client(), number)
    return number


def state(server: Server, number: int) -> str:
    return str(server.get(f"{JOBS}/{number}")["state"])


def is_running(server: Server, number: int) -> bool:
    return bool(server.get(f"{JOBS}/{number}/log")["text"])


@contextmanager
def started(
    place: Place,
    *words: str,
    stdin: int = subprocess.DEVNULL,
    stdout: int = subprocess.PIPE,
    stderr: int = subprocess.PIPE,
) -> Iterator[subprocess.Popen[bytes]]:
    """Start the command line, with bytes on its streams, in a session of its own.

    An interrupt may come when a socket is made and nobody has it yet: what Python says of that is for developers.
    """
    with subprocess.Popen(
        [str(BIN / "acai"), *words],
        env=place.environment | {"PYTHONWARNINGS": "default,ignore::ResourceWarning"},
        cwd=place.work,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def rest_of(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    """What a process still says on its streams, until it ends; what was read ahead is among it."""
    assert process.stdout
    assert process.stderr
    said = process.stdout.read(), process.stderr.read()
    process.wait(120)
    return said


def printed(place: Place, *words: str) -> bytes:
    with started(place, *words) as process:
        out, err = rest_of(process)
    assert process.returncode == 0, err
    return out


@contextmanager
def terminal(place: Place, *words: str) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start the command line on a terminal of its own."""
    ours, theirs = pty.openpty()
    try:
        with started(place, *words, stdin=theirs, stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            yield process, ours
    finally:
        os.close(ours)


def on_terminal(place: Place, *words: str) -> str:
    """What a terminal is sent until the command ends."""
    with terminal(place, *words) as (process, ours):
        sent = b""
        with suppress(OSError):  # so Linux says that nobody holds the other end any more
            while piece := os.read(ours, 65536):
                sent += piece
        process.wait(120)
    return sent.decode().replace("\r\n", "\n")


# -- the bytes


def test_a_log_in_a_pipe_is_the_same_bytes(server: Server) -> None:
    number = ended(server, f"sys.stdout.buffer.write({ODD!r} * 40_000 + b'\\xe6')")
    assert printed(server.place, "logs", str(number)) == ODD * 40_000 + b"\xe6"
    assert printed(server.place, "logs", "-f", str(number)) == ODD * 40_000 + b"\xe6"


def test_a_log_is_followed_from_the_queue_to_its_last_byte(server: Server, tmp_path: Path) -> None:
    gate, second = tmp_path / "gate", tmp_path / "second"
    machine = server.status().json["machine"]
    cpus = float(min(8, int(machine["cpus"])))
    holder = submit(server, f"print('here'); wait_for({str(gate)!r})", resources={"vcpu": cpus})
    until(lambda: is_running(server, holder), "the machine being full")
    program = f"sys.stdout.buffer.write({ODD!r}); sys.stdout.flush(); wait_for({str(second)!r}); print('end')"
    number = submit(server, program, resources={"vcpu": cpus})
    with started(server.place, "logs", "-f", str(number)) as process:
        assert process.stdout
        assert process.stderr
        told = process.stderr.readline().decode()
        assert told.startswith(f"job {number} is queued. It waits for room: ")
        gate.touch()
        assert process.stdout.read(len(ODD)) == ODD  # while it runs
        second.touch()
        out, err = rest_of(process)
    assert (out, err, process.returncode) == (b"end\n", b"", 0)


def test_a_log_goes_on_when_the_server_is_killed_and_started_elsewhere(place: Place, tmp_path: Path) -> None:
    gates = [tmp_path / "0", tmp_path / "1"]
    server = place.start()
    program = "".join(
        f"[print({n}, k) for k in range(30_000)]; wait_for({str(gate)!r})\n" for n, gate in enumerate(gates)
    )
    number = submit(server, f"{program}print('end')")
    with started(place, "logs", "-f", str(number)) as process, (tmp_path / "log").open("wb") as copy:
        assert process.stdout
        copy.write(process.stdout.read(1000))
        server.kill()
        gates[0].touch()
        again = place.start()  # on another port
        copy.write(process.stdout.read(300_000))
        again.kill()
        gates[1].touch()
        last = place.start()
        out, err = rest_of(process)
        copy.write(out)
    assert process.returncode == 0, err
    expected = "".join(f"{n} {k}\n" for n in range(2) for k in range(30_000)) + "end\n"
    assert (tmp_path / "log").read_text() == expected
    assert state(last, number) == "finished"


def test_a_wait_goes_on_when_the_server_is_started_again(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = place.start()
    number = submit(server, f"print('here'); wait_for({str(tmp_path / 'gate')!r})")
    until(lambda: is_running(server, number), "the job running")
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    client = Client()
    assert client.status.mode == "serving"
    told: Queue[str] = Queue()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(wait, client, number, told.put)
        server.kill()
        assert told.get(timeout=120) == "The server does not answer. This goes on when it does."
        place.start()
        (tmp_path / "gate").touch()
        assert waiting.result(timeout=120).state == "finished"
    assert told.empty()


def test_a_job_that_is_tried_again_is_followed_with_a_line_that_says_so(server: Server, tmp_path: Path) -> None:
    first = f"path = pathlib.Path({str(tmp_path / 'tried')!r})\n"
    program = "print('attempt', path.exists()); tried = path.exists(); path.touch(); sys.exit(0 if tried else 3)"
    number = submit(server, first + program, retry_failed=True, retries=1)
    with started(server.place, "logs", "-f", str(number)) as process:
        out, err = rest_of(process)
    assert out.decode() == "attempt False\nattempt True\n"
    assert err.decode() == f"job {number} failed (exit 3); it is being tried again\n"
    assert printed(server.place, "logs", str(number), "--attempt", "1") == b"attempt False\n"
    assert printed(server.place, "logs", str(number)) == b"attempt True\n"
    refused = server.place.acai("logs", str(number), "--attempt", "3")
    assert (refused.returncode, refused.stderr) == (3, f"Job {number} has no attempt 3; it has had 2.\n")


def test_running_out_of_memory_is_told_with_what_the_next_attempt_has(server: Server) -> None:
    mib = 1024**2
    program = "held = bytearray(700 * 1024**2); print(len(held))"
    resources = {"memory_bytes": 512 * mib, "max_memory_bytes": 1024 * mib}
    number = submit(server, program, resources=resources)
    done = server.place.acai("attach", str(number))
    told = rf"job {number} ran out of memory at 512 MB after \d+ s; it is being tried again with 1 GB"
    told += r" \(your limit is 1 GB\)\n"
    assert re.search(told, done.stderr), done.stderr
    assert done.returncode == 0, done.stdout
    assert str(700 * mib) in done.stdout


# -- a terminal


@pytest.mark.parametrize("how", [(), ("-f",)])
def test_a_terminal_is_sent_text_and_colours_and_nothing_else(server: Server, how: tuple[str, ...]) -> None:
    program = "for n in range(0, 101, 10): print(f'\\r{n}%', end='')\nprint()\n"
    program += "sys.stdout.write('\\x1b[31mred\\x1b[0m\\x1b]52;c;aGk=\\x07\\x1b]0;title\\x07\\x1b[2J\\x1b[Hsafe\\n')"
    number = ended(server, program)
    sent = on_terminal(server.place, "logs", *how, str(number))
    assert sent == "100%\n\x1b[31mred\x1b[0msafe\n"


HOSTILE = "\x1b]0;title\x07\x1b]52;c;aGk=\x07\x9d0;c1\x9c\x1b[2J\x1b[31mred\x1b[0m\x07\n"


def test_raw_sends_a_terminal_everything(server: Server) -> None:
    number = ended(server, f"sys.stdout.write({HOSTILE!r})")
    for words in (("logs",), ("logs", "-f"), ("attach",)):
        assert on_terminal(server.place, *words, str(number)).startswith("\x1b[31mred\x1b[0m\n")
        assert on_terminal(server.place, *words, "--raw", str(number)).startswith(HOSTILE)


def test_a_file_is_shown_on_a_terminal_and_copied_into_a_pipe(server: Server) -> None:
    server.place.write("hostile.txt", HOSTILE)
    assert server.place.acai("put", "hostile.txt", "/hostile.txt").returncode == 0
    assert on_terminal(server.place, "cat", "/hostile.txt") == "\x1b[31mred\x1b[0m\n"
    assert on_terminal(server.place, "cat", "--raw", "/hostile.txt") == HOSTILE
    assert printed(server.place, "cat", "/hostile.txt") == HOSTILE.encode()


def test_an_error_of_a_server_does_nothing_to_a_terminal(server: Server) -> None:
    said = {"error": {"code": "conflict", "message": HOSTILE, "details": {}}}
    answer = answers.Answer(409, json.dumps(said).encode(), {"Content-Type": "application/json"})
    with answers.service(answer) as hostile:
        config = server.place.home / "config" / "acai" / "config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f"url = '{hostile.url}'\ntoken = 'acai_x'\n")
        try:
            sent = on_terminal(server.place, "status")
        finally:
            config.unlink()
    assert r"\x1b]0;title\x07\x1b]52;c;aGk=\x07\x9d0;c1\x9c\x1b[2J" in sent
    assert not re.search(r"\x1b[^\[]|\x07|\x9d|\x1b\[2J", sent)


def test_a_progress_bar_moves_on_a_terminal_while_the_job_runs(server: Server, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    number = submit(server, f"print('10%', end=''); wait_for({str(gate)!r}); print('\\r20%')")
    with terminal(server.place, "logs", "-f", str(number)) as (process, ours):
        sent = b""
        while b"10%" not in sent:
            sent += os.read(ours, 1000)
        gate.touch()
        while b"20%\r\n" not in sent:
            sent += os.read(ours, 1000)
        process.wait(120)
    assert sent == b"10%\r20%\r\n"


# -- interrupts


def still_running(number: int) -> str:
    return f"Still running as job {number}. Follow again: acai attach {number}. End it: acai kill {number}"


@pytest.fixture
def running(server: Server, tmp_path: Path) -> Iterator[int]:
    """A job that runs until the test is over."""
    number = submit(server, f"print('here'); wait_for({str(tmp_path / 'over')!r})")
    until(lambda: is_running(server, number), "the job running")
    yield number
    (tmp_path / "over").touch()
    wait(server.client(), number)


def test_an_interrupt_of_logs_says_how_to_go_on_and_the_job_goes_on(server: Server, running: int) -> None:
    with started(server.place, "logs", "-f", str(running)) as process:
        assert process.stdout
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGINT)
        out, err = rest_of(process)
    assert (process.returncode, out, err.decode()) == (130, b"", f"{still_running(running)}.\n")
    until(lambda: state(server, running) == "running", "the job going on")


def test_an_interrupt_of_a_live_view_leaves_the_job(server: Server, running: int) -> None:
    with started(server.place, "attach", str(running)) as process:
        assert process.stdout
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGINT)
        _, err = rest_of(process)
    assert process.returncode == 130
    assert err.decode() == f"{still_running(running)} (or interrupt again within 3 s).\n"
    until(lambda: state(server, running) == "running", "the job going on")


def test_a_second_interrupt_of_a_live_view_ends_the_job(server: Server, running: int) -> None:
    with started(server.place, "attach", str(running)) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.readline().endswith(b"(or interrupt again within 3 s).\n")
        process.send_signal(signal.SIGINT)
        out, _ = rest_of(process)
    assert process.returncode == 1
    assert re.match(rf"job {running} was killed by \S+ after ", out.decode())
    assert state(server, running) == "killed"


def test_many_interrupts_at_once_end_the_job_and_nothing_else(server: Server, running: int) -> None:
    with started(server.place, "attach", str(running)) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGINT)
        signals = ThreadPoolExecutor(1)
        with signals:
            said = signals.submit(process.stderr.read)
            while process.poll() is None:
                process.send_signal(signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.01)
            err = said.result(60)
    assert process.returncode in (1, 130)  # the last of them can come when the end has been told
    assert err.startswith(f"{still_running(running)} (or interrupt again within 3 s).\n".encode())
    assert wait(server.client(), running).state == "killed"


@pytest.mark.parametrize("verb", [("logs", "-f"), ("attach",)])
def test_an_interrupt_does_not_say_that_a_job_runs_that_has_ended(server: Server, verb: tuple[str, ...]) -> None:
    number = ended(server, "sys.stdout.write('line\\n' * 4_000_000)")
    with started(server.place, *verb, str(number)) as process:  # nobody reads the rest, so it cannot come to its end
        assert process.stdout
        assert process.stdout.readline() == b"line\n"
        process.send_signal(signal.SIGINT)
        _, err = rest_of(process)
    assert process.returncode == 130
    said, more = err.decode().splitlines()
    assert said.startswith(f"job {number} · finished · ")
    assert more == f"Show it again: acai attach {number}"


def test_an_interrupt_of_a_wait_names_the_line_to_wait_again(server: Server, running: int) -> None:
    other = ended(server, "")
    with started(server.place, "wait", str(running), str(other)) as process:
        until(lambda: _waits(process.pid), "the waiting")
        process.send_signal(signal.SIGINT)
        _, err = rest_of(process)
    assert process.returncode == 130
    assert err.decode() == f"The jobs go on. Wait again: acai wait {running} {other}\n"


def _waits(pid: int) -> bool:
    """Whether a process has a connection open."""
    with suppress(OSError):
        return any(str(link.readlink()).startswith("socket:") for link in Path(f"/proc/{pid}/fd").iterdir())
    return False


# -- how a job is waited for, ended and deleted


def test_a_wait_tells_by_its_status_whether_all_jobs_finished(server: Server) -> None:
    good, bad = ended(server, ""), ended(server, "sys.exit(7)")
    assert server.place.acai("wait", str(good)).returncode == 0
    both = server.place.acai("wait", str(good), str(bad))
    assert both.returncode == 1
    assert [line.split(" · ")[0] for line in both.stdout.splitlines()] == [
        f"job {good}",
        re.match(rf"job {bad} failed \(exit 7\) after [0-9.]+ s", both.stdout.splitlines()[1])[0],  # type: ignore[index]
    ]
    assert server.place.acai("wait", "--exit-code", str(bad)).returncode == 7
    assert server.place.acai("wait", "--exit-code", str(good)).returncode == 0
    assert server.place.acai("wait", "--exit-code", str(good), str(bad)).returncode == 2
    assert len(json.loads(server.place.acai("wait", "--json", str(good), str(bad)).stdout)) == 2


def test_a_killed_job_whose_program_ends_well_is_no_success(server: Server, tmp_path: Path) -> None:
    program = "import signal; signal.signal(15, lambda *_: sys.exit(0)); print('here')"
    number = submit(server, f"{program}; wait_for({str(tmp_path / 'never')!r})")
    until(lambda: is_running(server, number), "the job running")
    server.place.acai("kill", str(number))
    assert server.place.acai("wait", "--exit-code", str(number)).returncode == 1
    attempt = server.get(f"{JOBS}/{number}")["attempts"][-1]
    assert attempt["exit_code"] == 0  # else this test tests nothing


def test_jobs_are_ended_in_any_state(server: Server, running: int) -> None:
    cpus = float(min(8, int(server.status().json["machine"]["cpus"])))
    queued = submit(server, "", resources={"vcpu": cpus})
    done = server.place.acai("kill", str(running), str(queued))
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert re.match(rf"job {running} was killed by \S+ after .* s · log kept", first)
    assert re.match(rf"job {queued} was killed by \S+", second)
    again = server.place.acai("kill", str(running))
    assert (again.returncode, again.stdout) == (6, "")
    assert f"job {running} is killed; there is nothing to end" in again.stderr


def test_some_that_cannot_be_ended_do_not_keep_others_from_their_end(server: Server, running: int) -> None:
    over = ended(server, "")
    done = server.place.acai("kill", str(over), str(running), "99999")
    assert done.returncode == 1
    assert f"job {over} is finished; there is nothing to end" in done.stdout
    assert f"job {running} was killed" in done.stdout
    assert "There is no job 99999." in done.stdout


def test_a_program_that_does_not_follow_at_once_is_said_to_be_being_ended(server: Server, tmp_path: Path) -> None:
    program = f"import signal; signal.signal(15, signal.SIG_IGN); print('deaf'); wait_for({str(tmp_path / 'gate')!r})"
    number = submit(server, program)
    until(lambda: is_running(server, number), "the job running")
    done = server.place.acai("kill", str(number))
    assert done.returncode == 0
    assert done.stdout.startswith(f"job {number} is being ended")
    assert "it is being ended" in server.place.acai("why", str(number)).stdout
    (tmp_path / "gate").touch()
    assert wait(server.client(), number).state == "killed"


def test_a_job_is_deleted_and_comes_back(server: Server, running: int) -> None:
    number = ended(server, "print('kept')")
    deleted = server.place.acai("rm-job", str(number))
    assert deleted.stdout == f"job {number} was deleted. Bring it back: acai rm-job --undo {number}\n"
    listed = server.place.acai("jobs").stdout
    assert not re.search(rf"^ *{number} ", listed, re.MULTILINE)
    assert server.place.acai("rm-job", "--undo", str(number)).stdout == f"job {number} is back.\n"
    assert printed(server.place, "logs", str(number)) == b"kept\n"
    refused = server.place.acai("rm-job", str(running))
    assert refused.returncode == 6
    assert f"acai kill {running}" in refused.stderr


def test_every_job_says_why_it_is_where_it_is(server: Server, running: int) -> None:
    cpus = float(min(8, int(server.status().json["machine"]["cpus"])))
    queued = submit(server, "", resources={"vcpu": cpus})
    said = server.place.acai("why", str(queued)).stdout
    assert said.startswith(f"job {queued} is queued. It waits for room: ")
    assert f"job {running}" in said
    assert "It is number 1 in its queue" in said
    assert server.place.acai("why", str(running)).stdout.startswith(
        f"job {running} is running: its program runs, since "
    )
    server.place.acai("kill", str(queued))
    assert server.place.acai("why", str(queued)).stdout.startswith(f"job {queued} was killed by ")


def test_a_job_that_was_to_be_answered_says_what_kept_it_from_that(server: Server) -> None:
    first = ended(server, "print(1)", template="memo", parameters={"lr": 1})
    same = ended(server, "print(1)", template="memo", parameters={"lr": 1}, cached=True)
    other = ended(server, "print(1)", template="memo", parameters={"lr": 2}, cached=True)
    waited = server.place.acai("wait", str(same)).stdout
    assert waited.startswith(f"job {same} · finished · answered by job {first}, which was the same, saved ")
    attached = server.place.acai("attach", str(same))
    told = f"job {same} printed nothing: it was answered by job {first}, whose log is in acai logs {first}\n"
    assert (attached.stdout, attached.stderr) == (waited, told)
    said = server.place.acai("why", str(other)).stdout.splitlines()
    assert said[1] == f"It differs from job {first}, the nearest, in parameter lr."
    assert [line.split() for line in said[2:]] == [
        ["what", "differs", "job", str(first), "now"],
        ["parameter", "lr", "1", "2"],
    ]
    assert server.place.acai("why", "--miss", str(first)).returncode == 0
    for line in (("logs",), ("logs", "-f")):
        logs = server.place.acai(*line, str(same))
        whose = f"job {same} printed nothing: it was answered by job {first}, whose log this is\n"
        assert (logs.stdout, logs.stderr) == ("1\n", whose)


def test_a_card_says_all_and_lets_nothing_hostile_through(server: Server) -> None:
    evil = "e\x1b]0;x\x07\n<script>"
    number = ended(
        server,
        "print(1)",
        name="a <b>",
        description=evil,
        parameters={"p": evil},
        attributes={"a": evil},
        tags=["label"],
    )
    said = on_terminal(server.place, "job", str(number))
    assert "\x1b" not in said
    assert "\x07" not in said
    rows = dict(re.findall(r"^  (\w[\w ]*?)  +(.*)$", said, re.MULTILINE))
    assert set(rows) >= {
        "name",
        "description",
        "submitted",
        "command",
        "parameters",
        "tags",
        "asked for",
        "used",
        "cost",
    }
    assert rows["asked for"] == "1 vCPU, 1 GB"
    assert "limits held" in rows
    whole = json.loads(server.place.acai("job", "--json", str(number)).stdout)
    assert whole["description"] == evil
