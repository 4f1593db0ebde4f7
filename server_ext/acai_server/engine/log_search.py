"""Finds the lines of a log that have a text, in upper or lower case, or the first error, in one pass over its bytes."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, NamedTuple

from acai_jupyter.contract.jobs import FoundLine, FoundLines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_TOLD = 1000
"""So many lines are told, the first ones."""
MOST_COUNTED = 100_000
"""After so many it is not looked further."""
WIDEST = 2000
"""So much of a line is told; a page cuts there as well."""
_TAGS = re.compile(r"^\x1e?\[ACAI_TAG[^\n]*(?:\n|\Z)", re.MULTILINE)
_ERROR = re.compile(r"Traceback \(most recent call last\)|(?:Error|ERROR|Exception|FATAL)\b")
_WORDS = ("Traceback", "Error", "ERROR", "Exception", "FATAL")
# What programs send to terminals: looks, and what has no width.
_UNSEEN = re.compile(r"\x1b\[[0-9;:?<=>]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?")


def search(pieces: Iterable[bytes], text: str) -> FoundLines:
    """Return which lines of a log have a text; those that tag something are none that somebody sees."""
    found: list[FoundLine] = []
    count = 0
    look = _Look(pieces)
    for hit in look.hits(text):
        count += 1
        if len(found) < MOST_TOLD:
            found.append(hit.told())
        if count >= MOST_COUNTED:
            return FoundLines(found, count, hit.number, is_cut=True)
    return FoundLines(found, count, look.passed)


def search_near(pieces: Iterable[bytes], text: str, after: int | None, before: int | None) -> FoundLines:
    """Return the first line behind one that has a text, or with `before` the last before one."""
    look = _Look(pieces)
    if before is not None:
        nearest = look.last(text, before)
    else:
        nearest = next((hit for hit in look.hits(text) if hit.number > (after or 0)), None)
    return FoundLines([], 0, 0) if nearest is None else FoundLines([nearest.told()], 1, nearest.number, is_cut=True)


def first_error(pieces: Iterable[bytes]) -> FoundLines:
    """Return the first line of a log that tells of an error, and how many lines were looked at."""
    passed = 0
    for block in _whole_lines(pieces):
        plain = _seen(block)
        match = _ERROR.search(plain) if any(word in plain for word in _WORDS) else None
        if match is not None:
            number = passed + plain.count("\n", 0, match.start()) + 1
            return FoundLines([_Hit(number, plain, match.start(), match.end()).told()], 1, number, is_cut=True)
        passed += _count(plain)
    return FoundLines([], 0, passed)


class _Hit(NamedTuple):
    """Where in some lines a text is found, and which line of the log that is."""

    number: int
    lines: str
    at: int
    end: int

    def told(self) -> FoundLine:
        """Return as much of the line as is told; of a wide one what is around the text."""
        begin, end = self.lines.rfind("\n", 0, self.at) + 1, self.lines.find("\n", self.at)
        end = len(self.lines) if end < 0 else end
        first = begin if self.end - begin <= WIDEST else self.at - WIDEST // 4
        last = min(end, first + WIDEST)
        return FoundLine(self.number, self.lines[first:last], first - begin, end - last)


class _Look:
    """One pass over a log."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = pieces
        self.passed = 0
        """How many lines are behind it."""

    def hits(self, text: str) -> Iterator[_Hit]:
        """Give the first place in each line that has a text."""
        wanted = _lower(text)
        for plain, low in self._blocks():
            at, number, seen = _place(low, wanted), self.passed, 0
            while at >= 0:
                begin, end = low.rfind("\n", 0, at) + 1, low.find("\n", at)
                number, seen = number + low.count("\n", seen, begin), begin
                yield _Hit(number + 1, plain, at, at + len(wanted))
                if end < 0:
                    break
                at = low.find(wanted, end)

    def last(self, text: str, before: int) -> _Hit | None:
        """Return the last line before one that has a text."""
        wanted, found = _lower(text), None
        for plain, low in self._blocks():
            lines = _count(low)
            end = len(low) if self.passed + lines < before else _begin(low, before - self.passed)
            at = low.rfind(wanted, 0, end) if _place(low, wanted) >= 0 else -1
            if at >= 0:
                begin = low.rfind("\n", 0, at) + 1
                first = low.find(wanted, begin)
                found = _Hit(self.passed + low.count("\n", 0, begin) + 1, plain, first, first + len(wanted))
            if self.passed + lines >= before:
                break
        return found

    def _blocks(self) -> Iterator[tuple[str, str]]:
        """Give whole lines, as somebody sees them and in lower case; what was given is passed."""
        for block in _whole_lines(self._pieces):
            plain = _seen(block)
            low = _lower(plain)
            yield plain, low
            self.passed += _count(low)


def _place(low: str, wanted: str) -> int:
    """Where a text is first; one that goes over the end of a line is in none."""
    return -1 if "\n" in wanted else low.find(wanted)


def _begin(lines: str, number: int) -> int:
    """Where a line begins, counted from 1."""
    at = 0
    for _ in range(number - 1):
        at = lines.find("\n", at) + 1
    return at


def _seen(block: str) -> str:
    """What of whole lines somebody sees."""
    lines = _TAGS.sub("", block) if "[ACAI_TAG" in block else block
    return _UNSEEN.sub("", lines) if "\x1b" in lines else lines


def _count(lines: str) -> int:
    return lines.count("\n") + (lines != "" and not lines.endswith("\n"))


def _lower(text: str) -> str:
    """Lower case of the same length: there is one letter that would be two."""
    return text.replace("\u0130", "i").lower()


def _whole_lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Give the text in pieces that end where a line does."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    held: list[str] = []
    for piece in pieces:
        text = decoder.decode(piece)
        cut = text.rfind("\n") + 1
        if cut:
            yield "".join((*held, text[:cut]))
            held = []
        held.append(text[cut:])
    rest = "".join((*held, decoder.decode(b"", final=True)))
    if rest:
        yield rest
