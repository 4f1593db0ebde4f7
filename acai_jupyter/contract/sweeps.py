"""Sweeps: one program over all combinations of some values, as a group of jobs that one tag finds again."""

from __future__ import annotations

from datetime import datetime
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Annotated

import msgspec

from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.jobs import CreateJob, ParameterName
from acai_jupyter.contract.metadata import Value
from acai_jupyter.contract.states import END_STATES, JobState

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

MAX_JOBS = 1000
"""More combinations than this are refused: somebody has mistaken what a product is."""

ParameterValue = str | int | float | bool
SweptValues = Annotated[list[ParameterValue], msgspec.Meta(max_length=100_000)]


class CreateSweep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Submit a job for each combination of values of parameters: all of them, or on any error none."""

    job: CreateJob
    """What all of them have in common."""
    values: Annotated[dict[ParameterName, SweptValues], msgspec.Meta(max_length=100)]
    """The last parameter changes fastest."""


class Sweep(msgspec.Struct, frozen=True):
    """How the jobs of a sweep stand. A sweep is the jobs that have its tag; deleted ones are left out."""

    tag: str
    jobs: list[JobNumber]
    states: dict[JobState, int]
    """How many there are in each state that there is."""
    cost_usd: float = 0.0
    """What their attempts have cost until now, as far as these have ended."""
    goes_on: bool = False
    """Whether further jobs may come: those of a profiling that is not over."""
    sentence: str = ""
    """How a profiling ended."""
    has_failed: bool | None = None
    """Whether a profiling has; of other groups their jobs tell."""

    @property
    def is_over(self) -> bool:
        """Whether all jobs are over, and no further ones come."""
        return not self.goes_on and self.ended == len(self.jobs)

    @property
    def ended(self) -> int:
        """How many are over, for good or bad."""
        return sum(count for state, count in self.states.items() if state in END_STATES)


class SweepRow(msgspec.Struct, frozen=True):
    """One job of a sweep: what it was given, and what became of it."""

    job: JobNumber
    state: JobState
    reason: str
    parameters: dict[str, ParameterValue]
    attributes: dict[str, Value]
    created_at: datetime
    output: str | None = None
    billed_seconds: float | None = None
    """Of its last attempt."""
    cost_usd: float | None = None
    """Of all its attempts."""


class SweepTable(msgspec.Struct, frozen=True):
    """The jobs of a sweep by number. Its columns are what they differ in, and what was attached to any of them."""

    tag: str
    parameters: list[str]
    """Those with more than one value, as they were given; all of them where none has."""
    metrics: list[str]
    """The keys of the attributes that any of them has."""
    rows: list[SweepRow]


def combinations(values: Mapping[str, Sequence[ParameterValue]]) -> Iterator[dict[str, ParameterValue]]:
    """Yield each combination; the last parameter changes fastest."""
    for chosen in product(*values.values()):
        yield dict(zip(values, chosen, strict=True))


def combination(values: Mapping[str, Sequence[ParameterValue]], number: int) -> dict[str, ParameterValue]:
    """Return one of them by its number, without making those before it; beyond the last it goes on from the first."""
    found: dict[str, ParameterValue] = {}
    for name, given in reversed(list(values.items())):
        number, place = divmod(number, len(given))
        found[name] = given[place]
    return dict(reversed(list(found.items())))


def fault(values: Mapping[str, Sequence[ParameterValue]], parameters: Container[str]) -> str:
    """Say what is wrong with values that are to be combined, beside parameters that all jobs have; empty when nothing.

    How long each list is may be anything: a product is counted before it is made.
    """
    if not values:
        return "has nothing to vary"
    for name, given in values.items():
        if not given:
            return f"has no value for {name}"
        if name in parameters:
            return f"varies {name}, which is a parameter of all jobs too"
    count = prod(map(len, values.values()))
    if count > MAX_JOBS:
        lengths = " by ".join(f"{len(given):,}" for given in values.values())
        factors = f" ({lengths})" if len(values) > 1 else ""
        return f"makes {count:,} jobs{factors}; {MAX_JOBS:,} is the most"
    return next(filter(None, map(_twice, values, values.values())), "")


def _twice(name: str, given: Sequence[ParameterValue]) -> str:
    seen: set[tuple[bool, ParameterValue]] = set()
    for value in given:
        if (isinstance(value, bool), value) in seen:
            return f"has the value {value} of {name} twice"
        seen.add((isinstance(value, bool), value))
    return ""
