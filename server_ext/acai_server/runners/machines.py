"""What this machine has for jobs: its own size, or what a container or service leaves us of it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from acai_server.runners.cgroups import PROC, mounts

if TYPE_CHECKING:
    from collections.abc import Iterator


def cpus(proc: Path = PROC) -> float:
    """Return how many CPUs this process may use; a quota counts."""
    allowed = float(len(os.sched_getaffinity(0)))
    return min([allowed, *_cpu_quotas(proc)])


def memory_bytes(proc: Path = PROC) -> int:
    """Return how much memory this process may use; a limit counts."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([physical, *_memory_limits(proc)])


def gpus(devices: Path = Path("/dev")) -> list[int]:
    """Return the numbers of the GPUs that there are."""
    return sorted(int(path.name[len("nvidia") :]) for path in devices.glob("nvidia[0-9]*") if path.name[6:].isdigit())


def _cpu_quotas(proc: Path) -> Iterator[float]:
    for group in _groups("cpu", proc):
        with suppress(OSError, ValueError):
            quota, period = (group / "cpu.max").read_text().split()
            yield int(quota) / int(period)  # "max" is no number
        with suppress(OSError, ValueError):
            micros = int((group / "cpu.cfs_quota_us").read_text())
            if micros > 0:
                yield micros / int((group / "cpu.cfs_period_us").read_text())


def _memory_limits(proc: Path) -> Iterator[int]:
    for group in _groups("memory", proc):
        for name in ("memory.max", "memory.limit_in_bytes"):
            with suppress(OSError, ValueError):
                yield int((group / name).read_text())


def _groups(controller: str, proc: Path) -> Iterator[Path]:
    """Return this process's group and those above it."""
    for mount in mounts(proc):
        if controller in mount.controllers:
            yield from (path for path in (mount.own, *mount.own.parents) if path.is_relative_to(mount.root))
