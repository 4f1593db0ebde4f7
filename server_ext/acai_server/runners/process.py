"""Runs attempts as processes of this machine, detached from the server: they go on when it is restarted."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import Unavailable
from acai_jupyter.contract.projects import Machine
from acai_server.runners.protocol import Ended, Order

if TYPE_CHECKING:
    from acai_server.runners.protocol import Runner

PIECE = 1024 * 1024
GRACE_SECONDS = 10.0
_COOKIE = "_ACAI_ATTEMPT"
"""In the environment of the agent and of all that it starts: what an attempt left running is found by it."""
_KEPT = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV", "LD_LIBRARY_PATH")


class ProcessRunner:
    """One folder per attempt; in it `process` names the agent's process, so that a new server finds it again."""

    name = "process"
    shares_disk = True

    def __init__(
        self, folder: Path, agent: Path, *, python: str = sys.executable, grace_seconds: float = GRACE_SECONDS
    ) -> None:
        self._folder = folder
        self._agent = agent
        self._python = python
        self._grace_seconds = grace_seconds
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._lock = threading.Lock()
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)

    def machine(self) -> Machine:
        """See the protocol."""
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return Machine(cpus=float(cpus), memory_bytes=memory)

    def start(self, order: Order) -> None:
        """See the protocol."""
        folder = self._folder / order.attempt
        try:
            folder.mkdir(parents=True, mode=0o700)
            with (folder / "printed").open("wb") as printed:
                child = subprocess.Popen(  # noqa: S603 (our own agent, by a list)
                    [self._python, str(self._agent), order.launch_url, str(folder)],
                    cwd=folder,
                    env={name: os.environ[name] for name in _KEPT if name in os.environ} | {_COOKIE: str(folder)},
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            (folder / "process").write_text(json.dumps({"pid": child.pid, "started": _started(child.pid)}))
        except OSError as error:
            raise Unavailable(reason=f"the job's process cannot be started: {error.strerror}") from error
        with self._lock:
            self._children[order.attempt] = child

    def printed(self, attempt: str, offset: int) -> bytes:
        """See the protocol."""
        try:
            with (self._folder / attempt / "printed").open("rb") as file:
                file.seek(offset)
                return file.read(PIECE)
        except FileNotFoundError:
            return b""

    def ended(self, attempt: str) -> Ended | None:
        """See the protocol. A child is asked itself; one of an earlier server is looked for by its process id."""
        with self._lock:
            child = self._children.get(attempt)
        if child is not None:
            code = child.poll()
            return None if code is None else Ended(code)
        return None if self._pid(attempt) else Ended(None)

    def wait(self, attempts: list[str], seconds: float) -> None:
        """See the protocol. A process's descriptor becomes readable when it ends: nothing is polled."""
        descriptors = [d for d in map(self._descriptor, attempts) if d is not None]
        # Asked after the descriptors were opened, so that no end is missed between the two.
        if any(self.ended(attempt) is not None for attempt in attempts):
            seconds = 0
        poll = select.poll()
        for descriptor in (self._wake_read, *descriptors):
            poll.register(descriptor, select.POLLIN)
        try:
            poll.poll(seconds * 1000)
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, PIECE)

    def wake(self) -> None:
        """See the protocol."""
        with contextlib.suppress(BlockingIOError):  # the pipe is full of wake-ups already
            os.write(self._wake_write, b"x")

    def stop(self, attempt: str) -> None:
        """See the protocol."""
        pid = self._pid(attempt)
        if not pid:
            return
        _signal(pid, signal.SIGTERM)
        deadline = time.monotonic() + self._grace_seconds
        while self.ended(attempt) is None and time.monotonic() < deadline:
            self.wait([attempt], 0.1)
        self._kill_rest(attempt)

    def clean(self, attempt: str) -> None:
        """See the protocol."""
        self._kill_rest(attempt)
        with self._lock:
            self._children.pop(attempt, None)
        folder = self._folder / attempt
        for path in folder.glob("work/**/*"):  # inputs are read-only, and so may be folders that the program made
            if path.is_dir() and not path.is_symlink():
                path.chmod(0o700)
        shutil.rmtree(folder, ignore_errors=True)

    def _kill_rest(self, attempt: str) -> None:
        """End whatever an attempt started and did not end itself, however it detached."""
        cookie = f"{_COOKIE}={self._folder / attempt}".encode()
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # gone meanwhile, or somebody else's
                if cookie in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)

    def _descriptor(self, attempt: str) -> int | None:
        pid = self._pid(attempt)
        try:
            return os.pidfd_open(pid) if pid and hasattr(os, "pidfd_open") else None
        except OSError:
            return None

    def _pid(self, attempt: str) -> int:
        """The agent's process id, or 0 when that process is gone, whoever may have its number now."""
        try:
            process = json.loads((self._folder / attempt / "process").read_text())
        except (OSError, ValueError):
            return 0
        started = _started(process["pid"])
        return int(process["pid"]) if started is not None and started == process["started"] else 0


def _started(pid: int) -> str | None:
    """When a process began, in the kernel's own clock; None when it is gone or a zombie."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else fields[19]


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)


if TYPE_CHECKING:
    _proof: type[Runner] = ProcessRunner
