"""What becomes of what people ask for when they submit a job, whatever the database: checked, kept, answered again."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import pytest

from acai_jupyter.contract.errors import (
    AcaiError,
    BadAttribute,
    BadPath,
    BadRequest,
    BadSpec,
    FileNotFound,
    FileSetNotFound,
    JobRefused,
)
from acai_jupyter.contract.filesets import RemoveFileSets
from acai_jupyter.contract.garbage import GarbageKind
from acai_jupyter.contract.jobs import CreateJob, ResourceLimits, Resources
from acai_jupyter.contract.states import JobState
from acai_server.engine.misses import LOOKED_AT
from acai_server.testing.collecting import GRACE, collect_as_announced
from acai_server.testing.lakes import meanwhile
from acai_server.testing.stages import GIB, MIB, JobUser


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

    def test_a_runner_knows_whose_secrets_a_job_asks_for(self, user: JobUser) -> None:
        project = user.lake.member.project
        number = user.submit(secrets={"KEY": f"of-{project}"})
        user.schedule()
        order = next(order for order in user.runner.orders.values() if order.secrets)
        assert (order.project, order.secrets) == (project, {"KEY": f"of-{project}"})
        with pytest.raises(JobRefused, match="there is no secret 'of-another'"):
            user.submit(secrets={"KEY": "of-another"})
        assert user.job(number).state == "launching"

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

    def test_a_result_with_a_damaged_content_does_not_answer(self, user: JobUser) -> None:
        first = user.run(user.submit(output="made"), outputs={"x": b"x"})
        user.lake.lose_faith()
        again = user.submit(output="made", cached=True)
        assert user.job(again).state is JobState.QUEUED
        report = user.engine.explain_miss(user.project, again)
        assert report.sentence == f"Job {first.number} is the same, but its output is damaged."
        user.lake.put({"/copy": b"x"})
        assert user.job(user.submit(output="made", cached=True)).answered_by == first.number

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
