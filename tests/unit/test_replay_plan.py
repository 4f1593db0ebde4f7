"""Which jobs of a lineage are done again: the nearest, all, those behind a change, and makers of what is gone."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from acai_jupyter.commands.replay_plan import Instead, plan
from acai_jupyter.contract.errors import BadRequest, Conflict
from acai_jupyter.contract.filesets import FileSet
from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.provenance import Action, ActionInput, ActionJob, Graph, Node
from acai_jupyter.contract.states import ActionKind, InputRole, JobState

if TYPE_CHECKING:
    from collections.abc import Sequence

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def _job(number: int, parameters: dict[str, float]) -> ActionJob:
    values: dict[str, str | int | float | bool] = dict(parameters)
    return ActionJob(JobNumber(number), "", JobState.FINISHED, "", ["python3"], "", values, "")


def _action(number: int, kind: ActionKind, inputs: Sequence[str], output: str, **parameters: float) -> Action:
    given = [ActionInput(ref, InputRole.CODE if ref.startswith("code") else InputRole.DATA) for ref in inputs]
    job = _job(number, parameters) if kind is ActionKind.JOB else None
    return Action(str(number), kind, NOW, "you", given, [output], job=job)


class Lineage:
    """digits:1 → (job 2: clean) → clean:1 ─┬→ (3: by hand) → train:1 → (job 4: train, lr) → model:1."""

    def __init__(self, *deleted: str) -> None:
        self.actions = [
            _action(1, ActionKind.UPLOAD, [], "digits:1"),
            _action(2, ActionKind.JOB, ["digits:1", "code.a:1"], "clean:1", size=2),
            _action(3, ActionKind.CREATION, ["clean:1"], "train:1"),
            _action(4, ActionKind.JOB, ["train:1", "code.b:1"], "model:1", lr=0.1),
        ]
        refs = ["digits:1", "clean:1", "train:1", "model:1"]
        nodes = [Node(_file_set(ref, is_deleted=ref in deleted)) for ref in refs]
        self.graph = Graph("model:1", nodes, list(reversed(self.actions)))

    def plan(self, target: int = 4, *, whole: bool = False, **instead: object) -> list[int]:
        found = plan(self.graph, self.actions[target - 1], Instead(**instead), whole=whole)  # type: ignore[arg-type]
        return [int(action.id) for action in found]


def _file_set(ref: str, *, is_deleted: bool) -> FileSet:
    name, _, version = ref.partition(":")
    return FileSet(name, int(version), 1, 1, NOW, "you", deleted_at=NOW if is_deleted else None)


LR = Instead(parameters={"lr": 0.2})
LOST = [Node(_file_set("train:1", is_deleted=True))]
"""Its maker is known, and needs what is gone too."""


def test_a_job_is_done_again_alone_and_a_set_by_the_jobs_nearest_to_it() -> None:
    assert Lineage().plan(4) == [4]
    assert Lineage().plan(3) == [2, 3]


def test_the_whole_lineage_is_its_jobs_and_what_people_made_of_their_outputs() -> None:
    assert Lineage().plan(4, whole=True) == [2, 3, 4]


def test_another_input_leads_to_all_that_came_from_it_and_code_counts_too() -> None:
    assert Lineage().plan(4, sets={"digits": "digits:2"}) == [2, 3, 4]
    assert Lineage().plan(4, sets={"train": "train:2"}) == [4]
    assert Lineage().plan(4, sets={"code.b": "code.b:2"}) == [4]


def test_another_parameter_leads_to_the_jobs_that_have_it() -> None:
    assert Lineage().plan(4, parameters={"lr": 0.2}) == [4]
    assert Lineage().plan(4, parameters={"size": 3}) == [2, 3, 4]


def test_makers_of_what_is_deleted_are_done_again_as_far_back_as_it_takes() -> None:
    assert Lineage("train:1").plan(4) == [3, 4]
    assert Lineage("train:1", "clean:1").plan(4) == [2, 3, 4]
    assert Lineage("clean:1").plan(4) == [4]


def test_an_upload_that_is_deleted_cannot_be_done_again() -> None:
    with pytest.raises(Conflict, match=r"digits:1 is deleted and was uploaded\. Bring it back: acai fileset rm"):
        Lineage("train:1", "clean:1", "digits:1").plan(4)


def test_how_a_set_that_is_replaced_came_about_does_not_matter() -> None:
    assert Lineage().plan(4, sets={"train": "train:2"}, parameters={"size": 3}) == [4]
    assert Lineage("train:1", "clean:1", "digits:1").plan(4, sets={"train": "train:2"}) == [4]
    grown = [_action(1, ActionKind.UPLOAD, [], "all:1"), _action(2, ActionKind.CREATION, ["all:1"], "all:2")]
    graph = Graph("model:1", [], [*grown, _action(3, ActionKind.JOB, ["all:2"], "model:1")])
    assert [int(one.id) for one in plan(graph, graph.actions[-1], Instead({"all": "all:3"}))] == [3]


def test_what_people_made_of_several_jobs_outputs_is_made_after_all_of_them() -> None:
    actions = [
        _action(1, ActionKind.JOB, ["raw:1"], "clean:1"),
        _action(2, ActionKind.CREATION, ["clean:1"], "train:1"),
        _action(3, ActionKind.JOB, ["train:1"], "model:1"),
        _action(4, ActionKind.JOB, ["raw:1"], "other:1"),
        _action(5, ActionKind.CREATION, ["clean:1", "model:1"], "best:1"),
    ]
    graph = Graph("best:1", [], actions)
    assert [int(one.id) for one in plan(graph, actions[4], Instead())] == [1, 2, 3, 5]
    assert [int(one.id) for one in plan(graph, actions[2], Instead())] == [3]


def test_a_part_of_a_lineage_is_not_taken_for_all_of_it() -> None:
    far = Node(_file_set("clean:1", is_deleted=False), more_back=1)
    lineage = Lineage()
    graph = Graph("model:1", [far, *lineage.graph.nodes[2:]], lineage.actions[2:])
    train, model = lineage.actions[2:]
    assert plan(graph, model, Instead()) == [model]
    assert plan(graph, model, Instead({"clean": "clean:2"})) == [train, model]
    for target, whole, instead in [(model, True, Instead()), (train, False, Instead()), (model, False, LR)]:
        with pytest.raises(Conflict, match=r"What clean:1 came from is too much, or too far back.* by its number"):
            plan(graph, target, instead, whole=whole)
    gone = replace(graph, nodes=[replace(far, file_set=_file_set("clean:1", is_deleted=True)), *LOST])
    with pytest.raises(Conflict, match="clean:1 is deleted, and what made it is too far back"):
        plan(gone, model, Instead())


def test_a_set_made_of_more_sets_than_an_answer_lists_is_refused() -> None:
    many = replace(_action(3, ActionKind.CREATION, ["a:1", "b:1"], "all:1"), more_inputs=98)
    model = _action(4, ActionKind.JOB, ["all:1"], "model:1", lr=0.1)
    graph = Graph("model:1", [], [many, model])
    assert plan(graph, model, Instead()) == [model]
    for target, whole, instead in [(model, True, Instead()), (many, False, Instead()), (model, False, LR)]:
        with pytest.raises(Conflict, match="all:1 was made of 100 file sets, more than a replay follows"):
            plan(graph, target, instead, whole=whole)


def test_what_no_job_made_is_said_to_be_so() -> None:
    with pytest.raises(BadRequest, match="No job made digits:1: it was uploaded"):
        Lineage().plan(1)


def test_what_leads_nowhere_is_refused_with_what_there_is() -> None:
    with pytest.raises(BadRequest, match=r"made from other\. What it was made from: digits, code\.a, clean"):
        Lineage().plan(4, sets={"other": "other:1"})
    with pytest.raises(BadRequest, match=r"No job of it has a parameter depth\. There are: size, lr"):
        Lineage().plan(4, parameters={"depth": 1})
