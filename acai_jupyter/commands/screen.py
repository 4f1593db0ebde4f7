"""What a log looks like on a screen: its lines as carriage returns leave them, in their colours, and nothing else.

A program can print what renames a window, fills the clipboard or writes over other lines. None of that gets through:
out of here come text, ends of lines, tabs and colours; while it is live, also carriage returns.
"""

from __future__ import annotations

import re
from enum import Enum
from itertools import groupby
from typing import NamedTuple

from acai_jupyter.commands.colours import after

WIDEST = 10_000
"""A line is held until it ends, as what follows may write over it; of longer ones the beginning is let go."""
FARTHEST = 400
"""Blanks are jumped over no farther than this."""
_CONTROL = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f]")
_TEXT = re.compile(r"[^\0-\x08\n-\x1f\x7f-\x9f]+")
_BEGUN = re.compile(r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,4}|\x1b[ -/]{0,4}")
_MOVE = re.compile(r"(?:\x1b\[|\x9b)([0-?]{0,64})([ -/]{0,4})([@-~])")
_STRING = re.compile(r"\x1b[\]PX^_]|[\x90\x98\x9d-\x9f]")
_STRING_END = re.compile(r"[\x07\n\x1b\x9c]")
_OTHER = re.compile(r"\x1b[ -/]{0,4}[0-~]")
_BLANK = (" ", "")


class Shows(Enum):
    """What is shown of a line that has not ended yet."""

    NOTHING = "nothing"
    """It is shown when it has ended."""
    ON_TERMINAL = "on a terminal"
    """At once; what is written over is erased."""
    IN_CELL = "in a cell"
    """At once; a notebook writes over character by character, those of colours counted, and knows no erasing."""


class _Row(NamedTuple):
    """What stands of the last line where it is seen, and how many characters were sent for that."""

    cells: list[tuple[str, str]]
    sent: int
    has_blanks: bool = False
    """Whether blanks were sent after the cells, to write over what was longer."""


_EMPTY = _Row([], 0)


class Screen:
    """Takes a log in pieces, cut anywhere."""

    def __init__(self, shows: Shows = Shows.NOTHING, *, widest: int = WIDEST) -> None:
        self._shows = shows
        self._widest = widest
        self._cells: list[tuple[str, str]] = []
        """The line so far: each character and its pen."""
        self._at = 0
        self._pen = ""
        self._row = _EMPTY
        self._held = ""
        """The beginning of a sequence whose end has not come yet."""
        self._in_string = False

    def feed(self, text: str) -> str:
        """Take a piece; return what is to be sent to the screen now."""
        out: list[str] = []
        *lines, rest = (self._held + text).split("\n")
        self._held = ""
        for line in lines:
            ending = line.removesuffix("\r")
            if self._is_clean and not _CONTROL.search(ending):
                out.append(f"{ending}\n")
            else:
                self._write(f"{line}\n", out)
        if rest:
            self._write(rest, out)
        if self._shows is not Shows.NOTHING:
            out.append(self._update())
        return "".join(out)

    def close(self) -> str:
        """End the last line, if it has not ended."""
        out: list[str] = []
        self._held, self._in_string = "", False
        if self._cells or self._row.cells:
            self._end_line(out)
        return "".join(out)

    @property
    def _is_clean(self) -> bool:
        return not (self._cells or self._row.cells or self._pen or self._in_string)

    def _write(self, text: str, out: list[str]) -> None:
        position = 0
        while position < len(text):
            if self._in_string:
                position = self._skip_string(text, position)
            elif run := _TEXT.match(text, position):
                self._put(run[0], out)
                position = run.end()
            else:
                position = self._obey(text, position, out)

    def _skip_string(self, text: str, position: int) -> int:
        """The text of a title or the like ends with its mark, and at the latest with the line."""
        end = _STRING_END.search(text, position)
        if end is None:
            return len(text)
        self._in_string = False
        return end.start() if end[0] in "\n\x1b" else end.end()

    def _obey(self, text: str, position: int, out: list[str]) -> int:
        """Do what stands there, if it stays in its line."""
        if string := _STRING.match(text, position):
            self._in_string = True
            return string.end()
        if move := _MOVE.match(text, position):
            self._move(*move.groups())
            return move.end()
        begun = _BEGUN.match(text, position)
        if begun is not None and begun.end() == len(text):
            self._held = begun[0]
            return len(text)
        if other := _OTHER.match(text, position):
            return other.end() if other[0] != "\x1b[" or begun is None else begun.end()
        if begun is not None:
            return begun.end()
        self._control(text[position], out)
        return position + 1

    def _control(self, character: str, out: list[str]) -> None:
        if character == "\n":
            self._end_line(out)
        elif character == "\r":
            self._at = 0
        elif character == "\b":
            self._at = max(0, self._at - 1)

    def _move(self, codes: str, between: str, what: str) -> None:
        """Change the pen, move within the line, or erase in it."""
        if between or codes[:1] in tuple("<=>?"):
            return
        if what == "m":
            self._pen = after(self._pen, codes)
            return
        number = int(codes) if codes.isascii() and codes.isdecimal() else 0
        if what == "K":
            self._erase(number)
        elif what in "CDG":
            steps = {"C": self._at + max(1, number), "D": self._at - max(1, number), "G": number - 1}
            self._at = min(max(0, steps[what]), max(len(self._cells), FARTHEST), self._widest - 1)

    def _erase(self, which: int) -> None:
        if which == 0:
            del self._cells[self._at :]
        elif which == 2 or (which == 1 and self._at + 1 >= len(self._cells)):  # noqa: PLR2004 (the code for all)
            self._cells.clear()
        elif which == 1:
            self._cells[: self._at + 1] = [_BLANK] * (self._at + 1)

    def _put(self, run: str, out: list[str]) -> None:
        while run:
            now, run = run[: self._widest - self._at], run[self._widest - self._at :]
            if self._at > len(self._cells):
                self._cells += [_BLANK] * (self._at - len(self._cells))
            pen = self._pen
            self._cells[self._at : self._at + len(now)] = [(character, pen) for character in now]
            self._at += len(now)
            if run:
                self._let_go(out)

    def _let_go(self, out: list[str]) -> None:
        """A line that is too long goes on as a new one, with no end between."""
        out.append(self._update())
        self._cells, self._at, self._row = [], 0, _EMPTY

    def _end_line(self, out: list[str]) -> None:
        out.append(f"{self._update()}\n")
        self._cells, self._at, self._row = [], 0, _EMPTY

    def _update(self) -> str:
        """Bring the line that is seen to what it is now."""
        new, row = self._cells, self._row
        if new == row.cells:
            return ""
        if new[: len(row.cells)] == row.cells and not row.has_blanks:
            sent = _drawn(new[len(row.cells) :])
            self._row = _Row(list(new), row.sent + len(sent))
            return sent
        sent = _drawn(new)
        if self._shows is Shows.ON_TERMINAL:
            self._row = _Row(list(new), len(sent))
            return f"\r{sent}\x1b[K" if len(row.cells) > len(new) else f"\r{sent}"
        blanks = max(0, row.sent - len(sent))
        self._row = _Row(list(new), len(sent) + blanks, has_blanks=blanks > 0)
        return f"\r{sent}{' ' * blanks}"


def _drawn(cells: list[tuple[str, str]]) -> str:
    """Write characters, each run of them in its colours, and leave none switched on."""
    runs = ((pen, "".join(character for character, _ in run)) for pen, run in groupby(cells, key=lambda one: one[1]))
    return "".join(f"\x1b[{pen}m{text}\x1b[0m" if pen else text for pen, text in runs)
