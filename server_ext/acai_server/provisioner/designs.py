"""Which runs to make so that a model knows most for the money.

A plain picture of what is not known yet, powers and products of the numbers with prior doubts, is enough to choose by;
what is said of run times afterwards is for the models.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from acai_server.provisioner import models
from acai_server.provisioner.observations import Observation, Space

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from acai_server.provisioner.observations import Array, Points, Value

    Values = Mapping[str, Value]

DOUBTS = {0: 100.0, 1: 1.0, 2: 0.4}
"""Prior variances of the level, of an exponent over the whole range, and of its bends."""
NOISE = 0.002
LEAST_RUNS = 6
THRIFT = 0.2
"""How much money counts beside what is learned: 1 is all for the dollar, 0 all for the run."""
NARROW = 1.3
"""So far apart may the ends of the interval be where it matters."""
NARROW_FOR = 3
"""So many runs in a row it has to be narrow: a single one may be so by chance."""
STEADY_FOR = 5
STEADY = 0.95
"""When so many further runs leave so much of the interval, it is the program that scatters."""


@dataclass(frozen=True)
class Choice:
    """What to run, and where it has to be known how long it takes."""

    candidates: Sequence[Values]
    interests: Sequence[Values]
    thrift: float = THRIFT

    def next(self, runs: Sequence[Observation], usd_per_second: Array) -> int | None:
        """Return the candidate that takes most doubt away per dollar; None when all have been run."""
        space, terms, doubts = self._picture()
        left = [place for place, one in enumerate(self.candidates) if not any(one == run.values for run in runs)]
        if not left:
            return None
        if not runs:
            return self._first(space)
        known = terms(space.points([run.values for run in runs]))
        covariance = np.linalg.inv(np.diag(1 / doubts) + known.T @ known / NOISE)
        these = terms(space.points([self.candidates[place] for place in left]))
        aims = terms(space.points(self.interests))
        across = these @ covariance
        gains = ((across @ aims.T) ** 2).sum(axis=1) / (NOISE + (across * these).sum(axis=1))
        costs = self._seconds(runs, left) * usd_per_second[left]
        return left[int(np.argmax(gains / costs**self.thrift))]

    def verdict(self, runs: Sequence[Observation]) -> str:
        """Say why no further run is wanted, after these, the newest last; empty while one is."""
        widths = [self._width(runs[: len(runs) - fewer]) for fewer in range(NARROW_FOR)]
        if max(widths) <= NARROW:
            return "the interval is narrow enough"
        left = sum(all(one != run.values for run in runs) for one in self.candidates)
        if len(runs) >= left and math.log(widths[0]) > STEADY * math.log(self._width(runs[:-STEADY_FOR])):
            return "further ones hardly narrow the interval: the times scatter so much by themselves"
        return ""

    def _width(self, runs: Sequence[Observation]) -> float:
        """How far apart the ends of the interval are in three quarters of what matters."""
        model = models.fit(runs) if len(runs) >= LEAST_RUNS else None
        if model is None:
            return math.inf
        said = model.predict(self.interests)
        return float(np.quantile(said.high / said.low, 0.75))

    def _first(self, space: Space) -> int:
        """The least of everything: nothing is known of what it costs."""
        points = space.points(self.candidates)
        size = points.logs.sum(axis=1) - 2 * points.logs[:, space.fewer].sum(axis=1)
        return int(np.argmin(size))

    def _seconds(self, runs: Sequence[Observation], which: Sequence[int]) -> Array:
        """What candidates will probably take: as long as the nearest runs while there is no model."""
        asked = [self.candidates[place] for place in which]
        model = models.fit(runs)
        if model is not None:
            return model.predict(asked).seconds
        longest = max(run.seconds for run in runs)
        space = Space.of([*runs, *(Observation(one, 1.0) for one in asked)])
        least = space.points([run.values for run in runs]).logs.min(axis=0)
        factors: Array = np.exp(np.maximum(space.points(asked).logs - least, 0.0).sum(axis=1))
        return longest * factors

    def _picture(self) -> tuple[Space, Callable[[Points], Array], Array]:
        space = Space.of([Observation(one, 1.0) for one in [*self.candidates, *self.interests]])
        middle, half = (space.low + space.high) / 2, np.maximum((space.high - space.low) / 2, 1e-9)
        many = len(space.numbers)
        powers = [one for n in (1, 2) for one in combinations_with_replacement(range(many), n)]
        words = [(place, code) for place, word in enumerate(space.words) for code in range(len(word.seen))]

        def terms(points: Points) -> Array:
            points = space.placed(points)
            scaled = (points.logs - middle) / half
            columns = [np.ones(len(points)), *(np.prod(scaled[:, one], axis=1) for one in powers)]
            columns += [(points.codes[:, place] == code).astype(float) for place, code in words]
            return np.stack(columns, 1)

        doubts = [DOUBTS[0], *(DOUBTS[len(one)] for one in powers), *(DOUBTS[1] for _ in words)]
        return space, terms, np.array(doubts)
