"""From a part of the graph to a drawing of it: pure. Every action stands on its edge as a shape of its own."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec.structs import replace

from acai_jupyter.contract.drawings import MAX_DRAWN, Drawing, DrawnEdge, DrawnNode, ShapeKind
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.states import ActionKind, InputRole, JobState
from acai_server.provenance import looks, words
from acai_server.provenance.layout import Box, lay_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from acai_jupyter.contract.provenance import Action, Graph, Node
    from acai_server.provenance.layout import Layout, Link, Point

SIBLINGS = 3
"""So many jobs of a sweep are drawn each; if there are more than one more, those are drawn as one."""
MARGIN = 36.0
_ACTIVE = (JobState.LAUNCHING, JobState.DOWNLOADING, JobState.RUNNING, JobState.UPLOADING)
_BAD = (JobState.FAILED, JobState.KILLED, JobState.CRASHED)


@dataclass(frozen=True)
class Wishes:
    """What whoever looks wants of a drawing."""

    opened: AbstractSet[str] = frozenset()
    """Groups whose jobs are drawn each."""
    held: AbstractSet[str] = frozenset()
    """File sets whose actions go into no group."""
    matching: AbstractSet[str] | None = None
    """The things that a query is true of, if there is one."""
    places: Mapping[str, Point] = field(default_factory=dict)


def draw(graph: Graph, wishes: Wishes, title: str) -> Drawing:
    """Draw a part of the graph."""
    shapes = _Shapes(graph, wishes)
    focus = shapes.focus
    boxes = [Box(one.id, one.width, one.height, _rank(one)) for one in shapes.nodes.values()]
    laid = lay_out(boxes, list(shapes.links), focus, wishes.places)
    nodes = [placed(one, laid) for one in shapes.nodes.values()]
    left, top, width, height = extent(nodes)
    return Drawing(
        focus=focus,
        title=title,
        nodes=nodes,
        edges=[_edge(link, laid, shapes) for link in laid.routes],
        left=left,
        top=top,
        width=width,
        height=height,
        looks=looks.LOOKS,
        is_cut=graph.is_cut or shapes.is_cut,
    )


class _Shapes:
    """The nodes and links that are drawn, without their places yet."""

    def __init__(self, graph: Graph, wishes: Wishes) -> None:
        self._graph = graph
        self._wishes = wishes
        self._sets = {node.ref: node for node in graph.nodes}
        self.nodes: dict[str, DrawnNode] = {}
        self.links: dict[Link, str] = {}
        """With the node of the action that each belongs to."""
        self.dashed: set[Link] = set()
        self.is_cut = False
        groups = _groups(graph, wishes)
        behind = {action.id for members in groups.values() for action in members}
        self.focus = self._focus()
        if graph.focus in self._sets:
            self._add_set(graph.focus)
        for action in graph.actions:
            if action.id not in behind:
                self._add_action(action)
        for name, members in groups.items():
            self._add_group(name, members)

    def _focus(self) -> str:
        jobs = (one for one in self._graph.actions if one.job and str(one.job.number) == self._graph.focus)
        return next((_id(one) for one in jobs), self._graph.focus)

    def _has_room(self, wanted: Iterable[str]) -> bool:
        new = [one for one in wanted if one not in self.nodes]
        has_room = len(self.nodes) + len(new) <= MAX_DRAWN
        self.is_cut |= not has_room
        return has_room

    def _add_set(self, ref: str) -> None:
        if ref not in self.nodes and ref in self._sets:
            self.nodes[ref] = self._set(self._sets[ref])

    def _set(self, node: Node) -> DrawnNode:
        found = node.file_set
        classes = ["file-set", *([looks.DELETED] if found.deleted_at else [])]
        return self._node(
            node.ref,
            ShapeKind.FILE_SET,
            (node.ref, words.of_set(found), words.about_set(found)),
            classes,
            thing=node.ref,
            more=(node.more_back, node.more_forward),
        )

    def _node(
        self,
        name: str,
        kind: ShapeKind,
        said: tuple[str, str, str],
        classes: list[str],
        *,
        thing: str = "",
        more: tuple[int, int] = (0, 0),
        count: int = 1,
    ) -> DrawnNode:
        width, height = looks.SIZES[kind]
        matching = self._wishes.matching
        faded = [looks.FADED] if matching is not None and thing not in matching else []
        focus = [looks.FOCUS] if name == self.focus else []
        whole, below, about = said
        room = looks.ROOMS.get(kind, 0.0)
        label = words.label(whole, room)
        return DrawnNode(
            id=name, kind=kind, label=label, words=words.below(below, room), about=about, x=0, y=0,
            width=width, height=height, classes=[*classes, *focus, *faded], thing=thing, back=more[0],
            forward=more[1], count=count, name="" if label == whole else one_line(whole),
        )  # fmt: skip

    def _add_action(self, action: Action) -> None:
        inputs = [one.file_set for one in action.inputs if one.role is InputRole.DATA and one.file_set in self._sets]
        name = _id(action)
        if not self._has_room([name, *inputs, *action.outputs]):
            return
        for ref in (*inputs, *action.outputs):
            self._add_set(ref)
        self.nodes[name] = self._action(action)
        self._link(name, inputs, action.outputs)
        self.dashed |= {(name, ref) for ref in action.partial}
        if action.job and not inputs:
            mark = f"source:{action.id}"
            self.nodes[mark] = self._node(mark, ShapeKind.SOURCE, ("", "no input", "No input"), ["source"])
            self.links[mark, name] = name

    def _action(self, action: Action) -> DrawnNode:
        name, job = _id(action), action.job
        if job is None:
            is_upload = action.kind is ActionKind.UPLOAD
            kind = ShapeKind.UPLOAD if is_upload else ShapeKind.CREATION
            said = (kind.value, f"by {action.creator}", words.about_action(action))
            return self._node(name, kind, said, [kind.value])
        states = ["failed"] if job.state in _BAD else ["active"] if job.state in _ACTIVE else []
        classes = ["job", *states, *([looks.DELETED] if job.deleted_at else [])]
        title = f"job {job.number}" + (f" · {job.name}" if job.name else "")
        said = (title, words.of_job(job), words.about_job(action, job))
        return self._node(name, ShapeKind.JOB, said, classes, thing=str(job.number))

    def _add_group(self, name: str, members: Sequence[Action]) -> None:
        inputs = [
            one.file_set for one in members[0].inputs if one.role is InputRole.DATA and one.file_set in self._sets
        ]
        if not self._has_room([name, *inputs]):
            return
        for ref in inputs:
            self._add_set(ref)
        states = Counter(one.job.state.value for one in members if one.job)
        below = ", ".join(f"{count} {state}" for state, count in states.most_common())
        about = f"{len(members)} more jobs that differ only in their parameters: {below}. Open it to see each."
        said = (f"{len(members)} more jobs", below, about)
        self.nodes[name] = self._node(name, ShapeKind.GROUP, said, ["group"], count=len(members))
        self._link(name, inputs, [])

    def _link(self, name: str, inputs: Iterable[str], outputs: Iterable[str]) -> None:
        for ref in inputs:
            self.links[ref, name] = name
        for ref in outputs:
            if ref in self.nodes:
                self.links[name, ref] = name


def _groups(graph: Graph, wishes: Wishes) -> dict[str, list[Action]]:
    """The jobs that are drawn as one: of each sweep all but the newest few and those that something depends on."""
    used = {item.file_set for action in graph.actions for item in action.inputs}
    by_group: dict[str, list[Action]] = defaultdict(list)
    for action in graph.actions:
        if action.job and not _is_held(action, graph.focus, used, wishes):
            by_group[f"group:{action.job.group}"].append(action)
    found = {}
    for name, members in by_group.items():
        members.sort(key=_newest_first)
        shown = 0 if wishes.matching is not None else SIBLINGS
        if name not in wishes.opened and len(members) > shown + 1:
            found[name] = members[shown:]
    return found


def _newest_first(action: Action) -> tuple[float, int]:
    return -action.created_at.timestamp(), 0 if action.job is None else -action.job.number


def _is_held(action: Action, focus: str, used: AbstractSet[str], wishes: Wishes) -> bool:
    number = str(action.job.number) if action.job else ""
    if wishes.matching is not None:
        matches = number in wishes.matching or any(ref in wishes.matching for ref in action.outputs)
    else:
        matches = False
    named = any(ref == focus or ref in wishes.held or ref in used for ref in action.outputs)
    return matches or named or number == focus


def _id(action: Action) -> str:
    return f"action:{action.id}"


def _rank(node: DrawnNode) -> int:
    """Sets stand in even layers, what stands between them in odd ones."""
    return 0 if node.kind in (ShapeKind.FILE_SET, ShapeKind.SOURCE) else 1


def placed(node: DrawnNode, laid: Layout) -> DrawnNode:
    """Return a node at its place."""
    x, y = laid.places[node.id]
    return replace(node, x=round(x, 1), y=round(y, 1))


def _edge(link: Link, laid: Layout, shapes: _Shapes) -> DrawnEdge:
    source, target = link
    points = [(round(x, 1), round(y, 1)) for x, y in laid.routes[link]]
    faded = any(looks.FADED in shapes.nodes[one].classes for one in link)
    classes = [looks.EDGE, *([looks.PARTIAL] if link in shapes.dashed else []), *([looks.FADED] if faded else [])]
    return DrawnEdge(f"{source} → {target}", source, target, points, classes, shapes.links[link])


def extent(nodes: Sequence[DrawnNode]) -> tuple[float, float, float, float]:
    """Return the left and the top of nodes with a margin around them, their width and their height."""
    if not nodes:
        return 0.0, 0.0, 0.0, 0.0
    left = min(one.x - one.width / 2 for one in nodes) - MARGIN
    right = max(one.x + one.width / 2 for one in nodes) + MARGIN
    top = min(one.y - one.height / 2 for one in nodes) - MARGIN
    bottom = max(one.y + one.height / 2 for one in nodes) + MARGIN
    return left, top, right - left, bottom - top
