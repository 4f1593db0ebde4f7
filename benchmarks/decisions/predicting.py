"""How long runs take that the model has not seen, and whether the intervals hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from acai_server.provisioner import models
from acai_server.provisioner.curves import LogLinear
from acai_server.provisioner.observations import Observation, Space
from benchmarks.decisions import runs
from benchmarks.report import Row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acai_server.provisioner.observations import Array

HINTS = ("data_fraction", "epoch", "batch_size")
FOLDS = 5
DESIGNS = 20
COVERED = 0.8


def rows() -> Iterator[Row]:
    yield from explained()
    yield _small_to_large()
    yield from _intervals()


def explained() -> Iterator[Row]:
    """Say how much is explained, cross-validated over runs."""
    told = runs.mnist(*HINTS)
    taken = np.array([run.seconds for run in told])
    order = np.random.default_rng(0).permutation(len(told)) % FOLDS
    ours, plain = np.zeros(len(told)), np.zeros(len(told))
    for fold in range(FOLDS):
        kept = [run for run, place in zip(told, order, strict=True) if place != fold]
        asked = [run.values for run, place in zip(told, order, strict=True) if place == fold]
        ours[order == fold] = _fitted(kept).predict(asked).seconds
        plain[order == fold] = log_linear(kept, asked)
    for what, limit, change in (("logarithms", 1.0, np.log), ("seconds", 5.5, np.asarray)):
        left, before = (100 * (1 - _r2(change(taken), change(said))) for said in (ours, plain))
        beside = f"R² {1 - left / 100:.3f}; log-linear {1 - before / 100:.3f}"
        yield Row(f"mnist_runtime, what is not explained, in {what}", left, "%", limit, beside=beside)
    worst = float(np.median(np.abs(ours / taken - 1)))
    yield Row("mnist_runtime, typical error", 100 * worst, "%", beside=f"log-linear {_percent(plain, taken)}")


def _small_to_large() -> Row:
    """27 runs at the small end; asked for the large end."""
    told = runs.mnist(*HINTS)
    end = {"data_fraction": 1.0, "epoch": 16.0, "batch_size": 512.0}
    large = [run for run in told if run.values == end]
    asked, taken = [run.values for run in large], np.array([run.seconds for run in large])
    ours, plain, held = [], [], []
    for seed in range(DESIGNS):
        design = _one_of_each(told, seed)
        said = _fitted(design).predict(asked)
        ours.append(float(np.median(np.abs(said.seconds / taken - 1))))
        plain.append(float(np.median(np.abs(log_linear(design, asked) / taken - 1))))
        held.append(float(np.mean((said.low <= taken) & (taken <= said.high))))
    beside = f"log-linear {100 * np.median(plain):.0f} %; the interval held {100 * np.mean(held):.0f} %"
    what = "mnist_runtime, error at the large end from 27 runs at the small end"
    return Row(what, 100 * float(np.median(ours)), "%", beside=beside)


def _one_of_each(told: Sequence[Observation], seed: int) -> list[Observation]:
    found: dict[tuple[object, ...], Observation] = {}
    for place in np.random.default_rng(seed).permutation(len(told)):
        run = told[place]
        fraction, epoch, batch = (float(run.values[one]) for one in HINTS)
        if fraction <= 0.25 and epoch <= 4 and batch <= 256:
            found.setdefault((fraction, epoch, batch), run)
    assert len(found) == 27
    return list(found.values())


def _intervals() -> Iterator[Row]:
    scout = [[one.run for one in task] for task in runs.scout_tasks().values()]
    lcdb = list(runs.lcdb().values())
    for name, tasks, share in (
        ("mnist_runtime", [runs.mnist(*HINTS)], 0.05),
        ("tf_ec2", [runs.tf_ec2()], 0.5),
        ("scout", scout, 0.5),
        ("lcdb", lcdb, 0.3),
    ):
        inside, width = held(tasks, share)
        beside = f"{100 * inside:.1f} % held, typically from 1/{width:.2g} to {width:.2g} times"
        yield Row(f"{name}, 80 % intervals, off by", abs(100 * (inside - COVERED)), "points", 5.0, beside=beside)


def held(tasks: Sequence[Sequence[Observation]], share: float) -> tuple[float, float]:
    held: list[bool] = []
    widths: list[float] = []
    for task in tasks:
        for seed in range(max(1, 20 // len(tasks))):
            order = np.random.default_rng(seed).permutation(len(task))
            border = round(share * len(task))
            asked = [task[place] for place in order[border:]]
            said = _fitted([task[place] for place in order[:border]]).predict([run.values for run in asked], COVERED)
            taken = np.array([run.seconds for run in asked])
            held += list((said.low <= taken) & (taken <= said.high))
            widths += list(np.sqrt(said.high / said.low))
    return float(np.mean(held)), float(np.median(widths))


def log_linear(kept: Sequence[Observation], asked: Sequence[dict[str, float | str]] | list) -> Array:  # type: ignore[type-arg]
    """Say what the original's form does."""
    space = Space.of(kept)
    points = space.points([run.values for run in kept])
    curve = LogLinear().fit(space, points, np.log([run.seconds for run in kept]), np.ones(len(kept)))
    assert curve is not None
    return np.exp(curve.log_seconds(space.points(asked)))


def _fitted(kept: Sequence[Observation]) -> models.RuntimeModel:
    model = models.fit(kept)
    assert model is not None
    return model


def _r2(taken: Array, said: Array) -> float:
    return float(1 - ((taken - said) ** 2).sum() / ((taken - taken.mean()) ** 2).sum())


def _percent(said: Array, taken: Array) -> str:
    return f"{100 * float(np.median(np.abs(said / taken - 1))):.1f} %"
