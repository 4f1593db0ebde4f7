"""The built agent, unchanged, in a pod: its input comes from S3, and the engine records what it left there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.jobs import Resources
from acai_jupyter.contract.loglines import split
from tests.cluster import pods

if TYPE_CHECKING:
    from acai_jupyter.contract.jobs import Job
    from acai_server.testing.stages import JobUser
    from tests.servers.cluster import Cluster

LARGE = bytes(range(256)) * (8 * 4096)
SMALL = Resources(vcpu=0.5, memory_bytes=512 * 1024**2)
PROGRAM = """
import os, pathlib, acai_jupyter
from acai_jupyter import output_path
print("\\x1b[1mbold\\x1b[0m", os.getuid(), os.environ["ACAI_INPUT"])
small = pathlib.Path("data/small.txt").read_text()
large = pathlib.Path("data/large.bin").read_bytes()
acai_jupyter.tag("size", len(large))
pathlib.Path(output_path("deep/upper.txt")).write_text(small.upper())
pathlib.Path(output_path("large.bin")).write_bytes(large[::-1])
"""
WAITING = """
import pathlib, signal
pathlib.Path("output/half").write_text("half of it")
print("began", flush=True)
signal.pause()
"""
GREEDY = "kept = []\nwhile True: kept.append(bytearray(64 * 1024 ** 2))"

pytestmark = pytest.mark.timeout(300)


def launched(user: JobUser, cluster: Cluster, program: str, **asked: Any) -> tuple[int, str]:
    """Submit a job and start the pod of its first attempt."""
    number = user.submit(["python3", "-c", program], resources=SMALL, **asked)
    user.schedule()
    return number, pods.start(cluster, user.runner.orders[user.attempt(number)])


def concluded(user: JobUser, cluster: Cluster, number: int, pod: str) -> tuple[Job, dict[str, Any]]:
    """Tell the engine what became of the pod, as its runner would; returns the job and how the pod ended."""
    ended = pods.end_of(cluster, pod)
    user.say(number, cluster.ask("logs", pod))
    user.end(number, ended["exitCode"], out_of_memory=ended["reason"] == "OOMKilled")
    user.look()
    return user.job(number), ended


def log(user: JobUser, number: int) -> bytes:
    return b"".join(user.engine.log_stream(user.project, number, 1))


def test_input_comes_from_s3_and_outputs_log_and_tags_are_recorded(user: JobUser, kubernetes: Cluster) -> None:
    user.lake.put({"/data/small.txt": b"small", "/data/large.bin": LARGE}, file_set="data")
    number, pod = launched(user, kubernetes, PROGRAM, inputs=["data"], output="made")
    key = user.document(number).key
    job, ended = concluded(user, kubernetes, number, pod)
    assert (job.state.value, job.output, ended["exitCode"]) == ("finished", "made:1", 0), log(user, number)
    assert user.lake.read("@made:1") == {"/made/deep/upper.txt": b"SMALL", "/made/large.bin": LARGE[::-1]}
    assert log(user, number).startswith(b"\x1b[1mbold\x1b[0m 54321 data:1\n")
    assert job.attributes == {"size": len(LARGE)}
    attempt = job.attempts[0]
    assert "memory at most 576 MB (container)" in attempt.held
    assert [step.state.value for step in attempt.transitions][1:] == ["downloading", "running", "uploading", "finished"]
    assert attempt.cost_usd is not None
    printed, said, _ = split(kubernetes.ask("logs", pod), key)
    assert printed == log(user, number)
    assert [words["state"] for words in said if "state" in words] == ["downloading", "running", "uploading"]


def test_a_pod_that_is_deleted_keeps_its_log_and_what_was_there(user: JobUser, kubernetes: Cluster) -> None:
    number, pod = launched(user, kubernetes, WAITING, output="made", keep_partial=True)
    pods.until_it_printed(kubernetes, pod, b"began")
    user.kill(number)
    kubernetes.ask("delete", "pod", pod)  # returns when it is gone, its status too
    user.end(number, None)
    user.look()
    job = user.job(number)
    assert (job.state.value, job.output, job.partial) == ("killed", None, f"job-{number}-partial:1")
    assert log(user, number) == b"began\n"


def test_a_program_that_takes_too_much_is_told_apart(user: JobUser, kubernetes: Cluster) -> None:
    number, pod = launched(user, kubernetes, GREEDY)
    job, _ = concluded(user, kubernetes, number, pod)
    assert job.state.value == "failed"
    assert job.reason.startswith("ran out of memory at 512 MB")
