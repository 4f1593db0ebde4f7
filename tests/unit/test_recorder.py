"""The recorder writes down what attempts leave, and believes nothing of it that can be checked."""

from __future__ import annotations

import io
from contextlib import closing
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from acai_jupyter.contract.launch import LAUNCH_VERSION
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.engine.kept_logs import packed
from acai_server.testing.lakes import hash_of
from acai_server.testing.stages import HandClock, JobUser

if TYPE_CHECKING:
    from collections.abc import Iterator

BODY = b"made"


@pytest.fixture
def user() -> Iterator[JobUser]:
    time = HandClock()
    with closing(Database("sqlite://", time.clock)) as database:
        schema.migrate(database)
        yield JobUser(database, time)


def put(user: JobUser, number: int, what: str, body: bytes) -> None:
    key = user.key(number, len(user.job(number).attempts), what)
    user.objects.put(key, io.BytesIO(body), size_bytes=len(body))


def record(**told: Any) -> dict[str, Any]:
    whole = {
        "version": LAUNCH_VERSION,
        "exit_code": 0,
        "reason": "",
        "started_at": 0.0,
        "ended_at": 1.0,
        "run_seconds": 1.0,
        "billed_seconds": 2.0,
        "outputs": [["x", 0, 0, len(BODY), hash_of(BODY)]],
        "packs": [{"size_bytes": len(BODY), "sha256": hash_of(BODY)}],
        "log": [],
    }
    return {**whole, **told}


def run(user: JobUser, result: dict[str, Any] | bytes, packs: tuple[bytes, ...] = (BODY,), **asked: Any) -> int:
    """Run a job whose agent leaves this."""
    number = user.submit(**asked)
    user.schedule()
    for place, pack in enumerate(packs):
        put(user, number, f"pack/{place}", pack)
    put(user, number, "result", result if isinstance(result, bytes) else msgspec.json.encode(result))
    user.end(number, 0)
    user.look()
    return number


def test_outputs_of_several_packs_become_one_set(user: JobUser) -> None:
    other = b"and other"
    rows = [["a/x", 1, 4, 5, hash_of(b"other")], ["y", 0, 0, 4, hash_of(BODY)]]
    packs = [{"size_bytes": len(one), "sha256": hash_of(one)} for one in (BODY, other)]
    number = run(user, record(outputs=rows, packs=packs), (BODY, other), output="model")
    job = user.job(number)
    assert (job.state.value, job.output) == ("finished", "model:1")
    assert user.lake.read("@model:1") == {"/model/a/x": b"other", "/model/y": BODY}


@pytest.mark.parametrize(("root", "path"), [("/", "/x"), ("/deep/er", "/deep/er/x"), (None, "/model/x")])
def test_outputs_go_where_they_were_asked_to(user: JobUser, root: str | None, path: str) -> None:
    run(user, record(), output="model", output_root=root)
    assert [entry.path for entry in user.lake.entries("@model:1")] == [path]


def test_only_inputs_of_a_job_are_looked_into_when_it_could_not_read_them(user: JobUser) -> None:
    heard: list[tuple[int, set[bytes]]] = []
    user.engine = user.another_engine(on_unread=lambda project, hashes: heard.append((project, hashes)))
    user.lake.put({"/d/x": b"x", "/d/y": b"y"}, file_set="data")
    user.lake.put({"/other": b"other"})
    unread = [hash_of(b"x"), hash_of(b"other"), "no hash"]
    run(user, record(unread=unread), inputs=["data"])
    assert heard == [(user.project, {bytes.fromhex(hash_of(b"x"))})]


SHA = hash_of(BODY)
LIES: dict[str, Any] = {
    "a path outside": {"outputs": [["../x", 0, 0, 4, SHA]]},
    "an absolute path": {"outputs": [["/etc/x", 0, 0, 4, SHA]]},
    "no path": {"outputs": [["", 0, 0, 4, SHA]]},
    "a path twice": {"outputs": [["x", 0, 0, 4, SHA], ["x", 0, 0, 4, SHA]]},
    "a pack that is not told": {"outputs": [["x", 1, 0, 4, SHA]]},
    "a pack before the first": {"outputs": [["x", -1, 0, 4, SHA]]},
    "bytes outside": {"outputs": [["x", 0, 1, 4, SHA]]},
    "bytes before the beginning": {"outputs": [["x", 0, -1, 4, SHA]]},
    "another size": {"packs": [{"size_bytes": 5, "sha256": SHA}]},
    "no hash": {"outputs": [["x", 0, 0, 4, "short"]]},
    "another version": {"version": 1},
    "time that runs back": {"billed_seconds": -1.0},
    "a word for a number": {"exit_code": "0"},
    "a number that no database has": {"exit_code": 10**30},
    "an environment that is nested": {"environment": {"python": {"version": {"major": 3}}}},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_a_record_that_cannot_be_is_not_used(user: JobUser, lie: dict[str, Any]) -> None:
    job = user.job(run(user, record(**lie), retries=0, output="model"))
    assert (job.state.value, job.output) == ("crashed", None)
    assert job.reason == "its agent ended with status 0 and left a result that cannot be used"


def with_outputs(*paths: str) -> dict[str, Any]:
    return record(outputs=[[path, 0, 0, len(BODY), SHA] for path in paths])


FAULTS = {
    "x" * 1017 + "y": "it is longer than 1024 bytes",
    "a\nb": "it has a control character",
    "e\u0301": "it is not in Unicode's normal form NFC",
    "\U0010ffff": "U+10FFFF stands behind all names and cannot be in one",
    "fine/below": "'model/fine' of the output is a file and a folder",
}


@pytest.mark.parametrize("path", FAULTS, ids=lambda path: ascii(path[:12]))
def test_an_output_that_the_project_cannot_have_is_named_and_the_others_are_recorded(user: JobUser, path: str) -> None:
    number = run(user, with_outputs("fine", path, "x" * 1017), output="model", retries=3)
    job = user.job(number)
    assert (job.state.value, job.output, len(job.attempts)) == ("finished", "model:1", 1)
    assert [entry.path for entry in user.lake.entries("@model:1")] == ["/model/fine", "/model/" + "x" * 1017]
    (warning,) = job.attempts[0].warnings
    assert warning.endswith(f"was not kept: {FAULTS[path]}")
    assert warning.startswith(f"output {ascii(path[:60])[:-1]}")


def test_of_many_outputs_that_the_project_cannot_have_some_are_named_and_the_others_counted(user: JobUser) -> None:
    number = run(user, with_outputs("fine", *(f"{name:03}\n" for name in range(150))), output="model")
    warnings = user.job(number).attempts[0].warnings
    assert (len(warnings), warnings[-1]) == (21, "130 more outputs were not kept")


def test_what_a_failed_job_left_is_recorded_without_what_the_project_cannot_have(user: JobUser) -> None:
    left = with_outputs("fine", "x" * 1015) | {"exit_code": 1}
    job = user.job(run(user, left, output="m", keep_partial=True, retries=0))
    assert (job.state.value, job.partial) == ("failed", "job-1-partial:1")
    assert [entry.path for entry in user.lake.entries("@job-1-partial:1")] == ["/job-1-partial/fine"]


def test_an_agent_is_told_how_long_the_paths_of_its_outputs_may_be(user: JobUser) -> None:
    lengths = []
    for asked in ({"output": "model"}, {}, {"output": "model", "output_root": "/"}):
        number = user.submit(**asked)
        user.schedule()
        lengths.append(user.document(number).max_output_path_bytes)
    assert lengths == [1024 - len(folder) for folder in ("/model/", "/job-2-output/", "/")]


NESTED = msgspec.json.encode(record())[:-1] + b',"environment":{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff", b"null", b'{"version": 2}', NESTED], ids=range(7))
def test_what_is_no_record_is_not_used(user: JobUser, body: bytes) -> None:
    assert user.states(run(user, body, retries=0)) == ["crashed"]


def test_a_pack_that_was_never_sent_is_missed(user: JobUser) -> None:
    assert user.states(run(user, record(), packs=(), retries=0)) == ["crashed"]


def test_what_the_agent_saw_of_the_machine_is_kept(user: JobUser) -> None:
    usage = {"cpu_seconds": 1.5, "max_memory_bytes": 7, "max_disk_bytes": 8, "samples": [[1.0, 0.5, 6, 5, 0.0]]}
    told = {
        "usage": usage,
        "held": ["CPU at most 1"],
        "warnings": ["it was late"],
        "environment": {"python": "3.8.18"},
        "displays_bytes": 3,
    }
    job = user.job(run(user, record(**told)))
    attempt = job.attempts[0]
    assert attempt.usage is not None
    assert (attempt.usage.cpu_seconds, attempt.usage.samples) == (1.5, [(1.0, 0.5, 6, 5, 0.0)])
    assert (attempt.held, attempt.warnings, attempt.environment) == (
        ["CPU at most 1"],
        ["it was late"],
        {"python": "3.8.18"},
    )
    assert job.has_displays


def test_tags_are_read_wherever_they_stand_in_a_long_log(user: JobUser) -> None:
    log = b"[ACAI_TAG] job first:1\n" + b"x" * 300_000 + b"\n[ACAI_TAG] fileset last:2\n[ACAI_TAG] job no-newline:3"
    halves = (log[:150_010], log[150_010:])
    members = [packed(half) for half in halves]
    number = user.submit(output="model")
    user.schedule()
    put(user, number, "log/0", b"".join(members))
    sizes = [[len(half), len(member)] for half, member in zip(halves, members, strict=True)]
    piece = {"size_bytes": len(log), "stored_bytes": sum(map(len, members)), "members": sizes}
    user.finish(number, outputs={"x": BODY}, log=[piece])
    user.look()
    attributes = user.job(number).attributes
    assert {key: attributes[key] for key in ("first", "no-newline")} == {"first": "1", "no-newline": "3"}


def test_a_program_that_was_stopped_and_ended_well_has_not_finished(user: JobUser) -> None:
    job = user.job(run(user, record(was_stopped=True, reason="it was stopped"), output="model"))
    assert (job.state.value, job.reason, job.output) == ("failed", "it was stopped", None)


def test_a_program_that_its_machine_stopped_has_crashed_and_is_tried_again(user: JobUser) -> None:
    number = user.submit(output="model")
    user.schedule()
    put(user, number, "pack/0", BODY)
    put(user, number, "result", msgspec.json.encode(record(exit_code=143, was_stopped=True, reason="it was stopped")))
    user.end(number, 143, reason="its pod was evicted", machine_failed=True)
    user.look()
    job = user.job(number)
    last = job.attempts[0].transitions[-1]
    assert (job.state.value, last.state.value, last.reason) == ("queued", "crashed", "its pod was evicted")
    assert job.attempts[0].billed_seconds is not None


def test_a_time_limit_is_the_reason(user: JobUser) -> None:
    told = record(exit_code=143, exceeded_time=True, reason="it ran longer than its limit of 60 s")
    assert user.job(run(user, told)).reason == "it ran longer than its limit of 60 s"


def test_no_longer_time_is_billed_than_has_passed_here(user: JobUser) -> None:
    number = run(user, record(run_seconds=1e9, billed_seconds=1e9))
    (attempt,) = user.job(number).attempts
    assert attempt.billed_seconds is not None
    assert attempt.billed_seconds < 1e6
    assert attempt.run_seconds == attempt.billed_seconds


def test_a_changed_cache_of_inputs_is_in_the_servers_log(user: JobUser, caplog: pytest.LogCaptureFixture) -> None:
    number = run(user, record(damaged_inputs=["/a", "/b"]))
    assert user.job(number).state.value == "finished"
    assert f"had 2 changed files, found by job {number}" in caplog.text


def test_texts_that_no_database_takes_are_recorded_escaped(user: JobUser) -> None:
    odd = "a\0b\x1b[31m"
    told = {"warnings": [odd], "held": [odd], "environment": {odd: odd, "packages": {odd: odd}}}
    number = run(user, record(**told, exit_code=1, reason=odd + "x" * 10_000), retries=0)
    job = user.job(number)
    escaped = r"a\x00b\x1b[31m"
    assert (job.state.value, job.reason) == ("failed", (escaped + "x" * 500)[:500])
    attempt = job.attempts[0]
    assert (attempt.warnings, attempt.held) == ([escaped], [escaped])
    assert attempt.environment == {escaped: escaped, "packages": {escaped: escaped}}
