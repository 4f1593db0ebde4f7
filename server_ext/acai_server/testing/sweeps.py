"""What the engine owes to those who submit sweeps, whatever the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.errors import AcaiError, FileSetNotFound, JobRefused, SweepNotFound
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.metadata import ChangeMetadata, ThingChange
from acai_jupyter.contract.states import JobState
from acai_jupyter.contract.sweeps import MAX_JOBS, CreateSweep, Sweep
from acai_server.metadata.service import Attributes

if TYPE_CHECKING:
    from acai_server.testing.stages import JobUser

GRID: dict[str, list[Any]] = {"lr": [0.1, 0.01], "depth": [2, 4, 8]}


def sweep(user: JobUser, values: dict[str, list[Any]] | None = None, **asked: Any) -> Sweep:
    """Submit one."""
    job = CreateJob(["true"], **asked)
    return user.engine.submit_sweep(user.project, user.user, CreateSweep(job, GRID if values is None else values))


class SweepSuite:
    """Derive from this with a fixture `user` that gives one in a new project, with a staged runner of their own."""

    @pytest.fixture
    def user(self) -> JobUser:
        raise NotImplementedError

    def test_each_combination_is_a_job_with_one_tag(self, user: JobUser) -> None:
        user.submit()
        made = sweep(user, parameters={"seed": 1}, tags=["mine"])
        assert (made.tag, made.jobs, made.states) == ("sweep-2", [2, 3, 4, 5, 6, 7], {JobState.QUEUED: 6})
        jobs = [user.job(number) for number in made.jobs]
        expected = [{"seed": 1, "lr": lr, "depth": depth} for lr in GRID["lr"] for depth in GRID["depth"]]
        assert [job.parameters for job in jobs] == expected
        assert {tuple(job.tags) for job in jobs} == {("mine", "sweep-2")}
        assert [user.events(number) for number in made.jobs] == [["queued"]] * 6

    def test_two_sweeps_are_told_apart_and_what_is_run_again_is_in_none(self, user: JobUser) -> None:
        first, second = sweep(user), sweep(user)
        assert (first.tag, second.tag) == ("sweep-1", "sweep-7")
        assert user.engine.request(user.project, 1).request.tags == []
        assert user.engine.sweeps.find(user.project, "sweep-1") == first

    def test_all_of_it_or_nothing(self, user: JobUser) -> None:
        for values, words in (
            ({"lr": [0.1, float("nan")]}, "lr is no finite number"),
            ({"lr": [1], "LR": [2]}, "would both be ACAI_PARAM_LR"),
            ({"lr": [1, 1]}, "twice"),
            ({"lr": []}, "has no value for lr"),
            ({}, "has nothing to vary"),
            ({"a": list(range(MAX_JOBS)), "b": [1, 2]}, "makes 2,000 jobs (1,000 by 2); 1,000 is the most"),
        ):
            with pytest.raises(JobRefused) as refused:
                sweep(user, values)
            assert words in refused.value.message
        with pytest.raises(FileSetNotFound):
            sweep(user, inputs=["nothing"])
        assert user.submit() == 1  # no number was taken

    def test_what_several_specs_mean_is_looked_up_once_and_made_one_set(self, user: JobUser) -> None:
        user.lake.put({"/a": b"a", "/b": b"b"})
        made = sweep(user, inputs=["/a", "/b"])
        assert {tuple(user.job(number).inputs) for number in made.jobs} == {("job-1-input:1",)}

    def test_it_ends_job_by_job(self, user: JobUser) -> None:
        made = sweep(user, {"lr": [1, 2, 3]}, output="net")
        user.run(2, outputs={"w": b"2"}, billed_seconds=4.0)
        now = user.engine.sweeps.find(user.project, made.tag)
        assert (now.ended, user.engine.sweeps.counts(user.project, made.tag)) == (1, (3, 1))
        assert now.cost_usd == pytest.approx(user.job(2).attempts[-1].cost_usd)
        user.run(1, exit_code=1)
        user.run(3, outputs={"w": b"3"})
        assert user.engine.sweeps.find(user.project, made.tag).states == {JobState.FAILED: 1, JobState.FINISHED: 2}
        rows = user.engine.sweeps.table(user.project, made.tag).rows
        assert [(row.job, row.output, row.reason) for row in rows] == [
            (1, None, "exit 1"),
            (2, "net:1", ""),
            (3, "net:2", ""),
        ]

    def test_its_table_has_what_differs_and_what_was_attached(self, user: JobUser) -> None:
        made = sweep(user, {"lr": [1, 2], "depth": [5]}, parameters={"seed": 1}, attributes={"stage": "draft"})
        found = user.engine.sweeps.table(user.project, made.tag)
        assert (found.parameters, found.metrics) == (["lr"], ["stage"])
        change = ThingChange("2", {"accuracy": 0.9})
        Attributes(user.database, user.lake.lake.files).change(user.project, user.user, ChangeMetadata([change]))
        found = user.engine.sweeps.table(user.project, made.tag)
        assert sorted(found.metrics) == ["accuracy", "stage"]
        assert [row.attributes.get("accuracy") for row in found.rows] == [None, 0.9]
        only = sweep(user, {"lr": [1]})
        assert user.engine.sweeps.table(user.project, only.tag).parameters == ["lr"]

    def test_all_of_it_is_ended_at_once_and_again_without_harm(self, user: JobUser) -> None:
        made = sweep(user, {"lr": [1, 2, 3]})
        user.run(1)
        user.schedule()
        killed = user.engine.kill_sweep(user.project, user.user, made.tag)
        assert killed.states[JobState.FINISHED] == 1
        user.look()
        user.settle()
        after = user.engine.kill_sweep(user.project, user.user, made.tag)
        assert after.states == {JobState.FINISHED: 1, JobState.KILLED: 2}

    def test_a_tag_is_what_holds_it_together(self, user: JobUser) -> None:
        made = sweep(user, {"lr": [1, 2, 3]})
        other = user.submit()
        attributes = Attributes(user.database, user.lake.lake.files)
        changes = [ThingChange("2", remove_labels=[made.tag]), ThingChange(str(other), add_labels=["mine"])]
        attributes.change(user.project, user.user, ChangeMetadata(changes))
        user.kill(3)
        user.look()
        user.remove(3)
        assert user.engine.sweeps.find(user.project, made.tag).jobs == [1]
        assert user.engine.sweeps.find(user.project, "mine").jobs == [other]
        for act in (user.engine.sweeps.find, user.engine.sweeps.table):
            with pytest.raises(SweepNotFound):
                act(user.project, "sweep-99")
        with pytest.raises(AcaiError, match="no job with the tag"):
            user.engine.kill_sweep(user.project, user.user, "sweep-99")

    def test_an_earlier_result_answers_those_that_are_the_same(self, user: JobUser) -> None:
        user.submit(["true"], parameters={"lr": 2}, output="net")
        user.run(1, outputs={"w": b"2"})
        made = sweep(user, {"lr": [1, 2]}, output="net", cached=True)
        assert user.states(*made.jobs) == ["queued", "finished"]
        assert user.job(3).answered_by == 1
        assert user.job(3).tags == [made.tag]
