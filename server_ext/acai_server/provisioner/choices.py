"""What is chosen among machines by what is said of runs on them: of those that can be had, and of all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from acai_server.provisioner.optimiser import Bounds, Choice, choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_jupyter.contract.profiles import Prediction, ProvisionJob
    from acai_server.provisioner.observations import Array


@dataclass(frozen=True)
class Options:
    """What is chosen among predictions for machines that can be had, and whether one would have been that cannot."""

    wanted: ProvisionJob
    said: Sequence[Prediction]
    of_too_large: Sequence[Prediction]

    @cached_property
    def _found(self) -> Choice:
        return self._among(self.said)

    @property
    def chosen(self) -> Prediction | None:
        """The machine to take; none where nothing is within the bounds, or known well enough."""
        place = self._found.chosen
        return None if place is None or self.said[place].is_vague else self.said[place]

    @property
    def nearest(self) -> Prediction:
        """The one that is chosen or comes closest."""
        return self.said[self._found.nearest if self._found.chosen is None else self._found.chosen]

    @property
    def neighbours(self) -> list[Prediction]:
        """The next that is faster, and the next that is cheaper."""
        return [self.said[place] for place in self._found.neighbours]

    @property
    def front(self) -> list[Prediction]:
        """Those than which none is both faster and cheaper."""
        return [self.said[place] for place in self._found.front]

    @property
    def larger(self) -> Prediction | None:
        """What would have been chosen among all."""
        if not self.of_too_large:
            return None
        place = self._among([*self.said, *self.of_too_large]).chosen
        found = None if place is None or place < len(self.said) else self.of_too_large[place - len(self.said)]
        return None if found is None or found.is_vague else found

    def _among(self, said: Sequence[Prediction]) -> Choice:
        bounds = Bounds(self.wanted.max_seconds, self.wanted.max_cost_usd)
        return choose(*counted(said, sure=self.wanted.confidence is not None), bounds)


def counted(said: Sequence[Prediction], *, sure: bool) -> tuple[Array, Array]:
    """Return times and costs as they count: the upper ends where one wants to be sure."""
    if sure:
        return np.array([one.high_seconds for one in said]), np.array([one.high_cost_usd for one in said])
    return np.array([one.seconds for one in said]), np.array([one.cost_usd for one in said])
