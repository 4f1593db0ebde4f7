"""What the state of a pod means: how it ended, why it waits, in words for people."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from acai_server.runners.kubernetes import reasons
from acai_server.runners.kubernetes.seen import Event, Job, JobSpec, Pod
from acai_server.runners.protocol import Ended

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DELETED = {"deletionTimestamp": "2026-01-01T00:01:10Z"}
PULL = 'Back-off pulling image "x:1": ErrImagePull: failed to pull and unpack image "x:1": '


def pod(state: Any = None, *, metadata: Any = None, conditions: Any = (), **status: Any) -> Pod:
    """A pod as the API server writes it."""
    containers = [] if state is None else [{"name": "sidecar"}, {"name": "agent", "state": state}]
    body = {
        "metadata": {"name": "acai-x", **(metadata or {})},
        "spec": {"nodeName": "node1", "containers": [{"name": "agent"}]},
        "status": {"containerStatuses": containers, "conditions": list(conditions), **status},
    }
    return msgspec.json.decode(msgspec.json.encode(body), type=Pod)


def ended(code: int, reason: str = "Error", message: str = "", **rest: Any) -> Pod:
    return pod({"terminated": {"exitCode": code, "reason": reason, "message": message}}, **rest)


def disrupted(reason: str) -> dict[str, str]:
    return {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "said so"}


def job(*conditions: dict[str, str], **metadata: Any) -> Job:
    body = {"metadata": {"name": "acai-x", **metadata}, "status": {"conditions": conditions}}
    return msgspec.json.decode(msgspec.json.encode(body), type=Job)


def failed(reason: str) -> dict[str, str]:
    return {"type": "Failed", "status": "True", "reason": reason, "message": "said so"}


def end_of(seen: Pod, of: Job | None = None, *, asked: bool = False, now: datetime = NOW) -> Ended | None:
    return reasons.end_of(seen, of or job(), asked=asked, now=now)


@pytest.mark.parametrize(
    ("seen", "end"),
    [
        (pod(phase="Pending"), None),
        (pod({"running": {"startedAt": "2026-01-01T00:00:00Z"}}, phase="Running"), None),
        (ended(0, "Completed"), Ended(0)),
        (ended(3), Ended(3)),
        (ended(137, "OOMKilled"), Ended(137, out_of_memory=True)),
        (ended(143, metadata=DELETED), Ended(143, "its pod was deleted by somebody", machine_failed=True)),
        (
            ended(143, metadata=DELETED, conditions=[disrupted("EvictionByEvictionAPI")]),
            Ended(143, "its pod was evicted, as when a machine is drained", machine_failed=True),
        ),
        (
            ended(143, metadata=DELETED, conditions=[disrupted("PreemptionByScheduler")]),
            Ended(143, "its pod had to make room for one of a higher priority", machine_failed=True),
        ),
        (
            ended(137, "ContainerStatusUnknown", metadata=DELETED),
            Ended(None, "its machine lost it, and nobody saw how it ended", machine_failed=True),
        ),
        (
            ended(128, "StartError", 'exec: "python3": executable file not found in $PATH'),
            Ended(128, "its image has no python3, which the agent needs; use one that has"),
        ),
        (
            ended(128, "StartError", "permission denied"),
            Ended(128, "its container could not be started: permission denied"),
        ),
        (
            pod(phase="Failed", reason="Evicted", message="The node was low on resource: memory. "),
            Ended(
                None,
                "its machine was short of something and evicted it: The node was low on resource: memory",
                machine_failed=True,
            ),
        ),
        (
            pod(
                {"terminated": {"exitCode": 137}},
                phase="Failed",
                reason="Evicted",
                message='Usage of EmptyDir volume "attempt" exceeds the limit',
            ),
            Ended(
                137,
                'it filled the disk of its pod and was evicted: Usage of EmptyDir volume "attempt" exceeds the limit',
            ),
        ),
        (
            pod(phase="Failed", reason="OutOfcpu", message="Node didn't have enough resource: cpu"),
            Ended(
                None,
                "its machine did not run its pod: Node didn't have enough resource: cpu",
                machine_failed=True,
            ),
        ),
    ],
)
def test_how_a_pod_ended(seen: Pod, end: Ended | None) -> None:
    assert end_of(seen) == end


def test_what_was_asked_to_end_ended_of_its_own() -> None:
    assert end_of(ended(143, metadata=DELETED), asked=True) == Ended(143)


def test_a_pod_that_its_machine_ended_is_judged_when_the_machine_has_said_why() -> None:
    done = {"terminated": {"exitCode": 143, "reason": "Error", "finishedAt": "2026-01-01T00:00:00Z"}}
    at_once, later = NOW + timedelta(seconds=1), NOW + timedelta(seconds=11)
    assert end_of(pod(done, phase="Running"), now=at_once) is None
    why = {"reason": "Evicted", "message": "Pod was rejected: The node had condition: [DiskPressure]. "}
    said = f"its machine was short of something and evicted it: {why['message'][:-2]}"
    assert end_of(pod(done, phase="Failed", **why), now=at_once) == Ended(143, said, machine_failed=True)
    assert end_of(pod(done, phase="Failed"), now=at_once) == Ended(143)
    assert end_of(pod(done, phase="Running"), now=later) == Ended(143)
    assert end_of(pod(done, phase="Running"), now=at_once, asked=True) == Ended(143)


def test_a_deadline_of_the_cluster_is_no_fault_of_the_machine() -> None:
    end = end_of(ended(143, metadata=DELETED), job(failed("DeadlineExceeded")))
    assert end is not None
    assert (end.exit_code, end.machine_failed, "activeDeadlineSeconds" in end.reason) == (143, False, True)


def test_a_machine_that_does_not_answer_is_waited_for_as_long_as_its_pod_may_take() -> None:
    running = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    seen = pod(running, metadata=DELETED, conditions=[disrupted("DeletionByTaintManager")])
    assert end_of(seen, now=NOW + timedelta(seconds=70)) is None
    lost = Ended(None, "its machine node1 does not answer any more", machine_failed=True)
    assert end_of(seen, now=NOW + timedelta(seconds=76)) == lost


@pytest.mark.parametrize(
    ("seen", "asked", "end"),
    [
        (job(), False, None),
        (job(), True, None),
        (None, True, Ended(None, "it was stopped before it began")),
        (job(failed("BackoffLimitExceeded")), True, Ended(None, "it was stopped before it began")),
        (None, False, Ended(None, "its Kubernetes Job was deleted by somebody", machine_failed=True)),
        (job(failed("BackoffLimitExceeded")), False, reasons.LOST),
        (
            job(failed("DeadlineExceeded")),
            False,
            Ended(None, "it took longer than the cluster lets a Kubernetes Job take (activeDeadlineSeconds)"),
        ),
    ],
)
def test_how_an_attempt_ended_that_has_no_pod(seen: Job | None, *, asked: bool, end: Ended | None) -> None:
    assert reasons.end_without_pod(seen, asked=asked) == end


def waiting(reason: str, message: str = "") -> Pod:
    return pod({"waiting": {"reason": reason, "message": message}}, phase="Pending")


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        (waiting("ContainerCreating"), ""),
        (waiting("ErrImagePull", f"{PULL}not found"), ""),
        (waiting("ImagePullBackOff", f"{PULL}connection refused"), ""),
        (waiting("ImagePullBackOff", f"{PULL}not found"), f"its image cannot be fetched: {PULL}not found"),
        (waiting("ImagePullBackOff", f"{PULL}unauthorized"), f"its image cannot be fetched: {PULL}unauthorized"),
        (waiting("InvalidImageName", "couldn't parse"), "its image has no name that can be: couldn't parse"),
        (
            waiting("CreateContainerConfigError", "container has runAsNonRoot and image will run as root"),
            "its container cannot be made: container has runAsNonRoot and image will run as root",
        ),
    ],
)
def test_what_will_never_start(seen: Pod, said: str) -> None:
    assert reasons.never_starts(seen, 10.0, 120.0) == said


def test_an_image_that_cannot_be_fetched_is_not_tried_for_ever() -> None:
    seen = waiting("ImagePullBackOff", f"{PULL}connection refused")
    assert reasons.never_starts(seen, 121.0, 120.0) == f"its image cannot be fetched: {PULL}connection refused"


LITTLE_CPU = (
    "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 Preemption is no help."
)
MANY = (
    "0/5 nodes are available: 1 Insufficient memory, 1 node(s) were unschedulable, 2 node(s) had untolerated taint "
    "{gpu: true}, 3 node(s) didn't match Pod's node affinity/selector. preemption: 0/5 nodes are available"
)
TAINTED = "0/2 nodes are available: 1 node(s) had untolerated taint(s), 1 Too many pods."
TAINTED_SAID = (
    "No machine of the cluster has room for it. Of 2 machines: 1 does not take it (a taint, as of one that does not "
    "answer), 1 has as many pods as it can have."
)
MANY_SAID = (
    "No machine of the cluster has room for it. Of 5 machines: 1 has too little memory free, 1 takes no more pods "
    "(cordoned), 2 does not take it (taint gpu), 3 is not one that it may run on (node selector or affinity)."
)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (LITTLE_CPU, "No machine of the cluster has room for it. Of 1 machine: 1 has too little CPU free."),
        (MANY, MANY_SAID),
        (TAINTED, TAINTED_SAID),
        ("no nodes available", "No machine of the cluster takes it: no nodes available."),
    ],
)
def test_why_no_machine_takes_it(message: str, said: str) -> None:
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    assert reasons.why_waiting(pod(phase="Pending", conditions=[condition])) == said


def test_why_it_waits_on_its_machine() -> None:
    assert reasons.why_waiting(waiting("ContainerCreating")).startswith("Its container is being made")
    assert "tried again: Back-off" in reasons.why_waiting(waiting("ImagePullBackOff", PULL))
    assert reasons.why_waiting(pod({"running": {}}, phase="Running")) == ""


def test_why_there_is_no_pod() -> None:
    quota = Event(
        reason="FailedCreate",
        message='Error creating: pods "acai-x-abc" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, '
        "limited: pods=2",
    )
    security = Event(
        reason="FailedCreate",
        message='Error creating: pods "acai-x-abc" is forbidden: violates PodSecurity "restricted:latest": privileged',
    )
    other = Event(reason="SuccessfulCreate", message="Created pod")
    assert reasons.why_not_made([other]) == ""
    assert reasons.why_not_made([quota, other]) == (
        "It waits for room in the quota of the namespace: exceeded quota: few, requested: pods=1, used: pods=2, "
        "limited: pods=2."
    )
    assert reasons.never_made([quota, other]) == ""
    said = 'the cluster does not admit its pod: violates PodSecurity "restricted:latest": privileged'
    assert reasons.never_made([security]) == said


def test_a_queue_that_takes_a_machine_back_is_named() -> None:
    suspended = msgspec.structs.replace(job(), spec=JobSpec(suspend=True))
    lost = Ended(143, "the cluster's queue took its machine back", machine_failed=True)
    assert end_of(ended(143, metadata=DELETED), suspended) == lost
    assert reasons.end_of_gone(pod(metadata=DELETED), suspended, asked=False) == Ended(
        None, lost.reason, machine_failed=True
    )
