"""What is kept of an attempt on this machine: its process, what it was given, what it printed and how it ended."""

from __future__ import annotations

import json
import logging
import os
import signal
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from acai_jupyter import trees
from acai_jupyter.contract import decoding
from acai_server.runners.nursery import identity

_log = logging.getLogger(__name__)
PIECE = 1024 * 1024
COOKIE = "_ACAI_ATTEMPT"
"""In the environment of a program and of all that it starts: what an attempt left running is found by it."""


@dataclass(frozen=True)
class Given:
    """What an attempt was given of this machine."""

    vcpu: float
    memory_bytes: int
    gpus: list[int] = field(default_factory=list)
    grace_seconds: float = 10.0
    cgroups: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class KeptEnd:
    """How an agent ended, as its keeper saw it."""

    exit_code: int
    asked: bool
    forced: bool


class AttemptFolder:
    """Reads and writes the files of one attempt. Whether it exists, and what of it, is asked anew each time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self.launch = path / "launch"
        self.process = path / "process"
        self.ended_file = path / "ended"

    def create(self, launch_url: str, given: Given) -> None:
        """Make the folder; `FileExistsError` when there is one."""
        self.path.mkdir(parents=True, mode=0o700)
        self.write("given", json.dumps(asdict(given)))
        self.write("launch", launch_url)

    def write(self, name: str, text: str) -> None:
        """Write a file that is there whole or not at all, readable by its owner."""
        part = self.path / f"{name}.part"
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:  # noqa: PTH123 (a mode)
            file.write(text)
        part.replace(self.path / name)

    def given(self) -> Given:
        """Return what it was given; nothing when that was never written down."""
        try:
            return decoding.convert(self._read("given"), Given)
        except msgspec.ValidationError:
            return Given(vcpu=0.0, memory_bytes=0)

    def keeper(self) -> int:
        """Return the process id of its keeper, or 0 when that process is gone, whoever may have its number now."""
        known = self._read("process")
        try:
            return int(known["pid"]) if known and identity(int(known["pid"])) == known else 0
        except (OSError, KeyError, ValueError, TypeError):
            return 0

    def ended(self) -> KeptEnd | None:
        """Return what its keeper wrote down at the end; None when there is nothing that can be used."""
        try:
            return decoding.convert(self._read("ended"), KeptEnd)
        except msgspec.ValidationError:
            return None

    def printed(self, offset: int) -> bytes:
        """Return what its agent printed, from a byte on; at most a piece."""
        try:
            with (self.path / "printed").open("rb") as file:
                file.seek(offset)
                return file.read(PIECE)
        except FileNotFoundError:
            return b""

    def kill_rest(self) -> None:
        """End what a keeper left that did not do its work; a program that hides its environment is not found."""
        cookie = f"{COOKIE}={self.path}".encode()
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # gone meanwhile, or somebody else's
                if cookie in (process / "environ").read_bytes().split(b"\0"):
                    os.kill(int(process.name), signal.SIGKILL)

    def remove(self, part: str = "") -> None:
        """Remove all of it or a part, whatever its program has made of it. What cannot be removed is logged."""
        error = trees.remove(str(self.path / part))
        if error is not None:
            _log.warning("%s cannot be removed: %s", self.path / part, error.strerror or error)

    def _read(self, name: str) -> dict[str, Any]:
        try:
            found = json.loads((self.path / name).read_text())
        except (OSError, ValueError, RecursionError):  # its program can write here
            return {}
        return found if isinstance(found, dict) else {}
