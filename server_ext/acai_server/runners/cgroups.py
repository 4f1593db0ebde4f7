"""Control groups, the kernel's limits for all of a program at once: a group for each attempt below one of ours.

Version 1 (a hierarchy for each controller) or 2 (one for all), whichever the machine has and lets us use.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

CONTROLLERS = ("memory", "cpu", "cpuacct", "pids")
"""Of these `cpuacct` limits nothing: in version 1 it is what counts the CPU time."""
PERIOD_MICROSECONDS = 100_000
MAX_PROCESSES = 4096
_PATIENCE_SECONDS = 5.0
_PAUSE_SECONDS = 0.005
_TRIES = 10
PROC = Path("/proc/self")


@dataclass(frozen=True)
class Mount:
    """A hierarchy as this process sees it: where it is, and where in it this process stands."""

    root: Path
    own: Path
    version: int
    controllers: frozenset[str]


@dataclass(frozen=True)
class Base:
    """Our own group in a hierarchy, below which attempts have theirs."""

    path: Path
    switched: frozenset[str]
    """Controllers that must be switched on for the groups below, as in version 2."""

    def make(self) -> None:
        """Make the group; `OSError` where the kernel does not let us."""
        _enable(self.path.parent, self.switched)
        self.path.mkdir(exist_ok=True)
        _enable(self.path, self.switched)


class Cgroups:
    """The groups of one server's attempts. Without any hierarchy it makes none, and limits nothing."""

    def __init__(self, name: str, *, proc: Path = PROC, max_processes: int = MAX_PROCESSES, used: bool = True) -> None:
        self._max_processes = max_processes
        found = mounts(proc) if used else []
        self._bases = [base for base in (_base(mount, name) for mount in found) if base is not None]
        self.close()  # until there is an attempt

    def make(self, attempt: str, vcpu: float, memory_bytes: int) -> list[str]:
        """Make an attempt's groups, limits set; returns their folders. What cannot be made is left out."""
        made = []
        for base in self._bases:
            group = base.path / attempt
            with suppress(OSError):
                _make(base, group)
                self._limit(group, vcpu, memory_bytes)
                made.append(str(group))
        return made

    def paths(self, attempt: str) -> list[str]:
        """Return where the groups of an attempt are made."""
        return [str(base.path / attempt) for base in self._bases]

    def leftovers(self, living: set[str]) -> list[str]:
        """Return the groups of attempts that are not among these: a server that was killed left them."""
        return [
            str(group)
            for base in self._bases
            if base.path.is_dir()
            for group in base.path.iterdir()
            if group.is_dir() and group.name not in living
        ]

    def close(self) -> None:
        """Remove our own group, unless attempts go on in it."""
        for base in self._bases:
            with suppress(OSError):
                base.path.rmdir()

    def _limit(self, group: Path, vcpu: float, memory_bytes: int) -> None:
        quota = int(vcpu * PERIOD_MICROSECONDS)
        limits = {
            "memory.max": memory_bytes,
            "memory.swap.max": 0,
            "memory.oom.group": 1,
            "cpu.max": f"{quota} {PERIOD_MICROSECONDS}",
            "cpu.weight": max(1, int(vcpu * 100)),
            "memory.limit_in_bytes": memory_bytes,
            "memory.memsw.limit_in_bytes": memory_bytes,  # after the limit without swap, which it may not be below
            "cpu.cfs_period_us": PERIOD_MICROSECONDS,
            "cpu.cfs_quota_us": quota,
            "cpu.shares": max(2, int(vcpu * 1024)),
            "pids.max": self._max_processes,
        }
        with os.scandir(group) as entries:  # noqa: TID251 (of the kernel; its folders are not entered)
            there = {entry.name for entry in entries}
        for name, value in limits.items():
            if name in there:
                with suppress(OSError):
                    (group / name).write_text(str(value))


def remove(groups: list[str]) -> None:
    """End what runs in these groups, then remove them. Safe to call twice."""
    for group in map(Path, groups):
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not _removed(group) and time.monotonic() < deadline:
            kill(group)
            time.sleep(_PAUSE_SECONDS)


def kill(group: Path) -> None:
    """End all processes of a group: none can leave it, and none can be added meanwhile."""
    with suppress(OSError):
        if (group / "cgroup.kill").exists():
            (group / "cgroup.kill").write_text("1")
            return
        if (group / "pids.max").exists():
            (group / "pids.max").write_text("0")
        for pid in (group / "cgroup.procs").read_text().split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def mounts(proc: Path = PROC) -> list[Mount]:
    """Return the hierarchies that have a controller of use to us."""
    own = {}
    with suppress(OSError, ValueError):
        for line in (proc / "cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            own.update(dict.fromkeys(controllers.split(","), path))
    found = []
    with suppress(OSError):
        for line in (proc / "mountinfo").read_text().splitlines():
            place, _, kind = line.partition(" - ")
            mount = _mount(place.split(), kind.split(), own)
            if mount is not None and mount.controllers:
                found.append(mount)
    return found


def _mount(place: list[str], kind: list[str], own: dict[str, str]) -> Mount | None:
    inside, root = place[3], Path(place[4].replace("\\040", " "))
    if kind[0] == "cgroup2" and "" in own:
        return Mount(root, _own(root, inside, own[""]), 2, _offered(root).intersection(CONTROLLERS))
    if kind[0] == "cgroup":
        controllers = frozenset(kind[2].split(",")).intersection(CONTROLLERS, own)
        if controllers:
            return Mount(root, _own(root, inside, own[min(controllers)]), 1, controllers)
    return None


def _own(root: Path, inside: str, path: str) -> Path:
    """Return this process's group as a folder; a container sees a part of the hierarchy as the whole."""
    below = path.removeprefix(inside.rstrip("/")) if path.startswith(inside) else path
    folder = root / below.lstrip("/")
    return folder if folder.is_dir() and ".." not in folder.parts else root


def _make(base: Base, group: Path) -> None:
    for _ in range(_TRIES):
        base.make()
        with suppress(FileNotFoundError):  # whoever removed the last group in ours has removed ours
            group.mkdir(exist_ok=True)
            return
    raise FileNotFoundError(group)


def _base(mount: Mount, name: str) -> Base | None:
    """Return where our group can be made; it is tried out."""
    if mount.version == 1:
        return _tried(Base(mount.own / name, frozenset()))
    for parent in (mount.own, *mount.own.parents):
        if parent.is_relative_to(mount.root) and (switched := mount.controllers & _offered(parent)):
            base = _tried(Base(parent / name, switched))
            if base is not None:
                return base
    return None


def _offered(group: Path) -> frozenset[str]:
    try:
        return frozenset((group / "cgroup.controllers").read_text().split())
    except OSError:
        return frozenset()


def _tried(base: Base) -> Base | None:
    """Return a group of ours if it can be made, and processes moved there: that needs the right to the one above."""
    if not os.access(base.path.parent / "cgroup.procs", os.W_OK):
        return None
    try:
        base.make()
    except OSError:
        with suppress(OSError):
            base.path.rmdir()
        return None
    return base


def _enable(group: Path, controllers: frozenset[str]) -> None:
    """Let the groups below have these controllers; refused by the kernel where the group has processes of its own."""
    if not controllers:
        return
    switch = group / "cgroup.subtree_control"
    missing = controllers - set(switch.read_text().split())
    if missing:
        switch.write_text(" ".join(f"+{name}" for name in sorted(missing)))


def _removed(group: Path) -> bool:
    try:
        group.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
