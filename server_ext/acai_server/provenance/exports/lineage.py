"""A closure as it is written down: sets and actions with what joins them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acai_jupyter.contract import decoding
from acai_jupyter.contract.lineage import (
    ClosureAction,
    ClosureEnd,
    ClosureInput,
    ClosureLine,
    ClosureOutput,
    ClosureSet,
)
from acai_jupyter.contract.states import InputRole, JobState
from acai_server.db.batches import pages

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acai_jupyter.contract.ids import ProjectId
    from acai_jupyter.contract.provenance import ActionJob
    from acai_server.db.database import Database

PAGE = 1000
_LINES = decoding.json_decoder(ClosureLine)


@dataclass
class Step:
    """An action, of a job with what is kept of it, and the sets around it by their keys."""

    action: ClosureAction
    inputs: list[tuple[int, InputRole]] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    job: ActionJob | None = None
    made: str = ""
    """The set that it made, whose action it is."""

    @property
    def name(self) -> str:
        """How it is called in a drawing."""
        return f"job {self.action.job}" if self.action.job is not None else self.action.kind.value

    @property
    def id(self) -> str:
        """Its name among all actions of the project."""
        return f"job-{self.action.job}" if self.action.job is not None else f"making-{self.made}"

    @property
    def is_partial(self) -> bool:
        """Whether its outputs are what a program left that did not finish."""
        return self.action.state not in (None, JobState.FINISHED)


@dataclass
class Lineage:
    """Sets by key and actions by key, in the order of the graph, of one project."""

    project: str
    focus: str
    sets: dict[int, ClosureSet]
    steps: dict[int, Step]
    is_cut: bool

    def data(self) -> dict[int, ClosureSet]:
        """The sets that are nodes of a drawing: not those that only went in as code or variables."""
        roles: dict[int, set[InputRole]] = {}
        for step in self.steps.values():
            for key, role in step.inputs:
                roles.setdefault(key, set()).add(role)
        beside = {key for key, found in roles.items() if InputRole.DATA not in found}
        beside |= {key for key, one in self.sets.items() if one.role is not InputRole.DATA}
        beside -= {key for key, one in self.sets.items() if one.ref == self.focus}
        return {key: one for key, one in self.sets.items() if key not in beside}


def gather(database: Database, project: ProjectId, pieces: Iterable[bytes], *, name: str) -> Lineage:
    """Read the lines of a closure, and what is kept of its jobs."""
    sets: dict[int, ClosureSet] = {}
    actions: dict[int, ClosureAction] = {}
    inputs: list[ClosureInput] = []
    outputs: list[ClosureOutput] = []
    end = ClosureEnd("", 0, is_cut=True)
    for line in (line for piece in pieces for line in _LINES.decode_lines(piece)):
        match line:
            case ClosureSet():
                sets[line.key] = line
            case ClosureAction():
                actions[line.key] = line
            case ClosureInput():
                inputs.append(line)
            case ClosureOutput():
                outputs.append(line)
            case ClosureEnd():
                end = line
    jobs = _jobs(database, project, [key for key, one in actions.items() if one.job is not None])
    steps = {key: Step(actions[key], job=jobs.get(key)) for key in sorted(actions)}
    for one in inputs:
        steps[one.action].inputs.append((one.file_set, one.role))
    for made in outputs:
        steps[made.action].outputs.append(made.file_set)
    for step in steps.values():
        step.made = next((sets[key].ref for key in step.outputs if key in sets), "")
    return Lineage(name, end.focus, dict(sorted(sets.items())), steps, end.is_cut)


def _jobs(database: Database, project: ProjectId, actions: list[int]) -> dict[int, ActionJob]:
    found: dict[int, ActionJob] = {}
    for page in pages(actions, PAGE):
        with database.reading() as work:
            stored = work.graph.actions(project, page)  # type: ignore[arg-type]  # keys of actions are their ids
            found |= {int(one): job for one, job in work.graph.jobs(project, stored.values()).items()}
    return found
