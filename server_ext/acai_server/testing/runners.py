"""What a runner owes. Its attempts are real: our agent, a launch document, an object store that the agent can reach."""

from __future__ import annotations

import hashlib
import io
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec
import pytest

from acai_jupyter.contract import loglines
from acai_jupyter.contract.errors import ObjectNotFound, Unavailable
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.launch import LAUNCH_VERSION, LaunchDocument, Piece, ResultRecord, Slots
from acai_server.runners.protocol import Ended, Order
from acai_server.testing.objects import put

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Runner

PATIENCE_SECONDS = 60.0
KEY = "0123456789abcdef"
LONG = "import time; print('here', flush=True); time.sleep(600)"


@dataclass(frozen=True)
class Stage:
    """A runner's surroundings: where its agents find their launch documents and leave their results."""

    objects: ObjectStore
    make_runner: Callable[[], Runner]
    """Makes a runner as a server that was restarted does: over what earlier ones started."""

    def start(self, runner: Runner, program: str, files: dict[str, bytes] | None = None) -> str:
        """Start an attempt of a Python program; returns its name."""
        name = f"job-1-{uuid4().hex[:8]}"
        body = msgspec.json.encode(self._document(runner, name, program, files or {}))
        launch = self.key(name, "launch")
        self.objects.put(launch, io.BytesIO(body), size_bytes=len(body))
        url = self.objects.sign_get(launch, direct=runner.shares_disk)
        runner.start(Order(name, url, 0.5, 512 * 1024**2))
        return name

    def result(self, name: str) -> ResultRecord:
        """Return the record that an agent left."""
        return msgspec.json.decode(self.objects.get(self.key(name, "result")), type=ResultRecord)

    def log(self, name: str) -> bytes:
        """Return the log that an agent left."""
        return self.objects.get(self.key(name, "log"))

    def key(self, name: str, what: str) -> ObjectKey:
        """Return where something of an attempt is kept."""
        return ObjectKey(f"p1/jobs/{name}/{what}")

    def _document(self, runner: Runner, name: str, program: str, files: dict[str, bytes]) -> LaunchDocument:
        def slot(what: str) -> str:
            return self.objects.sign_put(self.key(name, what), direct=runner.shares_disk)[0]

        return LaunchDocument(
            version=LAUNCH_VERSION,
            key=KEY,
            job=1,
            command=["python3", "-c", program],
            environment={"ACAI_JOB": "1"},
            inputs=[self._piece(runner, name, path, body) for path, body in files.items()],
            code=[],
            slots=Slots(log=slot("log"), pack=slot("pack"), result=slot("result")),
        )

    def _piece(self, runner: Runner, name: str, path: str, body: bytes) -> Piece:
        key = put(self.objects, f"p1/inputs/{name}/{uuid4().hex}", body)
        url = self.objects.sign_get(key, direct=runner.shares_disk)
        return Piece(path, url, 0, len(body), hashlib.sha256(body).hexdigest())


def end_of(runner: Runner, attempt: str) -> Ended:
    """Wait for an agent's end by the runner's own means."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (ended := runner.ended(attempt)) is None:
        assert time.monotonic() < deadline, f"{attempt} did not end; it printed {runner.printed(attempt, 0)!r}"
        runner.wait([attempt], 1.0)
    return ended


def printed(runner: Runner, attempt: str, words: bytes) -> bytes:
    """Wait until an agent has printed something; returns all it printed."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while words not in (said := runner.printed(attempt, 0)):
        assert time.monotonic() < deadline, f"{attempt} printed {said!r}"
        assert runner.ended(attempt) is None, f"{attempt} ended and printed {said!r}"
        runner.wait([attempt], 0.05)
    return said


class RunnerSuite:
    """Derive from this with a fixture `stage`."""

    @pytest.fixture
    def stage(self) -> Stage:
        raise NotImplementedError

    @pytest.fixture
    def runner(self, stage: Stage) -> Runner:
        return stage.make_runner()

    def test_it_says_what_it_can_hold(self, runner: Runner) -> None:
        assert runner.machine().cpus >= 0.5
        assert runner.machine().memory_bytes >= 512 * 1024**2

    def test_a_program_runs_to_its_end_and_leaves_a_result(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "import pathlib; pathlib.Path('output/a.txt').write_text('made'); print('said')")
        assert end_of(runner, attempt) == Ended(0)
        result = stage.result(attempt)
        assert (result.exit_code, [output.path for output in result.outputs]) == (0, ["a.txt"])
        assert stage.objects.get(stage.key(attempt, "pack")) == b"made"
        assert stage.log(attempt) == b"said\n"

    def test_what_is_printed_holds_the_log_and_the_words_of_the_agent(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "print('said')")
        end_of(runner, attempt)
        plain, said, _ = loglines.split(runner.printed(attempt, 0), KEY)
        assert plain == b"said\n"
        assert [words["state"] for words in said] == ["downloading", "running", "uploading"]

    def test_what_is_printed_can_be_read_on_from_any_byte(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "print('said')")
        end_of(runner, attempt)
        whole = runner.printed(attempt, 0)
        assert [runner.printed(attempt, at) for at in (3, len(whole), len(whole) + 9)] == [whole[3:], b"", b""]

    def test_inputs_are_there_and_cannot_be_changed(self, stage: Stage, runner: Runner) -> None:
        program = "import os; print(open('data/x.txt').read(), oct(os.stat('data/x.txt').st_mode & 0o777))"
        attempt = stage.start(runner, program, {"data/x.txt": b"input"})
        end_of(runner, attempt)
        assert stage.log(attempt) == b"input 0o444\n"

    def test_a_program_that_fails_ends_with_its_own_status(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "raise SystemExit(3)")
        assert end_of(runner, attempt) == Ended(3)
        assert stage.result(attempt).exit_code == 3

    def test_an_agent_that_finds_no_launch_document_ends_without_a_result(self, stage: Stage, runner: Runner) -> None:
        missing = stage.objects.sign_get(stage.key("job-1-lost", "launch"), direct=runner.shares_disk)
        runner.start(Order("job-1-lost", missing, 0.5, 512 * 1024**2))
        assert end_of(runner, "job-1-lost").exit_code != 0
        with pytest.raises(ObjectNotFound):
            stage.result("job-1-lost")

    def test_a_name_is_started_once(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "print('said')")
        with pytest.raises(Unavailable):
            runner.start(Order(attempt, "file:///nowhere", 0.5, 512 * 1024**2))
        assert end_of(runner, attempt) == Ended(0)

    def test_waiting_ends_when_one_of_several_ends(self, stage: Stage, runner: Runner) -> None:
        long = stage.start(runner, LONG)
        short = stage.start(runner, "print('said')")
        began = time.monotonic()
        while runner.ended(short) is None:
            runner.wait([long, short], PATIENCE_SECONDS)
        assert time.monotonic() - began < PATIENCE_SECONDS / 2
        assert runner.ended(long) is None
        runner.stop(long)
        end_of(runner, long)

    def test_waiting_for_one_that_has_ended_is_no_waiting(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "print('said')")
        end_of(runner, attempt)
        began = time.monotonic()
        runner.wait([attempt], PATIENCE_SECONDS)
        runner.wait(["job-1-unknown"], PATIENCE_SECONDS)
        assert time.monotonic() - began < PATIENCE_SECONDS / 2

    def test_waiting_ends_when_it_is_woken_even_before_it_began(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, LONG)
        began = time.monotonic()
        runner.wake()
        runner.wait([attempt], PATIENCE_SECONDS)
        waiter = threading.Thread(target=runner.wait, args=([attempt], PATIENCE_SECONDS))
        waiter.start()
        runner.wake()
        waiter.join()
        assert time.monotonic() - began < PATIENCE_SECONDS / 2
        runner.stop(attempt)
        end_of(runner, attempt)

    def test_waiting_ends_when_the_time_is_over(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, LONG)
        runner.wait([attempt], 0.05)
        assert runner.ended(attempt) is None
        runner.stop(attempt)
        end_of(runner, attempt)

    def test_a_stopped_program_ends_and_its_record_says_so(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, LONG)
        printed(runner, attempt, b"here")
        runner.stop(attempt)
        runner.stop(attempt)
        assert end_of(runner, attempt).exit_code == 143
        result = stage.result(attempt)
        assert (result.exit_code, result.reason) == (143, "it was stopped")
        assert stage.log(attempt) == b"here\n"

    def test_cleaning_leaves_nothing_to_be_found(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "print('said')", {"deep/er/x.txt": b"input"})
        end_of(runner, attempt)
        runner.clean(attempt)
        runner.clean(attempt)
        assert (runner.printed(attempt, 0), runner.ended(attempt)) == (b"", Ended(None))

    def test_an_unknown_name_has_ended_unseen(self, runner: Runner) -> None:
        runner.stop("job-1-unknown")
        runner.clean("job-1-unknown")
        assert (runner.ended("job-1-unknown"), runner.printed("job-1-unknown", 0)) == (Ended(None), b"")

    def test_a_new_runner_finds_what_still_runs(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, LONG)
        said = printed(runner, attempt, b"here")
        later = stage.make_runner()
        assert (later.ended(attempt), later.printed(attempt, 0)) == (None, said)
        later.stop(attempt)
        assert end_of(later, attempt) in (Ended(None), Ended(143))
        assert stage.result(attempt).reason == "it was stopped"
        end_of(runner, attempt)

    def test_a_new_runner_finds_what_ended_while_nobody_looked(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "print('said')")
        end_of(runner, attempt)
        later = stage.make_runner()
        assert later.ended(attempt) in (Ended(None), Ended(0))
        assert b"said\n" in later.printed(attempt, 0)
        later.clean(attempt)
        assert later.printed(attempt, 0) == b""

    def test_a_program_sees_no_secret_of_the_server(
        self, stage: Stage, runner: Runner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ACAI_TOKEN", "a secret")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret")
        attempt = stage.start(runner, "import os; print(dict(os.environ))")
        end_of(runner, attempt)
        assert b"ACAI_JOB" in stage.log(attempt)
        assert b"a secret" not in stage.log(attempt)
