"""A million files in one session, and what others feel of it meanwhile; one round."""

from __future__ import annotations

import math
import re
import secrets
import time
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.lake.data import make_files
from benchmarks.lake.ours import Acai
from benchmarks.lake.programs import Worker, WorkFailed
from benchmarks.report import Row, median

if TYPE_CHECKING:
    from benchmarks.lake.rounds import Plan

FEW, MANY, SIZE_BYTES = 10_000, 1_000_000, 100
PAUSE_SECONDS = 0.2
LOOKS = 21


@dataclass(frozen=True)
class Meanwhile:
    """A small upload of a second client: when it began, and how long it took."""

    began: float
    seconds: float


def measure(plan: Plan, *, many: int = MANY) -> list[Row]:
    """Measure few files as often as asked, many once."""
    few = _few(make_files(plan.folder / "few", FEW, SIZE_BYTES), plan)
    source = make_files(plan.folder / "many", many, SIZE_BYTES)
    acai = Acai(plan.folder / "many-server", source)
    with closing(acai):
        acai.prepare()
        total, others = _while_others_put(acai)
        megabytes = _peak_megabytes(acai.server.process.pid)
        listed = _listed(acai)
    title = f"{many:,} files of {SIZE_BYTES} B"
    worst = max(others, key=lambda one: one.seconds)
    moment = f"begun after {worst.began:.0f} s"
    return [
        Row(f"put {title}", total, "s", 120),
        Row(f"per file, {FEW:,} files of {SIZE_BYTES} B", few * 1e6, "µs"),
        Row(f"per file, {title}", total / many * 1e6, "µs", 1.5 * few * 1e6, f"1.5 times that of {FEW:,}"),
        Row("the server's memory at its peak", megabytes, "MiB", 500),
        Row("a second client's put of one file meanwhile, the worst", worst.seconds, "s", 0.3, beside=moment),
        Row(f"the same, median of {len(others):,}", median([one.seconds for one in others]), "s"),
        listed,
    ]


def _few(source: Path, plan: Plan) -> float:
    """The seconds for one file."""
    found = []
    for _, folder in plan.rounds_of_large_files():
        acai = Acai(folder, source)
        with closing(acai):
            acai.prepare()
            found.append(acai.put())
    return median(found) / FEW


def _while_others_put(acai: Acai) -> tuple[float, list[Meanwhile]]:
    """The seconds for all, and those of a second client that puts one file again and again from begin to end."""
    other = Worker(acai.worker.python, acai.env, acai.home)
    found = []
    with closing(other), ThreadPoolExecutor(1) as threads:
        _put_one(other, acai.home)
        began, putting = time.perf_counter(), threads.submit(acai.put)
        while not putting.done():
            found.append(Meanwhile(time.perf_counter() - began, _put_one(other, acai.home)))
            wait([putting], PAUSE_SECONDS)
        return putting.result(), found


def _put_one(other: Worker, folder: Path) -> float:
    file = folder / "one"
    file.write_bytes(secrets.token_bytes(SIZE_BYTES))
    return other.call("acai_put", source=file, dest="/one")


def _listed(acai: Acai) -> Row:
    what = "list a folder of 1,000 among them"
    try:
        looks = [acai.worker.call("acai_ls", spec="/data/0000") for _ in range(LOOKS)]
    except WorkFailed as error:
        return Row(what, math.nan, "ms", 20, beside=str(error))
    return Row(what, median(looks) * 1000, "ms", 20)


def _peak_megabytes(pid: int) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else math.nan
