"""Choosing a machine: the cheapest under a time, the fastest under a cost, or all that are worth considering."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_jupyter.contract.jobs import ResourceLimits
    from acai_server.provisioner.observations import Array

SAME = 1e-9
"""Times and costs that differ by less than this share are the same."""


@dataclass(frozen=True)
class Bounds:
    """What a job may take and cost; None where nobody said."""

    max_seconds: float | None = None
    max_usd: float | None = None


@dataclass(frozen=True)
class Choice:
    """Places among the machines: the one to take, and where none is within the bounds the nearest to them."""

    chosen: int | None
    nearest: int
    front: list[int]
    """Those than which none is both faster and cheaper, from the cheapest on."""
    neighbours: list[int]
    """On the front, the next that is faster and the next that is cheaper."""


def grid(limits: ResourceLimits) -> list[tuple[float, int]]:
    """Return every share of a machine that a job can ask for: vCPU and bytes of memory."""
    cpus = _steps(limits.min_vcpu, limits.max_vcpu, limits.vcpu_step)
    memories = _steps(limits.min_memory_bytes, limits.max_memory_bytes, limits.memory_step_bytes)
    return [(cpu, int(memory)) for cpu in cpus for memory in memories]


def choose(seconds: Array, usd: Array, bounds: Bounds) -> Choice:
    """Choose among machines that take so long and cost so much.

    Under a time, the cheapest; under a cost alone, the fastest. Of two that are the same in that, what is better in the
    other, then the first. Without bounds nothing is chosen: the front is the answer.
    """
    over = np.maximum(_over(seconds, bounds.max_seconds), _over(usd, bounds.max_usd))
    first, second = (usd, seconds) if bounds.max_seconds is not None else (seconds, usd)
    nearest = int(np.lexsort((second, first, over))[0])
    within = np.flatnonzero(over <= SAME)
    chosen = None
    if len(within) and (bounds.max_seconds is not None or bounds.max_usd is not None):
        best = within[first[within] <= first[within].min() * (1 + SAME)]
        chosen = int(best[int(np.argmin(second[best]))])
    front = front_of(seconds, usd)
    return Choice(chosen, nearest, front, _neighbours(front, chosen, seconds, usd))


def front_of(seconds: Array, usd: Array) -> list[int]:
    """Return the places that no other beats in both, from the cheapest on."""
    front: list[int] = []
    fastest = np.inf
    for place in np.lexsort((seconds, usd)):
        if seconds[place] < fastest * (1 - SAME):
            front.append(int(place))
            fastest = seconds[place]
    return front


def _over(amounts: Array, most: float | None) -> Array:
    """By which share each is over its bound."""
    if most is None:
        return np.zeros(len(amounts))
    found: Array = np.maximum(0.0, amounts / most - 1) if most > 0 else np.where(amounts > 0, np.inf, 0.0)
    return found


def _neighbours(front: Sequence[int], chosen: int | None, seconds: Array, usd: Array) -> list[int]:
    if chosen is None:
        return []
    faster = [place for place in front if seconds[place] < seconds[chosen] * (1 - SAME)]
    cheaper = [place for place in front if usd[place] < usd[chosen] * (1 - SAME)]
    return [*faster[:1], *cheaper[-1:]]


def _steps(least: float, most: float, step: float) -> list[float]:
    count = int(np.floor((most - least) / step + 1e-9)) + 1
    return [least + step * number for number in range(count)]
