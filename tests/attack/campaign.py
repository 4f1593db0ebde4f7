"""What a campaign is: a promise to users, and an attack on it that is repeated until its time is used up."""

from __future__ import annotations

import random
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FIGURES = ("kills", "jobs", "requests", "refusals", "lost", "doubled", "slowest_ms")
"""What campaigns count, in the order of the table at the end; a campaign counts what applies to it.

`slowest_ms` is the time of the slowest answer that another user waited for. It is reported, never judged.
"""


@dataclass(frozen=True)
class Violation:
    """A broken promise, and the steps that lead to it."""

    what: str
    steps: tuple[str, ...] = ()


@dataclass
class Run:
    """One run of a campaign. All random choices come from `chance`, so that a seed repeats them."""

    home: Path
    seed: str
    seconds: float = 0
    """How long to repeat the attack; with 0 it happens once."""
    backend: str = "folder"
    say: Callable[[str], object] = print
    figures: Counter[str] = field(default_factory=Counter)
    violations: list[Violation] = field(default_factory=list)
    chance: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.home.mkdir(parents=True)

    @property
    def is_short(self) -> bool:
        """Whether one small round is wanted, as in the test suite."""
        return self.seconds == 0

    def rounds(self) -> Iterator[int]:
        """Count rounds from 0 until the time is used up; the first one always happens."""
        end = time.monotonic() + self.seconds
        yield 0
        number = 1
        while time.monotonic() < end:
            yield number
            number += 1

    def violation(self, what: str, *steps: str) -> None:
        """Record and print a broken promise."""
        self.violations.append(Violation(what, steps))
        self.say(f"VIOLATION: {what}")
        for step in steps:
            self.say(f"    {step}")


@dataclass(frozen=True)
class Campaign:
    """An attack under a name."""

    name: str
    promise: str
    attack: Callable[[Run], None]
    backends: tuple[str, ...] = ()
    """Where it can keep its data; the first one is the default. Empty: it has no choice."""

    def backends_for(self, named: str | None) -> tuple[str, ...]:
        """Return the backends to run it on: the named one, or all. One that it does not have means its default."""
        if named is None:
            return self.backends or ("",)
        return (named,) if named in self.backends else (self.backends or ("",))[:1]
