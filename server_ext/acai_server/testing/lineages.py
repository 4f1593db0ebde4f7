"""Jobs in the graph, where files are from, and why what jobs made differs: over each database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.errors import AcaiError, BadRequest, FileNotFound
from acai_jupyter.contract.filesets import CreateFileSet, RemoveFileSets
from acai_jupyter.contract.queries import AffectedQuery, NeighbourhoodQuery
from acai_jupyter.contract.states import ActionKind, InputRole, JobState
from acai_server.provenance.service import Provenance
from acai_server.testing.provenance import whole

if TYPE_CHECKING:
    from acai_jupyter.contract.lineage import Cause, WhyDifferent
    from acai_jupyter.contract.provenance import Action, Graph
    from acai_server.testing.stages import JobUser


def graph_of(user: JobUser) -> Provenance:
    """Return what answers questions to a user's graph."""
    return Provenance(user.database, user.lake.lake.files, user.lake.lake.composing)


def around(user: JobUser, thing: object, **how: int) -> Graph:
    """Ask for a neighbourhood."""
    graph = graph_of(user).neighbourhood(user.project, str(thing), NeighbourhoodQuery(**how))
    whole(graph)
    return graph


def only(graph: Graph) -> Action:
    """Return the one action of an answer."""
    (action,) = graph.actions
    return action


def why(user: JobUser, before: object, after: object, depth: int = 20) -> WhyDifferent:
    """Ask why two things differ."""
    return graph_of(user).why_different(user.project, str(before), str(after), depth)


def told(causes: list[Cause]) -> list[tuple[int, str, Any, Any, int | None]]:
    """Return causes without what was being compared."""
    return [(one.distance, one.what, one.before, one.after, one.file_count) for one in causes]


class JobGraphSuite:
    """Derive from this with a fixture `user` that gives one in a new project, with a staged runner of their own."""

    @pytest.fixture
    def user(self) -> JobUser:
        raise NotImplementedError

    # -- jobs have their place

    def test_a_job_is_an_action_before_it_has_begun_and_until_it_has_ended(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"x"}, file_set="data")
        user.lake.put({"/c/run.py": b"run"}, file_set="program")
        number = user.submit(inputs=["data"], code="program", output="made", parameters={"lr": 0.1}, name="first")
        action = only(around(user, number))
        assert (action.kind, action.creator, action.outputs) == (ActionKind.JOB, "you", [])
        assert [(one.file_set, one.role) for one in action.inputs] == [
            ("data:1", InputRole.DATA),
            ("program:1", InputRole.CODE),
        ]
        assert action.job is not None
        assert (action.job.state, action.job.name, action.job.parameters) == (JobState.QUEUED, "first", {"lr": 0.1})
        user.run(number, outputs={"m": b"m"}, billed_seconds=36.0)
        graph = around(user, "data:1")
        action = next(one for one in graph.actions if one.job)
        assert (action.outputs, action.partial) == (["made:1"], [])
        assert action.job is not None
        assert (action.job.state, action.job.attempts) == (JobState.FINISHED, 1)
        assert (action.job.billed_seconds or 0) > 0
        assert (action.job.cost_usd or 0) > 0
        assert action.job.started_at is not None
        assert action.job.ended_at is not None
        assert {node.ref: node.distance for node in graph.nodes} == {"data:1": 0, "made:1": 1}

    def test_jobs_that_made_nothing_or_a_part_have_their_place(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"x"}, file_set="data")
        failed = user.run(user.submit(inputs=["data"], keep_partial=True), exit_code=1, outputs={"half": b"h"})
        nothing = user.run(user.submit(inputs=["data"]), exit_code=2)
        killed = user.submit(inputs=["data"])
        user.kill(killed)
        user.look()
        alone = user.run(user.submit(output="made"), outputs={"m": b"m"})
        actions = {one.job.number: one for one in around(user, "data").actions if one.job}
        partial = f"job-{failed.number}-partial:1"
        assert {number: (one.outputs, one.partial, one.job and one.job.state) for number, one in actions.items()} == {
            failed.number: ([partial], [partial], JobState.FAILED),
            nothing.number: ([], [], JobState.FAILED),
            killed: ([], [], JobState.KILLED),
        }
        assert only(around(user, alone.number)).inputs == []
        assert only(around(user, "made:1", forward=0)).job is not None
        affected = graph_of(user).affected(user.project, "data", AffectedQuery())
        assert ([one.ref for one in affected.sets], affected.newest) == ([partial], [partial])
        assert {one.number for one in affected.jobs} == {failed.number, nothing.number, killed}

    def test_a_job_that_was_answered_shows_by_which(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"x"}, file_set="data")
        first = user.run(user.submit(inputs=["data"], output="made"), outputs={"m": b"m"})
        second = user.submit(inputs=["data"], output="made", cached=True)
        action = only(around(user, second))
        assert action.job is not None
        assert (action.job.state, action.job.answered_by, action.outputs) == (JobState.FINISHED, first.number, [])

    def test_the_jobs_of_a_sweep_have_a_group_and_others_another(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"x"}, file_set="data")
        user.lake.put({"/d/x": b"y"}, file_set="data")
        sweep = [user.submit("train", inputs=["data:1"], parameters={"lr": lr}) for lr in (0.1, 0.2, 0.3)]
        others = [
            user.submit("train", inputs=["data:2"], parameters={"lr": 0.1}),
            user.submit("test", inputs=["data:1"]),
        ]
        groups = [only(around(user, number)).job for number in (*sweep, *others)]
        names = [job.group for job in groups if job]
        assert (len(set(names[:3])), len(set(names))) == (1, 3)

    def test_a_deleted_job_stays(self, user: JobUser) -> None:
        job = user.run(user.submit(output="made"), outputs={"m": b"m"})
        user.remove(job.number)
        action = only(around(user, "made:1"))
        assert action.job is not None
        assert action.job.deleted_at is not None

    def test_all_or_nothing_of_an_end_is_in_the_graph(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"x"}, file_set="data")
        number = user.submit(inputs=["data"], output="made")
        user.schedule()
        user.finish(number, outputs={"m": b"m"})
        with pytest.raises(RuntimeError):
            _write_and_fail(user, number)
        assert only(around(user, number)).outputs == []
        user.look()
        assert only(around(user, number)).outputs == ["made:1"]

    # -- where files are from

    def test_a_file_is_traced_to_the_job_that_wrote_it(self, user: JobUser) -> None:
        user.lake.put({"/d/x": b"x"}, file_set="data")
        job = user.run(user.submit(inputs=["data"], output="model"), outputs={"m.bin": b"m"})
        sets = user.lake.lake.composing
        sets.create(user.project, user.user, CreateFileSet("best", ["@model", "/d/x"]))
        sets.create(user.project, user.user, CreateFileSet("shipped", ["/model/@best:1"]))
        graph = graph_of(user)
        found = graph.file_origin(user.project, "/model/m.bin@shipped")
        assert (found.path, found.version, found.through) == ("/model/m.bin", 1, ["shipped:1", "best:1", "model:1"])
        assert found.action is not None
        assert found.action.job is not None
        assert (found.action.job.number, found.action.outputs) == (job.number, ["model:1"])
        assert [one.file_set for one in found.action.inputs] == ["data:1"]
        assert graph.file_origin(user.project, "/model/m.bin").through == []
        uploaded = graph.file_origin(user.project, "/d/x@best:1")
        assert (uploaded.through, uploaded.action and uploaded.action.outputs) == (["best:1"], ["data:1"])

    def test_a_file_that_was_uploaded_alone_has_no_action(self, user: JobUser) -> None:
        user.lake.put({"/x": b"x"})
        found = graph_of(user).file_origin(user.project, "/x:1")
        assert (found.action, found.creator, found.size_bytes) == (None, "you", 1)
        for wrong, error in (("/y", FileNotFound), ("/d/", AcaiError), ("@data", AcaiError)):
            with pytest.raises(error):
                graph_of(user).file_origin(user.project, wrong)

    # -- why two differ

    def test_causes_come_from_what_is_nearest_back_to_the_raw_data(self, user: JobUser) -> None:
        for body in (b"1", b"2"):
            user.lake.put({"/raw/a": body, "/raw/b": b"same"}, file_set="raw")
        clean = [
            user.run(user.submit(inputs=[f"raw:{n}"], output="clean", parameters={"n": n}), outputs={"c": bytes([n])})
            for n in (1, 2)
        ]
        user.lake.put({"/code/t.py": b"one"}, file_set="program")
        user.lake.put({"/code/t.py": b"two"}, file_set="program")
        ran = [{"packages": {"numpy": f"{n}"}, "python": f"3.1{n}", "platform": f"here {n}"} for n in (1, 2)]
        jobs = [
            user.run(
                user.submit(
                    ["python", f"--n={n}"],
                    inputs=[f"clean:{n}"],
                    code=f"program:{n}",
                    output="model",
                    parameters={"lr": 0.1 * n, "same": 1},
                    environment={"MODE": f"m{n}"},
                ),
                outputs={"m": bytes([n])},
                environment=ran[n - 1],
            )
            for n in (1, 2)
        ]
        found = why(user, "model:1", "model:2")
        assert told(found.causes) == [
            (0, "files", "model:1", "model:2", 1),
            (1, "input", "clean:1", "clean:2", 1),
            (1, "code", "program:1", "program:2", 1),
            (1, "command", "python --n=1", "python --n=2", None),
            (1, "parameter lr", 0.1, 0.2, None),
            (1, "environment variable MODE", "m1", "m2", None),
            (1, "python", "3.11", "3.12", None),
            (1, "platform", "here 1", "here 2", None),
            (1, "package numpy", "1", "2", None),
            (2, "input", "raw:1", "raw:2", 1),
            (2, "parameter n", 1, 2, None),
        ]
        assert found.jobs == (jobs[0].number, jobs[1].number)
        assert found.causes[0].paths == ["/model/m"]
        assert found.causes[-1].of == (f"job {clean[0].number}", f"job {clean[1].number}")
        assert [(one.distance, one.what) for one in found.same] == [(2, "code")]
        by_jobs = why(user, jobs[0].number, jobs[1].number)
        assert told(by_jobs.causes) == told(found.causes)
        near = why(user, "model:1", "model:2", depth=1)
        assert (max(one.distance for one in near.causes), near.is_cut, found.is_cut) == (1, True, False)

    def test_what_is_the_same_has_no_causes(self, user: JobUser) -> None:
        user.lake.put({"/x": b"x"}, file_set="data")
        job = user.run(user.submit(inputs=["data"], output="made"), outputs={"m": b"m"})
        found = why(user, "made:1", "made:1")
        assert (found.causes, found.jobs) == ([], (job.number, job.number))
        with pytest.raises(BadRequest, match="A job is compared with a job"):
            why(user, "made:1", job.number)

    def test_what_came_another_way_is_told_and_what_is_deleted_is_still_named(self, user: JobUser) -> None:
        user.lake.put({"/x": b"1"}, file_set="data")
        user.lake.put({"/x": b"2"}, file_set="data")
        for n in (1, 2):
            user.run(user.submit(inputs=[f"data:{n}"], output="made"), outputs={"m": bytes([n])})
        assert ("made by", "upload of data:1 by you", "job 1") in [
            (one.what, one.before, one.after) for one in why(user, "data:1", "made:1").causes
        ]
        user.lake.lake.keeping.change(user.project, user.user, "data:1", RemoveFileSets())
        causes = told(why(user, "made:1", "made:2").causes)
        assert (1, "input", "data:1", "data:2", None) in causes

    def test_several_inputs_count_one_by_one(self, user: JobUser) -> None:
        for name in ("one", "two", "three"):
            user.lake.put({f"/{name}": name.encode()}, file_set=name)
        user.run(user.submit(inputs=["one", "two"], output="made"), outputs={"m": b"1"})
        user.run(user.submit(inputs=["one", "three"], output="made"), outputs={"m": b"2"})
        causes = [one for one in told(why(user, "made:1", "made:2").causes) if one[1] == "input"]
        assert causes == [(1, "input", "two:1", None, None), (1, "input", None, "three:1", None)]
        back = around(user, "made:2", back=3, forward=0)
        assert {node.ref for node in back.nodes} == {"made:2", "job-2-input:1", "one:1", "three:1"}


def _write_and_fail(user: JobUser, number: int) -> None:
    """Record an output of a job in a transaction that comes to nothing."""
    with user.database.writing() as work:
        counted = {"root": b"", "file_count": 0, "size_bytes": 0}
        now = work.clock.now()
        made = work.file_sets.add(user.project, user.user, "made", InputRole.DATA, now=now, **counted)  # type: ignore[arg-type]
        work.actions.add_output(work.jobs.find(user.project, number).id, made.id)
        raise RuntimeError
