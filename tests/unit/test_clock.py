"""The server's clock never goes back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from acai_server.clock import Clock

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@given(st.lists(st.integers(-10_000, 10_000), min_size=1))
def test_it_never_goes_back_whatever_the_machines_clock_does(steps: list[int]) -> None:
    source = iter([NOON + timedelta(seconds=step) for step in [steps[0], *steps]])
    clock = Clock(lambda: next(source), lambda: 0.0)
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


def test_it_goes_by_another_clock_that_tells_another_time() -> None:
    clock, hour, little = Clock(lambda: NOON), timedelta(hours=1), timedelta(seconds=1)
    assert clock.follow(NOON + little, little) == timedelta()
    assert clock.now() == NOON
    assert clock.follow(NOON + hour, little) == hour
    assert clock.now() == NOON + hour
    assert clock.not_before(NOON + 2 * hour) == 3600
    assert clock.follow(NOON + hour, little) == timedelta()


def test_it_goes_on_from_what_it_told_when_the_other_clock_is_replaced_by_one_that_is_behind() -> None:
    machine = Machine()
    clock = Clock(lambda: machine.shown, lambda: machine.ticks)
    clock.follow(NOON + timedelta(hours=1), timedelta())
    before = clock.now()
    assert clock.follow(NOON, timedelta()) == -timedelta(hours=1)
    told = []
    for _ in range(12):
        machine.shown += timedelta(hours=1)
        machine.ticks += 3600
        told.append(clock.now())
    assert [before, *told] == sorted({before, *told})
    assert told[-1] == machine.shown


def test_a_jump_of_the_machines_clock_that_the_other_clock_shows_is_taken_in_once() -> None:
    for jump in (-3600, 3600):
        machine = Machine()
        machine.clock.now()
        machine.ticks += 10
        machine.shown += timedelta(seconds=10 + jump)
        assert machine.clock.follow(NOON + timedelta(seconds=10), timedelta()) == timedelta(seconds=-jump)
        assert machine.clock.now() == NOON + timedelta(seconds=10)


class Machine:
    """A machine whose clock is set by hand, on which time goes by all the same."""

    def __init__(self) -> None:
        self.shown, self.ticks = NOON, 0.0
        self.clock = Clock(lambda: self.shown, lambda: self.ticks)

    def go_on(self, seconds: float, *, set_by: float = 0.0) -> float:
        """Let time pass, and set the clock; returns how much goes by on the clock that is told."""
        before = self.clock.now()
        self.ticks += seconds
        self.shown += timedelta(seconds=seconds + set_by)
        return (self.clock.now() - before).total_seconds()


def test_time_goes_on_at_nearly_its_pace_when_the_machines_clock_is_set_back() -> None:
    machine = Machine()
    assert machine.go_on(10, set_by=-3600) == 10
    for _ in range(10):
        assert 9 <= machine.go_on(10) <= 10
    machine.go_on(36_000)
    assert machine.clock.now() == machine.shown, "it was caught up"
    assert machine.go_on(10) == 10


@given(st.lists(st.tuples(st.integers(0, 100), st.sampled_from([0, 0, 3600, -3600])), max_size=30))
def test_a_clock_that_is_set_back_and_forth_does_not_run_away(steps: list[tuple[int, int]]) -> None:
    machine = Machine()
    newest = machine.shown
    for seconds, set_by in steps:
        gone = machine.go_on(seconds, set_by=set_by)
        newest = max(newest, machine.shown)
        assert 0 <= gone <= seconds + max(0, set_by)
        assert set_by < 0 or gone >= 0.89 * seconds
        assert machine.clock.now() <= newest + timedelta(seconds=sum(one for one, _ in steps))


def test_it_tells_utc() -> None:
    assert Clock().now().utcoffset() == timedelta(0)
