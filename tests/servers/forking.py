"""Jupyter servers that start faster: forks of one process that has read the modules, which is most of a start."""

from __future__ import annotations

import atexit
import ctypes
import importlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

READ = (
    "jupyter_server.serverapp",
    "acai_server.app",
    "acai_server.host",
    "acai_server.api.routes",
    "acai_server.engine.service",
    "alembic.context",
    "sqlalchemy.dialects.sqlite",
    "sqlalchemy.orm",
)
ROOT = Path(__file__).parents[2]
END_WITH_PARENT = 1
"""What Linux calls PR_SET_PDEATHSIG."""


class Forked:
    """A process that another one has started for us; as much of `subprocess.Popen` as the tests use."""

    def __init__(self, forks: Forks, pid: int) -> None:
        self.pid = pid
        self._forks = forks

    def poll(self) -> int | None:
        return self._forks.status(self.pid)

    def wait(self, timeout: float | None = None) -> int:
        deadline = time.monotonic() + (float("inf") if timeout is None else timeout)
        while (status := self.poll()) is None:
            if timeout is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            self._forks.read(0.5 if timeout is None else min(0.5, max(0, deadline - time.monotonic())))
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forks:
    """The process that forks, for as long as ours lives."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.servers.forking", str(theirs.fileno())],
                cwd=ROOT,
                env=os.environ | {"PYTHONWARNINGS": "default"},
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._said = b""
        self._started: list[int] = []
        self._ended: dict[int, int] = {}
        atexit.register(self.close)

    def close(self) -> None:
        """End it, and with it all that it has started."""
        self._ours.close()
        self._process.wait()

    def start(self, command: Sequence[str], *, environment: Mapping[str, str], folder: Path, log: Path) -> Forked:
        """Start what the script `command[0]` starts."""
        asked = {"command": list(command), "environment": dict(environment), "folder": str(folder), "log": str(log)}
        self._ours.sendall(json.dumps(asked).encode() + b"\n")
        while not self._started:
            self.read(60)
        return Forked(self, self._started.pop())

    def status(self, pid: int) -> int | None:
        self.read(0)
        return self._ended.get(pid)

    def read(self, seconds: float) -> None:
        """Take in what it has said, waiting for so long if it said nothing."""
        self._ours.settimeout(seconds)
        try:
            while data := self._ours.recv(65536):
                self._said += data
                self._ours.settimeout(0)
        except (TimeoutError, BlockingIOError):
            pass
        *lines, self._said = self._said.split(b"\n")
        for line in lines:
            word, pid, status = line.split()
            if word == b"started":
                self._started.append(int(pid))
            else:
                self._ended[int(pid)] = int(status)


Started: TypeAlias = "Forked | subprocess.Popen[bytes]"


@cache
def _forks() -> Forks:
    return Forks()


def start(command: Sequence[str], *, environment: Mapping[str, str], folder: Path, log: Path) -> Started:
    """Start a Python script in a session of its own, which ends with us where Linux can do that.

    What is preloaded takes effect only in a process that is started, not in a fork.
    """
    if sys.platform == "linux" and "LD_PRELOAD" not in environment:
        return _forks().start(command, environment=environment, folder=folder, log=log)
    with log.open("wb") as out:
        return subprocess.Popen(command, env=environment, cwd=folder, stdout=out, stderr=out, start_new_session=True)


def _serve(asking: socket.socket) -> None:
    """Fork what is asked for until nobody can ask any more, and say how each has ended."""
    woken, wakes = socket.socketpair()
    woken.settimeout(0)
    wakes.settimeout(0)
    signal.set_wakeup_fd(wakes.fileno())
    signal.signal(signal.SIGCHLD, lambda *_: None)
    buffer = b""
    while True:
        ready, _, _ = select.select([asking, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            _reap(asking)
        if asking in ready:
            data = asking.recv(65536)
            if not data:
                break
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                pid = os.fork()
                if pid == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for mine in (asking, woken, wakes):
                        mine.close()
                    _become(json.loads(line))
                asking.sendall(b"started %d 0\n" % pid)
    for mine in (asking, woken, wakes):
        mine.close()


def _reap(asking: socket.socket) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        asking.sendall(b"ended %d %d\n" % (pid, os.waitstatus_to_exitcode(status)))


def _become(asked: dict[str, Any]) -> None:
    """Be the server: its own session, environment, folder and output, then its script."""
    os.setsid()
    ctypes.CDLL(None).prctl(END_WITH_PARENT, signal.SIGTERM)
    log = os.open(asked["log"], os.O_WRONLY)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    os.environ.clear()
    os.environ.update(asked["environment"])
    os.chdir(asked["folder"])
    sys.argv = asked["command"]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    exec(compile(Path(sys.argv[0]).read_text(), sys.argv[0], "exec"), {"__name__": "__main__"})
    sys.exit()


if __name__ == "__main__":
    for module in READ:
        importlib.import_module(module)
    _serve(socket.socket(fileno=int(sys.argv[1])))
