"""The processes that a cluster on this machine is made of: they can be held, killed, and started again as they were.

Found beside the kubeconfig, so that they are those of the cluster that the tests use and of no other.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers.process import ServerMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PATIENCE_SECONDS = 60.0
PAUSE_SECONDS = 0.1
IN_THE_BACKGROUND = 'log=$1; shift; setsid "$@" >>"$log" 2>&1 </dev/null & echo $!'
"""It outlives the tests, as it outlived whoever started the cluster."""


@dataclass(frozen=True)
class Running:
    """How a process was started."""

    command: list[str]
    folder: Path
    environment: dict[str, str]
    log: Path

    @classmethod
    def of(cls, pid: int) -> Running:
        """Read how a process was started that still runs."""
        process = Path(f"/proc/{pid}")
        pairs = (text.partition("=") for text in _texts(process / "environ") if "=" in text)
        environment = {name: value for name, _, value in pairs}
        return cls(
            _texts(process / "cmdline"), (process / "cwd").readlink(), environment, (process / "fd" / "1").readlink()
        )

    def start(self, *more: str) -> int:
        """Start it once more, with further options; returns its process id."""
        words = ["sh", "-c", IN_THE_BACKGROUND, "sh", str(self.log), *self.command, *more]
        return int(subprocess.check_output(words, cwd=self.folder, env=self.environment))


@dataclass(frozen=True)
class Part:
    """One of the processes. What is done to it is undone at the end of the context, whatever happened in it."""

    file: Path
    answers: Callable[[], bool]

    @property
    def pid(self) -> int:
        return int(self.file.read_text())

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let it do nothing meanwhile, as on a machine that hangs."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)
            _until(self.answers)

    @contextmanager
    def killed(self) -> Iterator[None]:
        """Have it away meanwhile."""
        known = self._end()
        try:
            yield
        finally:
            self._start(known)

    @contextmanager
    def changed(self, *more: str) -> Iterator[None]:
        """Let it run with further options meanwhile."""
        known = self._end()
        try:
            self._start(known, *more)
            yield
        finally:
            with suppress(OSError, IndexError):  # it may have ended by itself, for not knowing an option
                self._end()
            self._start(known)

    def _end(self) -> Running:
        known, pid = Running.of(self.pid), self.pid
        os.kill(pid, signal.SIGKILL)
        _until(lambda: not _runs(pid))
        return known

    def _start(self, known: Running, *more: str) -> None:
        self.file.write_text(f"{known.start(*more)}\n")
        _until(self.answers)


def part(name: str, answers: Callable[[], bool]) -> Part:
    """Return a process of the cluster of KUBECONFIG; `answers` says whether it does its work."""
    file = Path(os.environ["KUBECONFIG"]).parent / "run" / f"{name}.pid"
    found = Part(file, answers)
    with suppress(OSError, ValueError, IndexError):
        if Path(Running.of(found.pid).command[0]).name == name:
            return found
    raise ServerMissing(f"the process {name} of this cluster is not one of this machine that can be stopped here")


def _texts(file: Path) -> list[str]:
    return file.read_bytes().decode(errors="surrogateescape").rstrip("\0").split("\0")


def _runs(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def _until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "the cluster did not become what it was"
        time.sleep(PAUSE_SECONDS)
