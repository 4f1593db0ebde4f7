"""Programs that take all they can get: the server answers, other jobs go on, and nothing is left of them."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from tests.disks import small_disk
from tests.integration.places import Place, Server, until

if TYPE_CHECKING:
    from collections.abc import Iterator

JOBS = "/v1/projects/default/jobs"
MIB = 1024**2
SMALL = {"vcpu": 0.5, "memory_bytes": 512 * MIB}
ENDS = ("finished", "failed", "killed", "crashed")
BOMB = """
import os, sys
print('begun', flush=True)
while True:
    try:
        os.fork()
    except OSError:
        pass
"""
HIDING = """
import os, sys
for _ in range(30):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execve(sys.executable, [sys.executable, '-c',
                'import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()', sys.argv[1]], {})
        os._exit(0)
for _ in range(30):
    os.wait()
"""
PRINTING = "import os; line = b'x' * 79 + b'\\n'; [os.write(1, line * 10_000) for _ in range(300)]"
EATING = """
print('begun', flush=True)
held = []
while True:
    held.append(b'x' * 2**20)
"""
FILLING = """
print('begun', flush=True)
with open('all', 'wb', buffering=0) as file:
    while True:
        try:
            file.write(b'x' * 2**20)
        except OSError:
            pass
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        yield place.start(ACAI_MAX_PROCESSES="100")


def submit(server: Server, program: str, *words: str, **request: Any) -> int:
    body = {"command": ["python3", "-c", program, *words], "resources": SMALL, "retries": 0} | request
    answer = server.ask("POST", JOBS, body)
    assert answer.status == 201, answer.body
    return int(answer.json["number"])


def job(server: Server, number: int) -> dict[str, Any]:
    found: dict[str, Any] = server.get(f"{JOBS}/{number}")
    return found


def end_of(server: Server, number: int) -> dict[str, Any]:
    def ended() -> dict[str, Any] | None:
        found = job(server, number)
        return found if found["state"] in ENDS else None

    return until(ended, f"job {number} ending")


def begun(server: Server, number: int) -> None:
    until(lambda: "begun" in server.get(f"{JOBS}/{number}/log")["text"], f"job {number} beginning")


def assert_all_is_well(server: Server) -> None:
    """The server answers, and another job runs to its end."""
    server.status()
    assert end_of(server, submit(server, "print('well')"))["state"] == "finished"


def bears(process: Path, mark: str) -> bool:
    try:
        return mark.encode() in (process / "cmdline").read_bytes().split(b"\0")
    except OSError:  # it is gone
        return False


def left(mark: str) -> list[Path]:
    """The processes that bear a mark among their arguments."""
    return [process for process in Path("/proc").glob("[0-9]*") if bears(process, mark)]


def has_groups() -> bool:
    return os.geteuid() == 0 and os.access("/sys/fs/cgroup", os.W_OK)


WORKERS = """
import os, signal
statuses = []
for size in (600, 1, 600):
    pid = os.fork()
    if pid == 0:
        held = b'x' * (size * 2**20)
        os._exit(0)
    statuses.append(os.WTERMSIG(os.waitpid(pid, 0)[1]))
print(*statuses)
"""


def has_groups_of_version_1() -> bool:
    return has_groups() and Path("/sys/fs/cgroup/memory/memory.limit_in_bytes").exists()


@pytest.mark.skipif(not has_groups_of_version_1(), reason="groups of version 2 end the whole program at once")
def test_workers_that_were_killed_for_memory_are_a_warning_of_a_job_that_finished(server: Server) -> None:
    number = submit(server, WORKERS)
    found = end_of(server, number)
    assert server.get(f"{JOBS}/{number}/log")["text"] == "9 0 9\n"
    assert (found["state"], found["reason"]) == ("finished", "")
    killed = "2 processes of this job were killed because the memory limit of 512 MB was reached"
    assert found["attempts"][-1]["warnings"] == [f"{killed}; its results may be incomplete"]
    for verb in ("job", "wait"):
        assert killed in server.place.acai(verb, str(number)).stdout


@pytest.mark.skipif(not has_groups(), reason="without control groups a machine has no limit for this")
def test_a_program_that_forks_without_end_harms_nobody_and_can_be_killed(server: Server) -> None:
    mark = uuid4().hex
    number = submit(server, BOMB, mark)
    begun(server, number)
    until(lambda: len(left(mark)) > 90, "the processes being many")
    assert_all_is_well(server)
    assert len(left(mark)) <= 100
    assert server.ask("POST", f"{JOBS}/{number}/kill").status == 200
    assert end_of(server, number)["state"] == "killed"
    until(lambda: not left(mark), "all processes ending")


def test_what_hides_from_its_parent_and_its_session_is_ended_with_the_job(server: Server) -> None:
    mark = uuid4().hex
    assert end_of(server, submit(server, HIDING, mark))["state"] == "finished"
    assert left(mark) == []


def test_a_program_that_prints_hundreds_of_megabytes_holds_up_nobody(server: Server) -> None:
    number = submit(server, PRINTING)
    assert_all_is_well(server)
    found = end_of(server, number)
    assert (found["state"], found["attempts"][-1]["log_bytes"]) == ("finished", 300 * 10_000 * 80)
    assert not list(server.place.data.glob("attempts/*/printed"))


def test_a_program_that_eats_memory_is_ended_and_the_reason_named(server: Server) -> None:
    number = submit(server, EATING)
    begun(server, number)
    assert_all_is_well(server)
    found = end_of(server, number)
    assert found["state"] == "failed"
    assert "memory" in found["reason"]


def test_a_program_that_fills_the_disk_is_ended_before_the_server_has_none(tmp_path: Path) -> None:
    with small_disk(tmp_path, "400m") as disk, closing(Place(tmp_path / "home")) as place:
        server = place.start(ACAI_DATA_FOLDER=str(disk / "acai"), ACAI_RESERVED_DISK_MIB="100")
        number = submit(server, FILLING)
        begun(server, number)
        found = end_of(server, number)
        assert (found["state"], "of the disk" in found["reason"]) == ("failed", True), found["reason"]
        assert_all_is_well(server)
