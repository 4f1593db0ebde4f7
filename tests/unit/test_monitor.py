"""The monitor watches what lives without asking the database, and one job's trouble is its own."""

from __future__ import annotations

import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from sqlalchemy import event

from acai_jupyter.contract.errors import StoreFull
from acai_jupyter.contract.states import JobState
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.engine.ends import End, conclude
from acai_server.engine.monitor import ABANDONED_SECONDS, RENEW_SECONDS, Interface, Monitor
from acai_server.testing.lakes import engine_of
from acai_server.testing.stages import HandClock, JobUser, StagedRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_jupyter.contract.ids import JobId
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.db.work import Work
    from acai_server.runners.protocol import Ended


class Watch:
    """A monitor over a stage, with a clock of its own and ears for what it asks."""

    def __init__(self, user: JobUser, **settings: float) -> None:
        self.user = user
        self.seconds = 1000.0
        self.recorded: list[tuple[int, int | None]] = []
        self.has_recorded = threading.Event()
        self.renewed: list[int] = []
        self.starting: set[JobId] = set()
        self.ours = True
        self.fault: Exception | None = None
        interface = Interface(self._record, self._renew, self.starting.__contains__, lambda _: self.ours)
        self.monitor = Monitor(user.database, user.runner, interface, now=lambda: self.seconds, **settings)

    def _record(self, job: StoredJob, attempt: StoredAttempt, ended: Ended, heard: Callable[[Work], None]) -> None:
        if self.fault is not None:
            raise self.fault
        with self.user.database.writing() as work:
            heard(work)
            conclude(work, job.id, attempt.id, End(JobState.CRASHED))
        self.recorded.append((job.number, ended.exit_code))
        self.has_recorded.set()

    def _renew(self, job: StoredJob, attempt: StoredAttempt) -> None:
        del attempt
        self.renewed.append(job.number)

    def look(self) -> bool:
        self.monitor.wake()
        return self.monitor.step()


class SlowToStop(StagedRunner):
    """A runner whose programs take long to end."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.gate, self.done = threading.Event(), threading.Event(), threading.Event()

    def stop(self, attempt: str) -> None:
        self.asked.set()
        assert self.gate.wait(120)
        super().stop(attempt)
        self.done.set()


@contextmanager
def stage(runner: StagedRunner | None = None) -> Iterator[JobUser]:
    time = HandClock()
    with closing(Database("sqlite://", time.clock)) as database:
        schema.migrate(database)
        yield JobUser(database, time, runner or StagedRunner())


@contextmanager
def statements(database: Database) -> Iterator[list[str]]:
    """Collect what is asked of a database."""
    asked: list[str] = []

    def hear(*arguments: object) -> None:
        asked.append(str(arguments[2]))

    engine = engine_of(database)
    event.listen(engine, "before_cursor_execute", hear)
    try:
        yield asked
    finally:
        event.remove(engine, "before_cursor_execute", hear)


def test_a_silent_job_costs_no_question_to_the_database() -> None:
    with stage() as user:
        watch = Watch(user)
        user.submit()
        user.schedule()
        watch.look()
        with statements(user.database) as asked:
            for _ in range(20):
                watch.seconds += 2
                assert not watch.monitor.step()
        assert asked == []
        assert user.runner.listened >= 20


def test_what_began_elsewhere_is_found_after_a_while_without_a_word() -> None:
    with stage() as user:
        watch = Watch(user)
        watch.look()
        number = user.submit()
        user.schedule()
        user.end(number)
        assert not watch.monitor.step()
        watch.seconds += 100
        assert watch.monitor.step()
        assert watch.recorded == [(number, -9)]


def test_who_is_just_being_started_is_not_taken_for_one_that_ended() -> None:
    with stage() as user:
        watch = Watch(user)
        number = user.submit()
        user.schedule()
        with user.database.reading() as work:
            watch.starting.add(work.jobs.find(user.project, number).id)
        user.runner.forget()
        watch.look()
        assert watch.recorded == []
        watch.starting.clear()
        watch.look()
        assert watch.recorded == [(number, None)]


def test_what_another_server_may_be_starting_is_given_time() -> None:
    with stage() as user:
        watch = Watch(user, patience_seconds=30.0)
        number = user.submit()
        user.schedule()
        user.runner.forget()
        watch.look()
        watch.seconds += 29
        watch.look()
        assert watch.recorded == []
        watch.seconds += 2
        watch.look()
        assert watch.recorded == [(number, None)]


def test_attempts_of_another_place_are_left_alone_until_nobody_ends_them_who_was_asked_to() -> None:
    with stage() as user:
        watch = Watch(user)
        watch.ours = False
        number = user.submit()
        user.schedule()
        user.runner.forget()
        watch.look()
        user.kill(number)
        watch.look()
        assert watch.recorded == []
        user.time.pass_by(ABANDONED_SECONDS + 1)
        watch.look()
        assert watch.recorded == [(number, None)]


def test_trouble_with_one_is_tried_again_with_growing_pauses_while_others_end() -> None:
    with stage() as user:
        watch = Watch(user)
        first, second = user.submit(), user.submit()
        user.schedule()
        user.end(first)
        watch.fault = RuntimeError("cannot be recorded")
        watch.look()
        watch.fault = None
        user.end(second)
        watch.look()
        assert watch.recorded == [(second, -9)]
        watch.seconds += 1.1
        watch.look()
        assert watch.recorded == [(second, -9), (first, -9)]


def test_a_full_disk_loses_what_the_attempt_left_and_the_end_is_recorded_later() -> None:
    with stage() as user:
        watch = Watch(user)
        number = user.submit()
        user.schedule()
        user.end(number, 0)
        watch.fault = StoreFull(what="the database")
        watch.look()
        assert user.runner.orders == {}
        watch.fault = None
        watch.seconds += 2
        watch.look()
        assert watch.recorded == [(number, 0)]


def test_what_a_killed_server_did_not_clean_up_is_removed_at_the_next_start() -> None:
    with stage() as user:
        ended, live = user.submit(), user.submit()
        user.schedule()
        watch = Watch(user)
        user.end(ended)
        left = user.runner.orders[user.attempt(ended)]
        watch.look()
        user.runner.orders[left.attempt] = left  # it was killed just before it would have cleaned up
        Watch(user).look()
        assert list(user.runner.orders) == [user.attempt(live)]


def test_launch_documents_are_renewed_while_their_attempts_live() -> None:
    with stage() as user:
        watch = Watch(user)
        number = user.submit()
        user.schedule()
        watch.look()
        assert watch.renewed == []
        for _ in range(2):
            watch.seconds += RENEW_SECONDS + 1
            watch.look()
        assert watch.renewed == [number, number]


def test_stopping_does_not_hold_up_the_monitor() -> None:
    runner = SlowToStop()
    with stage(runner) as user:
        watch = Watch(user)
        number, other = user.submit(), user.submit()
        user.schedule()
        user.kill(number)
        user.end(other)
        watch.look()
        assert runner.asked.wait(120)
        assert watch.recorded == [(other, -9)]
        runner.gate.set()
        assert runner.done.wait(120)
        watch.look()
        assert watch.recorded == [(other, -9), (number, 143)]


def test_a_monitor_that_sleeps_is_woken_by_an_end_and_then_stops() -> None:
    with stage() as user:
        watch = Watch(user, idle_seconds=600.0)
        number = user.submit()
        user.schedule()
        watch.monitor.start()
        user.end(number)
        user.runner.wake()
        assert watch.has_recorded.wait(120)
        watch.monitor.stop()
        assert watch.recorded == [(number, -9)]
