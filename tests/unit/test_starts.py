"""Starting several attempts at a time: in turn, no more than there is room for, and one that fails harms no other."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.errors import Unavailable
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.engine.starts import Starts
from acai_server.testing.stages import HandClock, JobUser, StagedRunner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_server.runners.protocol import Order

PATIENCE_SECONDS = 60


def test_with_room_for_one_it_is_done_by_who_asks() -> None:
    done_by: list[threading.Thread] = []
    Starts(1).do(lambda: done_by.append(threading.current_thread()))
    assert done_by == [threading.current_thread()]


def test_several_are_done_at_once_and_stopping_waits_for_them() -> None:
    starts, together = Starts(3), threading.Barrier(3)
    met: list[int] = []
    for number in range(3):
        starts.do(lambda number=number: met.append(number + 0 * together.wait(PATIENCE_SECONDS)))  # type: ignore[misc]
    starts.stop()
    assert sorted(met) == [0, 1, 2]


def test_one_that_breaks_gives_its_room_back(caplog: pytest.LogCaptureFixture) -> None:
    def breaks() -> None:
        raise ZeroDivisionError

    starts, done = Starts(2), threading.Event()
    for _ in range(5):
        starts.do(breaks)
    starts.do(done.set)
    assert done.wait(PATIENCE_SECONDS)
    starts.stop()
    assert caplog.messages == ["A job could not be started."] * 5


class SlowToStart(StagedRunner):
    """A runner whose starts wait for a test."""

    starts_at_once = 2

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Semaphore(0)
        self.gate = threading.Semaphore(0)
        self.begun: list[str] = []

    def start(self, order: Order) -> None:
        self.begun.append(order.attempt)
        self.asked.release()
        assert self.gate.acquire(timeout=PATIENCE_SECONDS)
        super().start(order)


@pytest.fixture
def user() -> Iterator[JobUser]:
    time = HandClock()
    with closing(Database("sqlite://", time.clock)) as database:
        schema.migrate(database)
        yield JobUser(database, time, SlowToStart(), quota=2)


def slow(user: JobUser) -> SlowToStart:
    assert isinstance(user.runner, SlowToStart)
    return user.runner


def test_jobs_that_start_at_once_keep_to_the_quota_and_are_not_taken_for_lost(user: JobUser) -> None:
    runner, numbers = slow(user), [user.submit() for _ in range(3)]
    while user.engine.scheduler.step():
        pass
    assert runner.asked.acquire(timeout=PATIENCE_SECONDS)
    assert runner.asked.acquire(timeout=PATIENCE_SECONDS)
    user.look()
    assert user.states(*numbers) == ["launching", "launching", "queued"]
    runner.gate.release(2)
    user.engine.stop()
    assert sorted(runner.started) == sorted(runner.begun) == [user.attempt(number) for number in numbers[:2]]
    user.look()
    assert user.states(*numbers) == ["launching", "launching", "queued"]


def test_a_start_that_fails_aside_gives_its_place_to_the_next(user: JobUser) -> None:
    runner, numbers = slow(user), [user.submit(), user.submit()]
    runner.fault = Unavailable(reason="nobody is there")
    while user.engine.scheduler.step():
        pass
    runner.gate.release(2)
    user.engine.stop()
    assert [user.job(number).attempts[0].transitions[-1].state.value for number in numbers] == ["crashed", "crashed"]
    assert runner.started == []
