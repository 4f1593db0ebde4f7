"""The notebooks that come with it, run by `nbconvert --execute` on a real server; of the largest search 2 settings."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat

from benchmarks.job_servers import OUR_BIN, server
from benchmarks.report import Row

if TYPE_CHECKING:
    from benchmarks.job_servers import Server

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
FEWER = 'settings = {"rate": [0.1, 0.3], "depth": [2], "count": [20]}'
"""In the place of the 36 settings, as in the tests."""
MOST_SECONDS = 180.0


def run() -> list[Row]:
    """Measure each and all together."""
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as served:
        shutil.copy(NOTEBOOKS / "make_digits.py", served.home)  # the quick start has it correct some digits
        subprocess.run([sys.executable, "make_digits.py", "digits"], cwd=served.home, check=True)
        took = {path.name: _execute(served, path) for path in sorted(NOTEBOOKS.glob("*.ipynb"))}
    rows = [Row(name, seconds, "s") for name, seconds in took.items()]
    return [*rows, Row("all notebooks together", sum(took.values()), "s", MOST_SECONDS)]


def _execute(served: Server, path: Path) -> float:
    """Run a notebook in the server's home; returns how long that took."""
    notebook = nbformat.read(path, 4)
    for at in [at for at, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", ())]:
        notebook.cells.insert(at + 1, nbformat.v4.new_code_cell(FEWER))
    target = served.home / path.name
    nbformat.write(notebook, target)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ACAI_", "JUPYTER_", "XDG_"))}
    connection = served.client.connection
    known = {"HOME": str(served.home), "ACAI_URL": connection.url, "ACAI_TOKEN": connection.token}
    command = [str(OUR_BIN / "jupyter-nbconvert"), "--execute", "--to", "notebook", "--inplace", str(target)]
    before = time.perf_counter()
    subprocess.run(command, env=kept | known, cwd=served.home, check=True, capture_output=True)
    return time.perf_counter() - before
