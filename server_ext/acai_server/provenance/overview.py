"""The drawing of a project: the newest version of each name, and what hangs together in one piece, one below the other.

Lines go from name to name; what made a set is seen when it is made the centre.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from acai_jupyter.contract.drawings import Drawing, DrawnEdge, DrawnNode, ShapeKind
from acai_server.provenance import looks, words
from acai_server.provenance.drawing import MARGIN, extent, placed
from acai_server.provenance.layout import GAP, Box, lay_out

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from acai_jupyter.contract.lineage import Component, ProjectGraph
    from acai_jupyter.contract.provenance import Node
    from acai_server.provenance.layout import Link, Point

TITLE = "Provenance of the project"


def draw_project(page: ProjectGraph, matching: AbstractSet[str] | None) -> Drawing:
    """Draw the components of a page, those that changed last on top. The page has no more than are drawn."""
    nodes: list[DrawnNode] = []
    edges: list[DrawnEdge] = []
    is_cut, top = False, 0.0
    for component in page.components:
        drawn, lines = _piece(component, matching, top)
        nodes += drawn
        edges += lines
        _, above, _, height = extent(drawn)
        top = above + height - MARGIN + GAP
        is_cut |= component.name_count > len(component.nodes)
    left, above, width, height = extent(nodes)
    return Drawing(
        focus="",
        title=TITLE,
        nodes=nodes,
        edges=edges,
        left=left,
        top=above,
        width=width,
        height=height,
        looks=looks.LOOKS,
        is_cut=is_cut,
        next=page.next,
    )


def _piece(
    component: Component, matching: AbstractSet[str] | None, top: float
) -> tuple[list[DrawnNode], list[DrawnEdge]]:
    """Return the nodes and lines of a component, from a height on downwards."""
    nodes = [_node(one, matching) for one in component.nodes]
    refs = {one.file_set.name: one.ref for one in component.nodes}
    links = [(refs[link.source], refs[link.target]) for link in component.links if link.source in refs]
    laid = lay_out([Box(one.id, one.width, one.height) for one in nodes], links, "", {})
    drawn = [placed(one, laid) for one in nodes]
    down = top - min(one.y - one.height / 2 for one in drawn)
    faded = {one.id for one in drawn if looks.FADED in one.classes}
    lines = [_edge(link, laid.routes[link], down, is_faded=not faded.isdisjoint(link)) for link in laid.routes]
    return [replace(one, y=round(one.y + down, 1)) for one in drawn], lines


def _node(node: Node, matching: AbstractSet[str] | None) -> DrawnNode:
    width, height = looks.SIZES[ShapeKind.FILE_SET]
    found = node.file_set
    faded = [looks.FADED] if matching is not None and node.ref not in matching else []
    label = words.label(node.ref, looks.ROOMS[ShapeKind.FILE_SET])
    return DrawnNode(
        id=node.ref, kind=ShapeKind.FILE_SET, label=label, words=words.of_set(found),
        about=words.about_set(found), x=0, y=0, width=width, height=height, classes=["file-set", *faded],
        thing=node.ref,
    )  # fmt: skip


def _edge(link: Link, points: list[Point], down: float, *, is_faded: bool) -> DrawnEdge:
    source, target = link
    moved = [(round(x, 1), round(y + down, 1)) for x, y in points]
    classes = [looks.EDGE, *([looks.FADED] if is_faded else [])]
    return DrawnEdge(f"{source} → {target}", source, target, moved, classes, target)
