"""A drawing as SVG: self-contained, no script, readable without its style too.

Colours stand on each shape, as places like GitHub strip styles. Where a style is let through, JupyterLab's own colours
and the reader's dark mode win.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape

from acai_jupyter.contract.drawings import ShapeKind
from acai_jupyter.contract.foreign import one_line
from acai_server.provenance.looks import MORE
from acai_server.provenance.words import LABEL_SIZE, WORDS_SIZE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_jupyter.contract.drawings import Drawing, DrawnEdge, DrawnNode, Look, Place

FONT = "system-ui, -apple-system, 'Segoe UI', sans-serif"
_ARROW = 7.0
_FADED = ' opacity="0.3"'


def write(drawing: Drawing) -> str:
    """Write a drawing. Foreign text can only be text in it."""
    view = f"{drawing.left:g} {drawing.top:g} {drawing.width:g} {drawing.height:g}"
    edges = "".join(_edge(one, _look(drawing.looks, one.classes)) for one in drawing.edges)
    colour = _look(drawing.looks, [MORE]).text
    nodes = "".join(_node(one, _look(drawing.looks, one.classes), _more(one, colour)) for one in drawing.nodes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="acai-graph" role="img" viewBox="{view}" '
        f'width="{drawing.width:g}" height="{drawing.height:g}" style="max-width:100%;height:auto;'
        f'font-family:var(--jp-ui-font-family,{FONT})" '
        f'font-family="{FONT}" aria-labelledby="{_name(drawing, "title")} {_name(drawing, "desc")}">'
        f'<title id="{_name(drawing, "title")}">{_text(drawing.title)}</title>'
        f'<desc id="{_name(drawing, "desc")}">{_text(described(drawing))}</desc>'
        f"<style>{_style(drawing.looks)}</style>{edges}{nodes}</svg>"
    )


def described(drawing: Drawing) -> str:
    """Say in sentences what is drawn."""
    labels = {one.id: one.label for one in drawing.nodes}
    into: dict[str, list[str]] = {}
    out: dict[str, list[str]] = {}
    for edge in drawing.edges:
        (into if edge.target == edge.action else out).setdefault(edge.action, []).append(
            labels[edge.source if edge.target == edge.action else edge.target]
        )
    said = []
    for one in drawing.nodes:
        if one.kind in (ShapeKind.FILE_SET, ShapeKind.SOURCE):
            continue
        sources = ", ".join(filter(None, into.get(one.id, []))) or "nothing"
        made = ", ".join(out.get(one.id, [])) or "nothing that is drawn"
        said.append(f"{one.label} ({one.words}): from {sources} to {made}.")
    return " ".join(said) or f"{drawing.title}."


def _name(drawing: Drawing, part: str) -> str:
    """An id that is the same in no other drawing of a page."""
    seed = zlib.crc32("\0".join(one.id for one in drawing.nodes).encode())
    return f"acai-{part}-{seed:08x}"


class _Look(NamedTuple):
    """What the classes of one node or edge say together; the later ones win."""

    names: str
    fill: str = "none"
    line: str = "#66707c"
    text: str = "#262b31"
    width: float = 1.2
    more: str = ""


def _look(known: Sequence[Look], classes: Sequence[str]) -> _Look:
    found = _Look(" ".join(f"acai-{name}" for name in classes))
    for look in (look for look in known if look.name in classes):
        found = found._replace(
            fill=look.fill or found.fill,
            line=look.line or found.line,
            text=look.text or found.text,
            width=look.line_width or found.width,
            more=found.more + (' stroke-dasharray="5 4"' if look.dashed else "") + (_FADED if look.faded else ""),
        )
    return found


def _style(known: Sequence[Look]) -> str:
    light, dark, lab = [], [], []
    for look in known:
        if not (look.dark_fill or look.dark_line or look.dark_text):
            continue
        here = f".acai-graph .acai-{look.name}"
        parts = _rules(look)
        light.append(f"{here}{{{parts[0]}}}")
        dark.append(f"{here}{{{parts[1]}}}")
        lab.append(f'[data-jp-theme-light="false"] {here}{{{parts[1]}}}')
        lab.append(f'[data-jp-theme-light="true"] {here}{{{parts[0]}}}')
    return f"{''.join(light)}@media (prefers-color-scheme:dark){{{''.join(dark)}}}{''.join(lab)}"


def _rules(look: Look) -> tuple[str, str]:
    """The custom properties by which a page may choose other colours, with ours behind them."""

    def one(fill: str, line: str, text: str) -> str:
        said = {"fill": fill, "stroke": line, "color": text}
        return ";".join(f"{key}:var(--acai-{look.name}-{key},{value})" for key, value in said.items() if value)

    return one(look.fill, look.line, look.text), one(look.dark_fill, look.dark_line, look.dark_text)


def _edge(edge: DrawnEdge, look: _Look) -> str:
    x, y = edge.points[-1]
    head = f"M{x - _ARROW:g} {y - 3.5:g}L{x:g} {y:g}L{x - _ARROW:g} {y + 3.5:g}"
    return (
        f'<g class="{look.names}" fill="none" stroke="{look.line}" stroke-width="{look.width:g}"{look.more}>'
        f'<path fill="none" d="{_path(edge.points)}"/><path fill="none" stroke-dasharray="none" d="{head}"/></g>'
    )


def _path(points: Sequence[Place]) -> str:
    """A chain of quadratic curves from middle to middle."""
    (x, y), *bends, (end_x, end_y) = points
    parts = [f"M{x:g} {y:g}"]
    for number, (at_x, at_y) in enumerate(bends):
        is_last = number == len(bends) - 1
        next_x, next_y = (end_x, end_y) if is_last else bends[number + 1]
        to_x, to_y = (end_x, end_y) if is_last else ((at_x + next_x) / 2, (at_y + next_y) / 2)
        parts.append(f"Q{at_x:g} {at_y:g} {to_x:g} {to_y:g}")
    return "".join(parts) if bends else f"{parts[0]}L{end_x:g} {end_y:g}"


def _node(node: DrawnNode, look: _Look, more: str) -> str:
    texts = "" if node.kind is ShapeKind.SOURCE else _texts(node, look.text)
    return (
        f'<g><title>{_text(node.about)}</title><g class="{look.names}" fill="{look.fill}" stroke="{look.line}" '
        f'color="{look.text}" stroke-width="{look.width:g}"{look.more}>{_shape(node)}{texts}</g>{more}</g>'
    )


def _texts(node: DrawnNode, colour: str) -> str:
    """Text takes the colour of its shape's class; without a style, its own attribute."""
    common = f'x="{node.x:g}" text-anchor="middle" fill="{colour}" style="fill:currentColor;stroke:none" stroke="none"'
    return (
        f'<text y="{node.y - 3:g}" font-size="{LABEL_SIZE:g}" font-weight="600" {common}>{_text(node.label)}</text>'
        f'<text y="{node.y + 13:g}" font-size="{WORDS_SIZE:g}" {common}>{_text(node.words)}</text>'
    )


def _shape(node: DrawnNode) -> str:
    x, y, width, height = node.x - node.width / 2, node.y - node.height / 2, node.width, node.height
    if node.kind is ShapeKind.SOURCE:
        return f'<circle cx="{node.x:g}" cy="{node.y:g}" r="{width / 2:g}"/>'
    if node.kind is ShapeKind.UPLOAD:
        return f'<ellipse cx="{node.x:g}" cy="{node.y:g}" rx="{width / 2:g}" ry="{height / 2:g}"/>'
    if node.kind is ShapeKind.FILE_SET:
        return _rectangle(x, y, width, height)
    if node.kind is ShapeKind.CREATION:
        return _polygon(x, y, width, height, 9, 9)
    if node.kind is ShapeKind.GROUP:
        return _polygon(x + 5, y - 5, width, height, 18, height / 2) + _polygon(x, y, width, height, 18, height / 2)
    return _polygon(x, y, width, height, 18, height / 2)


def _rectangle(x: float, y: float, width: float, height: float) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="7"/>'


def _polygon(x: float, y: float, width: float, height: float, cut_x: float, cut_y: float) -> str:
    """A rectangle with its corners cut off; cut by half its height it is a hexagon."""
    right, bottom = x + width, y + height
    corners = [
        (x, y + cut_y), (x + cut_x, y), (right - cut_x, y), (right, y + cut_y),
        (right, bottom - cut_y), (right - cut_x, bottom), (x + cut_x, bottom), (x, bottom - cut_y),
    ]  # fmt: skip
    return f'<polygon points="{" ".join(f"{at:g},{down:g}" for at, down in dict.fromkeys(corners))}"/>'


def _more(node: DrawnNode, colour: str) -> str:
    """What is not drawn before and behind a node, as numbers above its lines."""
    sides = [(node.back, node.x - node.width / 2 - 5, "end"), (node.forward, node.x + node.width / 2 + 5, "start")]
    return "".join(
        f'<text class="acai-{MORE}" x="{x:g}" y="{node.y - 5:g}" font-size="12" text-anchor="{anchor}" '
        f'fill="{colour}" style="fill:currentColor;stroke:none" stroke="none">+{count:,}</text>'
        for count, x, anchor in sides
        if count
    )


def _text(text: str) -> str:
    return escape(one_line(text))
