"""Client processes: each is one line of a user or one session of a program, killed and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tests.integration.places import BIN, WITH_US
from tests.kills.journals import Journal

if TYPE_CHECKING:
    from tests.integration.places import Place
    from tests.kills.raw import Task

ROOT = Path(__file__).parents[2]
KILLED = -signal.SIGKILL
UNREACHABLE = 5
"""Exit status of who cannot reach the server."""
LONGEST_SECONDS = 120.0


class Ended(msgspec.Struct, frozen=True):
    """How a process ended."""

    status: int
    out: str
    err: str


class Process:
    """A program of a client, in a process group of its own."""

    def __init__(self, name: str, place: Place) -> None:
        self.name = name
        self.place = place
        self._running: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def run(self, command: list[str], **variables: str) -> Ended:
        """Run it to its end, whoever brings that about."""
        with self._lock:
            process = self._running = subprocess.Popen(
                [*WITH_US, *command],
                env=self.place.environment | variables,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,
            )
        out, err = process.communicate(timeout=LONGEST_SECONDS)
        with self._lock:
            self._running = None
        return Ended(process.returncode, out, err)

    @property
    def is_running(self) -> bool:
        return self._running is not None

    def kill(self) -> bool:
        """End it as a power cut does; says whether there was something to end."""
        with self._lock:
            if self._running is None or self._running.poll() is not None:
                return False
            os.killpg(self._running.pid, signal.SIGKILL)
            return True


class RawLine:
    """One task of a program that speaks the API by itself. Run again, it continues."""

    def __init__(self, process: Process, task: Task, folder: Path, name: str) -> None:
        self.process = process
        self.task = task
        self.journal = Journal(folder / f"{name}.jsonl")
        self._file = folder / f"{name}.task"
        self.save()

    def save(self) -> None:
        """Write down what is to be done."""
        self._file.write_bytes(msgspec.json.encode(self.task))

    def run(self) -> Ended:
        words = [sys.executable, "-m", "tests.kills.raw", str(self._file), str(self.journal.path)]
        return self.process.run(words)


class CommandLine:
    """`acai put FOLDER DEST --as SET`, with a cache of its own as on another machine."""

    def __init__(self, process: Process, folder: Path, dest: str, file_set: str) -> None:
        self.process = process
        self.folder = folder
        self._words = [str(BIN / "acai"), "put", str(folder), dest, "--as", file_set, "--json", "--no-progress"]
        self._cache = process.place.home / "caches" / process.name

    def run(self) -> Ended:
        return self.process.run(self._words, XDG_CACHE_HOME=str(self._cache))

    def abort(self, session: str) -> Ended:
        return self.process.run([str(BIN / "acai"), "uploads", "--abort", session])

    @property
    def pending(self) -> str | None:
        """The session that this machine remembers as begun and not committed."""
        found: list[dict[str, Any]] = [json.loads(file.read_bytes()) for file in self._cache.rglob("*.json")]
        return found[0].get("pending") if found else None
