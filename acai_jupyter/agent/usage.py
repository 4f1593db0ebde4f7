"""What a program uses of its machine, looked at now and then: often at first, at most some hundred times in all."""

import os
import subprocess
import threading
import time
from contextlib import suppress
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from acai_jupyter import trees
from acai_jupyter.agent.limits import Limits

MAX_SAMPLES = 500
_FIRST_SECONDS = 1.0
_GROWTH = 60
"""The pause is a sixtieth of the time so far: a day takes about 500 samples."""
_WALK_SHARE = 100
"""Walking through the work folder may take a hundredth of the time."""
_GPU_SECONDS = 5.0
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096

Sample = Tuple[float, float, int, int, float]


class Usage:
    """Samples of one program, by a thread that sleeps in between."""

    def __init__(
        self, pid: int, limits: Limits, folder: str, *, gpus: int = 0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._pid = pid
        self._limits = limits
        self._folder = folder
        self._gpus = gpus
        self._clock = clock
        self._ended = threading.Event()
        self._start = clock()
        self._last = (self._start, 0.0)
        self._disk = 0
        self._walk_at = self._start
        self._samples: List[Sample] = []
        self._most = 0
        self._tell: Optional[Callable[[Sample], None]] = None
        self._thread = threading.Thread(target=self._watch, name="acai-usage", daemon=True)

    def start(self, tell: Optional[Callable[[Sample], None]] = None) -> None:
        """Begin to look, and to tell what is seen."""
        self._tell = tell
        self._thread.start()

    def end(self) -> Dict[str, Any]:
        """End it, when the program has ended; returns what the result record says of its use."""
        self._ended.set()
        self._thread.join(timeout=_GPU_SECONDS)
        seconds, peak = _of_children()
        counted, _ = self._limits.used()
        return {
            "cpu_seconds": seconds if counted is None else max(seconds, counted),
            "max_memory_bytes": max(self._most, peak),
            "max_disk_bytes": max([self._disk, *(sample[3] for sample in self._samples)]),
            "samples": self._samples,
        }

    def sample(self) -> None:
        """Look once."""
        now = self._clock()
        seconds, memory = self._limits.used()
        if seconds is None or memory is None:
            seconds, memory = _of_family(self._pid)
        before, used = self._last
        busy = max(0.0, (seconds - used) / (now - before)) if now > before else 0.0
        self._last = (now, max(seconds, used))
        self._most = max(self._most, memory)
        if now >= self._walk_at:
            self._disk = sum(state.st_size for state in trees.states(self._folder))
            self._walk_at = now + _WALK_SHARE * (self._clock() - now)
        gpu = _gpu() if self._gpus else 0.0
        self._samples.append((round(now - self._start, 2), round(busy, 2), memory, self._disk, gpu))
        if self._tell is not None:
            self._tell(self._samples[-1])
        if len(self._samples) >= MAX_SAMPLES:
            del self._samples[1::2]

    def _watch(self) -> None:
        pause = _FIRST_SECONDS
        while not self._ended.wait(pause):
            with suppress(OSError, ValueError, IndexError):
                self.sample()
            pause = max(_FIRST_SECONDS, (self._clock() - self._start) / _GROWTH)


def _of_children() -> Tuple[float, int]:
    """CPU seconds and the most memory that one process of those that have ended took."""
    try:
        import resource
    except ImportError:
        return 0.0, 0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def _of_family(pid: int) -> Tuple[float, int]:
    """CPU seconds and memory of a process and those below it, without looking at any other."""
    seconds, memory = 0.0, 0
    for member in _family(pid):
        with suppress(OSError, ValueError, IndexError):
            with open("/proc/%d/stat" % member, encoding="ascii", errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
            seconds += sum(int(ticks) for ticks in fields[11:15]) / _TICKS
            memory += int(fields[21]) * _PAGE
    return seconds, memory


def _family(pid: int) -> Iterator[int]:
    todo = [pid]
    while todo:
        member = todo.pop()
        yield member
        with suppress(OSError):
            for task in os.listdir("/proc/%d/task" % member):
                with open("/proc/%d/task/%s/children" % (member, task), encoding="ascii") as file:
                    todo += [int(child) for child in file.read().split()]


def _gpu() -> float:
    """How busy the GPUs are, the sum of their shares; nothing where nobody can say."""
    command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
    try:
        said = subprocess.run(command, capture_output=True, timeout=_GPU_SECONDS, check=True).stdout
        return sum(float(word) for word in said.split()) / 100
    except (OSError, subprocess.SubprocessError, ValueError):
        return 0.0
