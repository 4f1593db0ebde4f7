"""The share of a machine that a program gets: by its container, by the runner's control groups, or as it goes."""

import math
import os
import re
from contextlib import suppress
from typing import List, NamedTuple, Optional, Tuple

_UNLIMITED = 1 << 60
_NICENESS = 5
_SOONER = 100
"""In a container that runs out of memory the program is to end rather than the agent, which can tell of it."""
_OF_CONTAINERS = ("", "memory", "cpu", "cpuacct", "pids")
_NEARLY = 0.98
"""The share of a limit at which the kernel frees memory before it kills."""
_MIB = 1024 * 1024
_NO_MEMORY = re.compile(rb"MemoryError|Cannot allocate memory|std::bad_alloc|[Oo]ut of memory")


class Share(NamedTuple):
    """What was asked for."""

    vcpu: float
    memory_bytes: int
    gpus: int = 0


class Limits:
    """`enter` is called in the program's process before it is the program; the rest beside it."""

    def __init__(self, share: Share, cgroups: List[str], container: str = "") -> None:
        """Know the groups that a program is to enter, or else where those of the container are, which it is in."""
        self._share = share
        self._in_container = bool(container)
        self._cgroups = [os.path.join(container, name) for name in _OF_CONTAINERS] if container else cgroups
        self._holder = "container" if container else "control group"
        self.held: List[str] = []
        self._doors: List[int] = []
        self._cpus: List[int] = []
        self._data_bytes = 0
        self._before = _MemoryEvents(0, 0, 0)
        self._memory_bytes: Optional[int] = None
        """The limit of the control groups on memory."""

    def prepare(self) -> None:
        """Find out what holds here, and open the way into the control groups."""
        for path in () if self._in_container else self._cgroups:
            try:
                self._doors.append(os.open(os.path.join(path, "cgroup.procs"), os.O_WRONLY))
            except OSError as error:
                self.held.append("a control group cannot be entered: %s" % error.strerror)
        self._before = self._memory_events()
        inside = bool(self._doors) or self._in_container
        self._memory_bytes = self._limit(("memory.max", "memory.limit_in_bytes")) if inside else None
        self._hold_memory(self._memory_bytes)
        self._hold_cpu(self._cpu_limit() if inside else None)
        processes = self._limit(("pids.max",)) if inside else None
        if processes is not None:
            self.held.append("at most %d processes (%s)" % (processes, self._holder))

    def close(self) -> None:
        """Close what `prepare` has opened."""
        for door in self._doors:
            os.close(door)
        self._doors = []

    def enter(self) -> None:
        """Put this process under the limits."""
        for door in self._doors:
            os.write(door, b"0")
        if self._in_container:
            _end_sooner()
        if self._cpus:
            with suppress(OSError):
                os.sched_setaffinity(0, self._cpus)
            with suppress(OSError):
                os.nice(_NICENESS)
        if self._data_bytes:
            import resource

            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_DATA, (self._data_bytes, self._data_bytes))

    def ran_out_of_memory(self, exit_code: int, tail: bytes) -> bool:
        """Whether a program ended because it had too little memory."""
        if exit_code == 0:
            return False
        if self._memory_events().kills > self._before.kills:
            return True
        return bool(self._data_bytes) and bool(_NO_MEMORY.search(tail))

    def memory_warning(self) -> str:
        """Say which processes the kernel killed for memory during a run whose program ended well; empty for none."""
        now = self._memory_events()
        kills = now.kills - self._before.kills
        if kills > 0:
            killed = "1 process of this job was" if kills == 1 else "%d processes of this job were" % kills
            peak = self._number("memory.max_usage_in_bytes") or 0  # version 1 does not count refusals reliably
            at_limit = now.refusals > self._before.refusals or peak >= _NEARLY * (self._memory_bytes or math.inf)
            if self._memory_bytes is None or not at_limit:
                return killed + " killed because the machine ran out of memory; its results may be incomplete"
            limit = _size(self._memory_bytes)
            return "%s killed because the memory limit of %s was reached; its results may be incomplete" % (
                killed,
                limit,
            )
        others = now.machine_kills - self._before.machine_kills
        if others > 0 and self._memory_bytes is None and not self._in_container:
            # Nothing tells whose they were. With control groups it is known that they were not of this job.
            killed = "1 process was" if others == 1 else "%d processes were" % others
            return "%s killed because the machine ran out of memory while this job ran; check its results" % killed
        return ""

    def used(self) -> Tuple[Optional[float], Optional[int]]:
        """Return the CPU seconds and the bytes of memory that the control groups have counted, now."""
        usage = self._counter("cpu.stat", "usage_usec")
        seconds = usage / 1e6 if usage is not None else None
        if seconds is None:
            nanoseconds = self._number("cpuacct.usage")
            seconds = nanoseconds / 1e9 if nanoseconds is not None else None
        memory = self._number("memory.current")
        return seconds, memory if memory is not None else self._number("memory.usage_in_bytes")

    def kill(self) -> None:
        """End whatever is in the control groups, now; the agent is in those of a container, and goes on."""
        if self._in_container:
            if os.getpid() == 1:
                with suppress(OSError):
                    os.kill(-1, 9)  # all in this container but the first, which is the agent
            return
        for path in self._cgroups:
            try:
                with open(os.path.join(path, "cgroup.kill"), "w", encoding="ascii") as file:
                    file.write("1")
            except OSError:
                _kill_each(path)

    def _hold_memory(self, limit: Optional[int]) -> None:
        if limit is not None:
            self.held.append("memory at most %s (%s)" % (_size(limit), self._holder))
        elif self._share.gpus:
            self.held.append("memory is not limited: programs with GPUs reserve more than they use")
        elif self._share.memory_bytes:
            self._data_bytes = self._share.memory_bytes
            self.held.append("memory of each process at most %s (resource limit)" % _size(self._data_bytes))

    def _hold_cpu(self, limit: Optional[float]) -> None:
        if limit is not None:
            self.held.append("CPU at most %g (%s)" % (limit, self._holder))
            return
        if self._in_container:
            self.held.append("CPU is not limited, but shared (container)")
            return
        if not hasattr(os, "sched_getaffinity"):
            return
        here = sorted(os.sched_getaffinity(0))
        count = max(1, math.ceil(self._share.vcpu))
        start = os.getpid() % len(here)
        self._cpus = (here[start:] + here[:start])[:count]
        self.held.append("CPU: %d of %d (affinity)" % (len(self._cpus), len(here)))

    def _cpu_limit(self) -> Optional[float]:
        for path in self._with_parents():
            words = _read(path, "cpu.max").split()
            if len(words) == 2 and words[0] != "max":  # noqa: PLR2004 (quota and period)
                return int(words[0]) / int(words[1])
            quota = _read(path, "cpu.cfs_quota_us").strip()
            if quota and int(quota) > 0:
                return int(quota) / int(_read(path, "cpu.cfs_period_us"))
        return None

    def _limit(self, names: Tuple[str, ...]) -> Optional[int]:
        found = [_read(path, name).strip() for path in self._with_parents() for name in names]
        numbers = [int(text) for text in found if text.isdigit() and int(text) < _UNLIMITED]
        return min(numbers) if numbers else None

    def _with_parents(self) -> List[str]:
        """The groups, and those around them that the runner made for the attempt."""
        return [place for path in self._cgroups for place in (path, os.path.dirname(path))]

    def _memory_events(self) -> "_MemoryEvents":
        counts = (self._counter(name, "oom_kill") for name in ("memory.events", "memory.oom_control"))
        return _MemoryEvents(
            kills=max(count or 0 for count in counts),
            refusals=self._counter("memory.events", "oom") or 0,
            machine_kills=_count(_read("/proc", "vmstat"), "oom_kill") or 0,
        )

    def _counter(self, file: str, name: str) -> Optional[int]:
        for path in self._cgroups:
            count = _count(_read(path, file), name)
            if count is not None:
                return count
        return None

    def _number(self, file: str) -> Optional[int]:
        for path in self._cgroups:
            text = _read(path, file).strip()
            if text.isdigit():
                return int(text)
        return None


class _MemoryEvents(NamedTuple):
    """What the kernel has counted."""

    kills: int
    """Processes in the control groups that were killed for memory."""
    refusals: int
    """How often the limit of the control groups was reached, as version 2 counts it."""
    machine_kills: int
    """Processes on the whole machine that were killed for memory."""


def _count(text: str, name: str) -> Optional[int]:
    """Return the number on the line that begins with a name."""
    for line in text.splitlines():
        words = line.split()
        if words[:1] == [name]:
            return int(words[1])
    return None


def _end_sooner() -> None:
    with suppress(OSError, ValueError), open("/proc/self/oom_score_adj", "r+", encoding="ascii") as file:
        wanted = min(1000, int(file.read()) + _SOONER)
        file.seek(0)
        file.write("%d" % wanted)


def kill_marked(variable: str, own: Tuple[int, ...]) -> None:
    """End every process that has this in its environment: what an attempt started, however it detached."""
    cookie = variable.encode()
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit() and int(name) not in own:
            with suppress(OSError):  # gone meanwhile, or somebody else's
                with open("/proc/%s/environ" % name, "rb") as environment:
                    is_ours = cookie in environment.read().split(b"\0")
                if is_ours:
                    os.kill(int(name), 9)


def _size(count: int) -> str:
    """Write a size as everybody else here does."""
    gigabytes = count / _MIB / 1024
    return "%d MB" % (count // _MIB) if gigabytes < 1 else "%.3g GB" % gigabytes


def _kill_each(path: str) -> None:
    """End the processes of a group of version 1; one that forks meanwhile is met in the next round."""
    for _ in range(100):
        names = _read(path, "cgroup.procs").split()
        if not names:
            return
        for name in names:
            with suppress(OSError):
                os.kill(int(name), 9)


def _read(path: str, name: str) -> str:
    try:
        with open(os.path.join(path, name), encoding="ascii") as file:
            return file.read()
    except (OSError, ValueError):
        return ""
