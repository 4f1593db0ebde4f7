"""A drawing in the terms of Cytoscape: plain values, no widget."""

from __future__ import annotations

from math import hypot
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.drawings import Direction, ShapeKind

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from acai_jupyter.contract.drawings import Drawing, DrawnEdge, DrawnNode, Look, Place

FONT = "system-ui, -apple-system, Segoe UI, sans-serif"
HANDLE = 18.0
SELECTED = "selected"
HIDDEN = "hidden"
_SHAPES = {
    "rounded": "round-rectangle",
    "hexagon": "hexagon",
    "stack": "hexagon",
    "ellipse": "ellipse",
    "cut": "cut-rectangle",
    "circle": "ellipse",
}

Element = dict[str, Any]


def nodes(drawing: Drawing, selected: str = "") -> dict[str, Element]:
    """Return the nodes, and the handles by which they are opened, by their ids."""
    found = {}
    for one in drawing.nodes:
        found[one.id] = _node(one, one.id == selected)
        if one.back:
            found[handle(one.id, Direction.BACK)] = _handle(one, Direction.BACK, one.back)
        if one.forward:
            found[handle(one.id, Direction.FORWARD)] = _handle(one, Direction.FORWARD, one.forward)
    return found


def edges(drawing: Drawing, selected: str = "") -> dict[str, Element]:
    """Return the lines by their ids."""
    at = {one.id: (one.x, one.y) for one in drawing.nodes}
    return {one.id: _edge(one, at[one.source], at[one.target], one.action == selected) for one in drawing.edges}


def handle(node: str, direction: Direction) -> str:
    """The id of what is clicked to open a node."""
    return f"open:{direction.value}:{node}"


def opened_by(name: str) -> tuple[str, Direction] | None:
    """Return what a handle opens."""
    for direction in (Direction.BACK, Direction.FORWARD):
        if name.startswith(before := handle("", direction)):
            return name.removeprefix(before), direction
    return None


def style(looks: Sequence[Look]) -> list[Element]:
    """Return the style sheet, in the colours of light themes; a dark page turns the canvas around."""
    plain = [
        {"selector": "node", "style": _PLAIN_NODE},
        {"selector": "edge", "style": _PLAIN_EDGE},
    ]
    named = [
        {"selector": f"{kind}.{look.name}", "style": rules}
        for look in looks
        for kind, rules in (("node", _node_rules(look)), ("edge", _edge_rules(look)))
        if rules
    ]
    return [
        *plain,
        *named,
        {"selector": ".handle", "style": _HANDLE},
        {"selector": f".{HIDDEN}", "style": {"display": "none"}},
    ]


_PLAIN_NODE = {
    "width": "data(width)",
    "height": "data(height)",
    "label": "data(label)",
    "text-wrap": "wrap",
    "text-valign": "center",
    "text-halign": "center",
    "font-family": FONT,
    "font-size": 11.5,
    "line-height": 1.3,
    "border-width": 1.2,
    "overlay-opacity": 0,
}
_PLAIN_EDGE = {
    "width": 1.3,
    "curve-style": "unbundled-bezier",
    "edge-distances": "node-position",
    "control-point-distances": "data(distances)",
    "control-point-weights": "data(weights)",
    "source-endpoint": "90deg",
    "target-endpoint": "270deg",
    "target-arrow-shape": "vee",
    "arrow-scale": 0.7,
    "overlay-opacity": 0,
}
_HANDLE = {
    "shape": "ellipse",
    "background-color": "#ffffff",
    "border-color": "#66707c",
    "border-width": 1.2,
    "color": "#40474f",
    "font-size": 13,
    "z-index": 10,
}


def _node_rules(look: Look) -> Element:
    found: Element = {"shape": _SHAPES.get(look.shape), "background-color": look.fill, "color": look.text}
    found |= {"border-color": look.line, "border-width": look.line_width, **_common(look)}
    found["border-style"] = "dashed" if look.dashed else None
    if look.shape == "stack":
        found |= {"border-style": "double", "border-width": 4}
    return {key: value for key, value in found.items() if value}


def _edge_rules(look: Look) -> Element:
    found: Element = {"line-color": look.line, "target-arrow-color": look.line, "width": look.line_width}
    found |= {"line-style": "dashed" if look.dashed else None, **_common(look)}
    return {key: value for key, value in found.items() if value}


def _common(look: Look) -> Element:
    return {"opacity": 0.3 if look.faded else None}


def _node(node: DrawnNode, is_selected: bool) -> Element:
    label = "" if node.kind is ShapeKind.SOURCE else f"{node.label}\n{node.words}"
    return {
        "data": {"id": node.id, "label": label, "width": node.width, "height": node.height},
        "position": {"x": node.x, "y": node.y},
        "classes": " ".join([*node.classes, *([SELECTED] if is_selected else [])]),
    }


def _handle(node: DrawnNode, direction: Direction, count: int) -> Element:
    side = -1 if direction is Direction.BACK else 1
    wide = HANDLE if count == 1 else HANDLE + 8 * len(f"{count:,}")
    return {
        "data": {
            "id": handle(node.id, direction),
            "label": "+" if count == 1 else f"+{count:,}",
            "width": wide,
            "height": HANDLE,
        },
        "position": {"x": node.x + side * (node.width + wide) / 2 + side * 2, "y": node.y},
        "classes": "handle",
    }


def _edge(edge: DrawnEdge, start: Place, end: Place, is_selected: bool) -> Element:
    weights, distances = bends(edge.points[1:-1], start, end)
    return {
        "data": {
            "id": edge.id,
            "source": edge.source,
            "target": edge.target,
            "weights": weights,
            "distances": distances,
        },
        "classes": " ".join([*edge.classes, *([SELECTED] if is_selected else [])]),
    }


def bends(points: Collection[Place], start: Place, end: Place) -> tuple[list[float], list[float]]:
    """Points as Cytoscape wants them: how far along the straight line from middle to middle, and how far beside it."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = hypot(dx, dy) or 1.0
    from_start = [(x - start[0], y - start[1]) for x, y in points]
    weights = [(x * dx + y * dy) / length**2 for x, y in from_start]
    return weights, [(y * dx - x * dy) / length for x, y in from_start]
