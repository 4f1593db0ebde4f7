"""Runs attempts as processes of this machine, detached from the server: they go on when it is restarted. Linux only."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import select
import signal
import socket
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter.contract.environments import BUILT
from acai_jupyter.contract.errors import SettingsBroken, Unavailable
from acai_jupyter.contract.projects import Machine
from acai_server.runners import cgroups, machines
from acai_server.runners.admission import Capacity
from acai_server.runners.disk_guard import SECONDS as GUARD_SECONDS
from acai_server.runners.disk_guard import DiskGuard
from acai_server.runners.failed_folders import FailedFolders
from acai_server.runners.folders import COOKIE, PIECE, AttemptFolder, Given
from acai_server.runners.keepers import Keepers
from acai_server.runners.nurseries import NotStarted, Nursery
from acai_server.runners.protocol import Ended, Order
from acai_server.runners.secret_files import SecretFiles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acai_jupyter.contract.environments import Lock
    from acai_jupyter.contract.jobs import Resources

_KEPT = ("HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
_OF_BUILDS = re.compile(r"UV_|(?:(?:ALL|HTTPS?|NO)_PROXY|SSL_CERT_(?:DIR|FILE))\Z", re.IGNORECASE)
"""What tells uv where packages are and how to get there. The agent keeps it from the program."""
_FORCE_SECONDS = 15.0
SEVERAL_USERS = (
    "jobs on this machine act with the rights of the server's own user, and this server has several users; "
    "for such a server set `runner` to kubernetes and `object_store` to s3"
)
_LOST = Ended(None, "its process is gone, as after a restart of the machine", machine_failed=True)


@dataclass(frozen=True)
class ProcessSettings:
    """What jobs may use of this machine."""

    cache: Path | None = None
    """Where inputs are kept by their hash for the next job; None for not at all."""
    cache_bytes: int = 0
    environments: Path | None = None
    """Where environments are kept by their locks for the next job; None for not at all."""
    environments_bytes: int = 0
    reserved_memory_bytes: int = 0
    """What is left to the server and all else."""
    vcpu: float = 0.0
    """How many CPUs all jobs have together; 0 for all there are."""
    control_groups: bool = True
    """Whether control groups are used where they can be."""
    max_processes: int = cgroups.MAX_PROCESSES
    secrets: Path | None = None
    reserved_disk_bytes: int = 0
    """When less of the disk is free, the attempt that holds most of it is ended."""
    failed_seconds: float = 0.0
    """How long the folder of an attempt that did not succeed is kept."""
    keeping_seconds: float = 20.0
    """How long an agent that was stopped may take, beyond the program's grace, to keep log and outputs."""


class ProcessRunner:
    """A `Runner` of single agents; `Gangs` makes it one of gangs, too.

    One folder per attempt; in it `process` names its keeper, so that a new server finds it again.
    """

    name = "process"
    shares_disk = True
    starts_at_once = 1

    def __init__(
        self,
        folder: Path,
        agent: Path,
        settings: ProcessSettings | None = None,
        *,
        bound: bool = False,
        may_run: Callable[[], bool] = lambda: True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not hasattr(os, "pidfd_open"):
            raise SettingsBroken(reason="jobs run on this machine only where it is Linux; set `runner` to another")
        self._folder = folder
        self._settings = settings or ProcessSettings()
        self._bound = bound
        self._may_run = may_run
        """Whether jobs may act with the rights of the server's own user: only while that is the one user there is."""
        self._secrets = SecretFiles(self._settings.secrets or folder.with_name("secrets"))
        self._nursery = Nursery(agent, _kept_environment())
        self._capacity = _capacity(self._settings)
        name = "acai-" + hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
        used, processes = self._settings.control_groups, self._settings.max_processes
        self._cgroups = cgroups.Cgroups(name, max_processes=processes, used=used)
        self._guard = DiskGuard(folder, self._settings.reserved_disk_bytes, self._blame)
        self._blamed: dict[str, str] = {}
        self._failed = FailedFolders(folder.with_name("failed"), self._settings.failed_seconds, clock=clock)
        self._lock = threading.RLock()
        self._settled = threading.Condition(self._lock)
        self._given = {path.name: AttemptFolder(path).given() for path in _folders(folder)}
        self._busy: set[str] = set()
        """Attempts of which nothing is to be said yet."""
        self._keepers = Keepers(folder)
        self._wake_read, self._wake_write = os.pipe()
        os.set_blocking(self._wake_read, False)
        os.set_blocking(self._wake_write, False)
        self._closed = False
        cgroups.remove(self._cgroups.leftovers(set(self._given)))
        self._failed.forget()

    def machine(self) -> Machine:
        """See the protocol."""
        capacity = self._capacity
        return Machine(cpus=capacity.vcpu, memory_bytes=capacity.memory_bytes, gpus=len(capacity.gpus))

    def refuses(
        self, resources: Resources, *, image: str | None = None, secrets: Iterable[str] = (), project: str = ""
    ) -> str:
        """See the protocol. Secrets are those of the server's one user, whatever the project.

        A caller will soon start something, so what starts it is made ready.
        """
        del project
        if image is not None:
            return "it names an image, and jobs on this machine run without; leave it out, or use a cluster"
        if not self._may_run():
            return SEVERAL_USERS
        refused = self._capacity.refuses(resources) or next(filter(None, map(self._secrets.refuses, secrets)), "")
        if not refused:
            self._nursery.warm()
        return refused

    def fits(self, resources: Resources) -> str:
        """See the protocol."""
        return self._capacity.fits(resources, self._live()) if self._may_run() else SEVERAL_USERS

    def is_built(self, lock: Lock) -> bool:
        """See the protocol."""
        kept = self._settings.environments
        return kept is not None and (kept / lock.key / BUILT).exists()

    def start(self, order: Order) -> None:
        """See the protocol."""
        if not self._may_run():
            raise Unavailable(reason=SEVERAL_USERS)
        secrets = {variable: self._secrets.value(name) for variable, name in order.secrets.items()}
        with self._lock:
            if order.attempt in self._given:
                raise Unavailable(reason=f"{order.attempt} was started before")
            given = self._given[order.attempt] = self._give(order)
            self._busy.add(order.attempt)
        try:
            self._start(order, given, secrets)
        except FileExistsError as error:  # another runner's
            raise Unavailable(reason=f"{order.attempt} was started before") from error
        except (OSError, NotStarted) as error:
            self.clean(order.attempt)
            reason = error.strerror if isinstance(error, OSError) else str(error)
            raise Unavailable(reason=f"the job's process cannot be started: {reason}") from error
        finally:
            with self._settled:
                self._busy.discard(order.attempt)
                self._settled.notify_all()

    def renew(self, attempt: str, launch_url: str) -> None:
        """See the protocol."""
        with contextlib.suppress(FileNotFoundError):
            AttemptFolder(self._folder / attempt).write("launch", launch_url)

    def machine_name(self, attempt: str) -> str:
        """See the protocol."""
        del attempt
        return socket.gethostname()

    def why_waiting(self, attempt: str) -> str:
        """See the protocol; what was started here runs."""
        del attempt
        return ""

    def printed(self, attempt: str, offset: int) -> bytes:
        """See the protocol."""
        return AttemptFolder(self._folder / attempt).printed(offset)

    def ended(self, attempt: str) -> Ended | None:
        """See the protocol. Costs one look at a descriptor while it runs."""
        if attempt in self._busy or not self._keepers.gone(attempt):
            return None
        end = AttemptFolder(self._folder / attempt).ended()
        if end is None:
            return _LOST
        code = end.exit_code
        if attempt in self._blamed:
            return Ended(code, self._blamed[attempt])
        if end.forced:
            return Ended(code, "it did not end when it was asked to, and was ended by force")
        if code < 0 and not end.asked:
            return Ended(code, f"its agent was ended by signal {-code}", machine_failed=True)
        return Ended(code)

    def wait(self, attempts: list[str], seconds: float) -> None:
        """See the protocol. A process's descriptor becomes readable when it ends: nothing is polled."""
        descriptors = [descriptor for name in attempts if (descriptor := self._keepers.descriptor(name)) is not None]
        # Asked after the descriptors were opened, so that no end is missed between the two.
        over = any(self.ended(attempt) is not None for attempt in attempts)
        poll = select.poll()
        for descriptor in (self._wake_read, *descriptors):
            poll.register(descriptor, select.POLLIN)
        until = time.monotonic() + (0 if over else seconds)
        longest = GUARD_SECONDS if self._given else seconds
        with self._lock:
            all_here = list(self._given)  # who fills the disk may be one that the server has trouble with
        self._guard.look(all_here)
        while not poll.poll(max(0.0, min(until - time.monotonic(), longest)) * 1000) and time.monotonic() < until:
            self._guard.look(all_here)
        with contextlib.suppress(BlockingIOError):
            os.read(self._wake_read, PIECE)

    def wake(self) -> None:
        """See the protocol."""
        with contextlib.suppress(BlockingIOError):  # the pipe is full of wake-ups already
            os.write(self._wake_write, b"x")

    def stop(self, attempt: str) -> None:
        """See the protocol."""
        folder = AttemptFolder(self._folder / attempt)
        with self._settled:
            self._settled.wait_for(lambda: attempt not in self._busy)
        self._keepers.signal(attempt, signal.SIGTERM)
        if not self._keepers.gone(attempt, folder.given().grace_seconds + self._settings.keeping_seconds):
            self._force(folder)

    def clean(self, attempt: str) -> None:
        """See the protocol."""
        folder = AttemptFolder(self._folder / attempt)
        if folder.ended() is None:
            self._force(folder)
        cgroups.remove(folder.given().cgroups)
        if not self._failed.take(folder):
            folder.remove()
        self._failed.forget()
        with self._lock:
            self._given.pop(attempt, None)
            self._blamed.pop(attempt, None)
        self._keepers.forget(attempt)

    def known(self) -> list[str]:
        """See the protocol."""
        return [path.name for path in _folders(self._folder)]

    def close(self) -> None:
        """See the protocol."""
        self._nursery.close()
        self._cgroups.close()
        self._keepers.close()
        if not self._closed:
            os.close(self._wake_read)
            os.close(self._wake_write)
        self._closed = True

    def _give(self, order: Order) -> Given:
        """Decide what an attempt gets of the machine; what needs no place of its own is not looked at here."""
        free = self._capacity.free_gpus(self._live())
        if order.gpus > len(free):
            raise Unavailable(reason=f"it asks for {order.gpus} GPU and {len(free)} are free")
        groups = self._cgroups.paths(order.attempt)
        return Given(order.vcpu, order.memory_bytes, free[: order.gpus], order.grace_seconds, groups)

    def _start(self, order: Order, given: Given, secrets: dict[str, str]) -> None:
        folder = AttemptFolder(self._folder / order.attempt)
        folder.create(order.launch_url, given)
        groups = self._cgroups.make(order.attempt, order.vcpu, order.memory_bytes)
        words = {
            "folder": str(folder.path),
            "arguments": [*self._arguments(folder), *(word for group in groups for word in ("--cgroup", group))],
            "environment": self._environment(folder, given, secrets),
            "bound": self._bound,
            "cgroups": groups,
            "max_processes": 0 if groups else self._settings.max_processes,
        }
        self._nursery.start(words, folder.process)

    def _arguments(self, folder: AttemptFolder) -> list[str]:
        words = [str(folder.launch), str(folder.path)]
        if self._settings.cache is not None:
            words += ["--cache", str(self._settings.cache), "--cache-bytes", str(self._settings.cache_bytes)]
        if self._settings.environments is not None:
            words += ["--environments", str(self._settings.environments)]
            words += ["--environments-bytes", str(self._settings.environments_bytes)]
        return words

    def _environment(self, folder: AttemptFolder, given: Given, secrets: dict[str, str]) -> dict[str, str]:
        gpus = {"CUDA_VISIBLE_DEVICES": ",".join(map(str, given.gpus))} if self._capacity.gpus else {}
        return _kept_environment() | gpus | secrets | {COOKIE: str(folder.path)}

    def _live(self) -> list[Given]:
        with self._lock:
            given = list(self._given.items())
        return [share for name, share in given if self.ended(name) is None]

    def _blame(self, attempt: str, reason: str) -> None:
        """End an attempt that fills the disk, and make room: what is to be recorded of it needs some."""
        with self._lock:
            if attempt not in self._given or self.ended(attempt) is not None:
                return
            self._blamed[attempt] = reason
            self._busy.add(attempt)  # it has not ended until there is room
        try:
            folder = AttemptFolder(self._folder / attempt)
            self._force(folder)
            folder.remove("work")
        finally:
            with self._settled:
                self._busy.discard(attempt)
                self._settled.notify_all()
            self.wake()

    def _force(self, folder: AttemptFolder) -> None:
        """Let the keeper kill all that it has; when there is none, or it does not, what can be found is killed here."""
        self._keepers.signal(folder.name, signal.SIGQUIT)
        if self._keepers.gone(folder.name, _FORCE_SECONDS) and folder.ended() is not None:
            return
        self._keepers.signal(folder.name, signal.SIGKILL)
        for group in folder.given().cgroups:
            cgroups.kill(Path(group))
        folder.kill_rest()


def _kept_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name in _KEPT or _OF_BUILDS.match(name)}


def _capacity(settings: ProcessSettings) -> Capacity:
    here = machines.cpus()
    memory = max(0, machines.memory_bytes() - settings.reserved_memory_bytes)
    return Capacity(min(here, settings.vcpu or here), memory, tuple(machines.gpus()))


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
