"""Which runs to make: chosen one by one, beside all 27 of a full design."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from acai_server.provisioner import designs, models
from acai_server.provisioner.observations import Observation
from benchmarks.decisions import runs
from benchmarks.decisions.predicting import HINTS, log_linear
from benchmarks.report import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

FRACTIONS, EPOCHS, BATCHES = (1 / 16, 1 / 4, 1.0), (1.0, 4.0, 16.0), (64.0, 256.0, 512.0)
SEEDS = 20


def rows() -> Iterator[Row]:
    cells: dict[tuple[float, ...], list[float]] = {}
    for run in runs.mnist(*HINTS):
        cells.setdefault(tuple(float(run.values[one]) for one in HINTS), []).append(run.seconds)
    everywhere = [dict(zip(HINTS, cell, strict=True)) for cell in cells]
    taken = np.array([np.median(times) for times in cells.values()])
    full = [(f, e, b) for f in FRACTIONS for e in EPOCHS for b in BATCHES]
    values = [dict(zip(HINTS, cell, strict=True)) for cell in full]
    choice = designs.Choice(values, everywhere)
    found = []
    for seed in range(SEEDS):
        generator = np.random.default_rng(seed)
        seconds = [float(generator.choice(cells[cell])) for cell in full]
        all_runs = [Observation(one, time) for one, time in zip(values, seconds, strict=True)]
        some = _one_by_one(choice, all_runs)
        errors = []
        for kept in (some, all_runs):
            model = models.fit(kept)
            assert model is not None
            errors.append(float(np.median(np.abs(model.predict(everywhere).seconds / taken - 1))))
        errors.append(float(np.median(np.abs(log_linear(all_runs, everywhere) / taken - 1))))
        found.append((len(some), sum(run.seconds for run in some) / sum(seconds), *errors))
    count, share, ours, whole, plain = np.median(np.array(found), axis=0)
    yield Row("adaptive plan, runs", float(count), "runs", 13.5, beside="all 27 of the full design")
    yield Row("adaptive plan, of the cost of all 27", 100 * float(share), "%", 100 / 3)
    beside = f"all 27: {100 * whole:.1f} %; all 27 and log-linear, as the original: {100 * plain:.1f} %"
    yield Row("adaptive plan, typical error anywhere", 100 * float(ours), "%", 100 * float(plain), beside=beside)


def _one_by_one(choice: designs.Choice, all_runs: list[Observation]) -> list[Observation]:
    some: list[Observation] = []
    while not choice.verdict(some):
        place = choice.next(some, np.ones(len(all_runs)))
        if place is None:
            break
        some.append(all_runs[place])
    return some
