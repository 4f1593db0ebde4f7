"""What a runner owes. Its attempts are real: our agent, a launch document, an object store that the agent can reach."""

from __future__ import annotations

import gzip
import hashlib
import io
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from acai_jupyter.contract import decoding, loglines
from acai_jupyter.contract.errors import ObjectNotFound, Unavailable
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.jobs import Resources
from acai_jupyter.contract.launch import (
    LAUNCH_VERSION,
    Gang,
    InputFile,
    LaunchDocument,
    ResultRecord,
    Slots,
    write_launch,
)
from acai_server.runners.gangs import member
from acai_server.runners.protocol import Ended, Order
from acai_server.testing.objects import put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Runner

PATIENCE_SECONDS = 60.0
KEY = "0123456789abcdef"
MIB = 1024**2
LONG = "import time; print('here', flush=True); time.sleep(600)"
_MEET = """
import json, os, socket, time
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
place = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
def meet():
    if rank == 0:
        with socket.create_server(("", place[1])) as server:
            links = [server.accept()[0] for _ in range(size - 1)]
            said = sorted(int(link.recv(9)) for link in links)
        for link in links:
            link.sendall(b"all")
        return said
    while True:
        try:
            link = socket.create_connection(place, timeout=5)
        except OSError:
            time.sleep(0.1)
        else:
            link.settimeout(None)
            link.sendall(b"%d" % rank)
            return link.recv(9).decode()
"""
TALKING = f"""{_MEET}
assert rank == int(os.environ["NODE_RANK"]) == json.loads(os.environ["TF_CONFIG"])["task"]["index"]
print("heard", meet())
open("output/rank-%d" % rank, "w").write(str(rank))
"""
ONE_FAILS = f"""{_MEET}
os.mkdir(os.environ["ACAI_CHECKPOINT"])
open(os.path.join(os.environ["ACAI_CHECKPOINT"], str(rank)), "w").write("step 7")
meet()
if rank == 1:
    raise SystemExit(3)
time.sleep(600)
"""
STUBBORN = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print('here', flush=True)
while True:
    signal.pause()
"""


@dataclass(frozen=True)
class Stage:
    """A runner's surroundings: where its agents find their launch documents and leave their results."""

    objects: ObjectStore
    make_runner: Callable[[], Runner]
    """Makes a runner as a server that was restarted does: over what earlier ones started."""
    names: list[str] = field(default_factory=list)

    @contextmanager
    def runner(self) -> Iterator[Runner]:
        """Have a runner while the context lasts; nothing that was started on this stage outlives it."""
        runner = self.make_runner()
        try:
            yield runner
        finally:
            for name in self.names:
                runner.clean(name)
            runner.close()

    def start(self, runner: Runner, program: str, files: dict[str, bytes] | None = None, **order: Any) -> str:
        """Start an attempt of a Python program; returns its name."""
        name = new_name()
        runner.start(self.order(runner, name, ["python3", "-c", program], files or {}, **order))
        return name

    def start_gang(
        self, runner: Runner, program: str, nodes: int = 3, patience_seconds: float = 60.0, *, is_whole: bool = True
    ) -> str:
        """Start an attempt of a Python program on several nodes, of which the last may find nothing to do."""
        name = new_name()
        met = runner.meeting(name, nodes)
        orders = [
            self.order(runner, name, ["python3", "-c", program], vcpu=0.2, memory_bytes=128 * MIB, gang=gang)
            for gang in (Gang(rank, list(met.programs), met.agents, patience_seconds) for rank in range(nodes))
        ]
        others = [order.launch_url for order in orders[1:]]
        if not is_whole:
            others[-1] = self.objects.sign_get(self.key(name, "nothing"), direct=runner.shares_disk)
        runner.start(replace(orders[0], others=tuple(others)))
        return name

    def order(
        self,
        runner: Runner,
        name: str,
        command: list[str],
        files: dict[str, bytes] | None = None,
        gang: Gang | None = None,
        **order: Any,
    ) -> Order:
        """Write a launch document, and return the order that names it."""
        order = {"vcpu": 0.5, "memory_bytes": 512 * MIB, "grace_seconds": 0.5} | order
        self.names.append(name)
        body = self._launch_text(runner, name, command, files or {}, order, gang)
        launch = self.key(_ranked(name, gang), "launch")
        self.objects.put(launch, io.BytesIO(body), size_bytes=len(body))
        return Order(name, self.objects.sign_get(launch, direct=runner.shares_disk), **order)

    def result(self, name: str, rank: int = 0) -> ResultRecord:
        """Return the record that an agent left."""
        return decoding.from_json(self.objects.get(self.key(member(name, rank), "result")), ResultRecord)

    def log(self, name: str, rank: int = 0) -> bytes:
        """Return the log that an agent left."""
        keys = (self.key(member(name, rank), f"log{n}") for n in range(len(self.result(name, rank).log)))
        return b"".join(gzip.decompress(self.objects.get(key)) for key in keys)

    def key(self, name: str, what: str) -> ObjectKey:
        """Return where something of an agent is kept."""
        name = name if "." in name else member(name, 0)
        return ObjectKey(f"p1/jobs/{name.replace('-', '_').replace('.', '_')}/{what}")

    def _launch_text(
        self,
        runner: Runner,
        name: str,
        command: list[str],
        files: dict[str, bytes],
        order: dict[str, Any],
        gang: Gang | None,
    ) -> bytes:
        def slot(what: str) -> str:
            return self.objects.sign_put(self.key(_ranked(name, gang), what), direct=runner.shares_disk)[0]

        keys = [put(self.objects, f"p1/inputs/{uuid4().hex}", body) for body in files.values()]
        inputs = [
            InputFile(path, number, 0, len(body), hashlib.sha256(body).hexdigest(), is_code=False)
            for number, (path, body) in enumerate(files.items())
        ]
        document = LaunchDocument(
            version=LAUNCH_VERSION,
            key=KEY,
            job=1,
            attempt=1,
            command=command,
            as_cell=False,
            environment={"ACAI_JOB": "1"},
            objects=[self.objects.sign_get(key, direct=runner.shares_disk) for key in keys],
            output_folder="output",
            slots=Slots([slot(f"log{n}") for n in range(8)], [slot("pack")], slot("result"), slot("displays")),
            vcpu=order["vcpu"],
            memory_bytes=order["memory_bytes"],
            grace_seconds=order["grace_seconds"],
            gang=gang,
            keep_checkpoint=gang is not None,
        )
        return write_launch(document, inputs)


def _ranked(name: str, gang: Gang | None) -> str:
    return member(name, 0 if gang is None else gang.rank)


def new_name() -> str:
    """Return a name that no attempt had."""
    return f"job-1-{uuid4().hex[:8]}"


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


def is_unknown(runner: Runner, attempt: str) -> bool:
    """Whether a runner takes an attempt for one that ended unseen."""
    ended = runner.ended(attempt)
    return ended is not None and ended.exit_code is None and ended.machine_failed


class RunnerSuite:
    """Derive from this with a fixture `stage`."""

    @pytest.fixture
    def stage(self) -> Stage:
        raise NotImplementedError

    @pytest.fixture
    def runner(self, stage: Stage) -> Iterator[Runner]:
        with stage.runner() as runner:
            yield runner

    def test_it_says_what_it_can_hold(self, runner: Runner) -> None:
        assert runner.machine().cpus >= 0.5
        assert runner.machine().memory_bytes >= 512 * MIB

    def test_what_jobs_can_have_of_a_machine_is_not_refused_and_no_more_can_be_had(self, runner: Runner) -> None:
        for one in runner.machines():
            whole = Resources(vcpu=one.cpus, memory_bytes=one.memory_bytes, gpus=one.gpus)
            assert runner.refuses(whole) == ""
        most = max(one.cpus for one in runner.machines())
        assert "vCPU" in runner.refuses(Resources(vcpu=most + 0.5, memory_bytes=512 * MIB))

    def test_what_it_can_hold_it_does_not_refuse(self, runner: Runner) -> None:
        assert runner.refuses(Resources(vcpu=0.5, memory_bytes=512 * MIB)) == ""

    def test_what_it_can_never_hold_is_refused_with_the_limit(self, runner: Runner) -> None:
        assert "vCPU" in runner.refuses(Resources(vcpu=100_000, memory_bytes=MIB))
        assert "GB" in runner.refuses(Resources(vcpu=0.5, memory_bytes=10**18))
        assert "GPU" in runner.refuses(Resources(vcpu=0.5, memory_bytes=MIB, gpus=10_000))

    def test_a_secret_that_it_does_not_know_is_refused_by_name(self, stage: Stage, runner: Runner) -> None:
        assert "no-such-secret" in runner.refuses(Resources(), secrets=["no-such-secret"])
        with pytest.raises(Unavailable, match="no-such-secret"):
            stage.start(runner, "pass", secrets={"TOKEN": "no-such-secret"})

    def test_an_attempt_that_could_not_be_started_is_not_known(self, stage: Stage, runner: Runner) -> None:
        order = stage.order(runner, new_name(), ["true"], secrets={"TOKEN": "no-such-secret"})
        with pytest.raises(Unavailable):
            runner.start(order)
        assert is_unknown(runner, order.attempt)

    def test_what_runs_has_a_machine_and_does_not_wait(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, LONG)
        printed(runner, attempt, b"here")
        assert runner.machine_name(attempt)
        assert runner.why_waiting(attempt) == ""
        runner.stop(attempt)

    def test_what_runs_takes_no_thread_here(self, stage: Stage, runner: Runner) -> None:
        attempts = [stage.start(runner, LONG)]
        printed(runner, attempts[0], b"here")
        before = set(threading.enumerate())
        attempts += [stage.start(runner, LONG) for _ in range(2)]
        for attempt in attempts:
            printed(runner, attempt, b"here")
            assert runner.ended(attempt) is None
        assert set(threading.enumerate()) <= before
        for attempt in attempts:
            runner.stop(attempt)

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
        stage.names.append("job-1-lost")
        missing = stage.objects.sign_get(stage.key("job-1-lost", "launch"), direct=runner.shares_disk)
        runner.start(Order("job-1-lost", missing, 0.5, 512 * MIB))
        assert end_of(runner, "job-1-lost").exit_code != 0
        with pytest.raises(ObjectNotFound):
            stage.result("job-1-lost")

    def test_a_name_is_started_once(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "print('said')")
        with pytest.raises(Unavailable):
            runner.start(Order(attempt, "file:///nowhere", 0.5, 512 * MIB))
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

    def test_a_program_that_will_not_end_is_ended(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, STUBBORN)
        printed(runner, attempt, b"here")
        runner.stop(attempt)
        assert runner.ended(attempt) is not None
        assert stage.result(attempt).exit_code == 137

    def test_stopping_an_attempt_that_has_ended_changes_nothing(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "raise SystemExit(3)")
        end_of(runner, attempt)
        runner.stop(attempt)
        assert runner.ended(attempt) == Ended(3)

    def test_several_may_stop_the_same_attempt_at_once(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, LONG)
        printed(runner, attempt, b"here")
        stoppers = [threading.Thread(target=runner.stop, args=(attempt,)) for _ in range(3)]
        for stopper in stoppers:
            stopper.start()
        for stopper in stoppers:
            stopper.join()
        assert runner.ended(attempt) == Ended(143)

    def test_cleaning_leaves_nothing_to_be_found(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, "print('said')", {"deep/er/x.txt": b"input"})
        end_of(runner, attempt)
        runner.clean(attempt)
        runner.clean(attempt)
        assert runner.printed(attempt, 0) == b""
        assert is_unknown(runner, attempt)

    def test_an_unknown_name_has_ended_unseen_by_the_fault_of_the_machine(self, runner: Runner) -> None:
        runner.stop("job-1-unknown")
        runner.clean("job-1-unknown")
        runner.renew("job-1-unknown", "file:///nowhere")
        assert is_unknown(runner, "job-1-unknown")
        assert runner.printed("job-1-unknown", 0) == b""

    def test_a_renewed_address_is_where_the_agent_reads_its_document(self, stage: Stage, runner: Runner) -> None:
        name = new_name()
        good = stage.order(runner, name, ["true"])
        runner.start(replace(good, launch_url="http://127.0.0.1:1/nobody-answers-here"))
        runner.renew(name, good.launch_url)
        assert end_of(runner, name) == Ended(0)

    def test_programs_of_a_gang_find_each_other_and_all_have_logs_and_results(
        self, stage: Stage, runner: Runner
    ) -> None:
        attempt = stage.start_gang(runner, TALKING)
        ended = end_of(runner, attempt)
        assert (ended.exit_code, [one.exit_code for one in ended.members]) == (0, [0, 0, 0])
        logs = [stage.log(attempt, rank) for rank in range(3)]
        assert logs == [b"heard [1, 2]\n", b"heard all\n", b"heard all\n"]
        shown = [loglines.split(runner.printed(attempt, 0, rank), KEY)[0] for rank in range(3)]
        assert shown == logs
        paths = [[output.path for output in stage.result(attempt, rank).outputs] for rank in range(3)]
        assert paths == [["rank-0"], ["rank-1"], ["rank-2"]]

    def test_a_gang_ends_when_one_of_it_fails_and_all_keep_their_checkpoints(
        self, stage: Stage, runner: Runner
    ) -> None:
        attempt = stage.start_gang(runner, ONE_FAILS)
        assert [one.exit_code for one in end_of(runner, attempt).members] == [143, 3, 143]
        results = [stage.result(attempt, rank) for rank in range(3)]
        assert [(one.exit_code, one.was_stopped) for one in results] == [(143, True), (3, False), (143, True)]
        assert [[file.path for file in one.checkpoint] for one in results] == [["0"], ["1"], ["2"]]

    def test_no_program_of_a_gang_begins_without_the_others(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start_gang(runner, LONG, patience_seconds=1.0, is_whole=False)
        assert all(one.exit_code for one in end_of(runner, attempt).members)
        assert [stage.log(attempt, rank) for rank in range(2)] == [b"", b""]
        assert any(
            stage.result(attempt, rank).never_began or stage.result(attempt, rank).was_stopped for rank in (0, 1)
        )

    def test_a_gang_is_stopped_and_cleaned_up_as_one(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start_gang(runner, LONG)
        printed(runner, attempt, b"here")
        runner.stop(attempt)
        assert {one.exit_code for one in end_of(runner, attempt).members} == {143}
        assert runner.known() == [attempt]
        runner.clean(attempt)
        assert (runner.known(), is_unknown(runner, attempt)) == ([], True)

    def test_closing_twice_is_closing_once(self, stage: Stage) -> None:
        runner = stage.make_runner()
        runner.close()
        runner.close()

    def test_a_program_sees_no_secret_of_the_server(
        self, stage: Stage, runner: Runner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ACAI_TOKEN", "a secret")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret")
        monkeypatch.setenv("UV_INDEX_OWN_PASSWORD", "a secret")  # the agent needs it, the program does not
        attempt = stage.start(runner, "import os; print(dict(os.environ))")
        end_of(runner, attempt)
        assert b"ACAI_JOB" in stage.log(attempt)
        assert b"a secret" not in stage.log(attempt)


class DurableRunnerSuite(RunnerSuite):
    """What a runner owes besides, whose attempts outlive the server."""

    def test_a_new_runner_finds_what_still_runs(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, LONG)
        said = printed(runner, attempt, b"here")
        with stage.runner() as later:
            assert later.ended(attempt) is None
            assert later.printed(attempt, 0).startswith(said)
            later.stop(attempt)
            assert end_of(later, attempt) in (Ended(None), Ended(143))
            assert stage.result(attempt).reason == "it was stopped"

    def test_a_new_runner_finds_all_of_a_gang(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start_gang(runner, LONG)
        printed(runner, attempt, b"here")
        with stage.runner() as later:
            assert (later.known(), later.ended(attempt)) == ([attempt], None)
            later.stop(attempt)
            assert len(end_of(later, attempt).members) == 3

    def test_what_was_started_goes_on_when_the_runner_is_closed(self, stage: Stage) -> None:
        first = stage.make_runner()
        attempt = stage.start(first, LONG)
        said = printed(first, attempt, b"here")
        first.close()
        with stage.runner() as later:
            assert later.ended(attempt) is None
            assert later.printed(attempt, 0).startswith(said)

    def test_a_new_runner_finds_what_ended_while_nobody_looked(self, stage: Stage) -> None:
        first = stage.make_runner()
        attempt = stage.start(first, "print('said')")
        end_of(first, attempt)
        first.close()
        with stage.runner() as later:
            assert later.ended(attempt) in (Ended(None), Ended(0))
            assert b"said\n" in later.printed(attempt, 0)
            later.clean(attempt)
            assert is_unknown(later, attempt)

    def test_a_name_of_an_earlier_server_is_not_started_again(self, stage: Stage, runner: Runner) -> None:
        attempt = stage.start(runner, LONG)
        with stage.runner() as later:
            with pytest.raises(Unavailable):
                later.start(Order(attempt, "file:///nowhere", 0.5, 512 * MIB))
            assert later.ended(attempt) is None
