"""What the engine owes to those who submit jobs, whatever the database: the life of a job, and after it."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event

from acai_jupyter.contract.errors import (
    Conflict,
    FileNotFound,
    JobNotFound,
    NotFound,
    Unavailable,
)
from acai_jupyter.contract.filesets import RemoveFileSets
from acai_jupyter.contract.garbage import CollectionState, GarbageKind
from acai_jupyter.contract.jobs import Job, Resources
from acai_jupyter.contract.metadata import FindThings
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.specs import SetRef
from acai_jupyter.contract.states import JobState
from acai_server.lake.commits import CODE_FOLDER
from acai_server.metadata.service import Attributes
from acai_server.testing.collecting import GRACE, collect_as_announced, collections_of
from acai_server.testing.dying import Broken
from acai_server.testing.lakes import engine_of, rows
from acai_server.testing.stages import GIB, MIB, JobUser

if TYPE_CHECKING:
    from acai_server.engine.service import Engine

LIFE = ["queued", "launching", "downloading", "running", "uploading", "finished"]


def states_of(job: Job) -> list[list[str]]:
    """Return the states that each attempt of a job went through."""
    return [[step.state.value for step in attempt.transitions] for attempt in job.attempts]


class LifeSuite:
    """Derive from this with a fixture `user` that gives one in a new project, with a staged runner of their own."""

    @pytest.fixture
    def user(self) -> JobUser:
        raise NotImplementedError

    # -- from the queue to the end

    def test_a_job_goes_through_its_states_each_told_once(self, user: JobUser) -> None:
        number = user.submit(output="made")
        assert user.job(number).state is JobState.QUEUED
        user.schedule()
        for state in ("downloading", "running", "uploading"):
            user.say(number, state=state)
            user.look()
            assert user.job(number).state.value == state
        user.finish(number, outputs={"a": b"A", "deep/b": b"B"})
        user.look()
        job = user.job(number)
        assert (job.state, job.output, job.ended_at is not None) == (JobState.FINISHED, "made:1", True)
        assert states_of(job) == [LIFE[1:]]
        assert user.events(number) == LIFE
        assert user.lake.named("@made:1") == {"/made/a": 1, "/made/deep/b": 1}
        times = [step.at for step in job.attempts[0].transitions]
        assert times == sorted(times)

    def test_what_an_agent_did_not_live_to_say_is_taken_from_its_record(self, user: JobUser) -> None:
        job = user.run(user.submit(), outputs={"x": b"x"})
        assert states_of(job) == [["launching", "uploading", "finished"]]
        assert job.output == f"job-{job.number}-output:1"

    def test_a_job_knows_its_cost_and_the_machine_it_was_on(self, user: JobUser) -> None:
        number = user.submit(resources=Resources(2, GIB))
        user.schedule()
        user.say(number, state="running")
        user.look()
        user.finish(number, run_seconds=30.0, billed_seconds=36.0)
        user.look()
        attempt = user.job(number).attempts[0]
        assert (attempt.run_seconds, attempt.billed_seconds, attempt.machine) == (30.0, 36.0, "stage")
        assert attempt.cost_usd == pytest.approx(0.00054, rel=0.2)
        assert rows(user.database, "attempt", "WHERE price_book = 1") >= 1

    def test_a_failing_program_fails_its_job_with_the_reason(self, user: JobUser) -> None:
        job = user.run(user.submit(), exit_code=3, reason="exit 3")
        assert (job.state, job.reason, len(job.attempts)) == (JobState.FAILED, "exit 3", 1)
        slow = user.run(user.submit(time_limit_seconds=60), exit_code=143, reason="over its limit", exceeded_time=True)
        assert (slow.state, len(slow.attempts)) == (JobState.FAILED, 1)

    def test_what_a_failed_program_left_is_kept_when_asked(self, user: JobUser) -> None:
        kept = user.run(user.submit(keep_partial=True), exit_code=1, outputs={"half": b"h"})
        dropped = user.run(user.submit(), exit_code=1, outputs={"half": b"h"})
        assert (kept.partial, kept.output) == (f"job-{kept.number}-partial:1", None)
        assert (dropped.partial, dropped.output) == (None, None)

    def test_recording_an_end_again_changes_nothing(self, user: JobUser) -> None:
        number = user.submit(output="once")
        user.schedule()
        user.finish(number, outputs={"a": b"A"})
        other = user.another_engine()
        other.monitor.step()
        user.look()
        assert user.events(number).count("finished") == 1
        assert user.lake.lake.file_sets.get(user.project, "once").version == 1

    def test_one_job_that_cannot_be_recorded_does_not_hold_up_the_others(self, user: JobUser) -> None:
        first, second = user.submit(), user.submit()
        user.schedule()
        user.finish(first)
        user.finish(second)
        user.runner.words[user.attempt(first)] = _Broken()
        user.look()
        assert user.states(first, second) == ["launching", "finished"]

    def test_a_server_that_slept_does_not_run_what_others_gave_up_beside_what_they_began(self, user: JobUser) -> None:
        number, other = user.submit(retries=1, output="once"), user.another_engine()
        first = f"job-{user.project}-{number}-1"
        user.runner.asleep = other.monitor.step
        assert user.schedule() == [first]
        assert (user.runner.stopped, user.runner.known()) == ([first], [])
        user.time.pass_by(2)
        while other.scheduler.step():
            pass
        assert user.runner.known() == [f"job-{user.project}-{number}-2"]
        user.finish(number, outputs={"a": b"A"})
        other.monitor.wake()
        other.monitor.step()
        user.look()
        job = user.job(number)
        assert [states[-1] for states in states_of(job)] == ["crashed", "finished"]
        assert (job.state, job.output) == (JobState.FINISHED, "once:1")

    # -- tried again

    def test_a_crash_is_tried_again_after_a_pause_until_no_retry_is_left(self, user: JobUser) -> None:
        number = user.submit(retries=2)
        for attempt in (1, 2):
            assert user.schedule() == [f"job-{user.project}-{number}-{attempt}"]
            user.end(number)
            user.look()
            job = user.job(number)
            assert job.state is JobState.QUEUED
            assert job.waiting is not None
            assert "It is tried again in" in job.waiting.sentence
            assert user.schedule() == []
            user.time.pass_by(400)
        user.settle()
        user.end(number)
        user.look()
        job = user.job(number)
        assert (job.state, len(job.attempts)) == (JobState.CRASHED, 3)
        assert "status -9" in job.reason
        assert states_of(job) == [["launching", "crashed"]] * 3
        assert user.events(number) == ["queued", "launching", "crashed"] * 3

    def test_a_machine_that_was_started_anew_loses_no_job(self, user: JobUser) -> None:
        number = user.submit(output="made")
        user.schedule()
        user.runner.forget()
        user.engine = user.another_engine()
        user.look()
        user.time.pass_by(5)
        job = user.run(number, outputs={"a": b"A"})
        assert (job.state, job.output, len(job.attempts)) == (JobState.FINISHED, "made:1", 2)

    def test_a_clock_that_is_set_back_and_forth_confuses_no_job(self, user: JobUser) -> None:
        number = user.submit(retries=2, output="made", time_limit_seconds=600.0)
        for turn in range(2):
            user.time.set_by(3600 if turn else -3600)
            assert len(user.schedule()) == 1
            user.time.set_by(-3600)
            user.end(number)
            user.time.set_by(3600)
            user.look()
            user.time.set_by(-3600)
            assert user.job(number).state is JobState.QUEUED
            user.time.pass_by(10)
        user.schedule()
        for state in ("downloading", "running", "uploading"):
            user.time.set_by(-3600 if state == "running" else 3600)
            user.say(number, state=state)
            user.look()
            assert user.job(number).state.value == state
        user.time.set_by(-7200)
        user.finish(number, outputs={"a": b"A"}, run_seconds=3.0, billed_seconds=4.0)
        user.look()
        job = user.job(number)
        assert (job.state, [len(attempt.transitions) for attempt in job.attempts]) == (JobState.FINISHED, [2, 2, 5])
        assert (job.attempts[-1].run_seconds, job.attempts[-1].billed_seconds) == (3.0, 4.0)
        times = [step.at for attempt in job.attempts for step in attempt.transitions]
        assert times == sorted(times)
        assert job.ended_at is not None
        assert job.ended_at >= times[-1] >= job.created_at

    def test_a_server_that_starts_looks_at_no_job_that_has_ended(self, user: JobUser) -> None:
        for _ in range(20):
            user.run(user.submit())
        waiting = user.submit()
        asked: list[tuple[str, Any]] = []

        def ask(*given: Any) -> None:
            asked.append((str(given[2]), given[3]))

        engine = engine_of(user.database)
        event.listen(engine, "before_cursor_execute", ask)
        other = user.another_engine()
        other.monitor.step()
        other.scheduler.step()
        event.remove(engine, "before_cursor_execute", ask)
        assert user.states(waiting) == ["launching"]
        assert len(asked) < 40, [sql for sql, _ in asked]
        if user.database.name == "sqlite":
            with user.database.connect() as connection:
                for sql, given in asked:
                    if sql.lstrip().startswith("SELECT"):
                        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", given).all()
                        read = [row[-1] for row in plan if row[-1].startswith("SCAN")]
                        assert all("ix_job_open" in one or "CONSTANT" in one for one in read), (sql, read)

    def test_what_cannot_be_started_is_tried_again(self, user: JobUser) -> None:
        number = user.submit(retries=1)
        user.runner.fault = Unavailable(reason="the disk is full")
        user.schedule()
        assert "the disk is full" in user.job(number).reason
        user.runner.fault = None
        user.time.pass_by(5)
        assert user.run(number).state is JobState.FINISHED

    def test_who_ran_out_of_memory_gets_more_up_to_the_limit(self, user: JobUser) -> None:
        number = user.submit(resources=Resources(1, 512 * MIB, max_memory_bytes=1536 * MIB), retries=5)
        for memory, following in ((512, "1 GB"), (1024, "1.5 GB")):
            user.schedule()
            assert user.runner.orders[user.attempt(number)].memory_bytes == memory * MIB
            user.finish(number, exit_code=137, run_seconds=40.0, ran_out_of_memory=True)
            user.look()
            job = user.job(number)
            assert job.state is JobState.QUEUED
            assert f"it is being tried again with {following} (your limit is 1.5 GB)" in job.reason
        job = user.run(number, exit_code=137, run_seconds=40.0, ran_out_of_memory=True)
        assert job.state is JobState.FAILED
        assert job.reason.startswith("ran out of memory at 1.5 GB after 40 s")
        assert [attempt.memory_bytes for attempt in job.attempts] == [512 * MIB, GIB, 1536 * MIB]

    def test_who_may_have_no_more_memory_fails_at_once_and_is_told_what_to_do(self, user: JobUser) -> None:
        job = user.run(user.submit(resources=Resources(1, 512 * MIB)), exit_code=137, ran_out_of_memory=True)
        assert (job.state, len(job.attempts)) == (JobState.FAILED, 1)
        assert "--max-memory" in job.reason

    def test_a_failed_program_is_tried_again_only_when_asked(self, user: JobUser) -> None:
        assert user.run(user.submit(), exit_code=1).state is JobState.FAILED
        asked = user.submit(retry_failed=True, retries=1)
        assert user.run(asked, exit_code=1).state is JobState.QUEUED
        user.time.pass_by(5)
        assert user.run(asked, exit_code=1).state is JobState.FAILED
        assert len(user.job(asked).attempts) == 2

    # -- ended by somebody

    def test_a_queued_job_is_killed_at_once(self, user: JobUser) -> None:
        number = user.submit()
        job = user.kill(number)
        assert (job.state, job.reason) == (JobState.KILLED, f"killed by {user.name}")
        assert user.schedule() == []
        assert user.events(number) == ["queued", "killed"]

    @pytest.mark.parametrize("state", ["launching", "downloading", "running", "uploading"])
    def test_a_live_job_is_killed_when_its_program_has_ended(self, user: JobUser, state: str) -> None:
        number = user.submit()
        user.schedule()
        if state != "launching":
            user.say(number, state=state)
            user.look()
        assert user.kill(number).state.value == state
        _stopped(user, user.engine, number)
        user.look()
        job = user.job(number)
        assert (job.state, job.reason) == (JobState.KILLED, f"killed by {user.name}")
        assert user.schedule() == []

    def test_a_kill_outlives_the_server_that_was_asked(self, user: JobUser) -> None:
        number = user.submit()
        user.schedule()
        user.kill(number)  # and nobody looks any more
        user.engine = user.another_engine()
        _stopped(user, user.engine, number)
        user.look()
        assert user.job(number).state is JobState.KILLED

    def test_a_job_that_ended_says_so_to_who_would_kill_it(self, user: JobUser) -> None:
        number = user.submit()
        user.run(number)
        with pytest.raises(Conflict, match=f"job {number} is finished"):
            user.kill(number)
        with pytest.raises(JobNotFound):
            user.kill(number + 1)

    def test_killing_twice_is_killing_once_and_the_first_is_named(self, user: JobUser) -> None:
        number = user.submit()
        user.schedule()
        user.kill(number)
        user.beside("her").kill(number)
        _stopped(user, user.engine, number)
        user.look()
        assert user.job(number).reason == f"killed by {user.name}"

    def test_a_program_that_was_quicker_than_its_killer_has_finished(self, user: JobUser) -> None:
        number = user.submit(output="made")
        user.schedule()
        user.finish(number, outputs={"a": b"A"})
        user.kill(number)
        user.look()
        assert (user.job(number).state, user.job(number).output) == (JobState.FINISHED, "made:1")

    def test_what_was_killed_is_not_tried_again(self, user: JobUser) -> None:
        number = user.submit(retries=3, retry_failed=True)
        user.schedule()
        user.kill(number)
        user.end(number)
        user.look()
        assert (user.job(number).state, len(user.job(number).attempts)) == (JobState.KILLED, 1)

    # -- deleted

    def test_a_deleted_job_is_listed_no_more_until_that_is_undone(self, user: JobUser) -> None:
        number = user.submit()
        with pytest.raises(Conflict, match=f"acai kill {number}"):
            user.remove(number)
        user.run(number)
        assert user.remove(number).deleted_at is not None
        assert number not in [job.number for job in user.engine.jobs(user.project, None, 100).jobs]
        assert user.job(number).state is JobState.FINISHED
        assert user.remove(number, undo=True).deleted_at is None
        assert number in [job.number for job in user.engine.jobs(user.project, None, 100).jobs]
        assert user.events(number)[-2:] == ["removed", "restored"]

    def test_what_was_deleted_long_ago_goes_for_good_but_what_it_made_stays(self, user: JobUser) -> None:
        number = user.submit(output="made")
        user.schedule()
        user.say(number, b"printed")
        user.finish(number, outputs={"a": b"A"}, log_is_whole=False)
        user.look()
        kept = user.run(user.submit())
        for one in (number, kept.number):
            for what in ("log/1", "displays"):
                user.objects.put(user.key(one, 1, what), io.BytesIO(b"[]"), size_bytes=2)
        user.remove(number)
        user.time.pass_by(GRACE.total_seconds() - 10)
        assert GarbageKind.DELETED_JOBS not in collect_as_announced(user.lake)
        user.remove(number, undo=True)
        user.remove(number)
        user.time.pass_by(GRACE.total_seconds() + 10)
        assert user.engine.log(user.project, number, 0).text == "printed"
        found = collect_as_announced(user.lake)[GarbageKind.DELETED_JOBS]
        assert (found.count, found.examples, found.size_bytes > 4) == (1, [f"job {number}"], True)
        assert len(objects_of(user, number)) == 1, "the pack with its output"
        assert len(objects_of(user, kept.number)) == 2, "nobody deleted it"
        assert GarbageKind.DELETED_JOBS not in collect_as_announced(user.lake)
        with pytest.raises(Conflict, match="too long ago"):
            user.remove(number, undo=True)
        with pytest.raises(NotFound, match="was deleted, and its log was freed"):
            list(user.engine.log_stream(user.project, number))
        with pytest.raises(NotFound, match="was deleted, and its log was freed"):
            user.engine.log(user.project, number, 0)
        assert user.engine.displays(user.project, number).displays == []
        assert user.job(number).output == "made:1"
        assert user.lake.read("@made") == {"/made/a": b"A"}
        with user.database.reading() as work:
            output = work.jobs.find(user.project, number).output_version_id
            assert output is not None
            action = work.actions.of_output(output)
        assert action is not None
        assert action.job == number

    def test_what_a_crash_left_of_a_job_that_was_taken_for_good_goes_later(self, user: JobUser) -> None:
        number = user.run(user.submit()).number
        user.remove(number)
        user.time.pass_by(GRACE.total_seconds() + 10)
        failed = collections_of(Broken(user.lake, "delete_all").user).collect(user.project)
        assert failed.state is CollectionState.FAILED
        assert objects_of(user, number)
        assert collect_as_announced(user.lake).keys() >= {GarbageKind.LEFTOVERS}
        assert objects_of(user, number) == set()

    def test_deleted_jobs_are_not_found_and_templates_are(self, user: JobUser) -> None:
        job, deleted = user.submit(parameters={"lr": 0.1, "n": 3}), user.submit(parameters={"lr": 0.1})
        user.kill(deleted)
        user.remove(deleted)
        search = Attributes(user.database, user.lake.lake.files)

        def found(query: str) -> list[str]:
            return [one.thing for one in search.find(user.project, FindThings(SubjectKind.JOB, query)).rows]

        for query in (
            "params.lr = 0.1",
            "template = 'true (lr, n)'",
            "number > 0",
            "template ~ 'lr' order by template",
        ):
            assert found(query) == [f"{job}"]
        user.remove(deleted, undo=True)
        assert found("params.lr < 1 order by number") == [f"{job}", f"{deleted}"]

    def test_a_job_is_found_by_what_its_attempts_took(self, user: JobUser) -> None:
        resources = Resources(1, 512 * MIB, max_memory_bytes=1024 * MIB)
        number = user.submit(resources=resources, retries=1, output="made")
        for seconds, exit_code in ((40.0, 137), (3.0, 0)):
            user.schedule()
            lost = {"ran_out_of_memory": True} if exit_code else {}
            user.finish(number, exit_code, None, run_seconds=seconds, billed_seconds=seconds + 2, **lost)
            user.look()
        user.submit()
        request = FindThings(
            SubjectKind.JOB,
            "run_seconds = 3 and billed_seconds = 47 and exit_code = 0 and attempts = 2 and output = 'made:1'",
            columns=["state", "vcpu", "memory_bytes", "cost_usd"],
        )
        found = Attributes(user.database, user.lake.lake.files).find(user.project, request).rows
        cost = sum(attempt.cost_usd or 0 for attempt in user.job(number).attempts)
        assert [row.thing for row in found] == [f"{number}"]
        assert found[0].values == ["finished", 1, 512 * MIB, pytest.approx(cost)]
        assert cost > 0

    def test_sets_that_deleted_jobs_alone_have_are_deleted_with_them(self, user: JobUser) -> None:
        for version in ("1", "2"):
            user.lake.put({f"{CODE_FOLDER}train.py/train.py": version.encode()}, file_set="train.py")
        for name in ("one", "two"):
            user.lake.put({f"/{name}": name.encode()}, file_set=name)
        asked: dict[str, Any] = {"inputs": ["one", "two"], "keep_partial": True, "code_root": f"{CODE_FOLDER}train.py"}
        going = user.run(user.submit(code="train.py:1", **asked), exit_code=1, outputs={"half": b"h"})
        stays = user.run(user.submit(code="train.py:2", **asked), exit_code=1, outputs={"half": b"h"})
        also = user.run(user.submit(code="train.py:2", **asked), exit_code=1, outputs={"half": b"h"})
        for job in (going, also):
            user.remove(job.number)
        user.time.pass_by(GRACE.total_seconds() + 10)
        found = collect_as_announced(user.lake)[GarbageKind.OUTDATED_SETS]
        sets = [f"job-{job.number}-{what}:1" for job in (going, also) for what in ("input", "partial")]
        assert (found.count, set(found.examples)) == (5, {"train.py:1", *sets})
        assert user.lake.named(f"@{stays.partial}").keys() == {f"/job-{stays.number}-partial/half"}
        assert user.lake.read("@train.py") == {f"{CODE_FOLDER}train.py/train.py": b"2"}
        assert user.lake.read("/one") == {"/one": b"one"}, "inputs stay"
        with pytest.raises(FileNotFound):
            user.lake.read(f"/job-{going.number}-partial/half")
        assert GarbageKind.OUTDATED_SETS not in collect_as_announced(user.lake)
        user.lake.lake.keeping.change(user.project, user.user, "train.py:1", RemoveFileSets(undo=True))
        assert user.lake.read("@train.py:1") == {f"{CODE_FOLDER}train.py/train.py": b"1"}

    def test_what_people_marked_of_a_deleted_job_stays(self, user: JobUser) -> None:
        jobs = [user.run(user.submit(keep_partial=True), exit_code=1, outputs={"half": b"h"}) for _ in range(2)]
        user.lake.lake.aliases.set(user.project, user.user, f"job-{jobs[0].number}-partial:1", "kept")
        with user.database.writing() as work:
            partial_set = work.file_sets.find(user.project, SetRef(f"job-{jobs[1].number}-partial"))
            work.attributes.add_labels(user.project, SubjectKind.FILE_SET, [(partial_set.id, "look")])
        for job in jobs:
            user.remove(job.number)
        user.time.pass_by(GRACE.total_seconds() + 10)
        assert GarbageKind.OUTDATED_SETS not in collect_as_announced(user.lake)


def objects_of(user: JobUser, number: int) -> set[str]:
    """Return the keys of what a job has in the store."""
    return set(user.objects.keys(user.prefix(number)))


class _Broken(bytes):
    """Words that cannot be read."""

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError("broken")


def _stopped(user: JobUser, engine: Engine, number: int) -> None:
    """Let the monitor ask the runner to end an attempt, and wait until it did."""
    name = user.attempt(number)
    engine.monitor.wake()
    engine.monitor.step()
    while name not in user.runner.ends and name in user.runner.orders:
        user.runner.wait([name], 10)
    assert name in user.runner.stopped
