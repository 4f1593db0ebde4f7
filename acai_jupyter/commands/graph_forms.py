"""A drawing in forms that need no script and no kernel: HTML with a picture and a table, and lines of text."""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from html import escape
from typing import TYPE_CHECKING

from acai_jupyter.contract.drawings import MAX_DRAWN, ShapeKind
from acai_jupyter.contract.foreign import one_line

if TYPE_CHECKING:
    from acai_jupyter.contract.drawings import Drawing, DrawnNode

_HEAD = ("what", "made of", "made", "told")


def html(drawing: Drawing) -> str:
    """Write a drawing and its table. The picture stands in an image, as most places take drawings out of HTML."""
    picture = ""
    if drawing.svg:
        data = b64encode(drawing.svg.encode()).decode()
        picture = (
            f'<img alt="{_text(drawing.title)}; the table below says the same" src="data:image/svg+xml;base64,{data}">'
        )
    return f'<div class="acai-provenance">{picture}{table(drawing)}</div>'


def table(drawing: Drawing) -> str:
    """Write a table of what was done, an action a line."""
    head = "".join(f'<th scope="col" style="text-align:left">{one}</th>' for one in _HEAD)
    body = "".join(
        f'<tr><th scope="row" style="text-align:left">{_text(cells[0])}</th>'
        + "".join(f'<td style="text-align:left">{_text(cell)}</td>' for cell in cells[1:])
        + "</tr>"
        for cells in rows(drawing)
    )
    return (
        f"<details><summary>{_text(drawing.title)} as a table</summary><table><caption>{_text(summary(drawing))}"
        f"</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></details>"
    )


def summary(drawing: Drawing) -> str:
    """Say in a sentence how much is drawn."""
    if not drawing.focus:
        older = " Older ones are behind them." if drawing.next is not None else ""
        more = f" More than {MAX_DRAWN} are not drawn." if drawing.is_cut else ""
        return f"The newest of {len(drawing.nodes):,} file set{'s' * (len(drawing.nodes) != 1)}.{more}{older}"
    count = sum(one.kind is ShapeKind.FILE_SET for one in drawing.nodes)
    jobs = sum(one.count for one in drawing.nodes if one.kind in (ShapeKind.JOB, ShapeKind.GROUP))
    more = f"; more than {MAX_DRAWN} are not drawn, so this is a part" if drawing.is_cut else ""
    return f"{count:,} file set{'s' if count != 1 else ''} and {jobs:,} job{'s' if jobs != 1 else ''}{more}."


def rows(drawing: Drawing) -> list[tuple[str, str, str, str]]:
    """Return a line for each action: what it is, what it was made of, what it made, and what is to be said of it."""
    names = {one.id: _name(one) for one in drawing.nodes}
    before: dict[str, list[str]] = defaultdict(list)
    behind: dict[str, list[str]] = defaultdict(list)
    for edge in drawing.edges:
        if edge.action == edge.target:
            before[edge.action].append(names[edge.source])
        else:
            behind[edge.action].append(names[edge.target])
    actions = [one for one in drawing.nodes if one.kind not in (ShapeKind.FILE_SET, ShapeKind.SOURCE)]
    if not drawing.focus:  # of a project sets are drawn, and no actions
        actions = list(drawing.nodes)
    actions.sort(key=lambda one: (one.x, one.y))
    return [(_name(one), ", ".join(before[one.id]), ", ".join(behind[one.id]), one.about) for one in actions]


def text(drawing: Drawing) -> str:
    """Write lines: what each action made of what."""
    lines = [f"{drawing.title} · {summary(drawing)}"]
    for what, sources, made, _ in rows(drawing):
        lines.append(f"  {sources or '(no input)'} → {what} → {made or '(nothing)'}")
    return "\n".join(map(one_line, lines))


def _name(node: DrawnNode) -> str:
    """The whole name, which a shape may have no room for."""
    if node.kind is ShapeKind.SOURCE:
        return "(no input)"
    if node.kind is ShapeKind.FILE_SET:
        return node.thing
    return f"{node.label}, {node.words}"


def _text(text: str) -> str:
    return escape(one_line(text))
