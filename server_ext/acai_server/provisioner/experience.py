"""A new template starts from what is known of others: their shapes are kept, level and mixture are learned.

The logarithm of the seconds is a level, plus the curves of earlier models, each with a weight that begins at an equal
share, plus what nearby runs have in common. Runs settle level and weights; where they do not, the interval is wide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from acai_server.provisioner.models import BELIEVABLE, COVERAGE, Predictions, student

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acai_server.provisioner.models import RuntimeModel
    from acai_server.provisioner.observations import Array, Observation, Space, Value

LEVEL = 100.0
"""The variance of the level: next to nothing is known of it."""
MIXTURES = (0.05, 0.3)
"""Variances of a weight."""
OWN = (0.01, 0.04, 0.15)
"""Variances of what no other template shows."""
NOISE = (0.0005, 0.005, 0.03)


@dataclass(frozen=True)
class Experience:
    """Runs of a new template, beside models of others and their names."""

    sources: Mapping[str, RuntimeModel]
    runs: Sequence[Observation]
    space: Space
    """Where all of them lie, with what can be asked."""

    def predict(self, values: Sequence[Mapping[str, Value]], coverage: float = COVERAGE) -> Predictions:
        """Say what runs with such values take."""
        middle, deviation = self._said(values)
        beyond = self.space.beyond(self.space.points(values))
        half = student(coverage, len(self.runs) + len(self.sources)) * deviation + np.where(np.isinf(beyond), beyond, 0)
        middle = np.clip(middle, *BELIEVABLE)
        seconds, low, high = (np.exp(np.clip(one, *BELIEVABLE)) for one in (middle, middle - half, middle + half))
        return Predictions(seconds, low, high, beyond)

    def typical_error(self) -> float:
        """Return how far off it typically is on a run that was left out, as a factor's logarithm."""
        off = []
        for place, run in enumerate(self.runs):
            others = replace(self, runs=[*self.runs[:place], *self.runs[place + 1 :]])
            off.append(abs(math.log(float(others.predict([run.values]).seconds[0]) / run.seconds)))
        return float(np.median(off))

    def _said(self, values: Sequence[Mapping[str, Value]]) -> tuple[Array, Array]:
        """The middle of the logarithm of the seconds, and its standard deviation."""
        seen = [run.values for run in self.runs]
        count = len(seen)
        shapes = self._shapes([*seen, *values], count)
        of_runs, of_asked = shapes[:, :count], shapes[:, count:]
        alike, alike_across = self._alike(seen, seen), self._alike(values, seen)
        target = np.log([run.seconds for run in self.runs])
        prior = shapes.mean(axis=0) if len(shapes) else np.zeros(count + len(values))
        off = target - prior[:count]
        mixture, own, noise = max(
            product(MIXTURES, OWN, NOISE),
            key=lambda guess: _likelihood(_covariance(of_runs, of_runs, alike, *guess[:2]), off, guess[2]),
        )
        held = _covariance(of_runs, of_runs, alike, mixture, own) + noise * np.eye(count)
        across = _covariance(of_asked, of_runs, alike_across, mixture, own)
        middle = prior[count:] + across @ np.linalg.solve(held, off)
        shrunk = np.einsum("ij,ji->i", across, np.linalg.solve(held, across.T))
        alone = LEVEL + mixture / max(1, len(shapes)) * (of_asked**2).sum(axis=0) + own
        return middle, np.sqrt(np.maximum(alone - shrunk, 0.0) + noise)

    def _shapes(self, values: Sequence[Mapping[str, Value]], count: int) -> Array:
        if not self.sources:
            return np.zeros((0, len(values)))
        found = np.stack([model.log_seconds(model.space.points(values)) for model in self.sources.values()])
        shapes: Array = found - found[:, :count].mean(axis=1, keepdims=True)
        return shapes

    def _alike(self, some: Sequence[Mapping[str, Value]], others: Sequence[Mapping[str, Value]]) -> Array:
        """How much points have in common with others: 1 at the same place."""
        points, besides = (self.space.placed(self.space.points(each)) for each in (some, others))
        span = np.maximum(self.space.high - self.space.low, 1e-9)
        apart = (((points.logs[:, None, :] - besides.logs[None, :, :]) / span) ** 2).sum(axis=2) / 0.5
        differ = (points.codes[:, None, :] != besides.codes[None, :, :]).sum(axis=2)
        found: Array = np.exp(-apart - 0.7 * differ)
        return found


def _covariance(some: Array, others: Array, alike: Array, mixture: float, own: float) -> Array:
    found: Array = LEVEL + mixture / max(1, len(some)) * (some.T @ others) + own * alike
    return found


def _likelihood(covariance: Array, off: Array, noise: float) -> float:
    count = len(off)
    root = np.linalg.cholesky(covariance + noise * np.eye(count))
    half = np.linalg.solve(root, off)
    return float(-0.5 * half @ half - np.log(np.diag(root)).sum())
