"""The runner suite over each runner, and what a process of this machine owes besides."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import acai_server
from acai_jupyter.contract.errors import Unavailable
from acai_jupyter.contract.jobs import Resources
from acai_server.objects.filesystem import FilesystemObjectStore
from acai_server.objects.signing import UrlSigner
from acai_server.runners.gangs import Gangs
from acai_server.runners.memory import MemoryRunner
from acai_server.runners.process import ProcessRunner, ProcessSettings
from acai_server.runners.protocol import Ended, Order
from acai_server.testing.runners import (
    LONG,
    MIB,
    DurableRunnerSuite,
    RunnerSuite,
    Stage,
    end_of,
    new_name,
    printed,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_server.runners.protocol import Runner

AGENT = Path(acai_server.__file__).with_name("agent.pyz")
SETTINGS = ProcessSettings(keeping_seconds=5.0)
STUBBORN = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('pid ' + str(os.getpid()), flush=True)
while True:
    signal.pause()
"""


HIDING = """
import os
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(writing, str(os.getpid()).encode())
        os.execve('/bin/sleep', ['sleep', '600'], {})
    os._exit(0)
print('pid', os.read(reading, 20).decode())
"""
SERVER = """
import sys
from pathlib import Path
from acai_server.runners.memory import MemoryRunner
from acai_server.runners.process import ProcessRunner
from acai_server.runners.protocol import Order

kind, agent, folder, name, url = sys.argv[1:]
runner = MemoryRunner(Path(agent)) if kind == "memory" else ProcessRunner(Path(folder), Path(agent))
runner.start(Order(name, url, 0.5, 2**29))
while b"pid " not in (said := runner.printed(name, 0)):
    assert runner.ended(name) is None, said
    runner.wait([name], 0.05)
print(said.rpartition(b"pid ")[2].split()[0].decode(), runner._folder, flush=True)
sys.stdin.read()
"""


@contextmanager
def server(stage: Stage, kind: str, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str, int, Path]]:
    """Run an attempt in the runner of another process; yields that, the name, the program's descriptor, the folder."""
    with stage.runner() as runner:
        order = stage.order(runner, new_name(), ["python3", "-c", STUBBORN])
    words = [sys.executable, "-c", SERVER, kind, str(AGENT), str(folder), order.attempt, order.launch_url]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            pid, used = process.stdout.readline().split()
            yield process, order.attempt, os.pidfd_open(int(pid)), Path(used)
        finally:
            process.kill()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "attempts"


def stage_on(folder: Path, make_runner: Callable[[], Runner]) -> Stage:
    signer = UrlSigner(b"secret", lambda: "http://127.0.0.1:1", lambda: 0.0)
    return Stage(FilesystemObjectStore(folder / "objects", signer), make_runner)


class TestMemory(RunnerSuite):
    @pytest.fixture
    def stage(self, tmp_path: Path) -> Stage:
        return stage_on(tmp_path, lambda: Gangs(MemoryRunner(AGENT, SETTINGS)))

    def test_nothing_is_left_of_an_attempt_when_the_runner_is_closed(self, stage: Stage) -> None:
        runner = stage.make_runner()
        attempt = stage.start(runner, STUBBORN)
        program = _program(printed(runner, attempt, b"pid "))
        runner.close()
        assert _ends(program)
        with stage.runner() as later:
            assert (later.ended(attempt) is None, later.printed(attempt, 0)) == (False, b"")

    def test_nothing_is_left_of_an_attempt_when_its_server_was_killed(self, stage: Stage, folder: Path) -> None:
        with server(stage, "memory", folder) as (process, attempt, program, used):
            keeper = os.pidfd_open(_keeper(used / attempt))
            groups = json.loads((used / attempt / "given").read_text())["cgroups"]
            process.kill()
            assert _ends(program)
            assert _ends(keeper)
            assert not [path for path in [used, *map(Path, groups)] if path.exists()]


class TestProcess(DurableRunnerSuite):
    @pytest.fixture
    def stage(self, tmp_path: Path, folder: Path) -> Stage:
        return stage_on(tmp_path, lambda: Gangs(ProcessRunner(folder, AGENT, SETTINGS)))

    def test_an_agent_that_cannot_be_loaded_is_said_and_nothing_is_left(self, tmp_path: Path, folder: Path) -> None:
        (tmp_path / "agent.pyz").write_bytes(b"no zip")
        runner = ProcessRunner(folder, tmp_path / "agent.pyz")
        with pytest.raises(Unavailable, match="the program that starts it ended"):
            runner.start(Order("job-1", "file:///nowhere", 0.5, 512 * MIB))
        assert (list(folder.iterdir()), runner.fits(Resources(vcpu=runner.machine().cpus))) == ([], "")
        runner.close()

    def test_an_attempt_goes_on_when_its_server_was_killed(self, stage: Stage, folder: Path) -> None:
        with server(stage, "process", folder) as (process, attempt, program, _):
            process.kill()
            process.wait()
            with stage.runner() as later:
                assert later.ended(attempt) is None
                later.stop(attempt)
                assert later.ended(attempt) == Ended(137)
                assert stage.log(attempt).startswith(b"pid ")
            assert _ends(program)

    def test_no_control_group_is_left_when_no_server_comes_back(self, stage: Stage, folder: Path) -> None:
        with server(stage, "process", folder) as (process, attempt, program, _):
            process.kill()
            process.wait()
            groups = json.loads((folder / attempt / "given").read_text())["cgroups"]
            keeper = os.pidfd_open(_keeper(folder / attempt))
            os.kill(_keeper(folder / attempt), signal.SIGQUIT)
            assert _ends(program)
            assert _ends(keeper)
            assert not [group for group in groups if Path(group).parent.exists()]

    def test_a_program_does_not_outlive_its_agent(self, stage: Stage, runner: Runner, folder: Path) -> None:
        attempt = stage.start(runner, STUBBORN)
        program = _program(printed(runner, attempt, b"pid "))
        os.kill(_agent(folder / attempt), signal.SIGKILL)
        ended = end_of(runner, attempt)
        assert (ended.exit_code, ended.machine_failed, ended.reason) == (-9, True, "its agent was ended by signal 9")
        assert _ends(program)

    def test_neither_agent_nor_program_outlives_the_keeper(self, stage: Stage, runner: Runner, folder: Path) -> None:
        attempt = stage.start(runner, STUBBORN)
        program = _program(printed(runner, attempt, b"pid "))
        agent = os.pidfd_open(_agent(folder / attempt))
        os.kill(_keeper(folder / attempt), signal.SIGKILL)
        assert end_of(runner, attempt).machine_failed
        assert _ends(agent)
        runner.clean(attempt)
        assert _ends(program)

    def test_jobs_get_less_of_the_processors_than_the_server_and_are_ended_before_it_when_memory_runs_out(
        self, stage: Stage, runner: Runner, folder: Path
    ) -> None:
        attempt = stage.start(runner, LONG)
        printed(runner, attempt, b"here")
        for pid in _below(_agent(folder / attempt)):
            assert os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, 0)
            assert _sooner(pid) > _sooner(os.getpid())

    def test_attempts_go_on_without_the_nursery_and_others_start(
        self, stage: Stage, runner: Runner, folder: Path
    ) -> None:
        attempt = stage.start(runner, LONG)
        printed(runner, attempt, b"here")
        nursery = _parent(_keeper(folder / attempt))
        descriptor = os.pidfd_open(nursery)
        os.kill(nursery, signal.SIGKILL)
        assert _ends(descriptor)
        second = stage.start(runner, "print('said')")
        assert end_of(runner, second).exit_code == 0
        assert runner.ended(attempt) is None
        runner.stop(attempt)
        assert end_of(runner, attempt).exit_code == 143

    def test_a_program_that_does_not_keep_its_agent_from_ending_is_ended_by_force(
        self, stage: Stage, runner: Runner, folder: Path
    ) -> None:
        attempt = stage.start(runner, STUBBORN)
        program = _program(printed(runner, attempt, b"pid "))
        os.kill(_agent(folder / attempt), signal.SIGSTOP)
        with_patience = ProcessRunner(folder, AGENT, ProcessSettings(keeping_seconds=0.0))
        with_patience.stop(attempt)
        ended = with_patience.ended(attempt)
        with_patience.close()
        assert ended is not None
        assert ended.reason == "it did not end when it was asked to, and was ended by force"
        assert _ends(program)

    def test_a_process_that_got_the_number_of_an_old_one_is_another(self, stage: Stage, folder: Path) -> None:
        with stage.runner() as runner:
            attempt = stage.start(runner, LONG)
            runner.stop(attempt)
            record = folder / attempt / "process"
            record.write_text(json.dumps(json.loads(record.read_text()) | {"pid": os.getpid()}))
            with stage.runner() as later:
                later.stop(attempt)  # would end these tests
                assert later.ended(attempt) is not None

    def test_cleaning_removes_folders_that_a_program_has_locked(
        self, stage: Stage, runner: Runner, folder: Path
    ) -> None:
        program = "import os; os.makedirs('output/a/b'); open('output/a/b/x', 'w').close(); os.chmod('output/a', 0o500)"
        attempt = stage.start(runner, program)
        end_of(runner, attempt)
        runner.clean(attempt)
        assert list(folder.iterdir()) == []

    def test_a_share_is_taken_until_its_attempt_has_ended(self, stage: Stage, runner: Runner) -> None:
        machine = runner.machine()
        rest = Resources(vcpu=machine.cpus - 0.5, memory_bytes=machine.memory_bytes - 512 * MIB)
        whole = Resources(vcpu=machine.cpus, memory_bytes=machine.memory_bytes)
        assert runner.fits(whole) == ""
        attempt = stage.start(runner, LONG)
        assert (runner.fits(rest), "are free" in runner.fits(whole)) == ("", True)
        with stage.runner() as later:
            assert (later.fits(rest), "are free" in later.fits(whole)) == ("", True)
        end_of(runner, attempt)
        assert runner.fits(whole) == ""

    def test_a_secret_reaches_the_program_and_nothing_else(self, stage: Stage, runner: Runner, folder: Path) -> None:
        secret = folder.with_name("secrets") / "api-key"
        secret.parent.mkdir()
        secret.write_text("a secret value\n")
        secret.chmod(0o600)
        program = "import os, time; print(os.environ['KEY'].split() == ['a', 'secret', 'value'], flush=True)"
        attempt = stage.start(runner, f"{program}; time.sleep(600)", secrets={"KEY": "api-key"})
        printed(runner, attempt, b"True")
        kept = [path for path in folder.rglob("*") if path.is_file()]
        assert not [path for path in kept if b"a secret value" in path.read_bytes()]
        lines = [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in _below(_keeper(folder / attempt))]
        assert lines
        assert not [line for line in lines if b"a secret value" in line]


class TestWithoutControlGroups:
    """A machine that does not let us make any."""

    @pytest.fixture
    def stage(self, tmp_path: Path, folder: Path) -> Stage:
        settings = ProcessSettings(keeping_seconds=5.0, control_groups=False, max_processes=77)
        return stage_on(tmp_path, lambda: Gangs(ProcessRunner(folder, AGENT, settings)))

    @pytest.fixture
    def runner(self, stage: Stage) -> Iterator[Runner]:
        with stage.runner() as runner:
            yield runner

    def test_other_limits_hold_and_are_named(self, stage: Stage, runner: Runner) -> None:
        program = "import os, resource as r; print(len(os.sched_getaffinity(0)), r.getrlimit(r.RLIMIT_DATA)[0] >> 20)"
        attempt = stage.start(runner, program)
        end_of(runner, attempt)
        assert stage.log(attempt) == b"1 512\n"
        assert any("memory" in held and "resource limit" in held for held in stage.result(attempt).held)

    def test_a_program_may_not_have_many_more_processes_than_there_are(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "import resource as r; print(r.getrlimit(r.RLIMIT_NPROC)[0])")
        end_of(runner, attempt)
        assert 77 < int(stage.log(attempt)) < 100_000

    def test_a_process_that_hides_does_not_outlive_its_job(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, HIDING)
        assert end_of(runner, attempt) == Ended(0)
        with pytest.raises(ProcessLookupError):
            _program(stage.log(attempt))

    def test_memory_that_runs_out_is_recognised(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "held = []\nwhile True: held.append(b'x' * 2**20)")
        end_of(runner, attempt)
        assert stage.result(attempt).ran_out_of_memory


def _keeper(folder: Path) -> int:
    return int(json.loads((folder / "process").read_text())["pid"])


def _agent(folder: Path) -> int:
    (agent,) = _children(_keeper(folder))
    return agent


def _children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _sooner(pid: int) -> int:
    """How much sooner than others the kernel ends a process when there is no memory left."""
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())


def _below(pid: int) -> list[int]:
    return [pid, *(below for child in _children(pid) for below in _below(child))]


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def _program(said: bytes) -> int:
    """Return a descriptor of the process that named itself."""
    return os.pidfd_open(int(said.rpartition(b"pid ")[2].split()[0]))


def _ends(descriptor: int) -> bool:
    """Whether a process ends soon."""
    ended, _, _ = select.select([descriptor], [], [], 120)
    os.close(descriptor)
    return bool(ended)
