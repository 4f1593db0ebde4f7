"""Projects, users and what the server says of itself."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from acai_jupyter.contract.budgets import BudgetLeft
from acai_jupyter.contract.jobs import ResourceLimits
from acai_jupyter.contract.states import Role
from acai_jupyter.contract.uploads import Store


class User(msgspec.Struct, frozen=True):
    """A person or program in a project."""

    name: str
    role: Role


class Backends(msgspec.Struct, frozen=True):
    """The name of the backend behind each protocol."""

    database: str
    object_store: str
    runner: str
    event_bus: str


class Machine(msgspec.Struct, frozen=True):
    """What the runner can hold at once."""

    cpus: float
    memory_bytes: int
    gpus: int = 0


class Health(msgspec.Struct, frozen=True):
    """A server that answers."""

    status: Literal["ok"] = "ok"


class Readiness(Health, frozen=True):
    """A server that can serve."""

    warning: str = ""
    """What keeps the server from doing all it should, although it answers; empty for nothing."""
    damaged_files: int | None = None
    """Stored contents that are known to be damaged in every copy; None where another server has the data."""


class Status(msgspec.Struct, frozen=True):
    """What one is connected to. `mode` is 'attached' when another server of the same user has the data."""

    version: str
    mode: Literal["serving", "attached"]
    project: str
    user: User
    data_folder: str | None
    """Where the server keeps its data on its own disk; only a global admin is told."""
    backends: Backends
    machine: Machine
    started_at: datetime
    store: Store = Store("")
    limits: ResourceLimits = ResourceLimits()
    """What of a machine one job can ask for."""
    notices: list[str] = []
    left: list[BudgetLeft] = []
    """What whoever asks may still spend."""
