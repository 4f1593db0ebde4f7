"""What the extension adds to JupyterLab's start, at the served page; started in turn, median of 9 differences."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import environment
from benchmarks.report import Row, median

ROUNDS = 9


@dataclass(frozen=True)
class Start:
    """One start of JupyterLab."""

    seconds: float
    megabytes: float


def run() -> list[Row]:
    """Measure with and without us, and with and without jupyter-scheduler in the peers' environment."""
    ours = _differences(Path(sys.prefix), "acai_server")
    peer = _differences(environment(), "jupyter_scheduler")
    return [
        Row("JupyterLab without ACAI, to the served page", ours[0] * 1000, "ms"),
        Row("ACAI adds", ours[1] * 1000, "ms", 60),
        Row("ACAI adds", ours[2], "MB", 10),
        Row("jupyter-scheduler adds", peer[1] * 1000, "ms"),
        Row("jupyter-scheduler adds", peer[2], "MB"),
    ]


def _differences(prefix: Path, extension: str) -> tuple[float, float, float]:
    """The start without the extension in seconds, and what the extension adds in seconds and megabytes."""
    with tempfile.TemporaryDirectory() as with_home, tempfile.TemporaryDirectory() as without_home:
        _disable(Path(without_home), extension)
        for home in (with_home, without_home):
            _start(prefix, home)  # the first start of a home writes files that later ones find
        pairs = [(_start(prefix, with_home), _start(prefix, without_home)) for _ in range(ROUNDS)]
    return (
        median([without.seconds for _, without in pairs]),
        median([added.seconds - without.seconds for added, without in pairs]),
        median([added.megabytes - without.megabytes for added, without in pairs]),
    )


def _disable(home: Path, extension: str) -> None:
    folder = home / "config" / "jupyter_server_config.d"
    folder.mkdir(parents=True)
    off = {"ServerApp": {"jpserver_extensions": {extension: False}}}
    (folder / f"{extension}.json").write_text(json.dumps(off))


def _start(prefix: Path, home: str) -> Start:
    port = free_port()
    command = [str(prefix / "bin" / "jupyter-lab"), "--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1"]
    environ = {"PATH": os.environ["PATH"], "HOME": home, "JUPYTER_CONFIG_DIR": f"{home}/config"}
    environ["JUPYTER_PREFER_ENV_PATH"] = "0"  # else the environment's own configuration beats the home's
    before = time.perf_counter()
    server = subprocess.Popen(
        [*command, "--IdentityProvider.token=bench", f"--ServerApp.root_dir={home}"],
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/lab?token=bench")
        seconds = time.perf_counter() - before
        return Start(seconds, _resident_megabytes(server.pid))
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    """Return a port that nobody listened on a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def wait_for(url: str, seconds: float = 60) -> None:
    """Wait for a page."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                answer.read()
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.005)
    raise TimeoutError(url)


def _resident_megabytes(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1024**2
