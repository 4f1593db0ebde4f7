"""The same no-op jobs with the peers, each as its users run it; one and fifty. What does not install is said."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import peers
from benchmarks.job_servers import OUR_BIN
from benchmarks.report import Row, median

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 5
FIFTY = 50
PATIENCE_SECONDS = 480.0
"""After so long nothing more is begun; what runs then has as long as `_run` lets it."""
SLOW = ("papermill", "Metaflow", "jupyter-scheduler")
RECORDING = tuple(f"{name}: {FIFTY}" for name in (*SLOW, "DVC repro"))
"""Who keeps what a job made, or that it ran."""
AT_ONCE = 4
FOLDER = peers.FOLDER.with_name(".venv-job-peers")
PACKAGES = (
    "papermill>=2.6",
    "ipykernel>=6",
    "metaflow>=2.15",
    "dvc>=3",
    "ray>=2.9",
    "jupyter-scheduler>=2.9",
    "jupyterlab>=4.6,<5",
)
_FLOW = """
from metaflow import FlowSpec, step
class NoOp(FlowSpec):
    @step
    def start(self):
        self.next(self.end)
    @step
    def end(self):
        pass
if __name__ == "__main__":
    NoOp()
"""
_NOTEBOOK = """{"cells": [{"cell_type": "code", "execution_count": null, "id": "a", "metadata": {}, "outputs": [],
"source": ["pass"]}], "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
"nbformat": 4, "nbformat_minor": 5}"""
_RAY = """
import sys, time
import ray
ray.init(num_cpus=4, include_dashboard=False, logging_level="ERROR")
@ray.remote
def nothing():
    pass
ray.get(nothing.remote())
count = int(sys.argv[1])
before = time.perf_counter()
ray.get([nothing.remote() for _ in range(count)])
print(time.perf_counter() - before)
"""
_SCHEDULER = """
import sys, time
from pathlib import Path
from jupyter_scheduler.models import CreateJob, Status
from jupyter_scheduler.scheduler import Scheduler
from jupyter_scheduler.orm import create_tables
from jupyter_scheduler.environments import EnvironmentManager
folder = Path(sys.argv[1]); count = int(sys.argv[2])
url = f"sqlite:///{folder}/scheduler.sqlite"
create_tables(url)
import asyncio
async def main():
    class Environments(EnvironmentManager):
        def list_environments(self): return []
        def manage_environments_command(self): return ""
        def output_formats_mapping(self): return {"ipynb": "Notebook"}
    scheduler = Scheduler(root_dir=str(folder), environments_manager=Environments(), db_url=url)
    before = time.perf_counter()
    asked = dict(input_uri="no_op.ipynb", runtime_environment_name="x", output_formats=["ipynb"])
    ids = [scheduler.create_job(CreateJob(name=f"j{n}", **asked)) for n in range(count)]
    while any(scheduler.get_job(one).status not in (Status.COMPLETED, Status.FAILED) for one in ids):
        time.sleep(0.02)
    print(time.perf_counter() - before)
asyncio.run(main())
"""


@dataclass(frozen=True)
class Contender:
    """Who runs so many no-op jobs and says how long it took. What is slow with fifty does them once."""

    name: str
    act: Callable[[int], float]
    is_slow: bool = False


@contextmanager
def contenders() -> Iterator[list[Contender]]:
    """Give the peers; none when they cannot be installed, which is said."""
    try:
        python = environment() / "bin"
    except subprocess.CalledProcessError as error:
        print(f"the peers could not be installed: {(error.stderr or b'').decode(errors='replace')[-300:]}", flush=True)
        yield []
        return
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "no_op.ipynb").write_text(_NOTEBOOK)
        (home / "flow.py").write_text(_FLOW)
        (home / "no_op.py").write_text("pass")
        yield [Contender(name, act, name in SLOW) for name, act in _ways(python, home).items()]


def measured(those: list[Contender]) -> list[Row]:
    """Let them run in turn, and return the medians. Those that are slow with fifty come last, while there is time."""
    seconds: dict[str, list[float]] = {f"{one.name}: {count}": [] for one in those for count in (1, FIFTY)}
    faults: dict[str, str] = {}
    end = time.monotonic() + PATIENCE_SECONDS
    turns = [(one, count) for one in those for count in (1, FIFTY) if count == 1 or not one.is_slow] * ROUNDS
    for one, count in [*turns, *((one, FIFTY) for one in those if one.is_slow)]:
        what = f"{one.name}: {count}"
        if time.monotonic() > end:
            faults.setdefault(what, "the time was over")
        if what not in faults:
            _measure(one, count, seconds[what], faults)
    return [
        Row(what, median(found) if found else float("nan"), "s", beside=faults.get(what, f"median of {len(found)}"))
        for what, found in seconds.items()
    ]


def _measure(one: Contender, count: int, seconds: list[float], faults: dict[str, str]) -> None:
    try:
        seconds.append(one.act(count))
    except (subprocess.SubprocessError, ValueError, OSError, IndexError) as error:
        said = getattr(error, "stderr", None) or b""
        lines = said.decode(errors="replace").strip().splitlines()[-1:] if isinstance(said, bytes) else []
        faults[f"{one.name}: {count}"] = " ".join(lines)[:100].replace("|", "/") or type(error).__name__


def _ways(binaries: Path, home: Path) -> dict[str, Callable[[int], float]]:
    environ = os.environ | {"HOME": str(home), "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "USER": "bench"}

    def many(command: Callable[[int], list[str]]) -> Callable[[int], float]:
        def act(count: int) -> float:
            before = time.perf_counter()
            with ThreadPoolExecutor(AT_ONCE) as pool:
                list(pool.map(lambda n: _run(command(n), environ, home), range(count)))
            return time.perf_counter() - before

        return act

    python = str(binaries / "python")
    return {
        "python -c pass": many(lambda _: [python, "-c", "pass"]),
        "papermill": many(lambda n: [str(binaries / "papermill"), "no_op.ipynb", f"out-{n}.ipynb"]),
        "Metaflow": many(lambda _: [python, "flow.py", "--no-pylint", "run"]),
        "DVC repro": lambda count: _dvc(str(binaries / "dvc"), environ, home, count),
        "Ray tasks in a warm cluster": lambda count: float(_run([python, "-c", _RAY, str(count)], environ, home)),
        "jupyter-scheduler": lambda count: float(
            _run([python, "-c", _SCHEDULER, str(_fresh(home)), str(count)], environ, home).splitlines()[-1]
        ),
    }


def _run(command: list[str], environ: dict[str, str], home: Path) -> str:
    done = subprocess.run(command, env=environ, cwd=home, check=True, capture_output=True, timeout=240)
    return done.stdout.decode()


def _fresh(home: Path) -> Path:
    folder = Path(tempfile.mkdtemp(dir=home))
    (folder / "no_op.ipynb").write_text(_NOTEBOOK)
    return folder


def _dvc(program: str, environ: dict[str, str], home: Path, count: int) -> float:
    """A pipeline of so many stages, each with a dependency and an output."""
    folder = _fresh(home)
    _run(["git", "init", "--quiet"], environ, folder)
    _run([program, "init", "--quiet"], environ, folder)
    (folder / "in").write_text("x")
    stages = "".join(
        f"  s{n}:\n    cmd: touch out{n}\n    deps:\n    - in\n    outs:\n    - out{n}\n" for n in range(count)
    )
    (folder / "dvc.yaml").write_text(f"stages:\n{stages}")
    before = time.perf_counter()
    _run([program, "repro", "--quiet"], environ, folder)
    return time.perf_counter() - before


def environment() -> Path:
    """Return the folder of the peers' environment, made at the first call."""
    done, wanted = FOLDER / ".done", "\n".join(PACKAGES)
    if not done.exists() or done.read_text() != wanted:
        uv = str(OUR_BIN / "uv")
        make = [uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, str(FOLDER)]
        subprocess.run(make, check=True, capture_output=True)
        install = [uv, "pip", "install", "--quiet", "--compile-bytecode", "--python", str(FOLDER / "bin" / "python")]
        subprocess.run([*install, *PACKAGES], check=True, capture_output=True)
        done.write_text(wanted)
    return FOLDER
