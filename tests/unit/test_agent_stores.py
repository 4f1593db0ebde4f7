"""Attempts whose store is behind HTTP and has bad days. Runs on Python 3.8: so does what it tests."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.agent.inputs import Inputs
from acai_jupyter.agent.launch import Launch
from acai_jupyter.agent.log import MEMBER_BYTES, Log
from acai_jupyter.agent.stopping import Stop
from acai_jupyter.transfer.errors import TransferError
from acai_jupyter.transfer.retrying import DEFAULT
from tests.agents import Bench, bench_in, unpacked
from tests.servers.store import Fault, Store, running_store

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT = "print('said'); open('output/x', 'w').write('made')"


@pytest.fixture
def served() -> Iterator[Store]:
    with running_store() as running:
        yield running


@pytest.fixture
def bench(tmp_path: Path, served: Store) -> Bench:
    def url(name: str) -> str:
        return served.url + name

    def write(name: str, body: bytes) -> None:
        served.objects["/" + name] = body

    return Bench(tmp_path, url, url, lambda name: served.objects.get("/" + name), write)


def test_all_goes_by_http(bench: Bench) -> None:
    done = bench.run("print(open('in').read()); open('output/x', 'w').write('made')", (("in", b"input", False),))
    assert (done.status, done.log, done.outputs, done.errors) == (0, b"input\n", {"x": b"made"}, b"")


@pytest.mark.parametrize("fault", [Fault.UNAVAILABLE, Fault.TOO_MANY, Fault.CLOSED])
@pytest.mark.parametrize("at", ["/launch", "/in0", "/pack0", "/log0", "/result"])
def test_a_store_that_is_away_for_a_moment_is_waited_for(bench: Bench, served: Store, fault: Fault, at: str) -> None:
    served.fault = once(at, fault)  # type: ignore[method-assign]
    done = bench.run(KEPT, (("in", b"input", False),))
    assert (done.status, done.log, done.outputs) == (0, b"said\n", {"x": b"made"})


def once(at: str, fault: Fault) -> Any:
    """The first request of a path goes wrong."""
    left = [at]

    def happens(path: str) -> Fault:
        if path in left:
            left.remove(path)
            return fault
        return Fault.NONE

    return happens


@pytest.mark.parametrize("at", ["/in0", "/pack0", "/log0", "/result"])
def test_an_expired_url_is_asked_for_again(bench: Bench, served: Store, at: str) -> None:
    """The document is renewed when the old URL is refused for the first time."""
    place = bench.launch([sys.executable, "-c", KEPT], (("in", b"input", False),))
    served.objects["/in0-new"] = b"input"
    renewed = served.objects["/launch"].replace(at.encode() + b'"', at.encode() + b'-new"')
    assert renewed != served.objects["/launch"]

    def refuse(path: str) -> Fault:
        if path != at:
            return Fault.NONE
        served.objects["/launch"] = renewed
        return Fault.FORBIDDEN

    served.fault = refuse  # type: ignore[method-assign]
    process = bench.start(place)
    process.communicate(timeout=120)
    assert process.returncode == 0
    record = json.loads(served.objects["/result-new" if at == "/result" else "/result"])
    assert (record["exit_code"], record["log_is_whole"], len(record["outputs"])) == (0, True, 1)
    assert at == "/in0" or at + "-new" in served.objects


def test_an_attempt_that_cannot_keep_its_outputs_has_failed_and_says_why(bench: Bench, served: Store) -> None:
    served.faults_at["/pack0"] = Fault.FULL
    done = bench.run(KEPT)
    assert (done.status, done.record["exit_code"], done.outputs, done.log) == (74, 74, {}, b"said\n")
    assert done.record["reason"] == "its outputs could not be kept: the store answered 507"


def test_a_log_that_cannot_be_kept_does_not_harm_the_job(bench: Bench, served: Store) -> None:
    served.faults_at["/log0"] = Fault.FULL
    done = bench.run(KEPT)
    assert (done.status, done.record["log_is_whole"], done.record["log"]) == (0, False, [])
    assert (done.outputs, done.printed) == ({"x": b"made"}, b"said\n")


def test_who_asks_for_an_end_does_not_wait_for_a_store_that_is_away(bench: Bench, served: Store) -> None:
    place = bench.launch([sys.executable, "-c", "pass"])
    served.faults_at["/result"] = Fault.UNAVAILABLE
    process = bench.start(place)
    while not any(path == "/result" for _, path, _ in list(served.requests)):
        assert served.left.wait(120)
        served.left.clear()
    process.terminate()
    process.communicate(timeout=120)
    assert process.returncode != 0


def test_no_url_is_told_in_an_error(bench: Bench, served: Store) -> None:
    served.faults_at["/in0"] = Fault.FULL
    done = bench.run(KEPT, (("in", b"input", False),))
    assert "http" not in done.record["reason"]
    assert b"http" not in done.errors


def lay_out(tmp_path: Path, slots: int, renewed_slots: int = 0) -> tuple[Bench, Launch]:
    bench = bench_in(tmp_path)
    place = bench.launch(["true"], slots=bench.slots(slots))
    launch = Launch(str(place), Stop())
    if renewed_slots:
        bench.launch(["true"], slots=bench.slots(renewed_slots))
    return bench, launch


def written(log: Log, pieces: list[bytes]) -> dict[str, Any]:
    for piece in pieces:
        log.write(piece)
    return log.end()


def whole(bench: Bench, kept: dict[str, Any]) -> bytes:
    return b"".join(unpacked(bench.read(f"log{number}")) for number in range(len(kept["log"])))


def test_pieces_grow_so_that_few_slots_take_a_long_log(tmp_path: Path) -> None:
    bench, launch = lay_out(tmp_path, 4)
    data = bytes(range(256)) * 4096 * 40
    with Path("/dev/null").open("wb") as nothing:
        kept = written(Log(launch, nothing.fileno(), str(tmp_path)), [data])
    assert (kept["log_is_whole"], whole(bench, kept)) == (True, data)
    sizes = [piece["size_bytes"] for piece in kept["log"]]
    assert len(sizes) <= 4
    assert sizes[0] < sizes[1]


def test_new_slots_are_used_when_the_document_has_them(tmp_path: Path) -> None:
    bench, launch = lay_out(tmp_path, 2, renewed_slots=50)
    data = bytes(MEMBER_BYTES) * 6
    with Path("/dev/null").open("wb") as nothing:
        kept = written(Log(launch, nothing.fileno(), str(tmp_path)), [data])
    assert (kept["log_is_whole"], whole(bench, kept)) == (True, data)
    assert len(kept["log"]) > 2


def test_what_was_printed_long_ago_is_sent_although_it_is_little(tmp_path: Path) -> None:
    bench, launch = lay_out(tmp_path, 8)
    now = [0.0]
    with Path("/dev/null").open("wb") as nothing:
        log = Log(launch, nothing.fileno(), str(tmp_path), lambda: now[0])
        assert log.wait_seconds() is None
        log.write(b"first\n")
        assert log.wait_seconds() == 60.0
        now[0] = 60.0
        assert log.wait_seconds() == 0.0
        log.flush()
        assert log.wait_seconds() is None
        kept = written(log, [b"second\n"])
    assert [piece["size_bytes"] for piece in kept["log"]] == [6, 7]
    assert whole(bench, kept) == b"first\nsecond\n"


def test_a_launch_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="the launch file cannot be read"):
        Launch(str(tmp_path / "nothing"), Stop())


def test_many_inputs_are_taken_a_stretch_at_a_time_also_when_urls_expire_in_between(
    bench: Bench, served: Store, tmp_path: Path
) -> None:
    count = 45
    contents = [b"%05d" % number for number in range(count)]
    served.objects["/all"] = b"".join(contents)
    rows = [
        [f"in/{number % 10}/{number}", 0, 5 * number, 5, hashlib.sha256(content).hexdigest(), False]
        for number, content in enumerate(contents)
    ]
    place = bench.launch(["true"], objects=[bench.get("all")])
    first, _, _ = served.objects["/launch"].partition(b"\n")
    served.objects["/launch"] = b"\n".join([first, *(json.dumps(row).encode() for row in rows)])
    asked = iter(range(count))
    served.fault = lambda path: Fault.FORBIDDEN if path == "/all" and next(asked) in (1, 3) else Fault.NONE  # type: ignore[method-assign]
    launch = Launch(str(place), Stop())
    with launch.connections:
        Inputs(launch, str(tmp_path / "work"), None, Stop()).fetch(DEFAULT._replace(sleep=lambda _: False), at_once=10)
    found = {path.name: path.read_bytes() for path in (tmp_path / "work").glob("in/*/*")}
    assert found == {str(number): content for number, content in enumerate(contents)}
    assert [path for _, path, _ in served.requests].count("/launch") == 3
    assert launch.files(0, 1) == ([], 0)
