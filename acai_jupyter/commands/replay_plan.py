"""Which actions of a lineage have to be done again, and in which order: nothing is asked of anybody here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import BadRequest, Conflict
from acai_jupyter.contract.specs import parse_set
from acai_jupyter.contract.states import ActionKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acai_jupyter.contract.provenance import Action, Graph

_FEW = 5
_PARTS = "Replay a job alone, by its number, or a set nearer to its data."


@dataclass(frozen=True)
class Instead:
    """What takes the place of what was: versions of sets by their names, and values of parameters."""

    sets: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.sets or self.parameters)

    def replaces(self, ref: str) -> bool:
        """Whether another version takes the place of a set."""
        return _name(ref) in self.sets

    def touches(self, action: Action) -> bool:
        """Whether an action would be another with it."""
        if any(self.replaces(one.file_set) for one in action.inputs):
            return True
        return action.job is not None and not self.parameters.keys().isdisjoint(action.job.parameters)


def plan(graph: Graph, target: Action, instead: Instead, *, whole: bool = False) -> list[Action]:
    """Return the actions to do again, each after those whose outputs it needs.

    With something in place of what was: all that it leads to. Else the jobs that are nearest to the target, or with
    `whole` all of its jobs. Makers of sets that are deleted are done again too. How a set came about that is replaced
    does not matter.
    """
    order = _lineage(graph, target, instead)
    if instead:
        _check_all_used(_lineage(graph, target, Instead()), instead)
    if instead or whole:
        _check_all_known(graph, order, instead)
    if instead:
        chosen = _touched(order, instead)
    else:
        chosen = {one.id for one in order if one.job is not None} if whole else _nearest(graph, target)
        chosen = _between(graph, order, chosen)
    _add_makers_of_deleted(graph, order, chosen, instead)
    return [one for one in order if one.id in chosen]


def makers(graph: Graph) -> dict[str, Action]:
    """Return the action that made each set."""
    return {ref: action for action in graph.actions for ref in action.outputs}


def _lineage(graph: Graph, target: Action, instead: Instead) -> list[Action]:
    """The target and all that it was made from, each after its makers; nothing of what is replaced."""
    made_by = makers(graph)
    found: dict[str, Action] = {}
    waiting = [(target, False)]
    while waiting:
        action, has_makers = waiting.pop()
        if has_makers:
            found.setdefault(action.id, action)
        elif action.id not in found:
            waiting.append((action, True))
            inputs = (made_by.get(one.file_set) for one in action.inputs if not instead.replaces(one.file_set))
            waiting += [(maker, False) for maker in inputs if maker is not None and maker.id not in found]
    return list(found.values())


def _nearest(graph: Graph, target: Action) -> set[str]:
    """The target, or where it is no job the first jobs on every way back from it."""
    made_by, chosen, waiting = makers(graph), set[str](), [target]
    while waiting:
        action = waiting.pop()
        if action.job is not None:
            chosen.add(action.id)
        else:
            _check_all_known(graph, [action], Instead())
            waiting += [made_by[one.file_set] for one in action.inputs if one.file_set in made_by]
    if not chosen:
        made = "uploaded" if target.kind is ActionKind.UPLOAD else "made of what was uploaded"
        raise BadRequest(f"No job made {target.outputs[0]}: it was {made}. Replay what a job made, or a job's number.")
    return chosen


def _between(graph: Graph, order: list[Action], chosen: set[str]) -> set[str]:
    """Those that are chosen, and what people made of their outputs on the way to the target."""
    made_by = makers(graph)
    for action in order:
        inputs = (made_by.get(one.file_set) for one in action.inputs)
        if action.job is None and any(maker is not None and maker.id in chosen for maker in inputs):
            chosen = chosen | {action.id}
    return chosen


def _touched(order: list[Action], instead: Instead) -> set[str]:
    anew, chosen = set[str](), set[str]()
    for action in order:
        if instead.touches(action) or any(one.file_set in anew for one in action.inputs):
            chosen.add(action.id)
            anew.update(action.outputs)
    return chosen


def _check_all_used(order: list[Action], instead: Instead) -> None:
    names = dict.fromkeys(_name(one.file_set) for action in order for one in action.inputs)
    for name in instead.sets:
        if name not in names:
            raise BadRequest(f"Nothing of it was made from {name}. What it was made from: {_listed(names)}.")
    known = dict.fromkeys(name for action in order if action.job is not None for name in action.job.parameters)
    for name in instead.parameters:
        if name not in known:
            raise BadRequest(f"No job of it has a parameter {name}. There are: {_listed(known)}.")


def _check_all_known(graph: Graph, actions: list[Action], instead: Instead) -> None:
    """Refuse to take a part for the whole."""
    beyond = _beyond(graph)
    for action in actions:
        if action.more_inputs:
            what = action.outputs[0] if action.outputs else "A job of it"
            count = len(action.inputs) + action.more_inputs
            raise Conflict(f"{what} was made of {count:,} file sets, more than a replay follows. {_PARTS}")
        for one in action.inputs:
            if one.file_set in beyond and not instead.replaces(one.file_set):
                raise Conflict(f"What {one.file_set} came from is too much, or too far back, for a replay. {_PARTS}")


def _beyond(graph: Graph) -> set[str]:
    """The sets whose makers are not in the graph, as it has its limits."""
    made_by = makers(graph)
    return {node.ref for node in graph.nodes if node.more_back and node.ref not in made_by}


def _add_makers_of_deleted(graph: Graph, order: list[Action], chosen: set[str], instead: Instead) -> None:
    made_by, beyond = makers(graph), _beyond(graph)
    gone = {node.ref for node in graph.nodes if node.file_set.deleted_at is not None}
    for action in reversed(order):
        if action.id not in chosen:
            continue
        for one in action.inputs:
            maker = made_by.get(one.file_set)
            if one.file_set not in gone or instead.replaces(one.file_set) or (maker and maker.id in chosen):
                continue
            if one.file_set in beyond:
                raise Conflict(
                    f"{one.file_set} is deleted, and what made it is too far back for a replay. {_undo(one.file_set)}"
                )
            if maker is None or maker.kind is ActionKind.UPLOAD:
                raise Conflict(f"{one.file_set} is deleted and was uploaded. {_undo(one.file_set)}")
            chosen.add(maker.id)


def _undo(ref: str) -> str:
    return f"Bring it back: acai fileset rm {ref} --undo"


def _name(ref: str) -> str:
    return parse_set(ref).name


def _listed(names: Iterable[str]) -> str:
    found = list(names)
    more = f" and {len(found) - _FEW} more" if len(found) > _FEW else ""
    return (", ".join(found[:_FEW]) + more) or "nothing"
