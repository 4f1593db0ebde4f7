"""The server's clock never goes back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from acai_server.clock import ACCEPTED_AFTER, JUMP, Clock

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


YEARS = 10 * 365 * 86_400


def test_a_jump_of_years_is_not_followed_and_is_over_when_the_clock_is_right_again() -> None:
    machine = Machine()
    machine.go_on(10)
    assert machine.go_on(10, set_by=YEARS) == 10
    doubt = machine.clock.doubt
    assert doubt is not None
    assert (doubt.since, doubt.shown) == (NOON + timedelta(seconds=20), machine.shown)
    assert machine.go_on(3600) == 3600
    assert machine.clock.now() == NOON + timedelta(seconds=3620)
    assert machine.go_on(10, set_by=-YEARS) == 10
    assert machine.clock.doubt is None
    assert machine.clock.now() == machine.shown == NOON + timedelta(seconds=3630)


def test_a_clock_that_is_set_right_a_little_differently_is_followed_as_always() -> None:
    for error in (-600, 600):
        machine = Machine()
        machine.go_on(10, set_by=YEARS)
        assert machine.go_on(10, set_by=error - YEARS) == 10 + max(error, 0)
        machine.go_on(36_000)
        assert machine.clock.now() == machine.shown


def test_a_jump_that_stands_for_a_week_of_running_is_followed() -> None:
    machine = Machine()
    machine.go_on(10)
    machine.go_on(10, set_by=YEARS)
    machine.go_on(ACCEPTED_AFTER.total_seconds() - 60)
    assert machine.clock.now() < NOON + timedelta(days=8)
    machine.go_on(60)
    assert machine.clock.now() == machine.shown
    assert machine.clock.doubt is None


def test_hours_in_which_a_virtual_machine_was_paused_are_no_jump() -> None:
    machine = Machine()
    machine.go_on(10)
    assert machine.go_on(10, set_by=20 * 3600) == 10 + 20 * 3600
    assert machine.clock.doubt is None


@given(st.lists(st.tuples(st.integers(0, 100_000), st.sampled_from([0, 0, YEARS, -YEARS, 3600, -3600])), max_size=30))
def test_time_never_goes_back_and_a_jump_never_shows(steps: list[tuple[int, int]]) -> None:
    machine = Machine()
    machine.clock.now()
    for seconds, set_by in steps:
        gone = machine.go_on(seconds, set_by=set_by)
        assert gone >= 0
        assert gone <= seconds + JUMP.total_seconds() or machine.ticks >= ACCEPTED_AFTER.total_seconds()


def test_a_jump_of_the_databases_clock_is_not_followed_either() -> None:
    machine = Machine()
    machine.clock.follow(NOON + timedelta(hours=1), timedelta())
    machine.go_on(10)
    machine.clock.follow(machine.shown + timedelta(hours=1, days=3650), timedelta())
    assert machine.go_on(10) == 10
    assert machine.clock.doubt is not None
    machine.clock.follow(machine.shown + timedelta(hours=1), timedelta())
    assert machine.clock.now() == machine.shown + timedelta(hours=1)
    assert machine.clock.doubt is None


def test_it_goes_on_from_a_mark_and_in_doubt() -> None:
    machine = Machine()
    machine.clock.now()
    machine.clock.resume(NOON - timedelta(days=800), NOON - timedelta(days=801))
    assert machine.clock.now() == NOON - timedelta(days=800)
    assert machine.go_on(60) == 60
    machine.go_on(6 * 86_400)
    assert machine.clock.now() == machine.shown, "a day of the week in which it stood was before"
