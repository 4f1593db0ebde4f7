"""Runs as a model sees them: numbers as logarithms, words as codes; and how far something lies outside of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from acai_server.provisioner.sentences import LARGEST

ROUNDING = 1e-9
"""A part of a number that is not lost when it is added to it."""

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Codes = NDArray[np.int64]
    Flags = NDArray[np.bool_]

FEWER = frozenset({"vcpu", "memory_gib", "gpus"})
"""Features of machines: with more of them nothing is slower."""
Value = float | str


@dataclass(frozen=True)
class Observation:
    """A run with what it was given. `is_bound`: it was ended early, so it takes at least so long."""

    values: Mapping[str, Value]
    seconds: float
    weight: float = 1.0
    is_bound: bool = False


@dataclass(frozen=True)
class Number:
    """A feature that is a number; where it was 0 or below, it is moved before its logarithm is taken."""

    name: str
    low: float
    high: float
    shift: float = 0.0
    levels: int = 2

    def log(self, values: Sequence[Value]) -> Array:
        """Return logarithms; what cannot be one is NaN."""
        raw = _floats(values) + self.shift
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(raw > 0, np.log(raw), np.nan)


@dataclass(frozen=True)
class Word:
    """A feature that is a word, and those that were seen."""

    name: str
    seen: tuple[str, ...]

    def codes(self, values: Sequence[Value]) -> Codes:
        """Return the place of each among those that were seen; -1 for another."""
        places = {word: place for place, word in enumerate(self.seen)}
        return np.array([places.get(str(value), -1) for value in values], dtype=np.int64)


@dataclass(frozen=True)
class Points:
    """Configurations: a row of logarithms and a row of codes for each."""

    logs: Array
    codes: Codes

    def __len__(self) -> int:
        return len(self.logs)

    def __getitem__(self, which: Codes | Flags) -> Points:
        return Points(self.logs[which], self.codes[which])


@dataclass(frozen=True)
class Space:
    """The features of some runs. What was the same in all of them is no feature: `constants` remembers it."""

    numbers: tuple[Number, ...]
    words: tuple[Word, ...]
    constants: Mapping[str, Value] = field(default_factory=dict)

    @classmethod
    def of(cls, runs: Sequence[Observation]) -> Space:
        """Find the features that all runs have, and of what kind each is."""
        names = [name for name in runs[0].values if all(name in run.values for run in runs)] if runs else []
        columns = {name: [run.values[name] for run in runs] for name in names}
        varied = {name: column for name, column in columns.items() if len(set(map(str, column))) > 1}
        numeric = {name for name, column in varied.items() if all(map(is_number, column))}
        return cls(
            tuple(_number(name, column) for name, column in varied.items() if name in numeric),
            tuple(
                Word(name, tuple(sorted(set(map(str, column)))))
                for name, column in varied.items()
                if name not in numeric
            ),
            {name: column[0] for name, column in columns.items() if name not in varied},
        )

    def points(self, values: Sequence[Mapping[str, Value]]) -> Points:
        """Return configurations as the models take them."""
        logs = [number.log([one.get(number.name, np.nan) for one in values]) for number in self.numbers]
        codes = [word.codes([one.get(word.name, "") for one in values]) for word in self.words]
        return Points(
            np.stack(logs, 1) if logs else np.zeros((len(values), 0)),
            np.stack(codes, 1) if codes else np.zeros((len(values), 0), dtype=np.int64),
        )

    @property
    def low(self) -> Array:
        """The least of each number, as logarithms."""
        return np.array([np.log(one.low + one.shift) for one in self.numbers])

    @property
    def high(self) -> Array:
        """The most of each number, as logarithms."""
        return np.array([np.log(one.high + one.shift) for one in self.numbers])

    def placed(self, points: Points) -> Points:
        """Return points that can be counted with: what has no logarithm, as 0 where all were above, lies at the least.

        How far away it is says `beyond`, of the points as they were: as far as can be.
        """
        if not np.isnan(points.logs).any():
            return points
        return Points(np.where(np.isnan(points.logs), self.low, points.logs), points.codes)

    def inside(self, points: Points) -> Points:
        """Return the nearest points within what was seen."""
        return Points(np.clip(points.logs, self.low, self.high), points.codes)

    def beyond(self, points: Points) -> Array:
        """Return how far each point lies outside of what was seen: the logarithms of the factors, added up."""
        away: Array = np.abs(points.logs - np.clip(points.logs, self.low, self.high)).sum(axis=1)
        return np.where(np.isnan(away), np.inf, away)

    @property
    def fewer(self) -> list[int]:
        """Which numbers are features of machines."""
        return [place for place, one in enumerate(self.numbers) if one.name in FEWER]


def _number(name: str, column: Sequence[Value]) -> Number:
    raw = np.unique(_floats(column)).tolist()
    positive = [value for value in raw if value > 0]
    shift = 0.0 if raw[0] > 0 else -raw[0] + (positive[0] if positive else 1.0)
    if raw[0] + shift <= 0:  # the smallest positive number was lost in rounding
        shift = -raw[0] * (1 + ROUNDING)
    return Number(name, raw[0], raw[-1], shift, len(raw))


def _floats(values: Sequence[Value]) -> Array:
    """Return values as numbers; where all of them are, as is usual, none is looked at by itself."""
    are_numbers = set(map(type, values)) <= {int, float}
    return np.fromiter(values if are_numbers else map(_as_number, values), float, len(values))


def is_number(value: object) -> bool:
    """Whether it is a number that a model can count with."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def value_of(given: object) -> Value:
    """Return a parameter as a model takes it: a number, or a word."""
    return given if isinstance(given, int | float) and is_number(given) else str(given)


def _as_number(value: Value) -> float:
    return float("nan") if isinstance(value, str | bool) else float(value)
