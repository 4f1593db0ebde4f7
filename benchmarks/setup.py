"""What a newcomer waits for: set-up of a clean clone with empty caches, then JupyterLab's page."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from benchmarks.report import Row
from benchmarks.startup import free_port, wait_for

ROOT = Path(__file__).parents[1]


def run() -> list[Row]:
    """Clone, set up twice, start the lab."""
    with tempfile.TemporaryDirectory() as folder:
        clone, home = Path(folder) / "clone", Path(folder) / "home"
        home.mkdir()
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("VIRTUAL_ENV", "ACAI_"))}
        environ |= {"HOME": str(home), "UV_CACHE_DIR": f"{folder}/uv", "NPM_CONFIG_CACHE": f"{folder}/npm"}
        environ["PATH"] = environ["PATH"].replace(f"{ROOT}/.venv/bin:", "")
        first = _lab(clone, environ)
        again = _lab(clone, environ)
        before = time.perf_counter()
        subprocess.run(["make", "setup"], cwd=clone, env=environ, check=True, capture_output=True)
        second = time.perf_counter() - before
    return [
        Row("make lab in a clean clone, caches empty, to the served page", first, "s", 180),
        Row("make lab again, to the served page", again, "s", 10),
        Row("make setup again", second, "s", first / 4),
    ]


def _lab(clone: Path, environ: dict[str, str]) -> float:
    port = free_port()
    arguments = f"ARGS=--no-browser --ip=127.0.0.1 --port={port} --IdentityProvider.token=bench"
    before = time.perf_counter()
    lab = subprocess.Popen(
        ["make", "lab", arguments],
        cwd=clone,
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/lab?token=bench", 600)
        return time.perf_counter() - before
    finally:
        os.killpg(lab.pid, 15)
        lab.wait()
