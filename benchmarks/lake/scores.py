"""What each contender needed for each step, and the rows that tell it."""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.report import Row, median

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Time:
    """The seconds of one step, without and with a sync of the disk after it."""

    seconds: float
    synced: float


class Scores:
    """All rounds of a table, which looks at some of the steps. What did not work has NaN and a reason."""

    def __init__(self, *steps: str) -> None:
        self.steps = steps
        self._times: dict[tuple[str, str], list[Time]] = defaultdict(list)
        self._new_bytes: dict[str, list[int]] = defaultdict(list)
        self._reasons: dict[tuple[str, str], str] = {}

    def keep(self, step: str, name: str, time: Time) -> None:
        """Take a time."""
        self._times[step, name].append(time)
        print(f"  {step} · {name}: {time.seconds:.3f} s, synced {time.synced:.3f} s", file=sys.stderr, flush=True)

    def keep_new_bytes(self, name: str, size: int) -> None:
        """Take how much was stored besides the changed file."""
        self._new_bytes[name].append(size)

    def refuse(self, step: str, name: str, reason: str) -> None:
        """Take that something did not work."""
        self._reasons[step, name] = reason
        print(f"  {step} · {name}: did not work: {reason}", file=sys.stderr, flush=True)

    def seconds(self, step: str, name: str) -> float:
        """Return the median."""
        return _median(time.seconds for time in self._good(step, name))

    def synced(self, step: str, name: str) -> float:
        """Return the median with a sync after it."""
        return _median(time.synced for time in self._good(step, name))

    def new_bytes(self, name: str) -> float:
        """Return the median of what was stored besides the changed file."""
        return _median(self._new_bytes[name])

    def row(self, title: str, step: str, name: str, base: str) -> Row:
        """Return what one contender needed, beside the base."""
        seconds = self.seconds(step, name)
        beside = self._reasons.get((step, name)) or f"{seconds / self.seconds(step, base):.2f} times {base}"
        synced = f"; {self.synced(step, name):.3g} s with a sync after" if step == "put" else ""
        return Row(f"{title}: {name}", seconds, "s", beside=beside + synced)

    def _good(self, step: str, name: str) -> list[Time]:
        return [] if (step, name) in self._reasons else self._times[step, name]


def _median(values: Iterable[float]) -> float:
    found = list(values)
    return median(found) if found else math.nan


def least(values: Iterable[float]) -> float:
    """Return the least of what worked; NaN when nothing did."""
    return min((value for value in values if not math.isnan(value)), default=math.nan)
