"""Plans: what would happen if a job, or a sweep, was submitted now. Nothing runs and nothing is kept."""

from __future__ import annotations

from typing import Annotated

import msgspec

from acai_jupyter.contract.budgets import BudgetLeft
from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.jobs import CreateJob, ParameterName, Resources, Waiting
from acai_jupyter.contract.sweeps import SweptValues


class CodeFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file that would go along as code, by its path in the working folder."""

    path: Annotated[str, msgspec.Meta(min_length=1, max_length=4000)]
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}(?!\\n)$")]


class PlanJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask what would happen. `code` of the job is left out: its files are named instead, as they are not sent yet."""

    job: CreateJob
    code: Annotated[list[CodeFile], msgspec.Meta(max_length=10_001)] = []
    """One more than a folder may have: a cell is a file of its own."""
    variables: Annotated[list[CodeFile], msgspec.Meta(max_length=10_001)] = []
    """The files of the variables that a cell would be sent, in the same way."""
    values: Annotated[dict[ParameterName, SweptValues], msgspec.Meta(max_length=100)] = {}
    """Of a sweep; without them it is about one job."""


class PlannedInput(msgspec.Struct, frozen=True):
    """A set as a job would get it; what several specs hold together has no name yet."""

    file_set: str | None
    file_count: int
    size_bytes: int
    is_there: bool
    """Whether jobs find it where it is stored, so that nothing has to be fetched."""


class OtherMachine(msgspec.Struct, frozen=True):
    """Another share of a machine, and what the job would take and cost on it."""

    resources: Resources
    seconds: float
    cost_usd: float


class Expected(msgspec.Struct, frozen=True):
    """How long one such job takes and what it costs, from earlier ones.

    Where they differ in their parameters or machines, by their model, from the lower to the upper end of an interval
    that holds four in five; else the middle, the fastest and the slowest of them.
    """

    runs: int
    seconds: float
    min_seconds: float
    max_seconds: float
    cost_usd: float
    min_cost_usd: float
    max_cost_usd: float
    outside: list[str] = []
    """What of it no earlier one has tried, in words."""
    is_vague: bool = False
    """Whether the interval is too wide to decide by."""
    faster: OtherMachine | None = None
    """The cheapest machine that is clearly faster, where runs tell of machines."""
    cheaper: OtherMachine | None = None
    """The fastest machine that is clearly cheaper."""
    borrowed_from: str = ""
    """The profile with the same parameters whose experience it leans on, as its own runs are few."""
    version: str = ""
    """Of the model that says so; empty where none does."""
    advice: str = ""
    """Where it is vague: which run would help most, or what no run tells."""


class PlannedPart(msgspec.Struct, frozen=True):
    """Something among the code, and how much it is."""

    name: str
    file_count: int
    size_bytes: int


class LeftOut(msgspec.Struct, frozen=True):
    """Something that would not go along, and why."""

    name: str
    reason: str


class PlannedCode(msgspec.Struct, frozen=True):
    """What would go along."""

    program: str
    """What is run: 'this cell', a script, a notebook, or a command."""
    file_count: int
    size_bytes: int
    modules: list[str] = []
    """Modules of the project that the program imports, by their paths."""
    modules_bytes: int = 0
    largest: list[PlannedPart] = []
    """Where it is much: what is most of it."""
    left_out: list[LeftOut] = []
    """What stays behind, and why: what people may miss, then what a file .acaiignore says, then what never goes."""
    more_left_out: int = 0
    """How many things more stay behind."""


class PlannedVariable(msgspec.Struct, frozen=True):
    """A variable that a cell would be sent."""

    name: str
    type: str
    size_bytes: int


class PlannedEnvironment(msgspec.Struct, frozen=True):
    """What it would run with."""

    python: str
    package_count: int | None = None
    """None where a container image brings them."""
    image: str | None = None
    is_cached: bool = True
    """Whether nothing has to be built first."""


class Plan(msgspec.Struct, frozen=True):
    """What would happen. What only the submitting side knows, code and environment, it adds itself."""

    jobs: int
    """How many jobs it would be."""
    template: str
    inputs: list[PlannedInput]
    output: str | None
    resources: Resources
    runner: str
    usd_per_hour: float
    """Of one job."""
    at_once: int
    """How many of these jobs could run at the same time, by the quota and by what the machine holds."""
    expected: Expected | None = None
    """Nothing where no job of the template has finished yet."""
    waiting: Waiting | None = None
    """Why it would wait; nothing when it would start at once."""
    answered_by: list[JobNumber] = []
    """Earlier jobs whose results would be given, as `cached` was asked for."""
    code: PlannedCode | None = None
    environment: PlannedEnvironment | None = None
    left: list[BudgetLeft] = []
    """What whoever asks may still spend."""
    variables: list[PlannedVariable] = []
