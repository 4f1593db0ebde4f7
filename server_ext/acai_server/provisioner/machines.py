"""The shares of machines to choose among: what a job may ask for, and what of that a machine here can hold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.jobs import Resources
from acai_jupyter.contract.sizes import size
from acai_server.provisioner.optimiser import grid

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acai_jupyter.contract.jobs import ResourceLimits
    from acai_jupyter.contract.prices import MachineType
    from acai_jupyter.contract.projects import Machine

SAME = 1e-9


def shares(types: Sequence[MachineType], usual: Resources, limits: ResourceLimits) -> list[Resources]:
    """Return what can be chosen among: the machine types of a price book, or all shares of the usual kind.

    Of a machine type it is as much as a job may ask for of it: more would be refused.
    """
    if not types:
        return [msgspec.structs.replace(usual, vcpu=vcpu, memory_bytes=memory) for vcpu, memory in grid(limits)]
    return list(dict.fromkeys(found for one in types if (found := _of_type(one, limits)) is not None))


def _of_type(one: MachineType, limits: ResourceLimits) -> Resources | None:
    vcpu = floor(min(one.vcpu, limits.max_vcpu) / limits.vcpu_step + SAME) * limits.vcpu_step
    step = limits.memory_step_bytes
    memory = min(one.memory_bytes, limits.max_memory_bytes) // step * step
    gpus = min(one.gpus, limits.max_gpus)
    if vcpu < limits.min_vcpu or memory < limits.min_memory_bytes:
        return None
    return Resources(vcpu, memory, gpus, gpu_type=one.gpu_type if gpus else "")


@dataclass(frozen=True)
class Room:
    """What jobs can have of each machine; without machines nothing is known to be too much."""

    machines: Sequence[Machine]

    def held(self, wanted: Iterable[Resources], nodes: int = 1) -> list[bool]:
        """Say of each share whether there is room for so many nodes of it."""
        shapes = Counter(self.machines)
        return [not shapes or sum(n * _times(one, share) for one, n in shapes.items()) >= nodes for share in wanted]

    def why(self, too_large: Sequence[Resources]) -> str:
        """Say why shares cannot be had."""
        if not self.machines:
            return "no machine of the price book is one that a job may ask for"
        cpus = max(one.cpus for one in self.machines)
        memory, gpus = max(one.memory_bytes for one in self.machines), max(one.gpus for one in self.machines)
        over = [
            *([f"{cpus:g} vCPU"] if any(one.vcpu > cpus + SAME for one in too_large) else []),
            *([f"{size(memory)} of memory"] if any(one.memory_bytes > memory for one in too_large) else []),
            *([f"{gpus} GPU"] if any(one.gpus > gpus for one in too_large) else []),
        ]
        return f"jobs here can have at most {' and '.join(over)}" if over else "there is no room here for that at once"


def _times(machine: Machine, share: Resources) -> int:
    """How many such shares a machine can hold."""
    rooms = [floor(machine.cpus / share.vcpu + SAME), machine.memory_bytes // share.memory_bytes]
    return int(min(rooms + ([machine.gpus // share.gpus] if share.gpus else [])))
