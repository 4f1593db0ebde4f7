"""What the engine owes to those who do not say how much memory their jobs need, whatever the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.jobs import MIB, CreateJob, Resources
from acai_jupyter.contract.plans import PlanJob
from acai_jupyter.contract.states import JobState
from acai_jupyter.contract.sweeps import CreateSweep
from acai_server.provisioner.memory import MeasuredMemory
from acai_server.provisioner.prices import Tariff
from acai_server.testing.profiles import LIMITS

if TYPE_CHECKING:
    from acai_server.testing.stages import JobUser

GIB = 1024 * MIB
LARGE = Resources(1, 4 * GIB)
LEARNED = Resources(1, 1536 * MIB)


def ran(user: JobUser, used_bytes: int, parameters: dict[str, Any] | None = None, **asked: Any) -> int:
    """Run a job of the template `net` that uses so much memory; returns its number."""
    number = user.submit(**{"template": "net", "parameters": parameters or {}, "resources": LARGE, **asked})
    user.run(number, usage={"max_memory_bytes": used_bytes}, billed_seconds=3600.0)
    return number


def given(user: JobUser, parameters: dict[str, Any] | None = None, **asked: Any) -> Resources:
    """Submit a job that says nothing of its memory; returns what it was given."""
    asked = {"template": "net", "parameters": parameters or {}, **asked}
    return user.job(user.submit(memory_as_used=True, **asked)).resources


class MemorySuite:
    """Derive from this with a fixture `user` that gives one in a new project, with a staged runner of their own."""

    @pytest.fixture
    def user(self) -> JobUser:
        raise NotImplementedError

    @pytest.fixture
    def learner(self, user: JobUser) -> JobUser:
        """Whoever has an engine that looks at what runs used."""
        user.engine = user.another_engine(memory=MeasuredMemory(LIMITS), limits=LIMITS)
        return user

    def test_of_what_nobody_ran_a_job_gets_what_it_asks_for(self, learner: JobUser) -> None:
        ran(learner, 3 * GIB, template="other")
        assert given(learner) == Resources()

    def test_a_job_gets_what_earlier_ones_used_with_some_room(self, learner: JobUser) -> None:
        ran(learner, GIB)
        assert given(learner) == LEARNED
        for _ in range(9):
            ran(learner, 2 * GIB)
        assert given(learner).memory_bytes == 2.5 * GIB
        for _ in range(30):
            ran(learner, GIB)
        assert given(learner).memory_bytes == 2.5 * GIB
        assert learner.job(learner.submit(template="net")).resources == Resources()

    def test_who_gets_less_than_was_asked_for_may_have_that_when_it_is_tried_again(self, learner: JobUser) -> None:
        ran(learner, 100 * MIB)
        number = learner.submit(template="net", memory_as_used=True)
        assert learner.job(number).resources == Resources(1, 512 * MIB, 0, GIB)
        again = learner.run(number, exit_code=137, run_seconds=2.0, ran_out_of_memory=True)
        assert again.state is JobState.QUEUED
        assert "it is being tried again with 1 GB" in again.attempts[0].transitions[-1].reason
        learner.run(number, usage={"max_memory_bytes": 900 * MIB})
        assert [one.memory_bytes for one in learner.job(number).attempts] == [512 * MIB, GIB]

    def test_what_was_too_little_is_not_given_again(self, learner: JobUser) -> None:
        ran(learner, 100 * MIB)
        number = learner.submit(template="net", resources=Resources(1, GIB))
        learner.run(number, exit_code=137, run_seconds=2.0, ran_out_of_memory=True)
        assert given(learner).memory_bytes == 1.25 * GIB

    def test_other_failures_and_jobs_that_failed_teach_nothing(self, learner: JobUser) -> None:
        number = learner.submit(template="net", resources=Resources(1, 4 * GIB, 0, 8 * GIB))
        failed = learner.run(number, exit_code=137, usage={"max_memory_bytes": 4 * GIB})
        assert (failed.state, len(failed.attempts)) == (JobState.FAILED, 1)
        assert given(learner) == Resources()

    def test_runs_with_the_same_parameters_are_asked_first(self, learner: JobUser) -> None:
        for batch, used in ((16, 600 * MIB), (512, 3 * GIB)):
            for _ in range(3):
                ran(learner, used, {"batch": batch})
        assert given(learner, {"batch": 16}).memory_bytes == 768 * MIB
        assert given(learner, {"batch": 64}).memory_bytes == 3.75 * GIB

    @pytest.mark.parametrize("further", [{"batch": 64}, {"batch": "large"}])
    def test_beyond_all_that_was_run_no_less_is_given_than_was_asked_for(
        self, learner: JobUser, further: dict[str, Any]
    ) -> None:
        ran(learner, 100 * MIB, {"batch": 16})
        assert given(learner, further) == Resources()
        assert given(learner, {"batch": 8}).memory_bytes == 512 * MIB

    def test_no_more_is_given_than_a_job_may_have(self, learner: JobUser) -> None:
        ran(learner, 4 * GIB)
        capped = Resources(1, GIB, 0, 2 * GIB)
        assert given(learner, resources=capped) == Resources(1, 2 * GIB, 0, 2 * GIB)
        assert given(learner).memory_bytes == 6 * GIB
        learner.runner.size = learner.runner.size.__class__(cpus=8, memory_bytes=3 * GIB)
        assert given(learner).memory_bytes == 3 * GIB

    def test_a_sweep_gets_what_the_largest_of_its_jobs_needs(self, learner: JobUser) -> None:
        for batch, used in ((16, 600 * MIB), (512, 3 * GIB)):
            for _ in range(3):
                ran(learner, used, {"batch": batch})
        wanted = CreateSweep(CreateJob("true", template="net", memory_as_used=True), {"batch": [16, 512]})
        sweep = learner.engine.submit_sweep(learner.project, learner.user, wanted)
        assert {learner.job(number).resources.memory_bytes for number in sweep.jobs} == {3.75 * GIB}

    def test_a_plan_says_it_and_a_job_that_is_done_again_gets_what_it_had(self, learner: JobUser) -> None:
        ran(learner, GIB)
        wanted = PlanJob(CreateJob("true", template="net", memory_as_used=True))
        assert learner.engine.planner.plan(learner.project, learner.user, wanted).resources.memory_bytes == 1.5 * GIB
        number = learner.submit(template="net", memory_as_used=True)
        kept = learner.engine.request(learner.project, number).request
        assert (kept.resources, kept.memory_as_used) == (LEARNED, False)

    def test_after_success_it_is_said_what_less_would_save(self, learner: JobUser) -> None:
        less = learner.job(ran(learner, 700 * MIB)).less_memory
        assert less is not None
        assert less.memory_bytes == 1.25 * GIB
        before, after = (Tariff(learner.book).cost_usd(1, size, 3600.0) for size in (4 * GIB, int(1.25 * GIB)))
        assert less.saved_usd == pytest.approx(before - after)
        assert learner.job(ran(learner, 3 * GIB)).less_memory is None
        failed = learner.submit(template="net", resources=LARGE)
        assert learner.run(failed, exit_code=1, usage={"max_memory_bytes": MIB}).less_memory is None
