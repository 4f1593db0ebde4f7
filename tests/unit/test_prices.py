"""The price book gives the sums of the original's tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_server.provisioner.prices import PriceBook

MIB = 1024**2
BOOK = PriceBook()
VCPUS = st.sampled_from([half / 2 for half in range(1, 17)])
MEMORIES = st.sampled_from([quarter * 256 * MIB for quarter in range(2, 33)])
SECONDS = st.floats(0, 10**6)


@pytest.mark.parametrize(
    ("vcpu", "mib", "minutes", "usd"),
    [(7.5, 3584, 16.6, 0.08837), (8, 3328, 37.4, 0.21800), (2.5, 512, 140.4, 0.15946)],
)
def test_known_machines_cost_what_they_are_known_to_cost(vcpu: float, mib: int, minutes: float, usd: float) -> None:
    assert BOOK.cost_usd(vcpu, mib * MIB, minutes * 60) == pytest.approx(usd, abs=0.000005)


@given(VCPUS, MEMORIES, SECONDS)
def test_more_of_anything_never_costs_less(vcpu: float, memory: int, seconds: float) -> None:
    cost = BOOK.cost_usd(vcpu, memory, seconds)
    assert cost >= 0
    assert BOOK.cost_usd(vcpu + 0.5, memory, seconds) >= cost
    assert BOOK.cost_usd(vcpu, memory + 256 * MIB, seconds) >= cost
    assert BOOK.cost_usd(vcpu, memory, seconds + 1) > cost


@given(VCPUS, MEMORIES, SECONDS)
def test_a_machine_of_twice_the_size_costs_at_least_twice_as_much(vcpu: float, memory: int, seconds: float) -> None:
    twice = BOOK.cost_usd(vcpu * 2, memory * 2, seconds)
    assert twice >= 2 * BOOK.cost_usd(vcpu, memory, seconds) * (1 - 1e-12)


def test_the_unit_price_doubles_from_the_smallest_machine_to_the_largest() -> None:
    hour = 3600
    small = BOOK.cost_usd(0.5, 0, hour) / 0.5
    assert BOOK.cost_usd(8, 0, hour) / 8 == pytest.approx(2 * small)


def test_no_time_costs_nothing() -> None:
    assert BOOK.cost_usd(8, 8192 * MIB, 0) == 0
