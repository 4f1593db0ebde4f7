"""What a job that waits is owed, whatever the database: its turn, and a word on why and until when."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec
import pytest

from acai_jupyter.contract.jobs import Resources
from acai_jupyter.contract.states import JobState
from acai_server.testing.databases import at_once

if TYPE_CHECKING:
    from datetime import datetime

    from acai_server.engine.service import Engine
    from acai_server.testing.stages import JobUser


class QueueSuite:
    """Who comes next, how many at once, and why one waits."""

    @pytest.fixture
    def user(self) -> JobUser:
        raise NotImplementedError

    def test_jobs_start_by_priority_and_then_as_they_came(self, user: JobUser) -> None:
        first, urgent, second = user.submit(), user.submit(priority=5), user.submit()
        assert _numbers(user.schedule()) == [urgent, first, second]

    def test_a_user_holds_no_more_than_the_quota(self, user: JobUser) -> None:
        numbers = [user.submit() for _ in range(6)]
        assert _numbers(user.schedule()) == numbers[:4]
        user.finish(numbers[1])
        user.look()
        assert _numbers(user.schedule()) == numbers[4:5]

    def test_a_quota_of_ones_own_goes_before_the_setting(self, user: JobUser) -> None:
        _set_quota(user, 1)
        numbers = [user.submit() for _ in range(2)]
        assert _numbers(user.schedule()) == numbers[:1]
        assert "1 at once is the quota" in _why(user, numbers[1])
        _set_quota(user, 0)
        other = user.submit()
        assert "quota is 0" in _why(user, other)

    def test_users_take_turns(self, user: JobUser) -> None:
        user.runner.size = msgspec.structs.replace(user.runner.size, cpus=1)
        her = user.beside("her")
        mine, hers = [user.submit() for _ in range(3)], [her.submit() for _ in range(3)]
        order = []
        for _ in range(6):
            (number,) = _numbers(user.schedule())
            order.append(number)
            user.finish(number)
            user.look()
        assert order == [mine[0], hers[0], mine[1], hers[1], mine[2], hers[2]]

    def test_every_waiting_job_says_why_and_where_it_is(self, user: JobUser) -> None:
        numbers = [user.submit() for _ in range(6)]
        assert _why(user, numbers[0]) == "It is about to start."
        assert _why(user, numbers[1]) == "It waits for its turn. 1 job of the same user is before it."
        user.schedule()
        job = user.job(numbers[5])
        assert job.waiting is not None
        assert (job.waiting.place, job.waiting.starts_at) == (2, None)
        assert "4 at once is the quota" in job.waiting.sentence
        assert f"jobs {numbers[0]}, {numbers[1]}, {numbers[2]} and 1 more are at work" in job.waiting.sentence
        assert job.waiting.sentence.endswith("1 job of the same user is before it.")

    def test_a_job_without_room_says_what_is_missing_and_who_holds_it(self, user: JobUser) -> None:
        large = user.submit(resources=Resources(60))
        user.schedule()
        waiting = user.submit(resources=Resources(8))
        user.schedule()
        why = _why(user, waiting)
        assert "it asks for 8 vCPU and 4 of 64 are free" in why
        assert f"What holds it: job {large}." in why
        other = user.beside("her")
        beside = other.submit()
        assert _why(user, beside) == "It is about to start."

    def test_a_live_job_waits_for_nothing(self, user: JobUser) -> None:
        number = user.submit()
        user.schedule()
        assert user.job(number).waiting is None

    def test_when_a_job_will_start_is_told_from_earlier_runs(self, user: JobUser) -> None:
        _set_quota(user, 1)
        for seconds in (90.0, 100.0, 500.0):
            user.run(user.submit(), billed_seconds=seconds)
        running, next_one, last = (user.submit() for _ in range(3))
        user.schedule()
        user.time.pass_by(30)
        began = user.job(running).attempts[0].transitions[0].at
        for number, seconds in ((next_one, 100), (last, 200)):
            waiting = user.job(number).waiting
            assert waiting is not None
            assert waiting.starts_at is not None
            assert (waiting.starts_at - began).total_seconds() == pytest.approx(seconds, abs=1)

    def test_when_jobs_will_start_is_told_as_it_then_happens(self, user: JobUser) -> None:
        """Two users, a machine that is full before any quota is, and jobs that last as long as those before them."""
        lasting, sizes = {"short": 10.0, "long": 25.0}, {"short": 1.0, "long": 2.0}
        for template, seconds in lasting.items():
            user.run(user.submit(template=template), billed_seconds=seconds)
        user.runner.size = msgspec.structs.replace(user.runner.size, cpus=3)
        her = user.beside("her")
        began: dict[int, datetime] = {}
        ends: dict[int, datetime] = {}
        wanted = [(user, "long"), (her, "short"), (user, "short"), (her, "long"), (user, "short"), (her, "short")]
        wanted += [(user, "long"), (user, "short"), (her, "short")]
        jobs = {one.submit(template=name, resources=Resources(sizes[name])): name for one, name in wanted}

        def begin() -> None:
            for job in _numbers(user.schedule()):
                began[job] = user.time.moment
                ends[job] = user.time.moment + timedelta(seconds=lasting[jobs[job]])

        begin()
        told = {job: _starts_at(user, job) for job in jobs if job not in began}
        while ends:
            ending = min(ends, key=lambda job: (ends[job], job))
            user.time.pass_by(max(0.0, (ends.pop(ending) - user.time.moment).total_seconds()))
            user.finish(ending)
            user.look()
            begin()
        assert len(told) == 7
        late = {job: at and (began[job] - at).total_seconds() for job, at in told.items()}
        assert late == pytest.approx(dict.fromkeys(told, 0.0), abs=1)

    def test_when_a_job_will_start_is_not_told_where_that_is_not_known(self, user: JobUser) -> None:
        user.run(user.submit(template="known"), billed_seconds=10.0)
        user.runner.size = msgspec.structs.replace(user.runner.size, cpus=2)
        her = user.beside("her")
        her.submit(template="unknown")
        user.submit(template="known")
        user.schedule()
        waits = user.submit(template="known")
        assert _starts_at(user, waits) is None, "the other user's job may end before, or have more after it"
        user.runner.size = msgspec.structs.replace(user.runner.size, cpus=64)
        _set_quota(user, 1)
        assert _starts_at(user, waits) is not None, "there is room, so that other users do not matter"
        user.time.pass_by(11)
        assert _starts_at(user, waits) is None, "it takes longer than any before it"

    def test_two_servers_scheduling_together_start_nothing_twice_and_keep_the_quota(self, user: JobUser) -> None:
        numbers = [user.submit() for _ in range(20)]
        her = user.beside("her")
        hers = [her.submit() for _ in range(3)]
        engines: list[Engine] = [user.another_engine() for _ in range(3)]

        def schedule(number: int) -> None:
            while engines[number].scheduler.step():
                pass

        finished: list[int] = []
        while len(finished) < len(numbers) + len(hers):
            at_once(3, schedule)
            live = [job for job in [*numbers, *hers] if user.job(job).state is JobState.LAUNCHING]
            assert len([job for job in live if job in numbers]) <= 4
            for number in live:
                user.finish(number)
            with ThreadPoolExecutor(3) as pool:
                list(pool.map(lambda engine: (engine.monitor.wake(), engine.monitor.step()), engines))
            finished += live
        assert sorted(_numbers(user.runner.started)) == sorted([*numbers, *hers])
        assert len(set(user.runner.started)) == len(user.runner.started)
        assert set(user.states(*numbers, *hers)) == {"finished"}


def _numbers(attempts: list[str]) -> list[int]:
    return [int(name.split("-")[2]) for name in attempts]


def _why(user: JobUser, number: int) -> str:
    waiting = user.job(number).waiting
    assert waiting is not None
    return waiting.sentence


def _starts_at(user: JobUser, number: int) -> datetime | None:
    waiting = user.job(number).waiting
    assert waiting is not None
    return waiting.starts_at


def _set_quota(user: JobUser, quota: int) -> None:
    with user.database.connect() as connection:
        of_user = f"user_id = {user.user} AND project_id = {user.project}"
        connection.exec_driver_sql(f"UPDATE membership SET quota = {quota} WHERE {of_user}")  # noqa: S608 (numbers of ours)
        connection.commit()
