"""Jobs: what is asked for, and what became of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec

from acai_jupyter.contract.environments import Lock
from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.metadata import Value
from acai_jupyter.contract.states import JobState

MIB = 1024**2
VARIABLES_FOLDER = ".variables"
"""Where a cell finds what it was sent in its working folder, and leaves what is to be received in its outputs."""
CHECKPOINT_FOLDER = ".checkpoint"
"""Where in its working folder a program leaves what a further attempt is to go on from, and finds it there."""
MAX_NODES = 256
_PARAMETER_FORM = {"pattern": "^[A-Za-z_][A-Za-z0-9_]*(?!\\n)$"}
ParameterName = Annotated[str, msgspec.Meta(max_length=100, extra_json_schema=_PARAMETER_FORM)]
"""The server says in a sentence of its own what is wrong with one."""


Text = Annotated[str, msgspec.Meta(max_length=10_000)]


Bytes = Annotated[int, msgspec.Meta(gt=0, le=2**60)]


_GPU_FORM = "^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?(?!\\n)$"
GpuType = Annotated[str, msgspec.Meta(max_length=63, pattern=_GPU_FORM)]
"""A name that a label of Kubernetes can have too."""


class Resources(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The share of a machine that a job asks for. What can be had is for the server's settings to say."""

    vcpu: Annotated[float, msgspec.Meta(gt=0)] = 1
    memory_bytes: Bytes = 1024 * MIB
    gpus: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0
    max_memory_bytes: Bytes | None = None
    """Up to how much it may get when it ran out of memory and is tried again."""
    gpu_type: GpuType = ""
    """One of the price book's; empty where it has none, or only one."""


class ResourceLimits(msgspec.Struct, frozen=True):
    """Between what, and in which steps, a job can ask for a share of a machine."""

    min_vcpu: float = 0.5
    max_vcpu: float = 8
    vcpu_step: float = 0.5
    min_memory_bytes: int = 512 * MIB
    max_memory_bytes: int = 8192 * MIB
    memory_step_bytes: int = 256 * MIB
    max_gpus: int = 8


class CreateJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Submit a job: a program over inputs, whose output folder becomes a file set."""

    command: (
        Annotated[str, msgspec.Meta(min_length=1, max_length=100_000)]
        | Annotated[list[str], msgspec.Meta(min_length=1, max_length=10_000)]
    )
    """A text is run by `sh -c`, a list as it is."""
    as_cell: bool = False
    """The last word of the command is a file of the code that is run as a notebook's cell: what it displays is kept.

    One that ends in `.ipynb` is a whole notebook, which papermill runs; as it was executed it is among the outputs.
    """
    name: Annotated[str, msgspec.Meta(max_length=200)] = ""
    description: Text = ""
    inputs: Annotated[list[str], msgspec.Meta(max_length=100)] = []
    """Specs. One whole file set is used as it is; several, or parts of sets, become a set of their own."""
    code: str | None = None
    """A file set with the program, at the folder `code_root`."""
    code_root: str = "/"
    variables: str | None = None
    """A file set with values that a cell has as variables from its beginning, at the folder `variables_root`."""
    variables_root: str = "/"
    receive: Annotated[list[str], msgspec.Meta(max_length=1000)] = []
    """Which variables of a cell are kept below `.variables/` of its outputs, so that whoever submitted it has them."""
    output: str | None = None
    """The name of the file set of its outputs; else they are `job-<number>-output`, if there are any."""
    output_folder: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] = "output"
    """Where in its working folder a program leaves its outputs."""
    output_root: str | None = None
    """The folder of the project below which they are kept; else `/<output set>`."""
    parameters: dict[ParameterName, str | int | float | bool] = {}
    attributes: dict[str, Value] = {}
    """What it has from the start, beside its parameters."""
    tags: Annotated[list[str], msgspec.Meta(max_length=100)] = []
    environment: dict[str, str] = {}
    secrets: dict[str, str] = {}
    """Environment variables, and the names under which the machines that run jobs know their values."""
    resources: Resources = Resources()
    memory_as_used: bool = False
    """Whether it gets as much memory as earlier jobs of its template used at most, and some room, where any tells.

    If that is less than what its resources say, it may still get so much when it is tried again.
    """
    image: Annotated[str, msgspec.Meta(max_length=500)] | None = None
    lock: Lock | None = None
    """What its own environment is built from; without one it has the packages of its interpreter."""
    nodes: Annotated[int, msgspec.Meta(ge=1, le=MAX_NODES)] = 1
    """On so many machines it runs at the same time, each with these resources."""
    time_limit_seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    retries: Annotated[int, msgspec.Meta(ge=0, le=20)] = 2
    """How often it is tried again when its machine failed it, or when it ran out of memory and may have more."""
    retry_failed: bool = False
    """Whether it is also tried again when the program failed."""
    priority: Annotated[int, msgspec.Meta(ge=-100, le=100)] = 0
    keep_partial: bool = False
    """Whether what a program that fails has left is kept as `job-<number>-partial`."""
    cached: bool = False
    """Whether the result of an identical job that finished earlier is good enough."""
    template: Annotated[str, msgspec.Meta(max_length=300)] = ""
    """What makes two jobs comparable; else it follows from the program and the names of the parameters."""
    captured: dict[str, Any] = {}
    """What the job was submitted from: Python, platform, package versions, the Git commit of its code."""


class Transition(msgspec.Struct, frozen=True):
    """One step of a job's life."""

    state: JobState
    at: datetime
    reason: str = ""


class Usage(msgspec.Struct, frozen=True):
    """What a program used. `samples` are seconds since its start, CPUs, bytes of memory, bytes of disk, GPUs."""

    cpu_seconds: float | None = None
    max_memory_bytes: int | None = None
    max_disk_bytes: int | None = None
    samples: list[tuple[float, float, int, int, float]] = []


class Transfer(msgspec.Struct, frozen=True):
    """How far an attempt is in fetching its inputs or keeping its outputs, as its agent says."""

    state: JobState
    done_bytes: int
    total_bytes: int


class Progress(msgspec.Struct, frozen=True):
    """What is told of a live attempt by the event `job_progressed`: what is new since the last one."""

    attempt: int
    log_bytes: int
    """How much it has printed."""
    samples: list[tuple[float, float, int, int, float]] = []
    """As in its usage."""
    transfer: Transfer | None = None


class Attempt(msgspec.Struct, frozen=True):
    """One try at running a job."""

    number: int
    runner: str
    vcpu: float
    memory_bytes: int
    transitions: list[Transition]
    exit_code: int | None = None
    run_seconds: float | None = None
    billed_seconds: float | None = None
    cost_usd: float | None = None
    price_book: int | None = None
    """The version of the price book that it runs under."""
    log_bytes: int | None = None
    """How much it has printed; while it lives, as far as was told."""
    machine: str = ""
    held: list[str] = []
    """Which of its limits the machine enforces, in words."""
    usage: Usage | None = None
    """While it lives, the samples until now."""
    transfer: Transfer | None = None
    """While it lives and transfers for longer than a moment."""
    usd_per_hour: float | None = None
    """What it costs while it lives."""
    environment: dict[str, Any] = {}
    """Python, platform and package versions that the program ran with, and the agent's version."""
    warnings: list[str] = []
    tag_misses: list[str] = []
    """What to say of the first lines of its log that look like tags and are none."""


class Waiting(msgspec.Struct, frozen=True):
    """Why a queued job waits."""

    sentence: str
    place: int
    """Its place in its user's queue, from 1 on."""
    starts_at: datetime | None = None
    """When it will probably start, where the run times of similar jobs are known."""


class LessMemory(msgspec.Struct, frozen=True):
    """With how much less memory a job would have had enough, and how much less it would have cost."""

    memory_bytes: int
    saved_usd: float


class Job(msgspec.Struct, frozen=True):
    """One run of a program. What was asked for never changes; the state and the attempts do."""

    number: JobNumber
    name: str
    user: str
    state: JobState
    reason: str
    command: str | list[str]
    inputs: list[str]
    code: str | None
    output: str | None
    parameters: dict[str, str | int | float | bool]
    resources: Resources
    created_at: datetime
    attempts: list[Attempt]
    nodes: int = 1
    """Its resources are those of each."""
    attributes: dict[str, Value] = {}
    tags: list[str] = []
    variables: str | None = None
    """The file set with the variables that its cell was sent."""
    receive: list[str] = []
    """The variables of its cell that are kept with its outputs."""
    description: str = ""
    partial: str | None = None
    """The file set of what a failed program left, when that was to be kept."""
    ended_at: datetime | None = None
    waiting: Waiting | None = None
    priority: int = 0
    has_displays: bool = False
    """Whether its cell displayed something."""
    expected_seconds: float | None = None
    """For how long it will probably be billed in all, where earlier runs of the same kind tell; while it lives."""
    answered_by: JobNumber | None = None
    """The identical earlier job whose result this one was given, without running."""
    saved_seconds: float | None = None
    saved_usd: float | None = None
    less_memory: LessMemory | None = None
    """Of a finished job that had more memory than it needed."""
    deleted_at: datetime | None = None
    kill_asked_at: datetime | None = None
    """Since when somebody wants it to end."""


class JobPage(msgspec.Struct, frozen=True):
    """Jobs, the newest first; `next` is the number to continue below."""

    jobs: list[Job]
    next: int | None = None


class JobRequest(msgspec.Struct, frozen=True):
    """All that is needed to run a job again: what was asked for, with every input by its version."""

    number: JobNumber
    request: CreateJob
    inputs: list[str]
    environment: dict[str, Any]


class LogPage(msgspec.Struct, frozen=True):
    """A stretch of a job's log. `ended` says that nothing will follow."""

    text: str
    next_offset: int
    ended: bool
    attempt: int = 1
    """Which attempt printed it; a later one begins at 0."""
    displays: int = 0
    """While it lives: how often what its cell displays was kept anew."""


class FoundLine(msgspec.Struct, frozen=True):
    """A line of a log, by its number from 1 on: as it was printed where numbers were asked for, else without looks."""

    number: int
    text: str
    before: int = 0
    """So many characters of it stand before what is told."""
    more: int = 0
    """So many stand behind that."""


class LogPlace(msgspec.Struct, frozen=True):
    """A place in a log where a line begins: a byte, and the number of lines before it."""

    offset: int
    lines: int


class FoundLines(msgspec.Struct, frozen=True):
    """Lines of a log: the first of those that were asked for, how many of these there are, and among how many.

    One request reads a bounded part of a log. Where `next` is set the rest was not read yet: ask again with its
    `offset` and `lines`, and add up what is found.
    """

    lines: list[FoundLine]
    count: int
    of: int
    is_cut: bool = False
    """The log was not read to its end."""
    next: LogPlace | None = None
    """Where to continue; None when the question is answered."""


class RemoveJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Delete a job that has ended, or with `undo` bring it back."""

    undo: bool = False


class KillJobs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """End many jobs."""

    jobs: Annotated[list[Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]], msgspec.Meta(min_length=1, max_length=1000)]


class KilledJobs(msgspec.Struct, frozen=True):
    """Which jobs were asked to end, and which had ended before."""

    asked: list[JobNumber]
    ended: list[JobNumber]


class Displays(msgspec.Struct, frozen=True):
    """What a cell displayed, in order: MIME bundles with their metadata."""

    displays: list[dict[str, Any]]


class Miss(msgspec.Struct, frozen=True):
    """Something in which a job differs from an earlier one, so that this one's result could not answer it."""

    what: str
    earlier: str
    now: str


class MissReport(msgspec.Struct, frozen=True):
    """Why a job was not answered by an earlier result: the nearest earlier job, and what differs."""

    nearest: JobNumber | None
    differences: list[Miss]
    sentence: str
