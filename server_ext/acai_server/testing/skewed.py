"""What the engine owes to whoever submits while the clocks of two servers over one database differ by an hour."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.states import JobState
from acai_server.testing.databases import at_once

if TYPE_CHECKING:
    from acai_jupyter.contract.jobs import Job
    from acai_server.testing.stages import JobUser

Pair = tuple["JobUser", "JobUser"]


class SkewSuite:
    """Derive from this with a fixture `pair`: a user at two servers, of which the second's clock is an hour behind."""

    @pytest.fixture
    def pair(self) -> Pair:
        raise NotImplementedError

    def test_jobs_are_started_and_ended_once_whoever_looks_and_no_time_runs_backwards(self, pair: Pair) -> None:
        numbers = [pair[which % 2].submit() for which in range(6)]
        for user in pair:
            user.quota = len(numbers)
        started = at_once(2, lambda which: pair[which].schedule())
        pair[0].schedule()
        pair[1].schedule()
        first, second = pair
        began = [name for names in started for name in names]
        assert len(set(first.runner.started)) == len(first.runner.started) == 4
        assert began
        for number in numbers:
            pair[number % 2].schedule()
            first.say(number, state="downloading")
            pair[number % 2].look()
            first.say(number, state="running")
            pair[(number + 1) % 2].look()
            first.finish(number, run_seconds=3.0, billed_seconds=5.0)
            second.time.pass_by(5.0)
            at_once(2, lambda which: pair[which].look())
        for number in numbers:
            seen = {self._sound(user.job(number)) for user in pair}
            assert seen == {(JobState.FINISHED, 1)}
            assert first.events(number).count("finished") == 1

    def test_what_waits_for_a_moment_comes_when_the_server_that_is_behind_is_alone(self, pair: Pair) -> None:
        ahead, behind = pair
        number = ahead.submit(retries=1)
        ahead.schedule()
        ahead.end(number)
        ahead.look()
        assert ahead.job(number).state is JobState.QUEUED
        behind.time.pass_by(3600 + 600)
        behind.schedule()
        behind.finish(number)
        behind.look()
        assert self._sound(behind.job(number)) == (JobState.FINISHED, 2)

    def test_in_step_with_one_another_they_bill_what_it_took(self, pair: Pair) -> None:
        """As `InStep` keeps them, here by the first one's clock."""
        first, second = pair
        number = first.submit()
        second.time.clock.follow(first.time.clock.now(), timedelta(seconds=0.5))
        first.schedule()
        first.say(number, state="downloading")
        second.look()
        first.finish(number, run_seconds=3.0, billed_seconds=5.0)
        second.time.pass_by(5.0)
        second.look()
        job = second.job(number)
        assert self._sound(job) == (JobState.FINISHED, 1)
        assert job.attempts[0].billed_seconds == 5.0

    def _sound(self, job: Job) -> tuple[JobState, int]:
        """What became of a job, whose moments follow one another."""
        moments = [job.created_at]
        moments += [step.at for attempt in job.attempts for step in attempt.transitions]
        moments += [] if job.ended_at is None else [job.ended_at]
        assert all(earlier <= later for earlier, later in pairwise(moments)), moments
        last = job.attempts[-1]
        assert (last.cost_usd or 0.0) >= 0.0
        assert 0.0 <= (last.billed_seconds or 0.0) <= 5.0
        return job.state, len(job.attempts)
