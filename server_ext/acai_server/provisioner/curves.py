"""Forms that a run time can have, each fitted to runs by weighted least squares that a wild run does not bend.

A curve is fitted to logarithms of seconds at points and says them anywhere. Which of them to believe is not for here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement, product
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acai_server.provisioner.observations import Array, Points, Space

MAX_TERMS = 100
HUBER = 2.0
"""Residuals above so many times their usual size count less."""
FARTHEST = 300.0
"""No logarithm is told apart beyond: what is to be added up must be a number."""
ROUNDS = 3
"""So often the runs are weighed anew."""
RIDGES = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1)


class Curve(Protocol):
    """A fitted form. Frozen, and safe to ask from several threads."""

    def log_seconds(self, points: Points) -> Array:
        """Return the logarithm of the seconds at each point."""
        ...


class Form(Protocol):
    """A form before it is fitted."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    @property
    def extrapolates(self) -> bool:
        """Whether it is to be believed outside of what was seen."""
        ...

    def fit(self, space: Space, points: Points, target: Array, weights: Array) -> Curve | None:
        """Fit it; None when there are too few runs for it."""
        ...


@dataclass(frozen=True)
class Linear:
    """A sum of terms of a point."""

    terms: Callable[[Points], Array]
    coefficients: Array

    def log_seconds(self, points: Points) -> Array:
        """Add the terms up."""
        found: Array = self.terms(points) @ self.coefficients
        return found


@dataclass(frozen=True)
class LogLinear:
    """A product of powers: each coefficient is an exponent, each word a factor. Machines never slow it down."""

    name: str = "log-linear"
    extrapolates: bool = True

    def fit(self, space: Space, points: Points, target: Array, weights: Array) -> Curve | None:
        """Fit by least squares on logarithms; a machine's feature whose exponent would be above 0 is left out."""
        kept = list(range(points.logs.shape[1]))
        while True:
            columns = list(kept)

            def terms(of: Points, columns: list[int] = columns) -> Array:
                return np.hstack([np.ones((len(of), 1)), of.logs[:, columns], _indicators(space, of)])

            found = _robust(terms(points), target, weights, ridge=1e-9)
            wrong = [place for at, place in enumerate(columns) if place in space.fewer and found[1 + at] > 0]
            if not wrong:
                return Linear(terms, found)
            kept.remove(wrong[0])


@dataclass(frozen=True)
class Polynomial:
    """Powers and products of the logarithms, held back by a ridge: bends and interactions, inside of what was seen."""

    degree: int
    extrapolates: bool = False

    @property
    def name(self) -> str:
        """What it is called."""
        return {2: "log-quadratic", 3: "log-cubic"}[self.degree]

    def fit(self, space: Space, points: Points, target: Array, weights: Array) -> Curve | None:
        """Fit with the ridge that leaves the least when each run in turn is left out."""
        middle, spread = (space.low + space.high) / 2, np.maximum((space.high - space.low) / 2, 1e-9)
        many = points.logs.shape[1]
        powers = [one for n in range(1, self.degree + 1) for one in combinations_with_replacement(range(many), n)]
        count = len(powers) + _width(space) * (1 + many)
        if not powers or count > MAX_TERMS or len(points) < max(8, 0.5 * count):
            return None

        def terms(of: Points) -> Array:
            scaled = (of.logs - middle) / spread
            bends = np.stack([np.prod(scaled[:, one], axis=1) for one in powers], 1)
            words = _indicators(space, of)
            mixed = (words[:, :, None] * scaled[:, None, :]).reshape(len(of), -1)
            return np.hstack([np.ones((len(of), 1)), bends, words, mixed])

        design = terms(points)
        ridge = _best_ridge(design, target, weights)
        return Linear(terms, _robust(design, target, weights, ridge=ridge))


@dataclass(frozen=True)
class Parts:
    """Seconds as a sum of parts that are never negative; a word makes all of it faster or slower.

    A part is a start-up time, work in proportion to a number or a product of some, or shared by CPUs (Amdahl).
    """

    name: str = "sum of parts"
    extrapolates: bool = True

    def fit(self, space: Space, points: Points, target: Array, weights: Array) -> Curve | None:
        """Fit so that errors count in proportion to the time."""
        from scipy.optimize import nnls

        base = LogLinear().fit(space, points, target, weights)
        powers = _powers(space)
        if not isinstance(base, Linear) or not powers or len(points) < max(5, points.logs.shape[1] + 2):
            return None
        width = _width(space)
        effects = base.coefficients[len(base.coefficients) - width :] if width else np.zeros(0)
        middle = (space.low + space.high) / 2

        def factors(of: Points) -> Array:
            found: Array = _indicators(space, of) @ effects
            return found

        def terms(of: Points) -> Array:
            found: Array = np.exp(np.clip((of.logs - middle) @ np.array(powers, dtype=float).T, -FARTHEST, FARTHEST))
            return found

        design, aim = terms(points), target - factors(points)
        guess, trust = aim, weights
        for _ in range(ROUNDS):
            scale = np.sqrt(trust) * np.exp(-guess)
            found = nnls(*_reduced(design * scale[:, None], np.exp(aim) * scale))[0]
            guess = np.log(np.maximum(design @ found, 1e-12))
            trust = weights * _trust(aim - guess)
        return Sum(terms, factors, found)


@dataclass(frozen=True)
class Sum:
    """Parts that are added up, times the factors of words."""

    terms: Callable[[Points], Array]
    factors: Callable[[Points], Array]
    shares: Array

    def log_seconds(self, points: Points) -> Array:
        """Return the logarithm of the sum."""
        total = self.terms(points) @ self.shares
        found: Array = np.log(np.maximum(total, 1e-12)) + self.factors(points)
        return found


QUADRATIC, CUBIC = Polynomial(2), Polynomial(3)
FORMS: tuple[Form, ...] = (LogLinear(), Parts(), QUADRATIC, CUBIC)
"""From the simplest on."""


def _powers(space: Space) -> list[tuple[int, ...]]:
    """The exponents of each part. A machine only divides; of many features no more than two are in one part."""
    choices: Sequence[tuple[int, ...]] = [
        (0, -1) if place in space.fewer else (0, 1, -1) for place in range(len(space.numbers))
    ]
    if not choices:
        return []
    most = len(choices)
    while most > 0:
        found = [one for one in product(*choices) if sum(map(abs, one)) <= most]
        if len(found) <= MAX_TERMS:
            return found
        most -= 1
    return []


def _width(space: Space) -> int:
    return sum(len(word.seen) - 1 for word in space.words)


def _indicators(space: Space, points: Points) -> Array:
    """A column for each word but the first of its kind; one that was never seen counts as the middle of all."""
    columns = []
    for place, word in enumerate(space.words):
        codes = points.codes[:, place]
        share = 1 / len(word.seen)
        columns += [np.where(codes < 0, share, (codes == code).astype(float)) for code in range(1, len(word.seen))]
    return np.stack(columns, 1) if columns else np.zeros((len(points), 0))


def _robust(design: Array, target: Array, weights: Array, *, ridge: float) -> Array:
    trust = weights
    for _ in range(ROUNDS):
        found = _solve(design, target, trust, ridge)
        trust = weights * _trust(target - design @ found)
    return found


def _solve(design: Array, target: Array, weights: Array, ridge: float) -> Array:
    gram = design.T @ (design * weights[:, None])
    held = ridge * weights.sum() * np.eye(len(gram))
    held[0, 0] = 0.0
    found: Array = np.linalg.lstsq(gram + held, design.T @ (weights * target), rcond=1e-12)[0]
    return found


def _trust(residuals: Array) -> Array:
    """How much each run counts: as much as all do, or less the farther it lies from the others."""
    usual = 1.4826 * float(np.median(np.abs(residuals)))
    if usual <= 1e-9:  # noqa: PLR2004 (all lie on the curve)
        return np.ones(len(residuals))
    found: Array = np.minimum(1.0, HUBER * usual / np.maximum(np.abs(residuals), 1e-12))
    return found


def _best_ridge(design: Array, target: Array, weights: Array) -> float:
    """Generalised cross-validation, from one decomposition."""
    root = np.sqrt(weights / weights.sum())[:, None]
    sizes, axes = np.linalg.eigh((design * root).T @ (design * root))
    sizes = np.maximum(sizes, 1e-15)
    aim = root[:, 0] * target
    along = axes.T @ ((design * root).T @ aim) / np.sqrt(sizes)
    rest = max(0.0, float((aim**2).sum() - (along**2).sum()))
    best, least = RIDGES[-1], np.inf
    for ridge in RIDGES:
        kept = sizes / (sizes + ridge)
        freedom = 1 - kept.sum() / len(target)
        score = (rest + float((((1 - kept) * along) ** 2).sum())) / max(freedom, 1e-3) ** 2
        if score < least:
            best, least = ridge, score
    return best


def _reduced(design: Array, target: Array) -> tuple[Array, Array]:
    """The same least squares with as many rows as there are terms."""
    if len(design) <= design.shape[1]:
        return design, target
    gram = design.T @ design
    gram[np.diag_indices_from(gram)] += 1e-12 * np.trace(gram)
    root = np.linalg.cholesky(gram).astype(float)
    return root.T, np.linalg.solve(root, design.T @ target).astype(float)
