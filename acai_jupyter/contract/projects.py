"""Projects, users and what the server says of itself."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec

from acai_jupyter.contract.states import Role


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


class Status(msgspec.Struct, frozen=True):
    """What one is connected to. `mode` is 'attached' when another server of the same user has the data."""

    version: str
    mode: Literal["serving", "attached"]
    project: str
    user: User
    data_folder: str | None
    backends: Backends
    machine: Machine
    started_at: datetime
    notices: list[str] = []
