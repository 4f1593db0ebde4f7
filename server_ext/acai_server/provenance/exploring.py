"""Drawings around a file set or a job, as somebody opens them step by step."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from msgspec.structs import replace

from acai_jupyter.contract.drawings import MAX_DRAWN, Direction, DrawGraph, Drawing
from acai_jupyter.contract.errors import BadQuery, BadRequest, JobNotFound
from acai_jupyter.contract.provenance import Graph
from acai_jupyter.contract.queries import ProjectGraphQuery
from acai_jupyter.contract.query.binding import bind
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.query.parser import parse
from acai_jupyter.contract.query.tree import And, OneOf, Query
from acai_jupyter.contract.specs import parse_set
from acai_jupyter.contract.states import InputRole
from acai_server.provenance import svg
from acai_server.provenance.components import project_graph
from acai_server.provenance.drawing import Wishes, draw
from acai_server.provenance.overview import draw_project
from acai_server.provenance.parts import Part

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ActionId, ProjectId
    from acai_server.db.database import Database
    from acai_server.db.work import Work

GATHERED = 500
"""So many file sets are looked at for one drawing: what is drawn, and what is drawn as one."""
ON_PATHS = 2000
"""So many ancestors are looked at for a path."""
_MAX_DIGITS = 12


class Drawings:
    """Parts of the graph, drawn."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def draw(self, project: ProjectId, request: DrawGraph) -> Drawing:
        """Draw what is around a file set or a job, or a project by its names."""
        if not request.focus:
            return self._draw_project(project, request)
        with self._database.reading() as work:
            graph = _between(work, project, request) if request.path_to else _around(work, project, request)
            matching = _matching(work, project, request, graph) if request.query.strip() else None
        opened = frozenset(step.node for step in request.steps if step.direction is Direction.GROUP)
        held = frozenset(step.node for step in request.steps if step.direction is not Direction.GROUP)
        title = f"From {graph.focus} to {request.path_to}" if request.path_to else f"Provenance of {_named(graph)}"
        drawing = draw(graph, Wishes(opened, held, matching, request.places), title)
        return replace(drawing, svg=svg.write(drawing)) if request.with_svg else drawing

    def _draw_project(self, project: ProjectId, request: DrawGraph) -> Drawing:
        with self._database.reading() as work:
            page = project_graph(work, project, ProjectGraphQuery(before=request.before, names=MAX_DRAWN), MAX_DRAWN)
            nodes = [node for component in page.components for node in component.nodes]
            asked = bool(request.query.strip())
            matching = _matching(work, project, request, Graph("", nodes, [])) if asked else None
        drawing = draw_project(page, matching)
        return replace(drawing, svg=svg.write(drawing)) if request.with_svg else drawing


def _named(graph: Graph) -> str:
    return f"job {graph.focus}" if graph.focus.isdecimal() else graph.focus


def _around(work: Work, project: ProjectId, request: DrawGraph) -> Graph:
    """One step back and one forward, and from each opened node one more."""
    part = Part(work, project, GATHERED)
    if _is_number(request.focus):
        focus = request.focus
        part.begin_with_action(_action(work, project, focus))
    else:
        stored = work.file_sets.find(project, parse_set(request.focus), or_deleted=True)
        focus = stored.public.ref
        here = part.begin_with(stored.id)
        part.back(here, -1)
        part.forward(here, 1)
    for number, step in enumerate(request.steps, 2):
        if step.direction is Direction.GROUP:
            continue
        one = [work.file_sets.find(project, parse_set(step.node), or_deleted=True).id]
        if step.direction is Direction.BACK:
            part.back(one, -number)
        else:
            part.forward(one, number)
    return part.graph(focus)


def _is_number(thing: str) -> bool:
    return thing.isascii() and thing.isdigit() and len(thing) <= _MAX_DIGITS


def _action(work: Work, project: ProjectId, number: str) -> ActionId:
    action = work.graph.of_job(project, int(number))
    if action is None:
        raise JobNotFound(job=number)
    return action


def _between(work: Work, project: ProjectId, request: DrawGraph) -> Graph:
    """All that lies on a way from one of two sets to the other, whichever is the earlier."""
    one = work.file_sets.find(project, parse_set(request.focus), or_deleted=True)
    other = work.file_sets.find(project, parse_set(request.path_to), or_deleted=True)
    is_cut = False
    for late, early in ((one, other), (other, one)):
        part = Part(work, project, ON_PATHS)
        new, distance = part.begin_with(late.id), 0
        while new:
            distance -= 1
            new = part.back(new, distance)
        graph = part.graph(late.public.ref)
        is_cut |= graph.is_cut
        if any(node.ref == early.public.ref for node in graph.nodes):
            return replace(_only_after(graph, early.public.ref), focus=one.public.ref)
    far = f" within {ON_PATHS:,} file sets" if is_cut else ""
    raise BadRequest(f"Neither of {one.public.ref} and {other.public.ref} was made of the other{far}.")


def _only_after(graph: Graph, early: str) -> Graph:
    """Leave what comes from a set. All of the graph leads to its focus already."""
    users = defaultdict(list)
    for action in graph.actions:
        for item in action.inputs:
            if item.role is InputRole.DATA:
                users[item.file_set].append(action)
    reached, actions, ready = {early}, {}, [early]
    for ref in ready:  # grows while it is walked
        for action in users[ref]:
            actions[action.id] = action
            new = [one for one in action.outputs if one not in reached]
            reached.update(new)
            ready += new
    kept = [
        replace(
            action,
            inputs=[one for one in action.inputs if one.file_set in reached],
            outputs=[one for one in action.outputs if one in reached],
        )
        for action in actions.values()
    ]
    return replace(graph, nodes=[node for node in graph.nodes if node.ref in reached], actions=kept)


def _matching(work: Work, project: ProjectId, request: DrawGraph, graph: Graph) -> set[str]:
    """The sets and jobs of the graph that the query is true of. A key need not mean something for both."""
    now = datetime.now(timezone(timedelta(seconds=request.utc_offset_seconds)))
    names = {node.file_set.name for node in graph.nodes}
    numbers = {float(action.job.number) for action in graph.actions if action.job}
    here = {SubjectKind.FILE_SET: OneOf("name", tuple(names)), SubjectKind.JOB: OneOf("number", tuple(numbers))}
    matching: set[str] = set()
    faults: list[BadQuery] = []
    for kind, is_here in here.items():
        if not is_here.values:
            continue
        try:
            query = bind(parse(request.query, now), kind, now, request.query)
        except BadQuery as error:
            faults.append(error)
            continue
        matching |= _found(work, project, kind, Query(And((query.where, is_here)), query.order, query.limit))
    if len(faults) == len(here):
        raise faults[0]
    return matching


def _found(work: Work, project: ProjectId, kind: SubjectKind, query: Query) -> set[str]:
    rows, _ = work.search.find(project, kind, query, None, query.limit or 10 * GATHERED)
    return set(work.subjects.names(kind, rows).values())
