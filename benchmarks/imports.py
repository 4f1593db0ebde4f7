"""What importing costs a kernel, beyond Python itself; each a fresh process, in turn, median of 15."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

from benchmarks.peers import environment
from benchmarks.report import Row, median

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUNDS = 15
_LOAD = """
import time
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
before = time.perf_counter()
shell.run_line_magic("load_ext", "acai_jupyter")
print(time.perf_counter() - before)
"""


def run() -> list[Row]:
    """Measure ours and the peers'."""
    peers = str(environment() / "bin" / "python")
    programs = {
        "python": [sys.executable, "-c", "pass"],
        "acai_jupyter": [sys.executable, "-c", "import acai_jupyter"],
        "boto3": [sys.executable, "-c", "import boto3"],
        "metaflow": [peers, "-c", "import metaflow"],
        "mlflow": [peers, "-c", "import mlflow"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in programs}
    loads = []
    for _ in range(ROUNDS):
        for name, command in programs.items():
            seconds[name].append(_timed(command))
        loads.append(load())
    base = median(seconds.pop("python"))
    limits = {"acai_jupyter": 60.0}
    rows = [Row(f"import {name}", (median(s) - base) * 1000, "ms", limits.get(name)) for name, s in seconds.items()]
    return [*rows, Row("%load_ext acai_jupyter", median(loads) * 1000, "ms", 80.0)]


def load() -> float:
    """Return how many seconds the extension takes to load in an IPython of its own."""
    return float(subprocess.run([sys.executable, "-c", _LOAD], check=True, capture_output=True).stdout)


def _timed(command: Sequence[str]) -> float:
    before = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - before
