"""In a real kernel: from Shift-Enter on a cell that prints a line to that line, in turn with its job without it.

Median of 9, after one round that is not counted.
"""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_client.manager import start_new_kernel

from acai_jupyter.client.follow import Following, wait
from acai_jupyter.contract import endpoints
from benchmarks import imports
from benchmarks.job_servers import server
from benchmarks.report import Row, median

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jupyter_client.blocking.client import BlockingKernelClient

    from benchmarks.job_servers import Server

ROUNDS = 9
LINE = "the first line"
CELL = f"%%acai run --cpu 0.5 --memory 512Mi\nprint({LINE!r})"
TIMES, MORE_MS = 1.2, 100.0


def run() -> list[Row]:
    """Measure both, and what loading the extension costs."""
    cells, jobs = [], []
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as served, _kernel(served) as kernel:
        for _ in range(ROUNDS + 1):
            cells.append(_cell(kernel))
            jobs.append(_job(served))
    cell, job = (median(found[1:]) * 1000 for found in (cells, jobs))
    return [
        Row("%load_ext acai_jupyter", median([imports.load() for _ in range(ROUNDS)]) * 1000, "ms", 80.0),
        Row("the engine: from submit to the first line", job, "ms"),
        Row(
            "a cell: from Shift-Enter to the first line",
            cell,
            "ms",
            TIMES * job + MORE_MS,
            "1.2 times that and 100 ms",
        ),
    ]


@contextmanager
def _kernel(served: Server) -> Iterator[BlockingKernelClient]:
    """Start a kernel of the server's user, with the extension loaded."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ACAI_", "JUPYTER_", "XDG_"))}
    connection = served.client.connection
    known = {"HOME": str(served.home), "ACAI_URL": connection.url, "ACAI_TOKEN": connection.token}
    manager, kernel = start_new_kernel(kernel_name="python3", env=kept | known, cwd=str(served.home))
    try:
        kernel.execute_interactive("%load_ext acai_jupyter", timeout=60, output_hook=lambda _: None)
        yield kernel
    finally:
        kernel.stop_channels()
        manager.shutdown_kernel(now=True)


def _cell(kernel: BlockingKernelClient) -> float:
    """Run the cell to its end; returns when its line was there."""
    seen: list[float] = []

    def hear(message: dict[str, object]) -> None:
        if LINE in str(message["content"]) and message["msg_type"] == "stream":
            seen.append(time.perf_counter())

    before = time.perf_counter()
    answer = kernel.execute_interactive(CELL, timeout=60, output_hook=hear)
    assert answer["content"]["status"] == "ok", answer
    return seen[0] - before


def _job(served: Server) -> float:
    """Submit what the cell submitted; returns when its line was there."""
    newest = served.client.call(endpoints.LIST_JOBS, query={"limit": 1}).jobs[0]
    request = served.client.call(endpoints.GET_REQUEST, job=newest.number).request
    before = time.perf_counter()
    job = served.client.call(endpoints.CREATE_JOB, request)
    piece = next(iter(Following(served.client, job)))
    seconds = time.perf_counter() - before
    assert LINE.encode() in piece, piece
    wait(served.client, job.number)
    return seconds
