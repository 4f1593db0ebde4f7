"""The real agent over real stores: its own process, signed URLs of a server's folder and of S3, and deaths at any step.

The engine's loops are stepped by hand, with the runner that serves people.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import acai_server
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.prices import PriceBook
from acai_jupyter.contract.states import END_STATES
from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.engine.service import Engine
from acai_server.lake import inside
from acai_server.objects.filesystem import FilesystemObjectStore
from acai_server.objects.signing import UrlSigner
from acai_server.provisioner.prices import Prices
from acai_server.runners.gangs import Gangs
from acai_server.runners.process import ProcessRunner, ProcessSettings
from acai_server.testing.lakes import LakeUser
from tests.agents import bench_in
from tests.integration.places import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.jobs import Job
    from acai_server.objects.protocol import ObjectStore

AGENT = Path(acai_server.__file__).with_name("agent.pyz")
MIB = 1024**2
STEPS = (b'"downloading"', b'"running"', b'"uploading"')


class ByUrls(ProcessRunner):
    """A runner whose agents move all bytes by URLs, as those of other machines do."""

    shares_disk = False


class Stand:
    """An engine with its loops, over a store."""

    def __init__(self, folder: Path, objects: ObjectStore, database: Database, *, shares_disk: bool = False) -> None:
        settings = ProcessSettings(cache=folder / "cache", cache_bytes=2 * 1024**3)
        kind = ProcessRunner if shares_disk else ByUrls
        self.runner = Gangs(kind(folder / "attempts", AGENT, settings))
        self.folder = folder
        self.objects = objects
        self.lake = LakeUser(database, objects)
        self.engine = Engine(database, objects, inside, Prices(database, PriceBook()), self.runner, quota=4)
        self.engine.start()

    def close(self) -> None:
        self.engine.stop()
        for path in (self.folder / "attempts").glob("*"):
            self.runner.stop(path.name)
            self.runner.clean(path.name)
        self.runner.close()

    def submit(self, program: str, **asked: Any) -> int:
        member = self.lake.member
        request = CreateJob([sys.executable, "-c", program], **asked)
        return self.engine.submit(member.project_id, member.user_id, request).number

    def job(self, number: int) -> Job:
        return self.engine.job(self.lake.member.project_id, number)

    def ended(self, number: int) -> Job:
        return until(lambda: job if (job := self.job(number)).state in END_STATES else None, f"job {number} has ended")

    def log(self, number: int, attempt: int | None = None) -> bytes:
        return b"".join(self.engine.log_stream(self.lake.member.project_id, number, attempt))

    def folder_of(self, number: int, attempt: int = 1) -> Path:
        return self.folder / "attempts" / f"job-{self.lake.member.project_id}-{number}-{attempt}"


@contextmanager
def stand(folder: Path, objects: ObjectStore, **how: bool) -> Iterator[Stand]:
    with closing(Database(f"sqlite:///{folder / 'acai.db'}", Clock())) as database:
        schema.migrate(database)
        with closing(Stand(folder, objects, database, **how)) as running:
            yield running


@pytest.fixture
def local(tmp_path: Path) -> Iterator[Stand]:
    signer = UrlSigner(b"secret", lambda: "http://127.0.0.1:1", lambda: 0.0)
    with stand(tmp_path, FilesystemObjectStore(tmp_path / "objects", signer), shares_disk=True) as running:
        yield running


@pytest.fixture
def on_s3(tmp_path: Path, s3_bucket: str, s3_server: Any) -> Iterator[Stand]:
    from acai_server.objects.s3 import S3ObjectStore

    with stand(tmp_path, S3ObjectStore(s3_bucket, endpoint_url=s3_server.url)) as running:
        yield running


@pytest.fixture(params=["local", "on_s3"])
def either(request: pytest.FixtureRequest) -> Stand:
    found: Stand = request.getfixturevalue(request.param)
    return found


def processes(folder: Path) -> tuple[int, int]:
    """The keeper of an attempt and its agent."""
    keeper = int(json.loads((folder / "process").read_text())["pid"])
    (agent,) = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
    return keeper, int(agent)


def test_a_job_goes_through_with_inputs_outputs_and_log(either: Stand) -> None:
    either.lake.put({"/data/a": b"A" * 2 * MIB, "/data/b": b"B"}, file_set="data")
    program = (
        "import os\n"
        "print(len(open('data/a').read()), open('data/b').read())\n"
        "open('output/small', 'w').write('made')\n"
        "open('output/large', 'wb').write(os.urandom(70 * 1024**2))\n"
        "print('[ACAI_TAG] job told:yes')\n"
    )
    number = either.submit(program, inputs=["data"], output="model")
    job = either.ended(number)
    assert (job.state.value, job.output, job.attributes["told"]) == ("finished", "model:1", "yes"), job.reason
    assert either.log(number) == b"2097152 B\n[ACAI_TAG] job told:yes\n"
    kept = {entry.path: entry.size_bytes for entry in either.lake.entries("@model:1")}
    assert kept == {"/model/large": 70 * MIB, "/model/small": 4}
    assert job.attempts[0].environment["python"] == ".".join(map(str, sys.version_info[:3]))


def test_the_next_job_with_the_same_input_fetches_nothing(either: Stand) -> None:
    either.lake.put({"/data/a": b"A" * 8 * MIB}, file_set="data")
    program = "print(len(open('data/a').read()))"
    first = either.ended(either.submit(program, inputs=["data"]))
    assert first.state.value == "finished", first.reason
    for key in list(either.objects.keys(f"p{either.lake.member.project_id}/objects/")):
        either.objects.delete(key)
    second = either.submit(program, inputs=["data"])
    assert (either.ended(second).state.value, either.log(second)) == ("finished", b"8388608\n")


@pytest.mark.parametrize("step", STEPS, ids=["downloading", "running", "uploading"])
def test_an_agent_that_is_killed_loses_no_job_and_no_line(local: Stand, step: bytes) -> None:
    """At each step; the job is tried again and finishes, and the log of the first attempt is kept."""
    local.lake.put({"/data/a": b"A" * 2 * MIB}, file_set="data")
    program = "import os, time\nprint('said', flush=True)\nopen('output/x', 'wb').write(os.urandom(200 * 1024**2))\n"
    number = local.submit(program, inputs=["data"], output="model")
    folder = local.folder_of(number)
    until(lambda: step in _printed(folder), f"the attempt says {step!r}")
    pids = processes(folder)
    ends = [os.pidfd_open(pid) for pid in pids]
    os.kill(pids[-1], signal.SIGKILL)
    job = local.ended(number)
    assert (job.state.value, job.output) == ("finished", "model:1"), job.reason
    assert [local.log(number, attempt.number) for attempt in job.attempts][-1] == b"said\n"
    assert set(local.log(number, 1).splitlines()) <= {b"said"}
    assert len(job.attempts) == 2
    for end in ends:
        assert select.select([end], [], [], 120)[0]
        os.close(end)


def _printed(folder: Path) -> bytes:
    try:
        return (folder / "printed").read_bytes()
    except OSError:
        return b""


def test_a_gigabyte_is_printed_and_kept(tmp_path: Path) -> None:
    """One core compresses while the other prints."""
    bench = bench_in(tmp_path)
    line = "a line of the log as programs print them, with a number: %09d\n"
    program = (
        "import sys\n"
        f"block = ''.join({line!r} % n for n in range(10_000)).encode()\n"
        "for _ in range(1600): sys.stdout.buffer.write(block)\n"
    )
    with (tmp_path / "live").open("wb") as live:
        process = bench.start(bench.launch([sys.executable, "-c", program], slots=bench.slots(32)), stdout=live)
        process.communicate()
    assert process.returncode == 0
    record = json.loads(bench.read("result"))
    assert sum(piece["size_bytes"] for piece in record["log"]) == 16_000_000 * len(line % 0)


def test_a_cell_of_a_job_keeps_what_it_showed(local: Stand) -> None:
    local.lake.put({"/code/cell.py": b"print('said')\n6 * 7"}, file_set="code")
    request = CreateJob([sys.executable, "-u", "cell.py"], code="code", code_root="/code", as_cell=True)
    member = local.lake.member
    number = local.engine.submit(member.project_id, member.user_id, request).number
    job = local.ended(number)
    assert (job.state.value, job.has_displays, local.log(number)) == ("finished", True, b"said\n"), job.reason
    shown = local.engine.displays(member.project_id, number)
    assert [one["data"] for one in shown.displays] == [{"text/plain": "42"}]


def test_a_renewed_document_has_room_for_a_longer_log(local: Stand) -> None:
    number = local.submit("import time; print('here', flush=True); time.sleep(600)")
    folder = local.folder_of(number)
    until(lambda: b"here" in _printed(folder), "it runs")
    with local.lake.database.reading() as work:
        job = work.jobs.find(local.lake.member.project_id, number)
        attempt = work.attempts.last(job.id)
    assert attempt is not None
    before = (folder / "launch").stat().st_mtime_ns
    local.engine._launcher.renew(job, attempt)
    assert (folder / "launch").stat().st_mtime_ns != before
    local.engine.kill(job.project_id, job.user_id, number)
    assert local.ended(number).state.value == "killed"
