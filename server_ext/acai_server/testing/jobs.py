"""What the engine owes to those who submit jobs, whatever the database: from being queued to the end, and after it."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from sqlalchemy import event

from acai_jupyter.contract.errors import (
    AcaiError,
    BadAttribute,
    BadPath,
    BadRequest,
    BadSpec,
    Conflict,
    FileNotFound,
    FileSetNotFound,
    JobNotFound,
    JobRefused,
    NotFound,
    Unavailable,
)
from acai_jupyter.contract.filesets import RemoveFileSets
from acai_jupyter.contract.garbage import CollectionState, GarbageKind
from acai_jupyter.contract.jobs import CreateJob, Job, ResourceLimits, Resources
from acai_jupyter.contract.metadata import FindThings
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.specs import SetRef
from acai_jupyter.contract.states import JobState
from acai_server.engine.misses import LOOKED_AT
from acai_server.lake.commits import CODE_FOLDER
from acai_server.metadata.service import Attributes
from acai_server.objects.keys import attempt_key, job_prefix
from acai_server.testing.collecting import GRACE, collect_as_announced, collections_of
from acai_server.testing.databases import at_once
from acai_server.testing.dying import Broken
from acai_server.testing.lakes import engine_of, meanwhile, rows
from acai_server.testing.stages import GIB, MIB, JobUser, StagedRunner

if TYPE_CHECKING:
    from datetime import datetime

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
                user.objects.put(attempt_key(user.project, one, 1, what), io.BytesIO(b"[]"), size_bytes=2)
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
    return set(user.objects.keys(job_prefix(user.project, number)))


class RegistrySuite:
    """What is taken in, what is refused, and what is remembered of it."""

    @pytest.fixture
    def user(self) -> JobUser:
        raise NotImplementedError

    @pytest.mark.parametrize(
        ("asked", "error", "words"),
        [
            ({"command": "  "}, JobRefused, "its command is empty"),
            ({"command": ["a\0b"]}, JobRefused, "NUL"),
            ({"command": "x", "as_cell": True, "code": "c"}, JobRefused, "a cell's command is a list"),
            ({"command": ["x"], "as_cell": True}, JobRefused, "it has no code"),
            ({"name": "two\nlines"}, JobRefused, "its name is not one line"),
            ({"output": "no name"}, BadSpec, "no name"),
            ({"output_folder": "../out"}, JobRefused, "'../out' cannot be a folder inside"),
            ({"output_folder": "/abs"}, JobRefused, "'/abs' cannot be a folder inside"),
            ({"output_root": "relative"}, BadPath, "relative"),
            ({"environment": {"A=B": "x"}}, JobRefused, "'A=B' cannot be the name"),
            ({"environment": {"ACAI_JOB": "x"}}, JobRefused, "ACAI_JOB is given by the system"),
            ({"environment": {"A": "x"}, "secrets": {"A": "known"}}, JobRefused, "both an environment variable"),
            ({"secrets": {"A": "unheard"}}, JobRefused, "there is no secret 'unheard'"),
            ({"parameters": {"lr": 1, "LR": 2}}, JobRefused, "ACAI_PARAM_LR"),
            ({"parameters": {"l r": 1}}, JobRefused, "'l r' cannot be the name of a parameter: it has letters"),
            ({"parameters": {"lr\n": 1}}, JobRefused, "'lr\\n' cannot be the name of a parameter"),
            ({"parameters": {"lr": float("nan")}}, JobRefused, "the parameter lr is no finite number"),
            ({"attributes": {"state": "x"}}, BadAttribute, "the system gives it itself"),
            ({"attributes": {"odd key": "x"}}, BadAttribute, "a key has letters"),
            ({"attributes": {"long": "x" * 501}}, BadAttribute, "too long"),
            ({"tags": ["+plus"]}, BadAttribute, "begins with neither"),
            ({"image": "python:3"}, JobRefused, "it names an image"),
            ({"resources": Resources(65)}, JobRefused, "more than a machine has"),
            ({"resources": Resources(1, GIB, max_memory_bytes=65 * GIB)}, JobRefused, "more than a machine has"),
            ({"resources": Resources(1, GIB, max_memory_bytes=MIB)}, JobRefused, "less than what it asks for"),
            ({"inputs": ["nothing"]}, FileSetNotFound, "nothing"),
            ({"inputs": ["/not/there.txt"]}, FileNotFound, "/not/there.txt"),
            ({"code": "nothing"}, FileSetNotFound, "nothing"),
        ],
    )
    def test_what_is_wrong_is_said_in_a_sentence_and_takes_no_number(
        self, user: JobUser, asked: dict[str, Any], error: type[AcaiError], words: str
    ) -> None:
        before = user.submit()
        with pytest.raises(error) as refused:
            user.submit(**asked)
        assert words in refused.value.message
        assert user.submit() == before + 1

    @pytest.mark.parametrize(
        ("share", "words"),
        [
            (Resources(0.25), "it asks for 0.25 vCPU; a job can have 0.5 to 4 vCPU, in steps of 0.5"),
            (Resources(4.5), "it asks for 4.5 vCPU; a job can have 0.5 to 4"),
            (Resources(1e308), "it asks for 1e+308 vCPU; a job can have 0.5 to 4"),
            (Resources(0.7), "it asks for 0.7 vCPU; a job can have 0.5 to 4"),
            (Resources(1, 256 * MIB), "it asks for 256 MB of memory; a job can have 512 MB to 2 GB"),
            (
                Resources(1, 4 * GIB),
                "it asks for 4 GB of memory; a job can have 512 MB to 2 GB of memory, in steps of 256",
            ),
            (Resources(1, 600 * MIB), "it asks for 600 MB of memory; a job can have"),
            (Resources(1, GIB, 0, 3 * GIB), "when it ran out of memory it may get 3 GB; a job can have"),
            (Resources(1, GIB, 2), "it asks for 2 GPU; a job can have 1"),
        ],
    )
    def test_what_the_limits_do_not_allow_is_refused_with_what_can_be_had(
        self, user: JobUser, share: Resources, words: str
    ) -> None:
        limits = ResourceLimits(max_vcpu=4, max_memory_bytes=2 * GIB, max_gpus=1)
        user.engine = user.another_engine(limits=limits)
        with pytest.raises(JobRefused) as refused:
            user.submit(resources=share)
        assert words in refused.value.message
        assert user.submit(resources=Resources(0.5, 512 * MIB, 1, 1537 * MIB)) == 1

    def test_all_that_was_asked_for_is_kept_to_run_it_again(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"x"}, file_set="data")
        user.lake.put({"/c/run.py": b"pass"}, file_set="code")
        request = CreateJob(
            command=["python", "run.py", "--n", "3"],
            name="a name",
            description="why",
            inputs=["data"],
            code="code",
            code_root="/c",
            output="out",
            output_folder="results/here",
            output_root="/kept",
            parameters={"lr": 0.1, "deep": True, "name": "x", "n": 3},
            attributes={"stage": "first"},
            tags=["sweep-7"],
            environment={"A": "b c"},
            secrets={"KEY": "known"},
            resources=Resources(2, GIB, 0, 2 * GIB),
            time_limit_seconds=60.0,
            retries=1,
            retry_failed=True,
            priority=3,
            keep_partial=True,
            template="mine",
            captured={"python": "3.11", "packages": {"numpy": "2.0"}, "git": {"commit": "abc", "difference": "+x"}},
        )
        job = user.engine.submit(user.project, user.user, request)
        user.lake.put({"/d/x": b"other"}, file_set="data")
        again = user.engine.request(user.project, job.number)
        assert again.inputs == ["data:1"]
        assert again.request == msgspec.structs.replace(request, code="code:1")
        assert (job.attributes, job.tags, job.description, job.priority) == ({"stage": "first"}, ["sweep-7"], "why", 3)
        user.schedule()
        document = user.document(job.number)
        assert [file.path for file in user.files(job.number)] == ["d/x", "run.py"]
        assert document.output_folder == "results/here"
        user.finish(job.number, outputs={"a": b"A"})
        user.look()
        assert user.lake.named("@out") == {"/kept/a": 1}

    def test_a_text_is_run_by_a_shell_and_a_list_as_it_is(self, user: JobUser) -> None:
        text, words = user.submit("echo a | wc"), user.submit(["echo", "a | wc"])
        user.schedule()
        assert user.document(text).command == ["sh", "-c", "echo a | wc"]
        assert user.document(words).command == ["echo", "a | wc"]

    def test_one_whole_set_is_used_as_it_is(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"x"}, file_set="data")
        for spec in ("data", "@data", "/@data", "data:1", "data:latest"):
            assert user.job(user.submit(inputs=[spec])).inputs == ["data:1"]

    def test_several_inputs_or_parts_become_a_set_of_their_own(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"x", "/d/y": b"y", "/e/z": b"z"}, file_set="data")
        user.lake.put({"/more": b"m", "/d/x": b"x"}, file_set="more")
        user.lake.put({"/loose": b"1"})
        part = user.job(user.submit(inputs=["/d/@data"]))
        assert part.inputs == [f"job-{part.number}-input:1"]
        assert sorted(user.lake.named(f"@{part.inputs[0]}")) == ["/d/x", "/d/y"]
        many = user.job(user.submit(inputs=["data", "more", "/loose", "/d/x@data:1"]))
        assert sorted(user.lake.named(f"@{many.inputs[0]}")) == ["/d/x", "/d/y", "/e/z", "/loose", "/more"]
        with user.database.reading() as work:
            made = work.jobs.find(user.project, many.number).inputs[0][0]
            action = work.actions.of_output(made)
            assert action is not None
            sets = work.file_sets.by_id([version for version, _ in action.inputs])
        assert sorted(stored.public.ref for stored in sets.values()) == ["data:1", "more:1"]

    @pytest.mark.parametrize(
        ("data", "code", "words"),
        [
            ({"/run.py": b"one"}, {"/run.py": b"two"}, "both code:1 and data:1 have a 'run.py', and they differ"),
            ({"/run.py/deep": b"1"}, {"/run.py": b"two"}, "'run.py' is a folder in data:1 and a file in code:1"),
            ({"/a": b"1"}, {"/a/b": b"2", "/a/c": b"3"}, "'a' is a folder in code:1 and a file in data:1"),
            ({"/output/x": b"1"}, {"/y": b"2"}, "'output/x' of data:1 lies in output/"),
            ({"/output": b"1"}, {"/y": b"2"}, "'output' of data:1 is a file where the folder of the outputs"),
        ],
    )
    def test_code_and_inputs_that_differ_about_a_path_are_refused(
        self, user: JobUser, data: dict[str, bytes], code: dict[str, bytes], words: str
    ) -> None:
        user.lake.put(data, file_set="data")
        user.lake.put(code, file_set="code")
        with pytest.raises(JobRefused) as refused:
            user.submit(inputs=["data"], code="code")
        assert words in refused.value.message

    def test_a_file_that_is_a_folder_of_another_input_is_named_when_the_job_is_to_begin(self, user: JobUser) -> None:
        user.lake.put({"/a": b"1", "/a/b-": b"1"}, file_set="both")
        user.lake.put({"/d/x": b"1", "/d-/x/y": b"1"}, file_set="left")
        user.lake.put({"/d/x-": b"2", "/d/x.y/z": b"2", "/d/x/y/z": b"2"}, file_set="right")
        for inputs, words in (["both"], "'a' of both:1"), (["left", "right"], "'d/x' of job-2-input:1"):
            number = user.submit(inputs=inputs)
            user.schedule()
            job = user.job(number)
            assert (job.state, job.reason) == (JobState.FAILED, f"{words} is a file and a folder")

    def test_two_inputs_that_differ_are_refused_and_named(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"1"}, file_set="left")
        user.lake.put({"/d/x": b"2"}, file_set="right")
        with pytest.raises(JobRefused, match="both left:1 and right:1 have a 'd/x', and they differ"):
            user.submit(inputs=["left", "right"])

    def test_inputs_agree_about_a_path_that_has_the_same_content_in_all_of_them(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"1", "/d/y": b"y"}, file_set="left")
        user.lake.put({"/d/x": b"2"})
        user.lake.put({"/d/x": b"1"}, file_set="right")
        job = user.job(user.submit(inputs=["left", "right", "/d/x"]))
        assert user.lake.named(f"@{job.inputs[0]}") == {"/d/x": 3, "/d/y": 1}

    @pytest.mark.parametrize(
        ("inputs", "words"),
        [
            (["far", "left", "right"], "both left:1 and right:1 have a 'd/0700', and they differ"),
            (["/d/@left", "/"], "both / and /d/@left:1 have a 'd/0700', and they differ"),
            (["left:1", "/d/0700"], "both /d/0700:2 and left:1 have a 'd/0700', and they differ"),
            (["/d/0700@left", "far", "right"], "both /d/0700@left:1 and right:1 have a 'd/0700', and they differ"),
            (["/d/0700:1", "/d/0700:2"], "two versions of one file are asked for, by '/d/0700:1' and by '/d/0700:2'"),
        ],
    )
    def test_wherever_large_inputs_differ_they_are_named(self, user: JobUser, inputs: list[str], words: str) -> None:
        many = {f"/d/{number:04}": b"same" for number in range(1500)}
        user.lake.put(many, file_set="left")
        user.lake.put({"/e/x": b"1"}, file_set="far")
        user.lake.put(many | {"/d/0700": b"other"}, file_set="right", only_changed=True)
        with pytest.raises(BadRequest) as refused:
            user.submit(inputs=inputs)
        assert words in refused.value.message

    def test_what_comes_into_a_folder_while_it_is_looked_up_is_among_the_inputs(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"1"})
        user.lake.put({"/e/x": b"1"}, file_set="data")
        elsewhere = user.lake.elsewhere()
        with meanwhile(user.database, lambda: elsewhere.put({"/d/y": b"2"})):
            job = user.job(user.submit(inputs=["/d/", "data"]))
        assert job.number == 1
        assert sorted(user.lake.named(f"@{job.inputs[0]}")) == ["/d/x", "/d/y", "/e/x"]

    def test_a_set_that_is_deleted_while_inputs_are_laid_together_is_refused(self, user: JobUser) -> None:
        for name in ("one", "two"):
            user.lake.put({f"/{name}": b"1"}, file_set=name)
        keeping = user.lake.elsewhere().lake.keeping
        going = partial(keeping.change, user.project, user.user, "two", RemoveFileSets())
        with meanwhile(user.database, going), pytest.raises(FileSetNotFound, match="All its versions were deleted"):
            user.submit(inputs=["one", "two"])
        assert user.submit() == 1
        assert [one.name for one in user.lake.lake.file_sets.page(user.project, "", 9).file_sets] == ["one"]

    def test_code_is_looked_up_in_large_inputs_wherever_it_would_stand(self, user: JobUser) -> None:
        user.lake.put({f"/d/{number:04}": b"same" for number in range(1500)}, file_set="data")
        user.lake.put({"/c/d/0000": b"same", "/c/d/0777.py": b"x", "/c/d/1499": b"other"}, file_set="code")
        with pytest.raises(JobRefused, match="have a 'd/1499'"):
            user.submit(inputs=["data"], code="code", code_root="/c")
        user.lake.put({"/c/d/0000": b"same", "/c/d/0777.py": b"x"}, file_set="fine")
        user.submit(inputs=["data"], code="fine", code_root="/c")

    # -- answered by an earlier result

    def test_the_same_job_is_answered_by_the_earlier_result_when_asked(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"x"}, file_set="data")
        asked: dict[str, Any] = {"inputs": ["data"], "output": "made", "parameters": {"lr": 0.1}}
        first = user.run(user.submit(**asked), outputs={"a": b"A"}, billed_seconds=30.0)
        job = user.job(user.submit(**asked, cached=True))
        assert (job.state, job.output, job.answered_by) == (JobState.FINISHED, "made:1", first.number)
        assert (job.saved_seconds, job.attempts) == (30.0, [])
        assert job.saved_usd == first.attempts[0].cost_usd
        assert f"answered by job {first.number}" in job.reason
        assert user.events(job.number) == ["queued", "finished"]
        assert user.lake.lake.file_sets.get(user.project, "made").version == 1
        assert user.job(user.submit(**asked)).state is JobState.QUEUED

    @pytest.mark.parametrize("files", [3, 1500])
    def test_parts_that_come_to_the_same_as_before_are_answered_by_it(self, user: JobUser, files: int) -> None:
        user.lake.put({f"/a/{number:04}": b"a" for number in range(files)}, file_set="a")
        user.lake.put({f"/b/{number:04}": b"b" for number in range(files)}, file_set="b")
        first = user.run(user.submit(inputs=["a", "b"]), outputs={"x": b"x"})
        again = user.job(user.submit(inputs=["/b/@b", "/a/@a"], cached=True))
        assert (again.answered_by, again.inputs) == (first.number, first.inputs)
        whole = user.job(user.submit(inputs=[first.inputs[0]], cached=True))
        assert whole.answered_by == first.number
        other = user.job(user.submit(inputs=["a"], cached=True))
        report = user.engine.explain_miss(user.project, other.number)
        assert [miss.what for miss in report.differences] == ["input"]

    @pytest.mark.parametrize(
        "difference",
        [
            {"parameters": {"lr": 0.2}},
            {"command": "false"},
            {"environment": {"A": "b"}},
            {"output": "other"},
            {"captured": {"packages": {"numpy": "2.1"}}},
            {"resources": Resources(1, GIB, 0), "inputs": []},
        ],
    )
    def test_a_job_that_differs_is_run(self, user: JobUser, difference: dict[str, Any]) -> None:
        user.lake.put({"/d/x": b"x"}, file_set="data")
        asked: dict[str, Any] = {"inputs": ["data"], "parameters": {"lr": 0.1}}
        user.run(user.submit(**asked))
        assert user.job(user.submit(**asked | difference, cached=True)).state is JobState.QUEUED

    def test_what_does_not_change_a_result_does_not_matter(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"x"}, file_set="data")
        user.run(user.submit(inputs=["data"]))
        user.lake.put({"/d/x": b"x", "/other": b"y"}, file_set="data")
        user.lake.put({"/d/x": b"x"}, file_set="copy")
        asked: dict[str, Any] = {"resources": Resources(4, 2 * GIB), "name": "again", "priority": 5, "tags": ["t"]}
        job = user.job(user.submit(inputs=["copy"], cached=True, **asked))
        assert job.state is JobState.FINISHED

    def test_only_a_result_that_is_there_answers(self, user: JobUser) -> None:
        failed = user.submit("false")
        user.run(failed, exit_code=1)
        assert user.job(user.submit("false", cached=True)).state is JobState.QUEUED
        deleted = user.submit()
        user.run(deleted)
        user.remove(deleted)
        assert user.job(user.submit(cached=True)).state is JobState.QUEUED

    def test_why_nothing_answered_is_told_by_what_differs_from_the_nearest(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"x"}, file_set="data")
        asked: dict[str, Any] = {"command": ["python", "train.py"], "inputs": ["data"]}
        lone = user.submit(**asked, parameters={"lr": 0.1})
        report = user.engine.explain_miss(user.project, lone)
        assert report.nearest is None
        assert "no job with the same program and the same names of parameters had finished" in report.sentence
        user.run(lone)
        user.lake.put({"/d/x": b"new"}, file_set="data")
        report = user.engine.explain_miss(user.project, user.submit(**asked, parameters={"lr": 0.2}))
        assert report.nearest == lone
        found = {miss.what: (miss.earlier, miss.now) for miss in report.differences}
        assert found == {"input": ("data:1", "data:2"), "parameter lr": ("0.1", "0.2")}
        assert f"differs from job {lone}" in report.sentence
        same = user.submit(**asked | {"inputs": ["data:1"]}, parameters={"lr": 0.1})
        assert "--cached would have given its result" in user.engine.explain_miss(user.project, same).sentence

    def test_the_nearest_is_the_one_that_differs_least_however_many_came_after_it(self, user: JobUser) -> None:
        asked: dict[str, Any] = {"command": ["python", "train.py"]}
        rates = [{"lr": rate, "layers": layers} for layers in (1, 2) for rate in (0.1, 0.2, 0.3)]
        numbers = [user.run(user.submit(**asked, parameters=one)).number for one in rates]
        again = user.submit(**asked, parameters={"lr": 0.1, "layers": 1})
        report = user.engine.explain_miss(user.project, again)
        assert (report.nearest, report.differences) == (numbers[0], [])
        other = user.submit(**asked, parameters={"lr": 0.2, "layers": 1}, environment={"A": "b"})
        report = user.engine.explain_miss(user.project, other)
        assert (report.nearest, [miss.what for miss in report.differences]) == (numbers[1], ["environment variable A"])
        far = user.submit(**asked, parameters={"lr": 0.4, "layers": 1})
        assert user.engine.explain_miss(user.project, far).nearest == numbers[2]  # of three that are as near

    def test_a_job_that_was_answered_is_told_by_which(self, user: JobUser) -> None:
        first = user.run(user.submit(parameters={"lr": 0.1}))
        user.run(user.submit(parameters={"lr": 0.2}))
        answered = user.submit(parameters={"lr": 0.1}, cached=True)
        report = user.engine.explain_miss(user.project, answered)
        assert (report.nearest, report.differences) == (first.number, [])
        assert report.sentence == f"It was answered: job {first.number} is the same, and its result was taken."

    def test_the_same_job_whose_output_was_deleted_is_named_with_that(self, user: JobUser) -> None:
        first = user.run(user.submit(output="made"), outputs={"x": b"x"})
        user.lake.lake.keeping.change(user.project, user.user, "made", RemoveFileSets())
        report = user.engine.explain_miss(user.project, user.submit(output="made", cached=True))
        assert report.sentence == f"Job {first.number} is the same, but its output is deleted."

    def test_sets_that_were_taken_for_good_are_still_told_apart(self, user: JobUser) -> None:
        for name in ("one", "two"):
            user.lake.put({f"/{name}/x": b"x"}, file_set=name)
        first, second = (user.run(user.submit(inputs=[name])).number for name in ("one", "two"))
        for name in ("one", "two"):
            user.lake.lake.keeping.change(user.project, user.user, name, RemoveFileSets(files=True))
        user.time.pass_by(GRACE.total_seconds() + 10)
        assert collect_as_announced(user.lake)[GarbageKind.DELETED_SETS].count == 2
        report = user.engine.explain_miss(user.project, second)
        found = [(miss.what, miss.earlier, miss.now) for miss in report.differences]
        assert (report.nearest, found) == (first, [("input", "one:1", "two:1")])

    def test_only_so_many_jobs_are_looked_at_for_the_nearest_and_that_is_said(self, user: JobUser) -> None:
        first = user.run(user.submit(parameters={"lr": 0, "layers": 1}))
        for number in range(LOOKED_AT):
            user.run(user.submit(parameters={"lr": number, "layers": 2}))
        report = user.engine.explain_miss(user.project, user.submit(parameters={"lr": -1, "layers": 1}))
        assert report.nearest != first.number
        assert f"the nearest of the last {LOOKED_AT}, in parameter layers, parameter lr." in report.sentence


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


class _Broken(bytes):
    """Words that cannot be read."""

    def __getitem__(self, index: Any) -> Any:
        raise RuntimeError("broken")


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


def _stopped(user: JobUser, engine: Engine, number: int) -> None:
    """Let the monitor ask the runner to end an attempt, and wait until it did."""
    name = user.attempt(number)
    engine.monitor.wake()
    engine.monitor.step()
    while name not in user.runner.ends and name in user.runner.orders:
        user.runner.wait([name], 10)
    assert name in user.runner.stopped


def _set_quota(user: JobUser, quota: int) -> None:
    with user.database.connect() as connection:
        of_user = f"user_id = {user.user} AND project_id = {user.project}"
        connection.exec_driver_sql(f"UPDATE membership SET quota = {quota} WHERE {of_user}")  # noqa: S608 (numbers of ours)
        connection.commit()


def new_stage(user: JobUser, project: str) -> JobUser:
    """Return the same user in a project of its own, with a runner of its own."""
    return JobUser(user.database, user.time, StagedRunner(), user.objects, user.name, project)
