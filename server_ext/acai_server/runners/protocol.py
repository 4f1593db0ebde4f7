"""The seam between the engine and whatever runs an attempt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from acai_jupyter.contract.projects import Machine


@dataclass(frozen=True)
class Order:
    """What to start: an agent with the URL of its launch document, and the share of a machine it gets."""

    attempt: str
    """Names the attempt for the runner; unique in the database."""
    launch_url: str
    vcpu: float
    memory_bytes: int


@dataclass(frozen=True)
class Ended:
    """How an agent ended, as the runner saw it."""

    exit_code: int | None
    """None when nobody saw it end."""


class Runner(Protocol):
    """Starts agents and watches over them. Thread-safe.

    An agent is found by its attempt's name, also after the server was restarted. A name that the runner does not know
    is an agent that has ended unseen.
    """

    name: str
    shares_disk: bool
    """Whether its agents can use the object store's own files."""

    def machine(self) -> Machine:
        """Return what it can hold at once."""
        ...

    def start(self, order: Order) -> None:
        """Start an agent. What cannot be started raises `Unavailable`."""
        ...

    def printed(self, attempt: str, offset: int) -> bytes:
        """Return what the agent has printed, from a byte on; at most a piece of it."""
        ...

    def ended(self, attempt: str) -> Ended | None:
        """Return how the agent ended, or None while it runs."""
        ...

    def wait(self, attempts: list[str], seconds: float) -> None:
        """Return when one of these agents ends, when `wake` is called, or when the time is over."""
        ...

    def wake(self) -> None:
        """Let `wait` return now."""
        ...

    def stop(self, attempt: str) -> None:
        """Ask the agent to end, and end it when it does not. Safe to call twice."""
        ...

    def clean(self, attempt: str) -> None:
        """Remove what the agent left. Only after it ended; safe to call twice."""
        ...
