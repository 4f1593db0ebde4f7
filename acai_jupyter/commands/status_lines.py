"""One line that is written over again and again: on a terminal and in a notebook, nowhere else."""

from __future__ import annotations

import sys
from typing import Any, Self


class StatusLine:
    """Shows how something stands. Gone with its end: what came of it is told by others."""

    def __init__(self) -> None:
        in_notebook = "ipykernel" in sys.modules
        self._out: Any = sys.stdout if in_notebook else sys.stderr
        self._is_seen = in_notebook or sys.stderr.isatty()
        self._shown = ""

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *error: object) -> None:
        """Take the line away."""
        self.clear()

    def show(self, text: str) -> None:
        """Show this in the place of what is there."""
        if self._is_seen and text != self._shown:
            self._out.write(f"\r{text.ljust(len(self._shown))}")
            self._out.flush()
            self._shown = text

    def clear(self) -> None:
        """Show nothing, so that something else can be written."""
        if self._shown:
            self._out.write(f"\r{' ' * len(self._shown)}\r")
            self._out.flush()
            self._shown = ""
