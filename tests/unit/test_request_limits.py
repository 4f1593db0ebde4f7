"""How many requests one user may make."""

from __future__ import annotations

import pytest

from acai_jupyter.contract.ids import UserId
from acai_server.api.limits import RequestLimits
from acai_server.app import AcaiApp

ANN, BOB = UserId(1), UserId(2)


class Time:
    """Time that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def taken(limits: RequestLimits, user: UserId, tries: int = 100) -> int:
    """Return how many of a number of tries at once are accepted."""
    return [limits.take(user) for _ in range(tries)].count(0.0)


def test_ten_seconds_worth_is_accepted_at_once_and_then_as_many_as_a_second_brings() -> None:
    time = Time()
    limits = RequestLimits(5, time)
    assert taken(limits, ANN) == 50
    for _ in range(3):
        time.now += 1
        assert taken(limits, ANN) == 5
    time.now += 3600
    assert taken(limits, ANN) == 50


def test_a_loop_that_submits_a_thousand_jobs_does_not_meet_the_default() -> None:
    limits = RequestLimits(AcaiApp.requests_per_second.default_value, Time())
    assert taken(limits, ANN, 1000) == 1000
    assert limits.take(ANN) > 0


def test_who_waits_as_long_as_was_said_is_let_through() -> None:
    time = Time()
    limits = RequestLimits(0.5, time)
    assert taken(limits, ANN) == 5
    wait = limits.take(ANN)
    assert wait == pytest.approx(2)
    time.now += wait / 2
    assert limits.take(ANN) == pytest.approx(wait / 2)
    time.now += wait / 2
    assert limits.take(ANN) == 0


def test_users_do_not_take_from_each_other() -> None:
    limits = RequestLimits(5, Time())
    assert (taken(limits, ANN), taken(limits, BOB)) == (50, 50)


def test_without_a_limit_all_go() -> None:
    assert taken(RequestLimits(), ANN, 1000) == 1000


def test_idle_connections_are_kept_longer_than_proxies_keep_theirs() -> None:
    proxies_seconds = 75  # nginx; Amazon's and Google's load balancers have 60
    assert AcaiApp.header_timeout_seconds.default_value > proxies_seconds
