"""What the agent moves: the lines of a loud program to whoever follows, and a large input that was there before."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter.client.follow import follow_log, wait
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.jobs import CreateJob, Resources
from benchmarks.job_servers import server
from benchmarks.report import Row, median

if TYPE_CHECKING:
    from benchmarks.job_servers import Server

ROUNDS = 5
LINES = 1_000_000
GIB = 1024**3
LOUD = f"""
import sys
line = "x" * 60
for n in range(0, {LINES}, 1000):
    sys.stdout.write("".join(f"{{m}} {{line}}\\n" for m in range(n, n + 1000)))
"""
FIRST = "import time; print(time.time(), flush=True); time.sleep(0.6)"


def run() -> list[Row]:
    """Measure all of it."""
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as served:
        wait(served.client, served.submit(["true"]).number)
        seen = [_first_line(served) for _ in range(ROUNDS)]
        seconds, lines = _loud(served)
        with_input, without = _with_large_input(served, Path(folder))
    return [
        Row("a line printed to seen by a follower", median(seen), "s", 0.5),
        Row(f"{LINES:,} lines of 67 bytes, submit to all of them followed", seconds, "s", LINES / 100_000),
        Row("lines a second, followed", lines / seconds, "lines/s"),
        Row("lines that a follower missed", float(LINES - lines), "lines", 0),
        Row("a no-op without input", without, "s"),
        Row("a second job with the same 1 GiB input, more than that", with_input - without, "s", 0.3),
    ]


def _first_line(served: Server) -> float:
    job = served.submit(["python", "-c", FIRST])
    text = next(follow_log(served.client, job.number))
    seconds = time.time() - float(text.split()[0])
    wait(served.client, job.number)
    return seconds


def _loud(served: Server) -> tuple[float, int]:
    """How long a program takes that prints as fast as it can, and how many of its lines were seen, each once."""
    before = time.perf_counter()
    # A whole machine, as the program makes its lines faster than half a CPU could.
    asked = CreateJob(["python", "-c", LOUD], resources=Resources(1, 512 * 1024**2))
    job = served.client.call(endpoints.CREATE_JOB, asked)
    seen, held = 0, ""
    for text in follow_log(served.client, job.number):
        *whole, held = (held + text).split("\n")
        seen += sum(line.startswith(f"{seen + place} ") for place, line in enumerate(whole))
    return time.perf_counter() - before, seen


def _with_large_input(served: Server, folder: Path) -> tuple[float, float]:
    """The second job and later ones with a large input, in turn with jobs that have none."""
    with (folder / "large").open("wb") as file:
        for _ in range(GIB // 2**24):
            file.write(os.urandom(2**24))
    served.put(folder / "large", "large")
    _one(served, ["large"])
    pairs = [(_one(served, ["large"]), _one(served, [])) for _ in range(ROUNDS)]
    return median([one for one, _ in pairs]), median([other for _, other in pairs])


def _one(served: Server, inputs: list[str]) -> float:
    before = time.perf_counter()
    done = wait(served.client, served.submit(["true"], inputs=inputs).number)
    seconds = time.perf_counter() - before
    assert done.state == "finished", done.reason
    return seconds
