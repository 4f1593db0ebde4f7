"""One file of 1 GiB: put, fetched back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.lake.contenders import Contender, Copy, Dvc, Hashing, MLflow, Oxen, WarmDvc, Writing
from benchmarks.lake.data import make_file
from benchmarks.lake.ours import OURS
from benchmarks.lake.rounds import run_round
from benchmarks.lake.scores import Scores, least

if TYPE_CHECKING:
    from benchmarks.lake.rounds import Plan
    from benchmarks.report import Row

PEERS: tuple[type[Contender], ...] = (WarmDvc, Dvc, MLflow, Oxen)
FLOORS: tuple[type[Contender], ...] = (Hashing, Writing, Copy)
TITLE = "1 GiB"


def measure(size_bytes: int, plan: Plan) -> list[Row]:
    """Measure all contenders. With a sync after each, the peers are as durable as ours."""
    source = make_file(plan.folder / "source", size_bytes)
    scores = Scores("put", "back")
    for number, folder in plan.rounds_of_large_files():
        run_round(scores, number, (*OURS, *FLOORS, *PEERS), source=source, folder=folder)
    return [*_put(scores), *_back(scores)]


def _put(scores: Scores) -> list[Row]:
    slower = max((Hashing.name, Writing.name), key=lambda name: scores.seconds("put", name))
    durable = least([1.2 * scores.seconds("put", slower), *(scores.synced("put", peer.name) for peer in PEERS)])
    promise = f"1.2 times {slower} and ahead of every peer with a sync after"
    title = f"put {TITLE}"
    return [
        *(scores.row(title, "put", ours.name, slower).promising(durable, promise) for ours in OURS),
        *(scores.row(title, "put", other.name, slower) for other in (*FLOORS, *PEERS)),
    ]


def _back(scores: Scores) -> list[Row]:
    title, limit = f"get {TITLE} back", 2 * scores.seconds("back", Copy.name)
    return [
        *(scores.row(title, "back", ours.name, Copy.name).promising(limit, f"2 times {Copy.name}") for ours in OURS),
        scores.row(title, "back", Copy.name, Copy.name),
    ]
