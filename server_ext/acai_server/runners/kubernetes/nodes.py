"""What the machines of a cluster can hold, as far as the server may see them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.projects import Machine
from acai_server.runners.admission import size
from acai_server.runners.kubernetes.objects import ROOM_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acai_jupyter.contract.jobs import Resources
    from acai_server.runners.kubernetes.seen import Node

_QUANTITY = re.compile(r"([0-9.]+(?:[eE][0-9]+)?)(m|[kMGTPE]|[KMGTPE]i)?\Z")
_POWERS = {unit: 1000 ** (power + 1) for power, unit in enumerate("kMGTPE")}
_POWERS |= {f"{unit}i": 1024 ** (power + 1) for power, unit in enumerate("KMGTPE")}
UNSEEN = Machine(cpus=1024, memory_bytes=4 * 1024**4, gpus=1024)
"""Where nodes cannot be seen, nothing is refused for want of them, and the forecast sees room for all."""


@dataclass(frozen=True)
class Nodes:
    """The machines that take pods. None of them: they are not known."""

    machines: tuple[Machine, ...] = ()
    grows: bool = False

    @classmethod
    def of(cls, nodes: Iterable[Node], gpu_resource: str, *, grows: bool) -> Nodes:
        """Take in what was listed. A cordoned machine counts: it will take pods again."""
        return cls(tuple(_machine(node.status.allocatable, gpu_resource) for node in nodes), grows)

    def machine(self) -> Machine:
        """Return what all hold together."""
        if not self.machines:
            return UNSEEN
        return Machine(
            cpus=sum(one.cpus for one in self.machines),
            memory_bytes=sum(one.memory_bytes for one in self.machines),
            gpus=sum(one.gpus for one in self.machines),
        )

    def room(self) -> tuple[Machine, ...]:
        """Return what pods can have of each; nothing where machines are not known, or where larger ones may come."""
        if self.grows:
            return ()
        return tuple(
            msgspec.structs.replace(one, memory_bytes=max(0, one.memory_bytes - ROOM_BYTES)) for one in self.machines
        )

    def refuses(self, wanted: Resources, nodes: int = 1) -> str:
        """Return which limit a job is over; empty when there is a machine that can hold it, and room for all nodes."""
        if not self.machines or self.grows:
            return ""
        cpus = max(one.cpus for one in self.machines)
        memory = max(one.memory_bytes for one in self.machines) - ROOM_BYTES
        gpus = max(one.gpus for one in self.machines)
        if wanted.vcpu > cpus:
            return f"it asks for {wanted.vcpu:g} vCPU and no machine of the cluster has more than {cpus:g}"
        if wanted.memory_bytes > memory:
            most = size(max(0, memory))
            return f"it asks for {size(wanted.memory_bytes)} and no machine of the cluster has more than {most}"
        if wanted.gpus > gpus:
            return f"it asks for {wanted.gpus} GPU and no machine of the cluster has more than {gpus or 'none'}"
        room = nodes if nodes == 1 else sum(_times(one, wanted) for one in self.machines)
        return "" if nodes <= room else f"it asks for {nodes} nodes and the cluster has room for {room} like that"


def _times(machine: Machine, wanted: Resources) -> int:
    """How many such nodes a machine can hold."""
    rooms = [machine.cpus // wanted.vcpu, machine.memory_bytes // (wanted.memory_bytes + ROOM_BYTES)]
    return int(min(rooms + ([machine.gpus // wanted.gpus] if wanted.gpus else [])))


def quantity(text: str) -> float:
    """Read a quantity as Kubernetes writes them: `1930m`, `16Gi`, `2`. What is none counts as nothing."""
    found = _QUANTITY.match(text)
    if found is None:
        return 0.0
    unit = found[2] or ""
    return float(found[1]) * (0.001 if unit == "m" else _POWERS.get(unit, 1))


def _machine(has: dict[str, str], gpu_resource: str) -> Machine:
    memory, gpus = int(quantity(has.get("memory", "0"))), int(quantity(has.get(gpu_resource, "0")))
    return Machine(cpus=quantity(has.get("cpu", "0")), memory_bytes=memory, gpus=gpus)
