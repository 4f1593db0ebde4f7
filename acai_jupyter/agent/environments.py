"""Environments by the keys of their locks, built by uv and kept on this machine from job to job.

Several agents use them. Beside each environment's folder is a file to lock: whoever uses the environment holds a shared
lock until its attempt is over, whoever builds or removes it an exclusive one. So none goes while it is in use, and one
is built once however many jobs want it. One that lacks `built.json`, or whose Python has gone, is built anew.
"""

import fcntl
import json
import os
import sys
import time
from contextlib import contextmanager, suppress
from typing import Any, Dict, Iterator, NamedTuple, Optional, Tuple

from acai_jupyter import trees
from acai_jupyter.agent.limits import Limits, Share
from acai_jupyter.agent.program import Command, Listener, Program
from acai_jupyter.agent.stopping import Stop
from acai_jupyter.transfer.errors import Stopped

BUILT = "built.json"
_LOOK_SECONDS = 0.2
_GRACE_SECONDS = 5.0
_MOST_SAID = 400


class BuildFailed(Exception):
    """An environment could not be built; its message says why."""


class Machine(NamedTuple):
    """What builds run with. They print into the job's log, and are in the groups that hold its program."""

    share: Share
    cgroups: Tuple[str, ...]
    container: str
    stop: Stop
    listener: Listener
    folder: str
    """The attempt's own."""

    def limits(self) -> Limits:
        """Return what holds a run: not a limit on the memory of each process, which is a program's matter."""
        return Limits(self.share._replace(memory_bytes=0), list(self.cgroups), self.container)


class Environments:
    """Environments of one machine, or with no `folder` the one of an attempt in its own folder."""

    def __init__(self, machine: Machine, folder: str = "", max_bytes: int = 0) -> None:
        self._machine = machine
        self._folder = folder or os.path.join(machine.folder, "environments")
        self._max_bytes = max_bytes if folder else 1 << 62
        self._held: Optional[int] = None
        """The locked file. It stays open for as long as this process lives."""
        self._has_said = False

    def hold(self, lock: Dict[str, Any], key: str) -> str:
        """Return the folder of a lock's environment, which is built if it is not there."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        path = os.path.join(self._folder, key)
        self._held = os.open(_lock_file(path), os.O_RDWR | os.O_CREAT, 0o600)
        while True:
            self._take(fcntl.LOCK_SH)
            if _is_whole(path):
                os.utime(os.path.join(path, BUILT))
                return path
            self._take(fcntl.LOCK_EX)
            if not _is_whole(path):  # another may have built it meanwhile
                self._build(path, lock)
            self._make_room()
            # For a moment it is nobody's now: it is looked at again when it is held.

    def _take(self, kind: int) -> None:
        """Wait for a lock. One of another kind that is held is given back first, so that nobody waits in a ring."""
        assert self._held is not None
        while not _locked(self._held, kind):
            if not self._has_said:
                self._has_said = True
                self._machine.listener.took(b"waiting for the environment, which another job is building\n")
            if self._machine.stop.wait(_LOOK_SECONDS):
                raise Stopped("it was stopped")

    def _build(self, path: str, lock: Dict[str, Any]) -> None:
        _remove(path)
        before = time.monotonic()
        _Build(self._machine, _uv(lock)).run(path, lock)
        about = {"size_bytes": _size(path), "seconds": round(time.monotonic() - before, 3)}
        part = os.path.join(path, BUILT + ".part")
        with open(part, "w", encoding="utf-8") as file:
            json.dump(about, file)
        os.replace(part, os.path.join(path, BUILT))

    def _make_room(self) -> None:
        """Remove what was not used for longest and is not in use, until the rest fits."""
        found = sorted(_kept(self._folder))
        excess = sum(size for _, size, _ in found) - self._max_bytes
        for _, size, path in found:
            if excess <= 0:
                return
            with suppress(OSError, BuildFailed), _alone(path) as is_free:
                if is_free:
                    _remove(path)
                    excess -= size


class _Build:
    """Makes an environment by two runs of uv."""

    def __init__(self, machine: Machine, uv: str) -> None:
        self._machine = machine
        self._uv = uv
        self._said = b""

    def run(self, path: str, lock: Dict[str, Any]) -> None:
        """Make it, or raise `BuildFailed`; what is there of it then is not whole."""
        requirements = os.path.join(self._machine.folder, "requirements.txt")
        with open(requirements, "w", encoding="utf-8") as file:
            file.write(lock["requirements"])
        self._hear(b"building the environment with uv: Python %s\n" % lock["python"].encode())
        self._do("venv", "--quiet", "--python", _python(lock), path)
        python = os.path.join(path, "bin", "python")
        self._do("pip", "sync", "--allow-empty-requirements", "--python", python, requirements)

    def _do(self, *words: str) -> None:
        stop, listener = self._machine.stop, self._machine.listener
        environment = dict(os.environ, UV_NO_PROGRESS="1")
        command = Command([self._uv, *words], self._machine.folder, environment, None, _GRACE_SECONDS)
        program = Program(command, self._machine.limits(), stop)
        program.start()
        code = program.run(listener._replace(took=self._hear))
        if stop.is_set:
            raise Stopped("it was stopped")
        if code != 0:
            raise BuildFailed(_reason(self._said.decode("utf-8", "replace")) or "uv ended with status %d" % code)

    def _hear(self, printed: bytes) -> None:
        self._said = (self._said + printed)[-16_384:]
        self._machine.listener.took(printed)


def variables(path: str, known: Dict[str, str]) -> Dict[str, str]:
    """Return a program's variables so that it finds an environment first."""
    found = dict(known)
    found.pop("PYTHONHOME", None)
    found["VIRTUAL_ENV"] = path
    found["PATH"] = os.path.join(path, "bin") + os.pathsep + found.get("PATH", os.defpath)
    return found


def _uv(lock: Dict[str, Any]) -> str:
    """Find uv: beside the Python that the job was submitted from, beside our own, then where programs are."""
    places = [os.path.dirname(python) for python in (lock.get("interpreter", ""), sys.executable) if python]
    for place in places + os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(place, "uv")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise BuildFailed("uv is not on this machine; install it beside Python: pip install uv")


def _python(lock: Dict[str, Any]) -> str:
    own = lock.get("interpreter", "")
    return own if own and os.path.exists(own) else str(lock["python"])


def _reason(said: str) -> str:
    """What uv says of an error: its first sentence and the causes, in a line."""
    lines = [line.strip() for line in said.splitlines()]
    starts = [number for number, line in enumerate(lines) if line.startswith(("error:", "\xd7", "Caused by"))]
    if not starts:
        return ""
    words = [line for line in lines[starts[0] :] if line and not line.startswith("hint:")]
    return " ".join(" ".join(words).split())[:_MOST_SAID]


def _is_whole(path: str) -> bool:
    return os.path.exists(os.path.join(path, BUILT)) and os.path.exists(os.path.join(path, "bin", "python"))


def _kept(folder: str) -> Iterator[Tuple[float, int, str]]:
    """Each environment's last use, size and place; what is not whole was never used."""
    for entry in os.scandir(folder):
        if not entry.is_dir(follow_symlinks=False):
            continue
        built = os.path.join(entry.path, BUILT)
        try:
            used = os.stat(built).st_mtime
            with open(built, encoding="utf-8") as file:
                size = int(json.load(file)["size_bytes"])
        except (OSError, ValueError, KeyError, TypeError):
            used, size = 0.0, _size(entry.path)
        yield used, size, entry.path


def _size(path: str) -> int:
    return sum(state.st_size for state in trees.states(path))


@contextmanager
def _alone(path: str) -> Iterator[bool]:
    """Say whether nobody uses an environment; for as long as this lasts nobody can begin to."""
    descriptor = os.open(_lock_file(path), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        yield _locked(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


def _locked(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lock_file(path: str) -> str:
    return path + ".lock"


def _remove(path: str) -> None:
    """Remove it; its mark first, so that no half of it is taken for the whole."""
    with suppress(OSError):
        os.remove(os.path.join(path, BUILT))
    error = trees.remove(path)
    if error is not None:
        raise BuildFailed("%s cannot be removed: %s" % (path, error.strerror or error))
