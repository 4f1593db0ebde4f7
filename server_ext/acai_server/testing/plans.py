"""What the engine owes to those who ask for plans, whatever the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.errors import AcaiError, FileSetNotFound, JobRefused
from acai_jupyter.contract.jobs import CreateJob, Resources
from acai_jupyter.contract.plans import CodeFile, Plan, PlanJob
from acai_server.testing.lakes import hash_of

if TYPE_CHECKING:
    from acai_server.testing.stages import JobUser


def plan(user: JobUser, code: list[CodeFile] | None = None, values: Any = None, **asked: Any) -> Plan:
    """Ask for one."""
    wanted = PlanJob(CreateJob(asked.pop("command", ["true"]), **asked), code or [], values=values or {})
    return user.engine.planner.plan(user.project, user.user, wanted)


class PlanSuite:
    """Derive from this with a fixture `user` that gives one in a new project, with a staged runner of their own."""

    @pytest.fixture
    def user(self) -> JobUser:
        raise NotImplementedError

    def test_a_plan_takes_no_number_and_tells_nobody(self, user: JobUser) -> None:
        with user.database.reading() as work:
            before = work.events.newest(user.project)
        found = plan(user, output="net", values={"lr": [1, 2, 3]})
        with user.database.reading() as work:
            assert work.events.newest(user.project) == before
        assert (found.jobs, found.output, found.inputs, found.expected, found.waiting) == (3, "net", [], None, None)
        assert user.submit() == 1

    def test_inputs_are_told_by_version_with_their_sizes(self, user: JobUser) -> None:
        user.lake.put({"/a": b"a", "/b": b"bb"}, file_set="data")
        whole, laid = plan(user, inputs=["@data"]), plan(user, inputs=["/a", "/b"])
        assert [(one.file_set, one.file_count, one.size_bytes) for one in whole.inputs] == [("data:1", 2, 3)]
        assert [(one.file_set, one.file_count, one.size_bytes) for one in laid.inputs] == [(None, 2, 3)]

    def test_what_submit_refuses_a_plan_refuses(self, user: JobUser) -> None:
        asked: list[dict[str, Any]] = [
            {"inputs": ["@nothing"]},
            {"image": "x"},
            {"resources": Resources(vcpu=1000)},
            {"parameters": {"lr": 1, "LR": 2}},
            {"tags": ["+no"]},
            {"as_cell": True},
            {"output_folder": "../up"},
        ]
        for one in asked:
            words = []
            for act in (plan, _submit):
                with pytest.raises(AcaiError) as refused:
                    act(user, **one)
                words.append((type(refused.value), refused.value.message))
            assert words[0] == words[1]

    def test_code_that_is_not_sent_claims_its_paths(self, user: JobUser) -> None:
        user.lake.put({"/train.py": b"other", "/lib/a": b"a"}, file_set="data")
        same, other = CodeFile("train.py", hash_of(b"other")), CodeFile("train.py", hash_of(b"mine"))
        assert plan(user, [same], inputs=["@data"], as_cell=True).jobs == 1
        for code in (other, CodeFile("lib", hash_of(b"")), CodeFile("output/x", hash_of(b""))):
            with pytest.raises(JobRefused):
                plan(user, [code], inputs=["@data"])

    def test_earlier_runs_of_the_template_tell_how_long_and_for_how_much(self, user: JobUser) -> None:
        for seconds in (10.0, 40.0, 20.0):
            user.run(user.submit(template="t"), billed_seconds=seconds)
        user.run(user.submit(template="other"), billed_seconds=99.0)
        found = plan(user, template="t", resources=Resources(vcpu=2))
        assert found.expected is not None
        assert (found.expected.runs, found.expected.seconds) == (3, 20.0)
        assert (found.expected.min_seconds, found.expected.max_seconds) == (10.0, 40.0)
        assert found.expected.cost_usd == pytest.approx(found.usd_per_hour * 20 / 3600)

    def test_where_it_would_wait_is_told_as_for_a_job_that_does(self, user: JobUser) -> None:
        for _ in range(3):
            user.run(user.submit(template="t"), billed_seconds=10.0)
        for _ in range(user.quota):
            user.submit(template="t")
        user.schedule()
        found = plan(user, template="t").waiting
        waiting = user.job(user.submit(template="t")).waiting
        assert found is not None
        assert waiting is not None
        assert (found.sentence, found.place) == (waiting.sentence, waiting.place)
        assert found.starts_at is not None
        assert waiting.starts_at is not None
        assert abs((found.starts_at - waiting.starts_at).total_seconds()) < 1

    def test_how_many_run_at_once_is_what_quota_and_machine_hold(self, user: JobUser) -> None:
        values = {"lr": list(range(9))}
        assert plan(user, values=values).at_once == user.quota
        assert plan(user, values=values, resources=Resources(vcpu=user.runner.size.cpus / 2)).at_once == 2

    def test_the_job_that_would_answer_is_named(self, user: JobUser) -> None:
        number = user.submit(["true"], output="net", parameters={"lr": 1})
        user.run(number, outputs={"w": b"1"})
        found = plan(user, output="net", cached=True, values={"lr": [1, 2]})
        assert found.answered_by == [number]
        with pytest.raises(FileSetNotFound):
            plan(user, inputs=["@nothing"], cached=True)


def _submit(user: JobUser, **asked: Any) -> int:
    """Submit for real."""
    return user.submit(["true"], **asked)
