"""Jobs: what is asked for, and what became of it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec

from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.states import JobState

MIB = 1024**2
ParameterName = Annotated[str, msgspec.Meta(pattern="^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]


class Resources(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The share of a machine that a job asks for."""

    vcpu: Annotated[float, msgspec.Meta(ge=0.5, le=8, multiple_of=0.5)] = 1
    memory_bytes: Annotated[int, msgspec.Meta(ge=512 * MIB, le=8192 * MIB, multiple_of=256 * MIB)] = 1024 * MIB


class CreateJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Submit a job: a command over input file sets, whose `output/` becomes a file set."""

    command: Annotated[list[str], msgspec.Meta(min_length=1, max_length=10_000)]
    name: Annotated[str, msgspec.Meta(max_length=200)] = ""
    inputs: Annotated[list[str], msgspec.Meta(max_length=100)] = []
    code: str | None = None
    """A file set with the program, at the folder `code_root`."""
    code_root: str = "/"
    output: str | None = None
    parameters: dict[ParameterName, str | int | float | bool] = {}
    environment: dict[str, str] = {}
    resources: Resources = Resources()
    captured: dict[str, Any] = {}
    """The environment the job was submitted from: Python, platform and package versions."""


class Transition(msgspec.Struct, frozen=True):
    """One step of a job's life."""

    state: JobState
    at: datetime
    reason: str = ""


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


class Job(msgspec.Struct, frozen=True):
    """One run of a program. What was asked for never changes; the state and the attempts do."""

    number: JobNumber
    name: str
    user: str
    state: JobState
    reason: str
    command: list[str]
    inputs: list[str]
    code: str | None
    output: str | None
    parameters: dict[str, str | int | float | bool]
    resources: Resources
    created_at: datetime
    attempts: list[Attempt]
    attributes: dict[str, str | int | float | bool] = {}


class JobPage(msgspec.Struct, frozen=True):
    """Jobs, the newest first; `next` is the number to continue below."""

    jobs: list[Job]
    next: int | None = None


class LogPage(msgspec.Struct, frozen=True):
    """A stretch of a job's log. `ended` says that nothing will follow."""

    text: str
    next_offset: int
    ended: bool
