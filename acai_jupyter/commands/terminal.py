"""What a terminal is sent: text, ends of lines, tabs and colours. Files and pipes get everything as it is.

Names, tags, notes and errors come from other people. On a terminal they must not rename the window, fill the clipboard
or write over other lines. Logs and contents of files, which move within their lines, go through `screen` instead.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acai_jupyter.contract.foreign import one_line

if TYPE_CHECKING:
    from typing import TextIO

_KEPT = re.compile(r"(\x1b\[[0-9;:]{0,64}m|\r?\n|\t)")


def visible(text: str) -> str:
    r"""Return a text for a terminal: what would do anything else than show is written as \x1b."""
    pieces = _KEPT.split(text)
    pieces[::2] = map(one_line, pieces[::2])
    return "".join(pieces)


def write(text: str, stream: TextIO) -> None:
    """Write a text whose parts may come from other people, and see to it that it is out."""
    stream.write(visible(text) if stream.isatty() else text)
    stream.flush()
