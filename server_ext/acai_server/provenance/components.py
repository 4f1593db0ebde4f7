"""The graph of a project by names of file sets: what hangs together, what changed last first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.lineage import Component, Link, ProjectGraph
from acai_jupyter.contract.specs import parse_set
from acai_server.provenance.parts import Part

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import FileSetVersionId, ProjectId
    from acai_jupyter.contract.queries import ProjectGraphQuery
    from acai_server.db.links import Newest
    from acai_server.db.work import Work

MOST_NAMES = 20_000
"""So many names are followed to find out what hangs together."""
ON_A_PAGE = 1000
"""So many nodes are on a page at most; a component that needs more has a page of its own."""


def project_graph(work: Work, project: ProjectId, query: ProjectGraphQuery, room: int = ON_A_PAGE) -> ProjectGraph:
    """Return a page of components. Each stands where its newest version is in the order of the project.

    What there is no room for on a page begins the next one, so nothing is on none.
    """
    found: list[Component] = []
    seen: set[int] = set()
    last, shown = query.before, 0
    for newest in work.links.newest(project, None if last is None else _found(work, project, last)):
        if newest.file_set in seen:
            continue
        if len(found) == query.limit:
            return ProjectGraph(found, next=last)
        together, links = work.links.component(newest.file_set, MOST_NAMES)
        seen |= together
        names = work.links.named(project, together)
        if names[0].version == newest.version:  # else it was on an earlier page
            if found and shown + min(len(names), query.names) > room:
                return ProjectGraph(found, next=last)
            found.append(_component(work, project, names, links, query.names))
            shown += len(found[-1].nodes)
        last = f"{newest.name}:{newest.number}"
    return ProjectGraph(found)


def _found(work: Work, project: ProjectId, ref: str) -> FileSetVersionId:
    return work.file_sets.find(project, parse_set(ref), or_deleted=True, with_aliases=False).id


def _component(
    work: Work, project: ProjectId, names: list[Newest], links: set[tuple[int, int]], limit: int
) -> Component:
    chosen = {one.file_set: one for one in names[:limit]}
    versions = [one.version for one in chosen.values()]
    part = Part(work, project)
    made_by = work.graph.made_by(versions)
    part.take(versions, work.graph.actions(project, made_by.values()).values())
    graph = part.graph("")
    between = [(chosen[a].name, chosen[b].name) for a, b in links if a in chosen and b in chosen]
    return Component(graph.nodes, graph.actions, [Link(*one) for one in sorted(between)], len(names))
