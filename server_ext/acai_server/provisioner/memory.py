"""How much memory a job gets when nobody says how much: what earlier runs of its template used, and some room."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from acai_jupyter.contract.ids import ProjectId
    from acai_jupyter.contract.jobs import CreateJob, ResourceLimits, Resources
    from acai_jupyter.contract.profiles import ParameterValue
    from acai_server.db.runs import StoredRun
    from acai_server.db.work import Work

MOST_RUNS = 50
"""So many of the last runs are looked at."""
HELD = 0.95
"""So many of the runs would have had enough."""
FEW = 3
"""Fewer runs than these say little of how runs differ."""
ROOM = {True: 1.5, False: 1.2}
"""What runs get beyond that: more while they are few."""


def enough_bytes(used: Iterable[int]) -> int:
    """Return how much is enough for runs like some that used so much; 0 when there is none."""
    peaks = sorted(used)
    if not peaks:
        return 0
    upper = peaks[math.ceil(HELD * len(peaks)) - 1]
    return math.ceil(ROOM[len(peaks) < FEW] * upper)


class MeasuredMemory:
    """What runs were measured to use tells how much further ones get."""

    def __init__(self, limits: ResourceLimits) -> None:
        self._limits = limits

    def rounded(self, memory_bytes: float, most_bytes: int) -> int:
        """Return the next amount that a job can have, at most so much."""
        step, least = self._limits.memory_step_bytes, self._limits.min_memory_bytes
        most = min(most_bytes, self._limits.max_memory_bytes) // step * step
        return max(least, min(math.ceil(memory_bytes / step) * step, most))

    def less_bytes(self, used_bytes: int) -> int:
        """Return how much would have been enough for a run that used so much."""
        return self.rounded(enough_bytes([used_bytes]), self._limits.max_memory_bytes)

    def share(
        self, work: Work, project: ProjectId, template: str, wanted: Sequence[CreateJob], machine_bytes: int
    ) -> Resources:
        """Return what jobs get that differ in their parameters only.

        Less than they asked for is only a guess: with it goes the leave to have as much as that in a further attempt.
        """
        asked = wanted[0].resources
        runs = work.runs.of(project, template, MOST_RUNS)
        enough = max(_enough(runs, one.parameters, asked.memory_bytes) for one in wanted)
        too_little = work.runs.too_little_bytes(project, template)
        if not enough:
            return asked
        most = machine_bytes if asked.max_memory_bytes is None else asked.max_memory_bytes
        given = self.rounded(max(enough, too_little + 1), most)
        further = asked.max_memory_bytes or (asked.memory_bytes if asked.memory_bytes > given else None)
        return msgspec.structs.replace(asked, memory_bytes=given, max_memory_bytes=further)


def _enough(runs: Sequence[StoredRun], parameters: Mapping[str, ParameterValue], asked_bytes: int) -> int:
    """By runs with the same parameters where there are some; beyond all that was run no less than was asked for."""
    measured = [run for run in runs if run.is_whole and run.max_memory_bytes and not run.is_sample]
    same = [run for run in measured if run.parameters == parameters]
    enough = enough_bytes(run.max_memory_bytes or 0 for run in (same if len(same) >= FEW else measured))
    is_further = bool(measured) and any(_is_more(name, value, measured) for name, value in parameters.items())
    return max(enough, asked_bytes) if is_further else enough


def _is_more(name: str, value: ParameterValue, runs: Sequence[StoredRun]) -> bool:
    """Whether a value is none of those that were run and lies above them, or is another word."""
    seen = [run.parameters[name] for run in runs if name in run.parameters]
    if value in seen:
        return False
    numbers = [one for one in seen if isinstance(one, int | float)]
    return isinstance(value, str) or not numbers or value > max(numbers)
