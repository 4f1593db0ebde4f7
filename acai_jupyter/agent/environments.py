"""Environments by the keys of their locks, built by uv and kept on this machine from job to job.

Several agents use them. Next to each environment's folder is a file to lock: an agent that uses the environment holds
a shared lock until its attempt is over, one that builds or removes it an exclusive lock. So none is removed while it is
in use, and it is built once for all jobs that ask for it. One that lacks `built.json`, or whose Python is gone, is
built again. So is one in which a program has changed a file: programs run as the same user and could write there.
"""

import fcntl
import hashlib
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
        self.was_changed = False
        """Whether the environment was found changed, and so was not used."""

    def hold(self, lock: Dict[str, Any], key: str) -> str:
        """Return the folder of a lock's environment, which is built if it is not there."""
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        path = os.path.join(self._folder, key)
        self._held = os.open(_lock_file(path), os.O_RDWR | os.O_CREAT, 0o600)
        while True:
            self._take(fcntl.LOCK_SH)
            is_whole = _is_whole(path)
            if is_whole and not self._was_changed(path):
                os.utime(os.path.join(path, BUILT))
                return path
            if is_whole and not _locked(self._held, fcntl.LOCK_EX):
                return Environments(self._machine).hold(lock, key)  # other jobs still run in the changed one
            self._take(fcntl.LOCK_EX)
            if not _is_whole(path) or self._was_changed(path):  # another agent may have built it in between
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
        seconds = round(time.monotonic() - before, 3)
        _write_about(path, {"size_bytes": _size(path), "seconds": seconds, "fingerprint": _fingerprint(path)})

    def _was_changed(self, path: str) -> bool:
        """Return whether a program has written to an environment since it was built."""
        about = _about(path)
        if "fingerprint" not in about:  # an earlier version built it
            _write_about(path, dict(about, fingerprint=_fingerprint(path)))
            return False
        changed: bool = about["fingerprint"] != _fingerprint(path)
        if changed and not self.was_changed:
            self.was_changed = True
            self._machine.listener.took(b"a program has changed the environment; it is built again\n")
        return changed

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
        # Files of its own, not links into uv's cache: what changes them must not change other environments.
        # With bytecode from the start, programs have no reason to write into the environment.
        environment = dict(os.environ, UV_NO_PROGRESS="1", UV_LINK_MODE="copy", UV_COMPILE_BYTECODE="1")
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


def variables(path: str, known: Dict[str, str], folder: str) -> Dict[str, str]:
    """Return a program's variables so that it finds an environment first.

    Numba and Python cache compiled code next to its source, which would change an environment that is kept for other
    jobs. Unless the job says otherwise, Numba caches in `folder`, and Python caches nothing.
    """
    found = dict(known)
    found.pop("PYTHONHOME", None)
    found["VIRTUAL_ENV"] = path
    found.setdefault("NUMBA_CACHE_DIR", os.path.join(folder, "numba-cache"))
    found.setdefault("PYTHONDONTWRITEBYTECODE", "1")
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
    for entry in os.scandir(folder):  # noqa: TID251 (its folders are not entered)
        if not entry.is_dir(follow_symlinks=False):
            continue
        try:
            used = os.stat(os.path.join(entry.path, BUILT)).st_mtime
            size = int(_about(entry.path)["size_bytes"])
        except (OSError, ValueError, KeyError, TypeError):
            used, size = 0.0, _size(entry.path)
        yield used, size, entry.path


def _about(path: str) -> Dict[str, Any]:
    try:
        with open(os.path.join(path, BUILT), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write_about(path: str, about: Dict[str, Any]) -> None:
    part = os.path.join(path, BUILT + ".part")
    with open(part, "w", encoding="utf-8") as file:
        json.dump(about, file)
    os.replace(part, os.path.join(path, BUILT))


def _fingerprint(path: str) -> str:
    """Return what changes when any file of an environment is written to, added or replaced: no content is read.

    Times of change are part of it, which an ordinary user cannot restore.
    """
    lines = []
    for entry in trees.walk(path):
        state, name = entry.state, entry.path
        if state is not None and not name.startswith(BUILT):
            of_file = (state.st_mode, state.st_size, state.st_ino, state.st_ctime_ns)
            lines.append("%a %d %d %d %d" % (name, *of_file))
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


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
