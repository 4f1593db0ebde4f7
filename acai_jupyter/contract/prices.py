"""What machines cost: price books, and what was spent."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import msgspec

from acai_jupyter.contract.budgets import BudgetLeft
from acai_jupyter.contract.jobs import Bytes, GpuType

MIB = 1024**2
Usd = Annotated[float, msgspec.Meta(ge=0)]


class MachineType(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A machine of a fixed shape, as a whole for its price."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    vcpu: Annotated[float, msgspec.Meta(gt=0)]
    memory_bytes: Bytes
    usd_per_hour: Usd
    gpus: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0
    gpu_type: GpuType = ""


class Rate(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A price per unit and hour, dearer per unit as the machine grows.

    It rises linearly from `low` times `usd` where a machine has `smallest` units to `high` times `usd` where it has
    `largest`; below and above it stays.
    """

    usd: Usd
    smallest: Annotated[float, msgspec.Meta(ge=0)]
    largest: Annotated[float, msgspec.Meta(ge=0)]
    low: Annotated[float, msgspec.Meta(ge=0)] = 1.0
    high: Annotated[float, msgspec.Meta(ge=0)] = 1.0


class PriceBook(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a share of a machine costs: by its vCPU, its GB of memory (1,024 MB) and its GPUs, or by machine types.

    Where there are machine types, a share costs what the cheapest one does that holds it.
    """

    vcpu: Rate = Rate(0.031611, 0.5, 8, 2 / 3, 4 / 3)
    memory_gb: Rate = Rate(0.004237, 0.5, 8, 2 / 3, 4 / 3)
    gpus: dict[GpuType, Usd] = {}
    """Of each type, per GPU and hour. A job names the type, unless there is only one."""
    machines: list[MachineType] = []


class PriceBookVersion(msgspec.Struct, frozen=True):
    """A price book, of which runner and region, and since when it is known."""

    version: int
    runner: str
    region: str
    book: PriceBook
    created_at: datetime


class PriceBooks(msgspec.Struct, frozen=True):
    """The version that attempts run under now, and all that any ran under, the newest first."""

    version: int
    books: list[PriceBookVersion]


class CostGroup(StrEnum):
    """What costs are added up by."""

    USER = "user"
    """Who submitted the jobs."""
    NOTEBOOK = "notebook"
    """What their code is from: a notebook, a script, a folder."""
    TAG = "tag"
    """Their labels; a job with two counts for both."""
    JOB = "job"
    """Each by itself."""
    DAY = "day"
    """When they were submitted, in UTC."""


class CostRow(msgspec.Struct, frozen=True):
    """What jobs have cost until now. `key` is empty for those without a notebook or label."""

    key: str
    jobs: int
    attempts: int
    billed_seconds: float
    cost_usd: float
    live_jobs: int = 0
    """Of the jobs, those that still cost something; what they cost until now is in."""


class Costs(msgspec.Struct, frozen=True):
    """What the jobs of a project have cost, the dearest first, days in order; deleted jobs are in.

    `next` says how many rows to skip to go on.
    """

    by: CostGroup
    rows: list[CostRow]
    total: CostRow
    since: datetime | None = None
    until: datetime | None = None
    left: list[BudgetLeft] = []
    """What whoever asks may still spend."""
    next: int | None = None
