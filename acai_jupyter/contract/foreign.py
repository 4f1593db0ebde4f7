"""Text that others wrote, made fit to stand on a line of a terminal: it moves no cursor and begins no line."""

from __future__ import annotations

import re

_UNSEEN = re.compile(r"[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, ends of lines, changes of direction, and what no text can be sent with."""


def one_line(text: str) -> str:
    r"""Write what would not be seen as Python writes it: \n, \x1b, \u202e."""
    return _UNSEEN.sub(lambda match: ascii(match[0])[1:-1], text)
