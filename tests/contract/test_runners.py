"""The runner suite over each runner, and what a process of this machine owes besides."""

from __future__ import annotations

import json
import os
import select
import signal
from pathlib import Path

import pytest

import acai_server
from acai_server.objects.filesystem import FilesystemObjectStore
from acai_server.objects.signing import UrlSigner
from acai_server.runners.process import ProcessRunner
from acai_server.testing.runners import LONG, RunnerSuite, Stage, end_of, printed

AGENT = Path(acai_server.__file__).with_name("agent.pyz")
STUBBORN = """
import os, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('pid ' + str(os.getpid()), flush=True)
while True:
    signal.pause()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "attempts"


class TestProcess(RunnerSuite):
    @pytest.fixture
    def stage(self, tmp_path: Path, folder: Path) -> Stage:
        signer = UrlSigner(b"secret", lambda: "http://127.0.0.1:1", lambda: 0.0)
        objects = FilesystemObjectStore(tmp_path / "objects", signer)
        return Stage(objects, lambda: ProcessRunner(folder, AGENT, grace_seconds=0.5))

    def test_a_program_that_will_not_end_is_ended(self, stage: Stage) -> None:
        runner = stage.make_runner()
        attempt = stage.start(runner, STUBBORN)
        program = _program(printed(runner, attempt, b"pid "))
        runner.stop(attempt)
        end_of(runner, attempt)
        assert _ends(program)

    def test_a_program_does_not_outlive_its_agent(self, stage: Stage, folder: Path) -> None:
        runner = stage.make_runner()
        attempt = stage.start(runner, STUBBORN)
        program = _program(printed(runner, attempt, b"pid "))
        os.kill(_agent(folder / attempt), signal.SIGKILL)
        assert end_of(runner, attempt).exit_code == -9
        runner.clean(attempt)
        assert _ends(program)

    def test_a_process_that_got_the_number_of_an_old_one_is_another(self, stage: Stage, folder: Path) -> None:
        runner = stage.make_runner()
        attempt = stage.start(runner, LONG)
        runner.stop(attempt)
        end_of(runner, attempt)
        record = folder / attempt / "process"
        record.write_text(json.dumps(json.loads(record.read_text()) | {"pid": os.getpid()}))
        later = stage.make_runner()
        later.stop(attempt)  # would end these tests
        assert later.ended(attempt) is not None

    def test_cleaning_removes_folders_that_a_program_has_locked(self, stage: Stage, folder: Path) -> None:
        runner = stage.make_runner()
        program = "import os; os.makedirs('output/a/b'); open('output/a/b/x', 'w').close(); os.chmod('output/a', 0o500)"
        attempt = stage.start(runner, program)
        end_of(runner, attempt)
        runner.clean(attempt)
        assert list(folder.iterdir()) == []


def _agent(folder: Path) -> int:
    return int(json.loads((folder / "process").read_text())["pid"])


def _program(said: bytes) -> int:
    """Return a descriptor of the process that named itself."""
    return os.pidfd_open(int(said.rpartition(b"pid ")[2].split()[0]))


def _ends(descriptor: int) -> bool:
    """Whether a process ends soon."""
    ended, _, _ = select.select([descriptor], [], [], 10)
    os.close(descriptor)
    return bool(ended)
