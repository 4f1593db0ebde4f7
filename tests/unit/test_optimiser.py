"""The machine that is chosen is the one that trying all of them finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.jobs import MIB, ResourceLimits
from acai_server.provisioner.optimiser import Bounds, choose, front_of, grid

if TYPE_CHECKING:
    from acai_server.provisioner.observations import Array

AMOUNTS = st.integers(1, 1000).map(lambda n: n / 10)
MACHINES = st.lists(st.tuples(AMOUNTS, AMOUNTS), min_size=1, max_size=40)
BOUND = st.none() | AMOUNTS


def arrays(machines: list[tuple[float, float]]) -> tuple[Array, Array]:
    found = np.array(machines)
    return found[:, 0], found[:, 1]


def brute(machines: list[tuple[float, float]], max_seconds: float | None, max_usd: float | None) -> int | None:
    """Try all of them."""
    if max_seconds is None and max_usd is None:
        return None
    best: tuple[float, float, int] | None = None
    for place, (seconds, usd) in enumerate(machines):
        if (max_seconds is not None and seconds > max_seconds) or (max_usd is not None and usd > max_usd):
            continue
        score = (usd, seconds, place) if max_seconds is not None else (seconds, usd, place)
        best = score if best is None or score < best else best
    return None if best is None else best[2]


@given(MACHINES, BOUND, BOUND)
def test_the_answer_is_that_of_trying_all(
    machines: list[tuple[float, float]], max_seconds: float | None, max_usd: float | None
) -> None:
    found = choose(*arrays(machines), Bounds(max_seconds, max_usd))
    assert found.chosen == brute(machines, max_seconds, max_usd)


@given(MACHINES, AMOUNTS, AMOUNTS)
def test_more_money_is_never_slower(machines: list[tuple[float, float]], one: float, other: float) -> None:
    less, more = sorted((one, other))
    seconds, usd = arrays(machines)
    found = [choose(seconds, usd, Bounds(max_usd=bound)).chosen for bound in (less, more)]
    if found[0] is not None:
        assert found[1] is not None
        assert seconds[found[1]] <= seconds[found[0]]


@given(MACHINES)
def test_the_front_is_what_nothing_beats(machines: list[tuple[float, float]]) -> None:
    front = front_of(*arrays(machines))
    beaten = [
        any(t <= seconds and c <= usd and (t < seconds or c < usd) for t, c in machines) for seconds, usd in machines
    ]
    assert {machines[place] for place in front} == {one for one, lost in zip(machines, beaten, strict=True) if not lost}
    assert [machines[place][1] for place in front] == sorted(machines[place][1] for place in front)


@given(MACHINES, AMOUNTS)
def test_without_a_machine_within_the_bound_the_nearest_is_named(
    machines: list[tuple[float, float]], bound: float
) -> None:
    seconds, usd = arrays(machines)
    found = choose(seconds, usd, Bounds(max_usd=bound))
    if found.chosen is None:
        assert usd[found.nearest] == usd.min()


@given(MACHINES, AMOUNTS)
def test_neighbours_are_the_next_on_either_side(machines: list[tuple[float, float]], bound: float) -> None:
    seconds, usd = arrays(machines)
    found = choose(seconds, usd, Bounds(max_usd=bound))
    for place in found.neighbours:
        assert found.chosen is not None
        assert seconds[place] < seconds[found.chosen] or usd[place] < usd[found.chosen]


def test_the_grid_is_the_originals() -> None:
    shares = grid(ResourceLimits())
    assert len(shares) == 496
    assert (shares[0], shares[-1]) == ((0.5, 512 * MIB), (8.0, 8192 * MIB))
    assert (2.5, 512 * MIB) in shares


@pytest.mark.parametrize("limits", [ResourceLimits(min_vcpu=1, max_vcpu=1), ResourceLimits(max_memory_bytes=512 * MIB)])
def test_the_grid_keeps_to_the_limits(limits: ResourceLimits) -> None:
    for cpu, memory in grid(limits):
        assert limits.min_vcpu <= cpu <= limits.max_vcpu
        assert limits.min_memory_bytes <= memory <= limits.max_memory_bytes
