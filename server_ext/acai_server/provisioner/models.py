"""Runtime models: which form to believe inside of what was seen and which outside, and how far off it may be.

The original's log-linear form is always fitted. Others are chosen only when they say runs better that they have not
seen. Intervals are as wide as such errors were.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from acai_server.provisioner.curves import CUBIC, FORMS, QUADRATIC, LogLinear
from acai_server.provisioner.observations import Points, Space

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acai_server.provisioner.curves import Curve, Form
    from acai_server.provisioner.observations import Array, Codes, Flags, Observation, Value

FOLDS = 5
"""So many groups of configurations are left out in turn; twice as many of few, and each of very few."""
LEAST_RUNS = 3
COVERAGE = 0.8
"""How many of all runs an interval is to hold, unless asked otherwise."""
UNKNOWN_EXPONENT = 0.35
"""How far off an exponent may be of which nothing is known: what an error grows by with each e-fold outside."""
LEAST_GAIN = 1e-4
"""A form that says runs better by less than this is no better."""
FEW = 12
"""Fewer errors than these have no quantiles to speak of."""
MOST_CHOSEN_BY = 200
"""More runs than these do not change the choice of a form; all of them go into its fit."""
BELIEVABLE = (-20.0, 40.0)
"""Logarithms of seconds: from a billionth of one to more than the age of the universe."""
MAX_RATIO = 20.0
"""An interval whose ends are farther apart than this is nothing to decide by."""


@dataclass(frozen=True)
class Predictions:
    """What runs will take: the middle and the interval, in seconds; `beyond` is 0 inside of what was seen."""

    seconds: Array
    low: Array
    high: Array
    beyond: Array

    @property
    def is_vague(self) -> Flags:
        """Where the interval is too wide to decide by."""
        found: Flags = self.high > self.low * MAX_RATIO
        return found


@dataclass(frozen=True)
class Errors:
    """Errors on runs that were left out: logarithms of what they took over what was said; and how they grow outside."""

    inside: Array
    drift: float
    """By how much an error grows with each e-fold outside of what was seen, in two thirds of all cases."""


@dataclass(frozen=True)
class RuntimeModel:
    """What some runs tell of others. Frozen."""

    space: Space
    near: Curve
    near_form: str
    far: Curve
    far_form: str
    errors: Errors
    runs: int
    scores: Mapping[str, float] = field(default_factory=dict)
    """The typical error of each form on runs that were left out, as a factor's logarithm."""

    def predict(self, values: Sequence[Mapping[str, Value]], coverage: float = COVERAGE) -> Predictions:
        """Say what runs with such values take."""
        points = self.space.points(values)
        middle, beyond = np.clip(self.log_seconds(points), *BELIEVABLE), self._beyond(points, values)
        low, high = self._spread(coverage)
        drift = self.errors.drift * beyond * _normal(coverage)
        down, up = np.hypot(low, drift), np.hypot(high, drift)
        seconds, least, most = (np.exp(np.clip(one, *BELIEVABLE)) for one in (middle, middle - down, middle + up))
        return Predictions(seconds, least, most, beyond)

    def log_seconds(self, points: Points) -> Array:
        """Return logarithms of seconds: outside, the far form goes on from where the near one ends."""
        points = self.space.placed(points)
        clipped = self.space.inside(points)
        found = self.near.log_seconds(clipped)
        if self.far is self.near:
            return self.near.log_seconds(points)
        away: Array = self.far.log_seconds(points) - self.far.log_seconds(clipped)
        return found + away

    def _beyond(self, points: Points, values: Sequence[Mapping[str, Value]]) -> Array:
        """A word that was never seen, and a number that was always the same, are far away."""
        away: Array = self.space.beyond(points) + (points.codes < 0).sum(axis=1)
        for name, value in self.space.constants.items():
            away = away + np.array([_factor(one.get(name, value), value) for one in values])
        return away

    def _spread(self, coverage: float) -> tuple[float, float]:
        """How far to go down and up, so that so many of the runs that were left out were inside."""
        left, count = self.errors.inside, len(self.errors.inside)
        tail = (1 - coverage) / 2
        if count < FEW:
            half = student(coverage, count) * max(0.01, float(np.sqrt(np.mean(left**2))))
            return half, half
        rank = min(1.0, (1 - tail) * (count + 0.5) / count)
        low, high = -float(np.quantile(left, 1 - rank)), float(np.quantile(left, rank))
        return max(0.005, low), max(0.005, high)


def fit(runs: Sequence[Observation]) -> RuntimeModel | None:
    """Fit all forms, and choose; None when there are too few runs."""
    told = [run for run in runs if run.seconds > 0 and math.isfinite(run.seconds)]
    if sum(not run.is_bound for run in told) < LEAST_RUNS:
        return None
    ended = _Runs.of(_some([run for run in told if not run.is_bound]))
    near, inside, scores = _near(ended)
    far, drift = _far(ended, near)
    full = _Runs.of(told)
    near_curve, near = _fitted(full, near)
    far_curve, far = (near_curve, near) if far is near else _fitted(full, far)
    errors = Errors(inside, drift)
    return RuntimeModel(full.space, near_curve, near.name, far_curve, far.name, errors, len(told), scores)


def _some(runs: Sequence[Observation]) -> Sequence[Observation]:
    if len(runs) <= MOST_CHOSEN_BY:
        return runs
    order = np.random.default_rng(len(runs)).permutation(len(runs))[:MOST_CHOSEN_BY]
    return [runs[place] for place in sorted(order)]


@dataclass(frozen=True)
class _Runs:
    space: Space
    points: Points
    target: Array
    weights: Array
    is_bound: Flags
    cells: Codes
    """The number of each run's configuration."""

    @classmethod
    def of(cls, runs: Sequence[Observation], space: Space | None = None) -> _Runs:
        space = space or Space.of(runs)
        points = space.points([run.values for run in runs])
        rows = np.hstack([points.logs, points.codes])
        cells = np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1) if rows.shape[1] else np.zeros(len(runs))
        return cls(
            space,
            points,
            np.log([run.seconds for run in runs]),
            np.array([run.weight for run in runs], dtype=float),
            np.array([run.is_bound for run in runs]),
            cells.astype(int),
        )

    def without(self, left: Flags) -> _Runs:
        kept = ~left
        return _Runs(
            _narrowed(self.space, self.points[kept]),
            self.points[kept],
            self.target[kept],
            self.weights[kept],
            self.is_bound[kept],
            self.cells[kept],
        )


def _narrowed(space: Space, points: Points) -> Space:
    """The same features with what is left of their ranges."""
    lows, highs = points.logs.min(axis=0), points.logs.max(axis=0)
    numbers = tuple(
        replace(one, low=math.exp(low) - one.shift, high=math.exp(high) - one.shift)
        for one, low, high in zip(space.numbers, lows, highs, strict=True)
    )
    return replace(space, numbers=numbers)


def _curve(runs: _Runs, form: Form) -> Curve | None:
    """Fit one form. A run that was ended early counts as taking what the others say, if that is more."""
    target = runs.target
    for _ in range(3 if runs.is_bound.any() else 1):
        found = form.fit(runs.space, runs.points, target, runs.weights)
        if found is None:
            return None
        if runs.is_bound.any():
            target = np.where(runs.is_bound, np.maximum(runs.target, found.log_seconds(runs.points)), runs.target)
    return found


def _fitted(runs: _Runs, form: Form) -> tuple[Curve, Form]:
    found = _curve(runs, form)
    if found is not None and _is_sane(runs, found):
        return found, form
    plain = LogLinear()
    curve = _curve(runs, plain)
    assert curve is not None
    return curve, plain


def _near(runs: _Runs) -> tuple[Form, Array, dict[str, float]]:
    """The form that says best what it has not seen, the simpler of two that are as good, and its errors there."""
    folds = _folds(runs)
    best: tuple[Form, Array] | None = None
    scores: dict[str, float] = {}
    for form in FORMS:
        if form == CUBIC and best is not None and best[0] != QUADRATIC:  # what does not bend once does not bend twice
            continue
        left = _left_out(runs, form, folds)
        if left is None:
            continue
        scores[form.name] = _typical(left)
        if best is None or _is_better(left, best[1]):
            best = form, left
    assert best is not None
    return best[0], best[1], scores


def _folds(runs: _Runs) -> list[Flags]:
    """Runs that are left out together: whole configurations where there are enough, so that repeats tell nothing."""
    groups = runs.cells if runs.cells.max(initial=0) + 1 >= 2 * FOLDS else np.arange(len(runs.target))
    order = np.random.default_rng(len(groups)).permutation(int(groups.max()) + 1)
    few, some = len(order) <= 4 * FOLDS, len(groups) <= 16 * FOLDS
    many = len(order) if few and some else 2 * FOLDS if some else FOLDS
    return [order[groups] % many == fold for fold in range(many)]


def _left_out(runs: _Runs, form: Form, folds: Sequence[Flags]) -> Array | None:
    errors = np.full(len(runs.target), np.nan)
    for left in folds:
        kept = runs.without(left)
        curve = form.fit(kept.space, kept.points, kept.target, kept.weights)
        if curve is None or (not form.extrapolates and not _is_sane(kept, curve)):
            return None
        points = runs.points[left]
        if not form.extrapolates:  # it is never asked outside
            clipped, base = (
                kept.space.inside(points),
                LogLinear().fit(kept.space, kept.points, kept.target, kept.weights),
            )
            assert base is not None
            said = curve.log_seconds(clipped) + base.log_seconds(points) - base.log_seconds(clipped)
        else:
            said = curve.log_seconds(points)
        errors[left] = runs.target[left] - said
    return errors


def _is_better(errors: Array, than: Array) -> bool:
    """Whether by more than chance: by a standard error of the difference."""
    cap = 3 * max(1e-3, float(np.quantile(np.abs(than), 0.9)))
    gain = np.minimum(np.abs(than), cap) - np.minimum(np.abs(errors), cap)
    return bool(gain.mean() > 0.5 * gain.std() / math.sqrt(len(gain)) and gain.mean() > LEAST_GAIN)


def _typical(errors: Array) -> float:
    return float(np.median(np.abs(errors)))


def _far(runs: _Runs, near: Form) -> tuple[Form, float]:
    """The form to believe outside, and how its errors grow there: each number's end in turn is left out.

    What is best inside is believed outside as well, if it can be; else what says those ends best.
    """
    forms = [near] if near.extrapolates else [form for form in FORMS if form.extrapolates]
    rates: dict[str, list[float]] = {form.name: [] for form in forms}
    for place, left in _ends(runs):
        kept = runs.without(left)
        away = kept.space.beyond(runs.points[left])
        longer = _length(kept, place) / _length(runs, place)  # a slope is known the better the longer it is seen
        for form in forms:
            curve = form.fit(kept.space, kept.points, kept.target, kept.weights)
            if curve is not None:
                off = np.abs(runs.target[left] - curve.log_seconds(runs.points[left]))
                rates[form.name].append(longer * float(np.median(off / np.maximum(away, 0.1))))
    chosen = min(forms, key=lambda form: _mean_square(rates[form.name]) if rates[form.name] else math.inf)
    told = rates[chosen.name]
    doubt = (len(told) * _mean_square(told) + UNKNOWN_EXPONENT**2 / 4) / (len(told) + 1) if told else None
    return chosen, UNKNOWN_EXPONENT if doubt is None else math.sqrt(doubt)


def _length(runs: _Runs, place: int) -> float:
    column = runs.points.logs[:, place]
    return float(column.max() - column.min())


def _mean_square(values: Sequence[float]) -> float:
    return float(np.mean(np.square(values))) if values else 0.0


def _ends(runs: _Runs) -> list[tuple[int, Flags]]:
    """For each number with more than two levels: which runs have the most of it. For machines also the least."""
    found = []
    for place in range(runs.points.logs.shape[1]):
        column = runs.points.logs[:, place]
        levels = np.unique(column)
        if len(levels) < 3:  # noqa: PLR2004 (two are needed to see a slope)
            continue
        found.append((place, column > levels[-max(2, len(levels) // 3 + 1)]))
        if place in runs.space.fewer:
            found.append((place, column < levels[max(1, len(levels) // 3)]))
    return [(place, one) for place, one in found if (~one).sum() >= LEAST_RUNS + runs.points.logs.shape[1]]


def _is_sane(runs: _Runs, curve: Curve) -> bool:
    """Whether no machine is said to be slower for having more, where runs were."""
    for place in runs.space.fewer:
        levels = np.unique(runs.points.logs[:, place])
        some = runs.points[np.linspace(0, len(runs.points) - 1, min(50, len(runs.points))).astype(int)]
        said = []
        for level in levels[:: max(1, len(levels) // 6)]:
            logs = some.logs.copy()
            logs[:, place] = level
            said.append(curve.log_seconds(Points(logs, some.codes)))
        if len(said) > 1 and np.diff(np.array(said), axis=0).max() > 0.02:  # noqa: PLR2004 (noise)
            return False
    return True


def _factor(asked: Value, seen: Value) -> float:
    if isinstance(asked, str) or isinstance(seen, str):
        return float(str(asked) != str(seen))
    if asked == seen:
        return 0.0
    if seen <= 0:
        return 1.0
    return abs(math.log(asked) - math.log(seen)) if asked > 0 else math.inf


def _normal(coverage: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf((1 + coverage) / 2)


def student(coverage: float, count: int) -> float:
    """Return the quantile of Student's t for so many errors (Cornish-Fisher)."""
    z, free = _normal(coverage), max(1, count - 1)
    return z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
