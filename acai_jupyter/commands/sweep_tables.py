"""How a sweep stands, in a line; and its jobs as a table of parameters and metrics, the best one marked."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.commands import markup
from acai_jupyter.commands.metadata import shown as value_shown
from acai_jupyter.commands.tables import Table, table
from acai_jupyter.commands.units import money
from acai_jupyter.contract.errors import NotFound
from acai_jupyter.contract.metadata import Found, FoundPage
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.states import JobState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acai_jupyter.contract.sweeps import Sweep, SweepRow, SweepTable

KEPT_ROWS = 100
"""So many jobs of a sweep a notebook keeps."""
_LOWER_IS_BETTER = re.compile(
    r"(?:\A|[_.-])(?:loss|err|error|mse|rmse|mae|perplexity|seconds|bytes|usd)(?:\Z|[_.-])", re.IGNORECASE
)
_BEST = " · best"


def line(sweep: Sweep) -> str:
    """Say how many jobs are in which state, and what they have cost."""
    said = _line(sweep.tag, len(sweep.jobs), sweep.states, sweep.cost_usd)
    return f"{said} · {sweep.sentence}" if sweep.sentence else said


def shown(found: SweepTable) -> Shown:
    """Return the table as plain text and HTML."""
    return Shown(found)


def snapshot(found: SweepTable, project: str) -> dict[str, Any]:
    """Return what a notebook keeps for our own view: which jobs they are, and how they stood."""
    kept = msgspec.structs.replace(found, rows=found.rows[:KEPT_ROWS])
    return {"project": project, "count": len(found.rows), "table": msgspec.to_builtins(kept)}


class Shown(Table):
    """The jobs in rows. The best by the first metric is marked."""

    def __init__(self, found: SweepTable) -> None:
        super().__init__(_page(found))
        self._found = found
        self._metric = _metric(found)
        self._best = None
        if self._metric is not None:
            self._best = best(found, self._metric, lowest=_is_better_low(self._metric))

    def headline(self) -> str:
        """Say how all of them stand, and which is best."""
        states = Counter(row.state for row in self._found.rows)
        cost = sum(row.cost_usd or 0.0 for row in self._found.rows)
        said = _line(self._found.tag, len(self._found.rows), states, cost)
        if self._best is None or self._metric is None:
            return said
        value = value_shown(self._metric, self._best.attributes[self._metric])
        return f"{said} · best by {self._metric}: job {self._best.job} ({value})"

    def _repr_html_(self) -> str:
        caption, rest = self.headline(), "".join(self._rest())
        return markup.table(caption, self.columns, self._cells(), rest, self._sides)

    def _cells(self) -> list[list[str]]:
        cells = super()._cells()
        if self._best is None or self._metric is None:
            return cells
        column = self.columns.index(self._metric)
        for row, seen in zip(self._found.rows, cells, strict=False):
            if row is self._best:
                seen[column] += _BEST
        return cells


def frame(found: SweepTable) -> Any:
    """Return a DataFrame when pandas is there, else a table with the same columns."""
    return table(_page(found))


def best(found: SweepTable, metric: str, *, lowest: bool) -> SweepRow:
    """Return the finished job with the highest or lowest value of a metric; of several the first."""
    rows = [row for row in found.rows if row.state is JobState.FINISHED and _number(row, metric) is not None]
    if not rows:
        others = [key for key in found.metrics if any(_number(row, key) is not None for row in found.rows)]
        have = f" What they have: {', '.join(others)}." if others else ""
        raise NotFound(f"No finished job of {found.tag} has a number '{metric}'.{have}")
    sign = 1 if lowest else -1
    return min(rows, key=lambda row: sign * (_number(row, metric) or 0.0))


def _line(tag: str, count: int, states: Mapping[JobState, int], cost_usd: float) -> str:
    each = ", ".join(f"{states[state]} {state.value}" for state in JobState if states.get(state))
    parts = [tag, f"{count} job{'s' if count > 1 else ''}", each]
    return " · ".join([*parts, *([money(cost_usd)] if cost_usd else [])])


def _metric(found: SweepTable) -> str | None:
    """The first attribute of which finished jobs have numbers that differ; what replays and sweeps add is none."""
    for key in found.metrics:
        values = {_number(row, key) for row in found.rows if row.state is JobState.FINISHED} - {None}
        if len(values) > 1:
            return key
    return None


def _is_better_low(metric: str) -> bool:
    return _LOWER_IS_BETTER.search(metric) is not None


def _number(row: SweepRow, metric: str) -> float | None:
    value = row.attributes.get(metric)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _page(found: SweepTable) -> FoundPage:
    """Their columns as those of a search; a metric that is called like a parameter stands apart from it."""
    named = {name: f"params.{name}" if name in found.metrics else name for name in found.parameters}
    columns = [*named.values(), "state", *found.metrics, "billed_seconds", "cost_usd", "output"]
    rows = [
        Found(
            str(row.job),
            [
                *(row.parameters.get(name) for name in named),
                _state(row),
                *(row.attributes.get(key) for key in found.metrics),
                row.billed_seconds,
                row.cost_usd,
                row.output,
            ],
        )
        for row in found.rows
    ]
    return FoundPage(SubjectKind.JOB, columns, rows)


def _state(row: SweepRow) -> str:
    is_plain = row.state is JobState.FINISHED or not row.reason
    return row.state.value if is_plain else f"{row.state.value} ({row.reason})"
