"""The agent by hand: a launch document, slots in a folder or behind HTTP, the real zipapp in a process of its own.

Runs on Python 3.8: so does what it tests.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.loglines import split

KEY = "0123456789abcdef"
PACKAGE = Path(__file__).resolve().parents[1] / "acai_jupyter"
if TYPE_CHECKING:
    from collections.abc import Callable

    Url = Callable[[str], str]


def agent_file(folder: Path) -> Path:
    """Build the agent of these sources."""
    import runpy

    path = folder / "agent.pyz"
    runpy.run_path(str(PACKAGE / "agent" / "build.py"))["build"](path)
    return path


@dataclass
class Outcome:
    """What an agent left."""

    status: int
    printed: bytes
    """What the program printed, of what the agent's live channel got."""
    said: list[dict[str, Any]]
    record: dict[str, Any]
    log: bytes
    outputs: dict[str, bytes]
    errors: bytes


@dataclass
class Bench:
    """A place for attempts. `get` and `put` name objects; `read` returns one, None when it is not there."""

    folder: Path
    get: Url
    put: Url
    read: Callable[[str], Any]
    write: Callable[[str, bytes], object]
    python: str = sys.executable
    options: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def launch(self, command: list[str], files: tuple[Any, ...] = (), **known: Any) -> Path:
        """Write a launch document and the file that holds its URL; `files` are (path, content, is_code)."""
        for number, (_, content, _) in enumerate(files):
            self.write(f"in{number}", content)
        rows = [
            [path, number, 0, len(content), hashlib.sha256(content).hexdigest(), is_code]
            for number, (path, content, is_code) in enumerate(files)
        ]
        document = {
            "version": 3,
            "key": KEY,
            "job": 1,
            "attempt": 1,
            "command": command,
            "as_cell": False,
            "environment": {},
            "objects": [self.get(f"in{number}") for number in range(len(files))],
            "output_folder": "output",
            "slots": self.slots(),
            "vcpu": 1.0,
            "memory_bytes": 2 * 1024**3,
            "time_limit_seconds": None,
            "grace_seconds": 1.0,
            "keep_partial": False,
            "max_log_bytes": 4 * 1024**3,
        }
        lines = [{**document, **known}, *rows]
        self.write("launch", "\n".join(json.dumps(line) for line in lines).encode())
        place = self.folder / "launch-url"
        place.write_text(self.get("launch"))
        return place

    def slots(self, count: int = 8) -> dict[str, Any]:
        """Return where an agent may write."""
        return {
            "log": [self.put(f"log{number}") for number in range(count)],
            "packs": [self.put(f"pack{number}") for number in range(count)],
            "result": self.put("result"),
            "displays": self.put("displays"),
        }

    def start(self, place: Path, **options: Any) -> subprocess.Popen[bytes]:
        """Start the agent in a folder of its own."""
        work = self.folder / (f"attempt{len(list(self.folder.glob('attempt*')))}")
        work.mkdir()
        command = [self.python, "-I", "-S", str(self.agent()), str(place), str(work), *self.options]
        environment = {"PATH": os.environ["PATH"], "_ACAI_ATTEMPT": str(work), **self.environment}
        return subprocess.Popen(
            command,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options},
        )

    def agent(self) -> Path:
        """Return the agent's file."""
        path = self.folder / "agent.pyz"
        return path if path.exists() else agent_file(self.folder)

    def end(self, process: subprocess.Popen[bytes]) -> Outcome:
        """Wait for an agent's end, and collect what it left."""
        out, errors = process.communicate(timeout=100)
        return self.outcome(process.returncode, out or b"", errors or b"")

    def outcome(self, status: int, out: bytes, errors: bytes = b"") -> Outcome:
        """Collect what an agent left."""
        plain, said, _ = split(out, KEY)
        record = json.loads(self.read("result") or b"{}")
        log = b"".join(unpacked(self.read(f"log{number}")) for number in range(len(record.get("log", ()))))
        outputs = {}
        for path, pack, offset, size, sha256 in record.get("outputs", ()):
            outputs[path] = self.read(f"pack{pack}")[offset : offset + size]
            assert hashlib.sha256(outputs[path]).hexdigest() == sha256
        return Outcome(status, plain, said, record, log, outputs, errors)

    def run(self, program: str, files: tuple[Any, ...] = (), **known: Any) -> Outcome:
        """Run a Python program to its end."""
        return self.end(self.start(self.launch([self.python, "-c", program], files, **known)))

    def run_cell(self, text: str, **known: Any) -> Outcome:
        """Run a cell to its end."""
        files = (("cell.py", text.encode(), True),)
        return self.end(self.start(self.launch([self.python, "-u", "cell.py"], files, as_cell=True, **known)))

    def displays(self) -> list[dict[str, Any]]:
        """Return what a cell displayed."""
        found: list[dict[str, Any]] = json.loads(self.read("displays") or b"[]")
        return found


def bench_in(folder: Path) -> Bench:
    """A bench whose objects are files."""
    store = folder / "store"
    store.mkdir()

    def url(name: str) -> str:
        return (store / name).as_uri()

    def read(name: str) -> Any:
        path = store / name
        return path.read_bytes() if path.exists() else None

    return Bench(folder, url, url, read, lambda name, body: (store / name).write_bytes(body))


def unpacked(stored: bytes) -> bytes:
    """Read a row of gzip members."""
    found = b""
    while stored:
        reader = zlib.decompressobj(16 + zlib.MAX_WBITS)
        found += reader.decompress(stored)
        stored = reader.unused_data
    return found


def names(archive: Path) -> list[str]:
    """List what is in a zipapp."""
    with zipfile.ZipFile(archive) as opened:
        return opened.namelist()
