"""How many requests one user may make."""

from __future__ import annotations

import pytest

from acai_jupyter.contract.ids import UserId
from acai_server.api.limits import RequestLimits

ANN, BOB = UserId(1), UserId(2)


class Time:
    """Time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def taken(limits: RequestLimits, user: UserId, tries: int = 100) -> int:
    """How many of so many tries at once are let through."""
    return [limits.take(user) for _ in range(tries)].count(0.0)


def test_twice_as_many_as_a_second_brings_go_at_once_and_then_as_many_as_it_brings() -> None:
    time = Time()
    limits = RequestLimits(5, time)
    assert taken(limits, ANN) == 10
    for _ in range(3):
        time.now += 1
        assert taken(limits, ANN) == 5
    time.now += 3600
    assert taken(limits, ANN) == 10


def test_who_waits_as_long_as_was_said_is_let_through() -> None:
    time = Time()
    limits = RequestLimits(0.5, time)
    assert taken(limits, ANN) == 1
    wait = limits.take(ANN)
    assert wait == pytest.approx(2)
    time.now += wait / 2
    assert limits.take(ANN) == pytest.approx(wait / 2)
    time.now += wait / 2
    assert limits.take(ANN) == 0


def test_users_do_not_take_from_each_other() -> None:
    limits = RequestLimits(5, Time())
    assert (taken(limits, ANN), taken(limits, BOB)) == (10, 10)


def test_without_a_limit_all_go() -> None:
    assert taken(RequestLimits(), ANN, 1000) == 1000
