"""What the state of a pod means, in words for people. Pure functions over what was seen."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from acai_server.runners.kubernetes.objects import CONTAINER
from acai_server.runners.kubernetes.seen import ContainerState
from acai_server.runners.protocol import Ended

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from acai_server.runners.kubernetes.seen import Condition, Event, Job, Pod, Terminated, Waiting

_DISRUPTIONS = {
    "PreemptionByScheduler": "its pod had to make room for one of a higher priority",
    "EvictionByEvictionAPI": "its pod was evicted, as when a machine is drained",
    "DeletionByTaintManager": "its machine was lost, or does not take it any more",
    "DeletionByPodGC": "its machine is gone",
    "TerminationByKubelet": "its machine had to end it",
}
_OWN_FAULT = ("ephemeral local storage usage exceeds", "Usage of EmptyDir volume", "exceeded its local ephemeral")
"""Evicted for what it did, not for what its machine lacked."""
_NO_IMAGE = re.compile(
    r"not found|manifest unknown|denied|unauthorized|forbidden|no such host|invalid reference|does not exist",
    re.IGNORECASE,
)
_IMAGE_WAITS = ("ErrImagePull", "ImagePullBackOff")
_NEVER_STARTS = ("InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError")
_NEVER_MADE = re.compile(r"violates PodSecurity|denied the request|error looking up service account|is invalid")
_LACKS = {
    "cpu": "too little CPU free",
    "memory": "too little memory free",
    "nvidia.com/gpu": "no GPU free",
    "ephemeral-storage": "too little disk free",
}
_COUNTED = re.compile(r"(\d+) ([^,]+?)(?=,|\.(?:\s|$)|$)")
_GRACE = timedelta(seconds=5)
_BY_SIGNAL = frozenset({128 + 9, 128 + 15})
_TELLS_WHY = timedelta(seconds=10)
"""So long after the end of a container a kubelet may take to say that it ended the pod, and why."""
_NOTHING = ContainerState()
_STOPPED = Ended(None, "it was stopped before it began")
LOST = Ended(None, "its pod is gone, and nobody saw how it ended", machine_failed=True)


def end_of(pod: Pod, job: Job | None, *, asked: bool, now: datetime) -> Ended | None:
    """Return how a pod ended, or None while it may go on. `asked` when its end was asked for here."""
    done = container(pod).terminated
    if done is not None:
        is_open = not asked and _may_be_told_why(pod, job, done, now)
        return None if is_open else _end_of_container(pod, job, done, asked=asked)
    if pod.status.phase == "Failed":
        return _STOPPED if asked else _end_of_pod(pod, job, None)
    deadline = pod.metadata.deletion_timestamp
    if deadline is not None and now > deadline + _GRACE and _disruption(pod):
        machine = pod.spec.node_name
        return Ended(None, f"its machine {machine} does not answer any more", machine_failed=True)
    return None


def end_without_pod(job: Job | None, *, asked: bool) -> Ended | None:
    """Return how an attempt ended whose pod is not there, or was never; None while one may still come."""
    if job is not None and not _is_over(job) and job.metadata.deletion_timestamp is None:
        return None
    if asked:
        return _STOPPED
    if job is None:
        return Ended(None, "its Kubernetes Job was deleted by somebody", machine_failed=True)
    return _of_deadline(job, None) or LOST


def end_of_gone(pod: Pod, job: Job | None, *, asked: bool) -> Ended:
    """Return how an attempt ended whose pod is gone before it had ended."""
    if asked:
        return _STOPPED
    return _end_of_pod(pod, job, None) if _was_disturbed(pod, job) else LOST


def never_starts(pod: Pod, waited_seconds: float, patience_seconds: float) -> str:
    """Return why a container will never start; empty while it may."""
    waiting = container(pod).waiting
    if waiting is None:
        return ""
    if waiting.reason in _NEVER_STARTS:
        return _unstarted(waiting)
    is_clear = waiting.reason == "ImagePullBackOff" and _NO_IMAGE.search(waiting.message)
    if waiting.reason in _IMAGE_WAITS and (is_clear or waited_seconds > patience_seconds):
        return f"its image cannot be fetched: {_shown(waiting.message)}"
    return ""


def never_made(events: Iterable[Event]) -> str:
    """Return why the cluster will never make a pod of a Job; empty while it may."""
    refused = [
        event.message for event in events if event.reason == "FailedCreate" and _NEVER_MADE.search(event.message)
    ]
    return f"the cluster does not admit its pod: {_shown(_without_names(refused[-1]))}" if refused else ""


def why_not_made(events: Iterable[Event]) -> str:
    """Return why there is no pod yet."""
    last = [event.message for event in events if event.reason == "FailedCreate"]
    if not last:
        return ""
    said = _without_names(last[-1])
    if "exceeded quota" in said:
        return f"It waits for room in the quota of the namespace: {_shown(said)}."
    return f"The cluster does not make its pod yet: {_shown(said)}."


def why_waiting(pod: Pod) -> str:
    """Return why a pod does not run yet; empty when it does, or nothing is known but that it will soon."""
    scheduled = _condition(pod.status.conditions, "PodScheduled")
    if scheduled is not None and scheduled.status == "False":
        return unschedulable(scheduled.message)
    waiting = container(pod).waiting
    if waiting is None or container(pod).running is not None:
        return ""
    if waiting.reason in _IMAGE_WAITS:
        return f"Its image cannot be fetched, and is tried again: {_shown(waiting.message)}."
    return "Its container is being made: the image is fetched where the machine does not have it."


def unschedulable(message: str) -> str:
    """Translate what the scheduler says: how many machines lack what."""
    head = message.partition(" preemption:")[0]
    counted = re.match(r"(\d+)/(\d+) nodes are available:(.*)", head, re.DOTALL)
    if counted is None:
        return f"No machine of the cluster takes it: {_shown(message)}."
    lacking = [f"{count} {_lack(what)}" for count, what in _COUNTED.findall(counted[3])]
    nodes = "1 machine" if counted[2] == "1" else f"{counted[2]} machines"
    return f"No machine of the cluster has room for it. Of {nodes}: {', '.join(lacking)}."


def container(pod: Pod) -> ContainerState:
    """Return the state of the agent's container."""
    for status in pod.status.container_statuses:
        if status.name == CONTAINER:
            return status.state
    return _NOTHING


def _end_of_container(pod: Pod, job: Job | None, done: Terminated, *, asked: bool) -> Ended:
    if done.reason == "OOMKilled":
        return Ended(done.exit_code, out_of_memory=True)
    if done.reason in ("StartError", "ContainerCannotRun"):
        return Ended(done.exit_code, _no_start(done.message))
    if done.reason == "ContainerStatusUnknown":
        return Ended(None, "its machine lost it, and nobody saw how it ended", machine_failed=True)
    if asked:
        return Ended(done.exit_code)
    return _end_of_pod(pod, job, done.exit_code) if _was_disturbed(pod, job) else Ended(done.exit_code)


def _may_be_told_why(pod: Pod, job: Job | None, done: Terminated, now: datetime) -> bool:
    """Whether it was ended by a signal, and the reason may be in what is said next of its pod."""
    if done.exit_code not in _BY_SIGNAL or done.reason == "OOMKilled" or _was_disturbed(pod, job):
        return False
    return pod.status.phase == "Running" and done.finished_at is not None and now < done.finished_at + _TELLS_WHY


def _was_disturbed(pod: Pod, job: Job | None) -> bool:
    by_kubelet = pod.status.phase == "Failed" and bool(pod.status.reason)
    return (
        by_kubelet
        or pod.metadata.deletion_timestamp is not None
        or _disruption(pod) is not None
        or bool(job is not None and _of_deadline(job, None))
    )


def _end_of_pod(pod: Pod, job: Job | None, code: int | None) -> Ended:
    """How it ended when something befell its pod."""
    late = _of_deadline(job, code) if job is not None else None
    is_suspended = job is not None and job.spec.suspend
    befell = "the cluster's queue took its machine back" if is_suspended else _befell(pod)
    return late or _own_fault(pod, code) or Ended(code, befell, machine_failed=True)


def _own_fault(pod: Pod, code: int | None) -> Ended | None:
    message = pod.status.message
    if pod.status.reason == "DeadlineExceeded":
        return Ended(code, "it took longer than the cluster lets a pod take")
    if any(words in message for words in _OWN_FAULT):
        return Ended(code, f"it filled the disk of its pod and was evicted: {_shown(message)}")
    return None


def _befell(pod: Pod) -> str:
    """What the cluster did to a pod, or to its machine."""
    disruption, status = _disruption(pod), pod.status
    if status.reason == "Evicted":
        return f"its machine was short of something and evicted it: {_shown(status.message)}"
    if disruption is not None:
        return _DISRUPTIONS.get(disruption.reason, _shown(disruption.message))
    if pod.metadata.deletion_timestamp is not None:
        return "its pod was deleted by somebody"
    return f"its machine did not run its pod: {_shown(status.message or status.reason) or 'no reason was given'}"


def _of_deadline(job: Job, code: int | None) -> Ended | None:
    failure = _failure(job)
    if failure is None or failure.reason != "DeadlineExceeded":
        return None
    return Ended(code, "it took longer than the cluster lets a Kubernetes Job take (activeDeadlineSeconds)")


def _is_over(job: Job) -> bool:
    done = _condition(job.status.conditions, "Complete")
    return _failure(job) is not None or (done is not None and done.status == "True")


def _failure(job: Job) -> Condition | None:
    for kind in ("Failed", "FailureTarget"):
        found = _condition(job.status.conditions, kind)
        if found is not None and found.status == "True":
            return found
    return None


def _disruption(pod: Pod) -> Condition | None:
    found = _condition(pod.status.conditions, "DisruptionTarget")
    return found if found is not None and found.status == "True" else None


def _condition(conditions: Iterable[Condition], kind: str) -> Condition | None:
    return next((one for one in conditions if one.type == kind), None)


def _unstarted(waiting: Waiting) -> str:
    if waiting.reason == "InvalidImageName":
        return f"its image has no name that can be: {_shown(waiting.message)}"
    return f"its container cannot be made: {_shown(waiting.message)}"


def _no_start(message: str) -> str:
    if "python3" in message and ("not found" in message or "no such file" in message):
        return "its image has no python3, which the agent needs; use one that has"
    return f"its container could not be started: {_shown(message)}"


def _lack(what: str) -> str:
    kind = what.removeprefix("Insufficient ")
    if kind != what:
        return f"has {_LACKS.get(kind, f'too little {kind} free')}"
    if "affinity/selector" in what:
        return "is not one that it may run on (node selector or affinity)"
    if "taint" in what:
        key = what.partition("{")[2].partition(":")[0]  # new schedulers do not say which
        return f"does not take it ({f'taint {key}' if key else 'a taint, as of one that does not answer'})"
    if "unschedulable" in what:
        return "takes no more pods (cordoned)"
    if "Too many pods" in what:
        return "has as many pods as it can have"
    return f"says: {what}"


def _without_names(said: str) -> str:
    """Leave out which pod it would have been, and that it is an error."""
    return re.sub(r'^Error creating: (pods "[^"]*" is forbidden: )?', "", said)


def _shown(said: str) -> str:
    """Make a part of a sentence of what the cluster said."""
    return " ".join(said.split())[:400].rstrip(". ")
