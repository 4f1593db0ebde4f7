"""All that lies between two sets, and the ways from the earlier to the later one."""

from __future__ import annotations

import heapq
from dataclasses import replace
from itertools import count, islice
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.lineage import LineageDirection, Paths
from acai_server.provenance.parts import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import FileSetVersionId, ProjectId
    from acai_server.db.actions import StoredAction
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.work import Work

    Versions = set[FileSetVersionId]
    Way = list[FileSetVersionId]

LOOKED_AT = 100_000
"""So many sets on either side are looked at."""
MOST = 2000
"""So many sets between the two are shown; when there are more, those on the ways that are listed."""


def paths(work: Work, project: ProjectId, one: StoredFileSet, other: StoredFileSet, limit: int) -> Paths:
    """Return what lies between two sets, whichever of them is the earlier."""
    source, target = (one, other) if one.id <= other.id else (other, one)
    before = work.closures.all(target.id, LineageDirection.BACK, LOOKED_AT + 1, source.id)
    behind = work.closures.all(source.id, LineageDirection.FORWARD, LOOKED_AT + 1, target.id)
    between = set(before) & set(behind)
    is_cut = max(len(before), len(behind)) > LOOKED_AT
    graph = _graph(work, between)
    ways = list(islice(_shortest_first(graph, source.id, target.id), limit)) if target.id in between else []
    shown = between if len(between) <= MOST else {version for way in ways for version in way}
    part = Part(work, project)
    if ways:
        part.take(sorted(shown), _actions(work, project, graph, shown))
    answer = part.graph("")
    refs = {version: stored.public.ref for version, stored in work.file_sets.by_id(sorted(shown)).items()}
    return Paths(
        source=source.public.ref,
        target=target.public.ref,
        nodes=answer.nodes,
        actions=answer.actions,
        count=_count(graph, source.id, target.id) if ways else 0,
        paths=[[refs[version] for version in way] for way in ways],
        is_cut=is_cut or len(shown) < len(between),
    )


def _graph(work: Work, between: Versions) -> Any:
    """The sets with an edge for each pair that an action joins. Edges know their action."""
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(between)
    made_by = {made: action for _, action, made in work.closures.near(sorted(between), LineageDirection.BACK)}
    inputs: dict[int, list[FileSetVersionId]] = {}
    for _, action, used, _ in work.closures.far(sorted(set(made_by.values())), LineageDirection.BACK):
        inputs.setdefault(action, []).append(used)
    for made, action in made_by.items():
        graph.add_edges_from((used, made, {"action": action}) for used in inputs.get(action, ()) if used in between)
    return graph


def _shortest_first(graph: Any, source: FileSetVersionId, target: FileSetVersionId) -> Iterator[Way]:
    """All ways, those of fewer steps first. Each step of the search leads to a way, as all that is here lies on one."""
    import networkx as nx

    left = dict(nx.single_source_shortest_path_length(graph.reverse(copy=False), target))
    order = count(0, -1)  # of equals the one that was begun last: it is nearer to its end
    heap: list[tuple[int, int, Way]] = [(left[source], next(order), [source])]
    while heap:
        _, _, way = heapq.heappop(heap)
        if way[-1] == target:
            yield way
            continue
        for following in sorted(graph.successors(way[-1])):
            heapq.heappush(heap, (len(way) + left[following], next(order), [*way, following]))


def _count(graph: Any, source: FileSetVersionId, target: FileSetVersionId) -> int:
    """How many ways there are: ids grow along every edge, so they are an order to count in."""
    ways = dict.fromkeys(graph, 0) | {source: 1}
    for version in sorted(graph):
        for following in graph.successors(version):
            ways[following] += ways[version]
    return ways[target]


def _actions(work: Work, project: ProjectId, graph: Any, shown: Versions) -> list[StoredAction]:
    """The actions between the sets, each with what of its inputs and outputs is among them."""
    wanted = {action for a, b, action in graph.edges(data="action") if a in shown and b in shown}
    return [_only(action, shown) for action in work.graph.actions(project, sorted(wanted)).values()]


def _only(action: StoredAction, shown: Versions) -> StoredAction:
    inputs = [(version, role) for version, role in action.inputs if version in shown]
    outputs = [version for version in action.outputs if version in shown]
    more = action.more_inputs + len(action.inputs) - len(inputs)
    return replace(action, inputs=inputs, outputs=outputs, more_inputs=more)
