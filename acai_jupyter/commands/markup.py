"""HTML for notebooks: no scripts, everything escaped, the front end's own fonts and colours in light and dark."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.states import END_STATES, JobState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SHOWN_ROWS = 100
"""So many rows of a long list are kept in a notebook."""
_FONT = "font-family: var(--jp-ui-font-family, system-ui, sans-serif); font-size: var(--jp-ui-font-size1, 13px)"
_QUIET = "color: var(--jp-ui-font-color2, inherit)"
_TABLE = "margin: 4px 0; width: auto; text-align: left; font-variant-numeric: tabular-nums"
_SIDES = {"<": "left", ">": "right"}
_PRINTED = (
    "background: none; margin: 0; padding-left: var(--jp-code-padding, 0); font-size: var(--jp-code-font-size, inherit)"
)
"""In line with what a cell prints."""
_GOOD, _BAD, _BUSY = "--jp-success-color1, #2e7d32", "--jp-error-color1, #d32f2f", "--jp-info-color1, #0288d1"


class Shown(Protocol):
    """What has a text and, unless the server cannot be asked now, HTML."""

    def _repr_html_(self) -> str | None: ...


def bundle(shown: Shown, kind: str, value: Any) -> dict[str, Any]:
    """Return the forms of an object; a front end takes the richest that it has."""
    html = shown._repr_html_()
    forms = {"text/plain": repr(shown), f"application/vnd.acai.{kind}+json": msgspec.to_builtins(value)}
    return forms | ({"text/html": html} if html else {})


def printed(text: str) -> str:
    """Write lines as a cell prints them."""
    return f'<pre class="acai-result" style="{_PRINTED}">{escape(text)}</pre>'


def table(caption: str, head: Sequence[str], rows: Sequence[Sequence[str]], rest: str = "", sides: str = "") -> str:
    """Write a table; what is left out stands below it. `sides` are '<' or '>' for each column, else '<'."""
    aligned = [f"text-align: {_SIDES[side]}" for side in sides.ljust(max(map(len, [head, *rows]), default=0), "<")]
    shown = rows[:SHOWN_ROWS]
    rest = rest or (f"… {len(rows) - len(shown):,} more" if len(rows) > len(shown) else "")
    listed = f'<table style="{_TABLE}">{_head(head, aligned)}<tbody>{"".join(_row(row, aligned) for row in shown)}'
    parts = [title(caption) if caption else "", f"{listed}</tbody></table>" if rows else "", below(rest)]
    return block("table", *parts)


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Write terms with what is said of each."""
    found = "".join(
        f'<tr style="background: none"><th scope="row" style="text-align: left; font-weight: normal; {_QUIET}; '
        f'padding: 2px 16px 2px 0; vertical-align: top; white-space: nowrap">{text(name)}</th>'
        f'<td style="text-align: left; padding: 2px 0; overflow-wrap: anywhere">{text(said)}</td></tr>'
        for name, said in rows
    )
    return f'<table style="{_TABLE}"><tbody>{found}</tbody></table>' if found else ""


def block(kind: str, *parts: str) -> str:
    """Put together what belongs to one thing."""
    return f'<div class="acai-{kind}" style="{_FONT}; line-height: 1.5">{"".join(parts)}</div>'


def title(said: str, mark: str = "") -> str:
    """Write what stands above."""
    return f"<div>{mark}{text(said)}</div>"


def below(said: str) -> str:
    """Write what stands below, less loud."""
    return f'<div style="{_QUIET}">{text(said)}</div>' if said else ""


def mark(state: JobState) -> str:
    """Draw a dot in the colour of a state, beside the words that say the same."""
    colour = _BUSY if state not in END_STATES else _GOOD if state is JobState.FINISHED else _BAD
    return f'<span aria-hidden="true" style="color: var({colour}); margin-right: 6px">&#9679;</span>'


def text(said: str) -> str:
    """Write what others wrote: it is neither markup nor more than one line."""
    return escape(one_line(said))


def _head(head: Sequence[str], aligned: Sequence[str]) -> str:
    cells = "".join(
        f'<th scope="col" style="{side}">{text(one)}</th>' if one else "<td></td>"
        for one, side in zip(head, aligned, strict=False)
    )
    return f"<thead><tr>{cells}</tr></thead>" if any(head) else ""


def _row(row: Sequence[str], aligned: Sequence[str]) -> str:
    cells = "".join(f'<td style="{side}">{text(cell)}</td>' for cell, side in zip(row, aligned, strict=False))
    return f"<tr>{cells}</tr>"
