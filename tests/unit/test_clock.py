"""The server's clock never goes back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from acai_server.clock import Clock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@given(st.lists(st.integers(-10_000, 10_000), min_size=1))
def test_it_never_goes_back_whatever_the_machines_clock_does(steps: list[int]) -> None:
    source = iter([NOON + timedelta(seconds=step) for step in steps])
    clock = Clock(lambda: next(source))
    told = [clock.now() for _ in steps]
    assert told == sorted(told)
    assert told[-1] == NOON + timedelta(seconds=max(steps))


def test_it_goes_on_from_what_is_written_down() -> None:
    clock = Clock(lambda: NOON)
    assert clock.not_before(NOON + timedelta(hours=1)) == 3600
    assert clock.now() == NOON + timedelta(hours=1)


def test_an_older_record_means_nothing() -> None:
    clock = Clock(lambda: NOON)
    assert clock.not_before(NOON - timedelta(hours=1)) == 0
    assert clock.now() == NOON


def test_it_tells_utc() -> None:
    assert Clock().now().utcoffset() == timedelta(0)
