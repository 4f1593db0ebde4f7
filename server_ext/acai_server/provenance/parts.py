"""A part of the graph that grows step by step until it is as large as it may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import JobNotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.provenance import Action, ActionInput, ActionJob, Graph, Node
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.specs import parse_set
from acai_jupyter.contract.states import InputRole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acai_jupyter.contract.ids import ActionId, FileSetVersionId, ProjectId
    from acai_server.db.actions import StoredAction
    from acai_server.db.work import Work

    Versions = list[FileSetVersionId]


ANY_NUMBER = 2**62
JOB = "job "
MAX_DIGITS = 12
"""So many a job's number may have."""


class Part:
    """Nodes by their distance from the focus, and the actions between them; an action is in it with all its nodes."""

    def __init__(self, work: Work, project: ProjectId, limit: int = ANY_NUMBER) -> None:
        self._work = work
        self._project = project
        self._limit = limit
        self._distances: dict[FileSetVersionId, int] = {}
        self._actions: dict[ActionId, StoredAction] = {}
        self.is_cut = False

    def begin_with(self, version: FileSetVersionId) -> Versions:
        """Put a node at the distance 0."""
        self._distances[version] = 0
        return [version]

    def begin_with_action(self, action: ActionId) -> tuple[Versions, Versions]:
        """Put an action in the middle; returns where to go back from, and where forward."""
        stored = self._work.graph.actions(self._project, [action])[action]
        self._actions[action] = stored
        self._distances = dict.fromkeys(_data(stored), -1) | dict.fromkeys(stored.outputs, 1)
        return _data(stored), stored.outputs

    def take(self, versions: Versions, actions: Iterable[StoredAction]) -> None:
        """Put just these nodes and actions into it: what else the actions have is named, and is no node."""
        self._distances |= dict.fromkeys(versions, 0)
        self._actions |= {action.id: action for action in actions}

    def back(self, versions: Versions, distance: int) -> Versions:
        """Go one step back to a distance; returns the nodes that are new there."""
        made_by = self._work.graph.made_by(versions)
        found = self.add(dict.fromkeys(made_by[one] for one in versions if one in made_by), distance)
        return [one for action in found for one in _data(action) if self._distances[one] == distance]

    def forward(self, versions: Versions, distance: int) -> Versions:
        """Go one step forward to a distance; of each node the actions that used it last come first."""
        wanted: dict[ActionId, None] = {}
        for version in versions:
            uses = self._work.graph.uses(version, self._limit + 1)
            self.is_cut |= len(uses) > self._limit
            wanted |= dict.fromkeys(uses[: self._limit])
        found = self.add(wanted, distance)
        return [one for action in found for one in action.outputs if self._distances[one] == distance]

    def add(self, wanted: Iterable[ActionId], distance: int) -> list[StoredAction]:
        """Add those of the actions that fit; returns the ones that are new."""
        new = [one for one in wanted if one not in self._actions]
        stored = self._work.graph.actions(self._project, new)
        return [stored[one] for one in new if one in stored and self._add(stored[one], distance)]

    def _add(self, action: StoredAction, distance: int) -> bool:
        nodes = [one for one in (*_data(action), *action.outputs) if one not in self._distances]
        if len(self._distances) + len(set(nodes)) > self._limit or len(self._actions) >= self._limit:
            self.is_cut = True
            return False
        self._actions[action.id] = action
        self._distances |= dict.fromkeys(nodes, distance)
        return True

    def name(self, action: ActionId) -> str:
        """Return how an action that is in it is called."""
        stored = self._actions[action]
        sets = self._work.file_sets.by_id(stored.outputs)
        return name_of(stored, {version: found.public.ref for version, found in sets.items()})

    # -- the answer

    def graph(self, focus: str) -> Graph:
        """Return what is in it, nearest first."""
        actions = self._actions.values()
        named = {version for one in actions for version in (*(used for used, _ in one.inputs), *one.outputs)}
        sets = self._work.file_sets.by_id(sorted(named | self._distances.keys()))
        refs = {version: stored.public.ref for version, stored in sets.items()}
        jobs = self._work.graph.jobs(self._project, actions)
        shown = [public(action, refs, jobs.get(action.id)) for action in actions]
        order = sorted(self._distances, key=lambda one: (abs(self._distances[one]), one))
        back, forward = self._more(order)
        attributes = self._work.attributes.of_many(self._project, SubjectKind.FILE_SET, order)
        tags = self._work.attributes.labels_of(self._project, SubjectKind.FILE_SET, order)
        nodes = [
            Node(
                file_set=sets[one].public,
                distance=self._distances[one],
                more_back=back.get(one, 0),
                more_forward=forward[one],
                attributes=attributes.get(one, {}),
                tags=tags.get(one, []),
            )
            for one in order
        ]
        return Graph(focus, nodes, shown, self.is_cut)

    def _more(self, versions: Versions) -> tuple[dict[FileSetVersionId, int], dict[FileSetVersionId, int]]:
        """How many actions around the nodes are not in it."""
        around = self._work.graph.around(versions)
        back = {one: int(action not in self._actions) for one, (action, _) in around.items() if action is not None}
        here: dict[FileSetVersionId, int] = dict.fromkeys(versions, 0)
        for action in self._actions.values():
            for one in {version for version, _ in action.inputs} & here.keys():
                here[one] += 1
        return back, {one: max(0, around[one][1] - here[one]) for one in versions}


def public(action: StoredAction, refs: dict[FileSetVersionId, str], job: ActionJob | None) -> Action:
    """Return an action as people see it."""
    return Action(
        id=name_of(action, refs),
        kind=action.kind,
        created_at=action.created_at,
        creator=action.creator,
        inputs=[ActionInput(refs[version], role) for version, role in action.inputs],
        outputs=[refs[version] for version in action.outputs],
        partial=[refs[version] for version in action.outputs if version == action.partial],
        job=job,
        more_inputs=action.more_inputs,
    )


def name_of(action: StoredAction, refs: dict[FileSetVersionId, str]) -> str:
    """Return how an action is called in its project; the number of its row would tell of other projects."""
    return f"{JOB}{action.job}" if action.job is not None else ", ".join(refs[version] for version in action.outputs)


def named(work: Work, project: ProjectId, name: str) -> ActionId:
    """Return the action with a name."""
    number = name.removeprefix(JOB)
    if number != name and number.isascii() and number.isdigit() and len(number) <= MAX_DIGITS:
        action = work.graph.of_job(project, int(number))
    else:
        made = work.file_sets.find(project, parse_set(name), or_deleted=True, with_aliases=False)
        action = work.graph.made_by([made.id]).get(made.id)
    if action is None:
        raise JobNotFound(job=one_line(number[:40]))
    return action


def _data(action: StoredAction) -> Versions:
    """The inputs that are drawn as nodes."""
    return list(dict.fromkeys(version for version, role in action.inputs if role is InputRole.DATA))
