"""A server of ours, as `jupyter acai` starts it, in a home of its own, with room for four small jobs at once."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acai_jupyter.client.connection import Connection
from acai_jupyter.client.http import Client
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.jobs import CreateJob, Resources
from benchmarks.startup import free_port, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.jobs import Job

OUR_BIN = Path(sys.executable).parent
SMALL = Resources(0.5, 512 * 1024**2)


@dataclass
class Server:
    """A running server."""

    process: subprocess.Popen[bytes]
    client: Client
    started_seconds: float
    home: Path

    def submit(self, command: list[str], **asked: Any) -> Job:
        """Submit a small job."""
        return self.client.call(endpoints.CREATE_JOB, CreateJob(command, resources=SMALL, **asked))

    def put(self, path: Path, name: str) -> None:
        """Keep a file as a file set."""
        command = [str(OUR_BIN / "acai"), "put", str(path), f"/{name}", "--as", name]
        known = {"ACAI_URL": self.client.connection.url, "ACAI_TOKEN": self.client.connection.token}
        done = subprocess.run(command, env=_environ(self.home) | known, cwd=self.home, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr

    def cpu_seconds(self) -> float:
        """The time that the server has computed, without its children."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def server(home: Path) -> Iterator[Server]:
    """Start one."""
    port = free_port()
    command = [str(OUR_BIN / "jupyter-acai"), f"--ServerApp.port={port}", "--ServerApp.ip=127.0.0.1"]
    options = ["--ServerApp.allow_root=True", f"--ServerApp.root_dir={home}"]
    before = time.perf_counter()
    process = subprocess.Popen(
        [*command, *options, "--ServerApp.open_browser=False"],
        env=_environ(home),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        root = f"http://127.0.0.1:{port}"
        wait_for(f"{root}/acai/api/v1/ready")
        seconds = time.perf_counter() - before
        yield Server(process, Client(Connection(root, (home / "data" / "token").read_text())), seconds, home)
    finally:
        process.terminate()
        process.wait()


def _environ(home: Path) -> dict[str, str]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("ACAI_", "JUPYTER_", "XDG_"))}
    return environ | {
        "HOME": str(home),
        "ACAI_DATA_FOLDER": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
    }


@contextmanager
def megabytes_below(root: int) -> Iterator[list[float]]:
    """Look at the memory of a process and all below it meanwhile; the last of the list is the most that was seen."""
    seen = [0.0]
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            seen.append(max(seen[-1], _megabytes(root)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def _megabytes(root: int) -> float:
    """The memory of a process and all below it; what they share counts once."""
    total = 0
    for pid in [root, *_below(root)]:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1024


def _below(root: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(int(stat.parent.name))
        except OSError:
            continue
    found, rest = [], [root]
    while rest:
        children = parents.get(rest.pop(), [])
        found += children
        rest += children
    return found
