"""How long jobs will take, as far as earlier ones of their template tell: the middle of them, and the extremes."""

from __future__ import annotations

import statistics
from functools import partial
from typing import TYPE_CHECKING

from acai_jupyter.contract.plans import Expected

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId
    from acai_jupyter.contract.jobs import CreateJob
    from acai_server.db.work import Work
    from acai_server.engine.protocols import Forecast, Prices

RUNS = 50
"""So many of the last ones are looked at."""


class PastRuns:
    """The forecast of whoever knows nothing of a program but how long it took: on any machine, with any parameters.

    Whoever knows more is asked first.
    """

    def __init__(self, prices: Prices, better: Forecast | None = None) -> None:
        self._prices = prices
        self._better = better

    def expect(self, work: Work, project: ProjectId, template: str, request: CreateJob) -> Expected | None:
        """Return times of earlier jobs, and what the machine that is asked for costs for so long."""
        known = None if self._better is None else self._better.expect(work, project, template, request)
        if known is not None:
            return known
        runs = work.queue.run_seconds(project, template, RUNS)
        if not runs:
            return None
        share = request.resources
        times = statistics.median(runs), min(runs), max(runs)
        paid = [seconds * request.nodes for seconds in times]
        cost = partial(self._prices.cost_usd, share.vcpu, share.memory_bytes, gpus=share.gpus, gpu_type=share.gpu_type)
        costs = [cost(seconds) for seconds in paid]
        middle, low, high = costs
        return Expected(len(runs), *times, middle, low, high)

    def settle(self) -> None:
        """Write down by what was told what a better forecast has told."""
        if self._better is not None:
            self._better.settle()


if TYPE_CHECKING:
    _proof: type[Forecast] = PastRuns
