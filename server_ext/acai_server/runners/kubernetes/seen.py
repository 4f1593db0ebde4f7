"""What is read of the objects of a cluster: these fields and no others, so that thousands of pods cost little."""

from __future__ import annotations

from datetime import datetime
from typing import Generic, TypeVar

import msgspec

T = TypeVar("T")


class _Seen(msgspec.Struct, frozen=True, rename="camel", gc=False):
    pass


class Metadata(_Seen, frozen=True):
    """What every object has."""

    name: str = ""
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    """When its time to end is over, once somebody deleted it."""


class Condition(_Seen, frozen=True):
    """One thing that holds of an object, or does not."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class Waiting(_Seen, frozen=True):
    """Why a container is not there yet."""

    reason: str = ""
    message: str = ""


class Running(_Seen, frozen=True):
    """A container runs."""


class Terminated(_Seen, frozen=True):
    """How a container ended."""

    exit_code: int = 0
    reason: str = ""
    message: str = ""
    finished_at: datetime | None = None


class ContainerState(_Seen, frozen=True):
    """One of three."""

    waiting: Waiting | None = None
    running: Running | None = None
    terminated: Terminated | None = None


class ContainerStatus(_Seen, frozen=True):
    """A container of a pod."""

    name: str = ""
    state: ContainerState = ContainerState()


class PodStatus(_Seen, frozen=True):
    """What became of a pod so far."""

    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: list[Condition] = []
    container_statuses: list[ContainerStatus] = []


class PodSpec(_Seen, frozen=True):
    """Where a pod is."""

    node_name: str = ""
    termination_grace_period_seconds: float = 30


class Pod(_Seen, frozen=True):
    """A pod."""

    metadata: Metadata = Metadata()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class JobSpec(_Seen, frozen=True):
    """Whether a queue holds a Job back, and how many pods it has that are told apart."""

    suspend: bool = False
    completions: int = 1
    completion_mode: str = ""


class JobStatus(_Seen, frozen=True):
    """What became of a Kubernetes Job so far."""

    conditions: list[Condition] = []


class Job(_Seen, frozen=True):
    """A Kubernetes Job."""

    metadata: Metadata = Metadata()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class Event(_Seen, frozen=True):
    """What a part of the cluster has said of an object."""

    metadata: Metadata = Metadata()
    reason: str = ""
    message: str = ""


class NodeSpec(_Seen, frozen=True):
    """Whether a node takes pods."""

    unschedulable: bool = False


class NodeStatus(_Seen, frozen=True):
    """What a node has for pods."""

    allocatable: dict[str, str] = {}


class Node(_Seen, frozen=True):
    """A machine of the cluster."""

    metadata: Metadata = Metadata()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class ListMetadata(_Seen, frozen=True):
    """Where a list ends, and from when it is."""

    resource_version: str = ""
    continue_: str = msgspec.field(name="continue", default="")


class Named(_Seen, frozen=True):
    """Any object, of which only its name counts."""

    metadata: Metadata = Metadata()


class Listed(msgspec.Struct, Generic[T], frozen=True):
    """A page of objects."""

    metadata: ListMetadata = ListMetadata()
    items: list[T] | None = None

    @property
    def found(self) -> list[T]:
        """The objects; none are sometimes written as null."""
        return self.items or []


class WatchEvent(msgspec.Struct, frozen=True):
    """A line of a watch: what happened to which object."""

    type: str
    object: msgspec.Raw


class Status(_Seen, frozen=True):
    """What the API server says when it does not do something."""

    message: str = ""
    reason: str = ""
    code: int = 0
