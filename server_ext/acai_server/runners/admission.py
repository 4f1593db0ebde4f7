"""Whether a share of this machine is free: what was given to its live attempts counts, used or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acai_jupyter.contract.jobs import Resources
    from acai_server.runners.folders import Given

MIB = 1024**2


@dataclass(frozen=True)
class Capacity:
    """What this machine gives to jobs, all of them together."""

    vcpu: float
    memory_bytes: int
    gpus: tuple[int, ...] = ()

    def refuses(self, wanted: Resources) -> str:
        """Return which limit a job is over that wants more than there is; empty when there is enough."""
        if wanted.vcpu > self.vcpu:
            return f"it asks for {wanted.vcpu:g} vCPU and jobs on this machine have no more than {self.vcpu:g}"
        if wanted.memory_bytes > self.memory_bytes:
            most = size(self.memory_bytes)
            return f"it asks for {size(wanted.memory_bytes)} and jobs on this machine have no more than {most}"
        if wanted.gpus > len(self.gpus):
            return f"it asks for {wanted.gpus} GPU and this machine has {len(self.gpus) or 'none'}"
        return ""

    def fits(self, wanted: Resources, given: Iterable[Given]) -> str:
        """Return what is missing for a job beside those that were given their shares; empty when it fits."""
        given = list(given)
        vcpu = self.vcpu - sum(share.vcpu for share in given)
        memory = self.memory_bytes - sum(share.memory_bytes for share in given)
        gpus = len(self.free_gpus(given))
        if wanted.vcpu > vcpu:
            return f"it asks for {wanted.vcpu:g} vCPU and {max(0.0, vcpu):g} of {self.vcpu:g} are free"
        if wanted.memory_bytes > memory:
            free = f"{size(max(0, memory))} of {size(self.memory_bytes)}"
            return f"it asks for {size(wanted.memory_bytes)} of memory and {free} are free"
        if wanted.gpus > gpus:
            return f"it asks for {wanted.gpus} GPU and {gpus} of {len(self.gpus)} are free"
        return ""

    def free_gpus(self, given: Iterable[Given]) -> list[int]:
        """Return the numbers of the GPUs that nobody was given."""
        taken = {gpu for share in given for gpu in share.gpus}
        return [gpu for gpu in self.gpus if gpu not in taken]


def size(size_bytes: int) -> str:
    """Say a size of memory for people."""
    if size_bytes < 1024 * MIB:
        return f"{size_bytes // MIB} MB"
    return f"{size_bytes / (1024 * MIB):.3g} GB"
