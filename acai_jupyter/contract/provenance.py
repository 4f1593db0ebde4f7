"""The graph of what came from what: nodes are file set versions, edges are actions."""

from __future__ import annotations

from datetime import datetime

import msgspec

from acai_jupyter.contract.filesets import FileSet, Source
from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.metadata import Value
from acai_jupyter.contract.states import ActionKind, InputRole, JobState

MAX_INPUTS = 100
"""So many inputs of an action are listed; `more_inputs` says how many others it has."""
COUNTED = 1000
"""So far the actions are counted that used a set; `more_forward` says no larger number."""


class ActionInput(msgspec.Struct, frozen=True):
    """A file set version that went into an action, and as what."""

    file_set: str
    role: InputRole


class ActionJob(msgspec.Struct, frozen=True):
    """What a drawing of an action that is a job, and the card beside it, show of the job."""

    number: JobNumber
    name: str
    state: JobState
    reason: str
    command: str | list[str]
    template: str
    parameters: dict[str, str | int | float | bool]
    group: str
    """The same for the jobs of a sweep: those of one template with the same inputs, which differ in parameters."""
    attempts: int = 0
    started_at: datetime | None = None
    ended_at: datetime | None = None
    run_seconds: float | None = None
    """Of the last attempt."""
    billed_seconds: float | None = None
    """Of all attempts, and so is the cost."""
    cost_usd: float | None = None
    answered_by: JobNumber | None = None
    """The identical earlier job whose result this one was given; it made nothing itself."""
    deleted_at: datetime | None = None
    attributes: dict[str, Value] = {}
    tags: list[str] = []


class Action(msgspec.Struct, frozen=True):
    """What made file set versions: an upload, a creation from specs, or a job.

    A job is an action from the moment it is submitted: without outputs while it runs, and when it made nothing.
    """

    id: str
    """Its name in the project: `job 3`, else the set that it made, `digits:2`."""
    kind: ActionKind
    created_at: datetime
    creator: str
    inputs: list[ActionInput]
    """All roles; only those in the role data are nodes of the answer."""
    outputs: list[str]
    partial: list[str] = []
    """Those of the outputs that are what a failed program left."""
    job: ActionJob | None = None
    more_inputs: int = 0
    """How many further inputs are not listed."""


class MadeOf(msgspec.Struct, frozen=True):
    """The sources that a file set version was made of, every set and file by its version.

    None where it was not made of sources, or of more than are kept.
    """

    sources: list[Source] | None


class Node(msgspec.Struct, frozen=True):
    """A file set version in the graph; one with a `deleted_at` is a tombstone."""

    file_set: FileSet
    distance: int = 0
    """Steps from the focus: negative before it, positive behind it."""
    more_back: int = 0
    """How many actions that made it are not in this answer: one or none."""
    more_forward: int = 0
    """How many actions that used it are not in this answer, counted up to a thousand."""
    attributes: dict[str, Value] = {}
    tags: list[str] = []

    @property
    def ref(self) -> str:
        """How people write it: `mnist:3`."""
        return self.file_set.ref


class Graph(msgspec.Struct, frozen=True):
    """A part of the provenance graph around `focus`: a file set version, or a job by its number.

    Every data input and every output of an action in it is a node of it, and each is listed once.
    """

    focus: str
    nodes: list[Node]
    actions: list[Action]
    is_cut: bool = False
    """Whether more was asked for than fits into one answer; what is nearer to the focus comes first."""
    next: str | None = None
    """In a page of actions, the one to continue before."""
