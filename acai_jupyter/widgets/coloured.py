"""A log's lines as HTML, in the colours that its program chose, or marked where they hold what is searched for."""

from __future__ import annotations

import re
from html import escape

_SGR = re.compile(r"\x1b\[([0-9;]*)m")
_INKS = ("#808080", "#d04545", "#2f9e44", "#b58900", "#3b82d8", "#b14fc5", "#1c9cab", "inherit")
"""Of middle lightness: they are read on white and on black. White and black are what the front end writes with."""
_STYLES = {1: "font-weight: 600", 2: "opacity: 0.7", 3: "font-style: italic", 4: "text-decoration: underline"}
_STYLES[9] = "text-decoration: line-through"
_LEVELS = (0, 95, 135, 175, 215, 255)
_MARK = '<mark style="background: #ffd54a; color: #000">'


def html(line: str) -> str:
    """Write a line as a screen left it; of a terminal's codes it holds only colours."""
    parts = _SGR.split(line)
    found = [escape(parts[0])]
    for codes, text in zip(parts[1::2], parts[2::2], strict=True):
        style = _style(codes)
        found.append(f'<span style="{style}">{escape(text)}</span>' if style and text else escape(text))
    return "".join(found)


def plain(line: str) -> str:
    """Return a line without its colours."""
    return _SGR.sub("", line)


def marked(line: str, words: str) -> str:
    """Write a line without its colours, with what is searched for marked; in capitals or not is the same."""
    parts = re.split(f"({re.escape(words)})", plain(line), flags=re.IGNORECASE)
    return "".join(f"{_MARK}{escape(one)}</mark>" if at % 2 else escape(one) for at, one in enumerate(parts))


def _style(codes: str) -> str:
    words = [int(word) for word in codes.split(";") if word]
    found: dict[str, str] = {}
    while words:
        code = words.pop(0)
        if code in (38, 48):
            found["color" if code == 38 else "background"] = _chosen(words)  # noqa: PLR2004 (the code for the ink)
        elif code in _STYLES:
            found[str(code)] = _STYLES[code]
        elif code % 60 in range(30, 38):
            found["color"] = _INKS[code % 60 - 30]
        elif code % 60 in range(40, 48):
            found["background"] = _INKS[code % 60 - 40]
    return "; ".join(
        value if ":" in value else f"{name}: {value}" for name, value in found.items() if value != "inherit"
    )


def _chosen(words: list[int]) -> str:
    """A colour of the palette, or of red, green and blue."""
    kind = words.pop(0) if words else 0
    if kind == 5 and words:  # noqa: PLR2004 (the code for the palette)
        return _of_palette(words.pop(0))
    if kind == 2 and len(words) > 2:  # noqa: PLR2004 (the code for three numbers)
        red, green, blue = (min(255, words.pop(0)) for _ in range(3))
        return f"rgb({red}, {green}, {blue})"
    return "inherit"


def _of_palette(number: int) -> str:
    if number < 16:  # noqa: PLR2004 (the named ones)
        return _INKS[number % 8]
    if number < 232:  # noqa: PLR2004 (a cube of six levels)
        red, rest = divmod(number - 16, 36)
        return "rgb({}, {}, {})".format(*(_LEVELS[one % 6] for one in (red, *divmod(rest, 6))))
    grey = min(255, 8 + 10 * (number - 232))
    return f"rgb({grey}, {grey}, {grey})"
