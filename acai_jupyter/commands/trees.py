"""Trees of lines, as a terminal shows a graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acai_jupyter.commands.units import files_of, money, size
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.states import ActionKind, InputRole, JobState

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acai_jupyter.contract.filesets import FileSet
    from acai_jupyter.contract.provenance import Action, Graph, Node


@dataclass
class Branch:
    """A line with what hangs on it."""

    text: str
    branches: list[Branch] = field(default_factory=list)

    def lines(self) -> Iterator[str]:
        """The lines."""
        yield self.text
        for one in self.branches:
            is_last = one is self.branches[-1]
            first, *rest = one.lines()
            yield f"{'└─' if is_last else '├─'} {first}"
            yield from (f"{'  ' if is_last else '│ '} {line}" for line in rest)


def graph_lines(graph: Graph) -> list[str]:
    """Write a neighbourhood: what it was made of, and below what was made of it."""
    around = _Around(graph)
    lines = [*around.back().lines(), *around.forward()]
    if graph.is_cut:
        lines.append("There is more: ask for fewer steps, or for one of the sets above.")
    return lines


class _Around:
    """Walks in an answer. Each action is written once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._nodes = {node.ref: node for node in graph.nodes}
        self._made_by = {ref: action for action in graph.actions for ref in action.outputs}
        self._written: set[str] = set()

    def back(self) -> Branch:
        """The tree of what the focus was made of."""
        if self._graph.focus.isdigit():
            return self._before(
                next(one for one in self._graph.actions if one.job and str(one.job.number) == self._graph.focus)
            )
        return self._set_before(self._graph.focus)

    def forward(self) -> list[str]:
        """The trees of what was made of the focus."""
        if self._graph.focus.isdigit():
            action = next(one for one in self._graph.actions if one.job and str(one.job.number) == self._graph.focus)
            return [line for ref in action.outputs for line in Branch("made", [self._set_behind(ref)]).lines()]
        behind = self._behind(self._graph.focus)
        return list(Branch("used by", behind).lines()) if behind else []

    def _set_before(self, ref: str) -> Branch:
        node, action = self._nodes[ref], self._made_by.get(ref)
        if action is None:
            return Branch(set_line(node.file_set), [Branch("…")] if node.more_back else [])
        return Branch(set_line(node.file_set), [self._before(action)])

    def _before(self, action: Action) -> Branch:
        if action.id in self._written:
            return Branch(f"{action_name(action)} (above)")
        self._written.add(action.id)
        data = [one.file_set for one in action.inputs if one.role is InputRole.DATA]
        found = [self._set_before(ref) for ref in data]
        found += [Branch(f"{one.role.value} {one.file_set}") for one in action.inputs if one.role is not InputRole.DATA]
        if action.more_inputs:
            found.append(Branch(f"{action.more_inputs:,} more"))
        return Branch(action_line(action), found)

    def _behind(self, ref: str) -> list[Branch]:
        used = [one for one in self._graph.actions if any(given.file_set == ref for given in one.inputs)]
        found = [self._after(action) for action in used]
        more = self._nodes[ref].more_forward
        return found + ([Branch(f"{more:,} more")] if more else [])

    def _after(self, action: Action) -> Branch:
        if action.id in self._written:
            return Branch(f"{action_name(action)} (above)")
        self._written.add(action.id)
        return Branch(action_line(action), [self._set_behind(ref) for ref in action.outputs])

    def _set_behind(self, ref: str) -> Branch:
        return Branch(set_line(self._nodes[ref].file_set), self._behind(ref))


def nodes_lines(nodes: Iterable[Node]) -> list[str]:
    """Write sets, a line each."""
    return [set_line(node.file_set) for node in nodes]


def set_line(one: FileSet) -> str:
    """model:2 · 1 file, 505 KB."""
    gone = " · deleted" if one.deleted_at is not None else ""
    return f"{one.ref} · {files_of(one.file_count)}, {size(one.size_bytes)}{gone}"


def action_name(action: Action) -> str:
    """Job 2, upload, creation."""
    return f"job {action.job.number}" if action.job else action.kind.value


def action_line(action: Action) -> str:
    """What it is, who began it when, and of a job how it stands when that is not simply finished."""
    words = [action_name(action)]
    job = action.job
    if job is not None and job.state is not JobState.FINISHED:
        words.append(job.state.value + (", what it left is kept" if action.partial else ""))
    if job is not None and job.answered_by is not None:
        words.append(f"answered by job {job.answered_by}")
    words += [one_line(action.creator), f"{action.created_at.astimezone():%Y-%m-%d %H:%M}"]
    if job is not None and job.parameters:
        words.append(one_line(" ".join(f"{name}={value}" for name, value in job.parameters.items())))
    if job is not None and job.cost_usd is not None:
        words.append(money(job.cost_usd))
    if action.kind is ActionKind.JOB and not action.inputs:
        words.append("no input")
    return " · ".join(words)
