"""A folder of small files: put, put again with one file changed, fetched back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.lake.contenders import Contender, Copy, Dvc, Git, MLflow, Oxen, Packing, Stat, WarmDvc
from benchmarks.lake.data import make_files
from benchmarks.lake.ours import OURS
from benchmarks.lake.rounds import STEPS, run_round
from benchmarks.lake.scores import Scores, least
from benchmarks.report import Row

if TYPE_CHECKING:
    from benchmarks.lake.rounds import Plan

PEERS: tuple[type[Contender], ...] = (WarmDvc, Dvc, Oxen, Git, MLflow)
PUTTING: tuple[type[Contender], ...] = (Copy, Packing, *PEERS)
AGAIN: tuple[type[Contender], ...] = (*PEERS, Stat)
AGAIN_BYTES = 16 * 1024


@dataclass(frozen=True)
class Folder:
    """How many files of what size, and how many times `cp -r` putting them may take."""

    count: int
    size_bytes: int
    times_copy: float

    @property
    def title(self) -> str:
        """What it is called in rows."""
        return f"{self.count:,} files of {self.size_bytes // 1024} KB"


SMALL = Folder(10_000, 10 * 1024, 1.0)
TINY = Folder(50_000, 1024, 0.6)


def measure(which: Folder, plan: Plan) -> list[Row]:
    """Measure all contenders."""
    source = make_files(plan.folder / "source", which.count, which.size_bytes)
    scores = Scores(*STEPS)
    for number, folder in plan.rounds_of_many_files():
        run_round(scores, number, (*OURS, *PUTTING, Stat), source=source, folder=folder)
    return [*_put(scores, which), *_again(scores, which), *_back(scores, which)]


def _put(scores: Scores, which: Folder) -> list[Row]:
    title, copied = f"put {which.title}", scores.seconds("put", Copy.name)
    limit = least([which.times_copy * copied, *(scores.seconds("put", peer.name) for peer in PEERS)])
    promise = f"{which.times_copy:g} times {Copy.name} and ahead of every peer"
    return [
        *(scores.row(title, "put", ours.name, Copy.name).promising(limit, promise) for ours in OURS),
        *(scores.row(title, "put", other.name, Copy.name) for other in PUTTING),
    ]


def _again(scores: Scores, which: Folder) -> list[Row]:
    title, limit = f"{which.title} again, one changed", 2 * scores.seconds("again", Git.name)
    return [
        *(scores.row(title, "again", ours.name, Git.name).promising(limit, "2 times git") for ours in OURS),
        *(scores.row(title, "again", other.name, Git.name) for other in AGAIN),
        *(Row(f"new bytes besides the file: {o.name}", scores.new_bytes(o.name), "B", AGAIN_BYTES) for o in OURS),
    ]


def _back(scores: Scores, which: Folder) -> list[Row]:
    title, limit = f"get {which.title} back", 2 * scores.seconds("back", Copy.name)
    return [
        *(scores.row(title, "back", ours.name, Copy.name).promising(limit, f"2 times {Copy.name}") for ours in OURS),
        scores.row(title, "back", Copy.name, Copy.name),
    ]
