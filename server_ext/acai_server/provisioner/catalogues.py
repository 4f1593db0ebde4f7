"""Machine types of a price book, found by what they hold without looking at each of them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acai_jupyter.contract.prices import MachineType

Ranked = tuple[float, int]
"""A machine by its price, then by its place in the book."""


class Catalogue:
    """The machine types of one book. Frozen."""

    def __init__(self, machines: Sequence[MachineType]) -> None:
        self._machines = machines
        kinds: dict[tuple[str, int], list[int]] = {}
        for place, one in enumerate(machines):
            kinds.setdefault((one.gpu_type if one.gpus else "", one.gpus), []).append(place)
        self._kinds = {kind: _Kind([(machines[at], at) for at in places]) for kind, places in kinds.items()}

    def cheapest(self, vcpu: float, memory_bytes: int, gpus: int = 0, gpu_type: str = "") -> MachineType | None:
        """Return the cheapest that holds so much, the first in the book of those that cost the same."""
        held = (
            kind.cheapest(vcpu, memory_bytes)
            for (name, count), kind in self._kinds.items()
            if count >= gpus and (not gpus or not gpu_type or name == gpu_type)
        )
        best = min(filter(None, held), default=None)
        return None if best is None else self._machines[best[1]]


class _Kind:
    """Machines with the same GPUs, as a tree (Fenwick's) over them by vCPU, the largest first.

    Each knot knows its machines by memory, and of each the cheapest of those with as much or more.
    """

    def __init__(self, machines: Iterable[tuple[MachineType, int]]) -> None:
        ordered = sorted(machines, key=lambda one: -one[0].vcpu)
        self._vcpus = [-machine.vcpu for machine, _ in ordered]
        held: list[list[tuple[int, float, int]]] = [[] for _ in range(len(ordered) + 1)]
        for at, (machine, place) in enumerate(ordered, start=1):
            knot = at
            while knot < len(held):
                insort(held[knot], (machine.memory_bytes, machine.usd_per_hour, place))
                knot += knot & -knot
        self._memories = [[memory for memory, _, _ in one] for one in held]
        self._best = [_running_least([(usd, place) for _, usd, place in one]) for one in held]

    def cheapest(self, vcpu: float, memory_bytes: int) -> Ranked | None:
        """Return the cheapest that holds so much."""
        knot = bisect_right(self._vcpus, -vcpu)
        best: Ranked | None = None
        while knot:
            at = bisect_left(self._memories[knot], memory_bytes)
            if at < len(self._memories[knot]) and (best is None or self._best[knot][at] < best):
                best = self._best[knot][at]
            knot -= knot & -knot
        return best


def _running_least(prices: Sequence[Ranked]) -> list[Ranked]:
    """Of each and all behind it the least."""
    found = list(prices)
    for at in range(len(found) - 2, -1, -1):
        found[at] = min(found[at], found[at + 1])
    return found
