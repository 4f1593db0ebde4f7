"""Finds the lines of a log that contain a text, ignoring case, or the first line that reports an error.

A search reads the log forward, at most as far as its limit allows; the result says where to continue.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from acai_jupyter.contract.jobs import FoundLine, FoundLines, LogPlace
from acai_server.engine.read_limit import ReadLimit, unlimited

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_TOLD = 1000
"""Maximum number of lines in one answer."""
MOST_COUNTED = 100_000
"""Matches after which a search ends for good."""
WIDEST = 2000
"""Maximum number of characters given of a line; the page cuts its lines at the same width."""
BEGIN = LogPlace(0, 0)
_TAGS = re.compile(r"^\x1e?\[ACAI_TAG[^\n]*(?:\n|\Z)", re.MULTILINE)
_ERROR = re.compile(r"Traceback \(most recent call last\)|(?:Error|ERROR|Exception|FATAL)\b")
_WORDS = ("Traceback", "Error", "ERROR", "Exception", "FATAL")
# What programs send to terminals that has no width: colours, titles, cursor movements.
_UNSEEN = re.compile(r"\x1b\[[0-9;:?<=>]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?")


class LogSearch:
    """One pass over a log from a place on. Each object answers one question."""

    def __init__(self, pieces: Iterable[bytes], limit: ReadLimit | None = None, begin: LogPlace = BEGIN) -> None:
        self._pieces = pieces
        self._limit = limit or unlimited()
        self._offset = begin.offset
        self._passed = begin.lines

    def lines_with(self, text: str) -> FoundLines:
        """Return the lines that contain a text, and how many there are."""
        found: list[FoundLine] = []
        count = 0
        for hit in self._hits(text):
            count += 1
            if len(found) < MOST_TOLD:
                found.append(hit.told())
            if count >= MOST_COUNTED:
                return FoundLines(found, count, hit.number, is_cut=True)
        return FoundLines(found, count, self._passed, is_cut=self._limit.is_reached, next=self._next())

    def nearest(self, text: str, after: int | None, before: int | None) -> FoundLines:
        """Return the first line after a number that contains a text, or with `before` the last one before it."""
        if before is None:
            return self._only(next((hit for hit in self._hits(text) if hit.number > (after or 0)), None))
        hit = self._last(text, before)
        lines = [] if hit is None else [hit.told()]
        is_cut = self._limit.is_reached or hit is not None
        return FoundLines(lines, len(lines), self._passed, is_cut=is_cut, next=self._next())

    def first_error(self) -> FoundLines:
        """Return the first line that reports an error, and how many lines were read."""
        for plain in self._blocks():
            match = _ERROR.search(plain) if any(word in plain for word in _WORDS) else None
            if match is not None:
                number = self._passed + plain.count("\n", 0, match.start()) + 1
                return self._only(_Hit(number, plain, match.start(), match.end()))
        return self._only(None)

    def _only(self, hit: _Hit | None) -> FoundLines:
        if hit is not None:
            return FoundLines([hit.told()], 1, hit.number, is_cut=True)
        return FoundLines([], 0, self._passed, is_cut=self._limit.is_reached, next=self._next())

    def _next(self) -> LogPlace | None:
        return LogPlace(self._offset, self._passed) if self._limit.is_reached else None

    def _hits(self, text: str) -> Iterator[_Hit]:
        """Give the first match in each line."""
        wanted = _lower(text)
        for plain in self._blocks():
            low = _lower(plain)
            at, number, seen = _place(low, wanted), self._passed, 0
            while at >= 0:
                begin, end = low.rfind("\n", 0, at) + 1, low.find("\n", at)
                number, seen = number + low.count("\n", seen, begin), begin
                yield _Hit(number + 1, plain, at, at + len(wanted))
                if end < 0:
                    break
                at = low.find(wanted, end)

    def _last(self, text: str, before: int) -> _Hit | None:
        """Return the last line with a text among those before a number, as far as they were read."""
        wanted, found = _lower(text), None
        for plain in self._blocks():
            low = _lower(plain)
            lines = _count(low)
            end = len(low) if self._passed + lines < before else _begin(low, before - self._passed)
            at = low.rfind(wanted, 0, end) if _place(low, wanted) >= 0 else -1
            if at >= 0:
                begin = low.rfind("\n", 0, at) + 1
                first = low.find(wanted, begin)
                found = _Hit(self._passed + low.count("\n", 0, begin) + 1, plain, first, first + len(wanted))
            if self._passed + lines >= before:
                break
        return found

    def _blocks(self) -> Iterator[str]:
        """Give whole lines as they are shown; once the next ones are asked for, these count as passed.

        A line that is longer than the limit allows to read is given in parts, so that a search always gets on.
        """
        held: list[bytes] = []
        has_given = False
        for block in self._limit.blocks(self._pieces):
            cut = block.rfind(b"\n") + 1
            if not cut:
                held.append(block)
                continue
            lines = b"".join((*held, block[:cut]))
            held = [block[cut:]]
            has_given = True
            yield from self._pass(lines)
        rest = b"".join(held)
        if rest and not (self._limit.is_reached and has_given):
            yield from self._pass(rest)
            self._passed += not self._limit.is_reached and _shown(rest) != ""

    def _pass(self, lines: bytes) -> Iterator[str]:
        plain = _shown(lines)
        yield plain
        self._passed += plain.count("\n")
        self._offset += len(lines)


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


def _place(low: str, wanted: str) -> int:
    """Where a text is first; one that goes over the end of a line is in none."""
    return -1 if "\n" in wanted else low.find(wanted)


def _begin(lines: str, number: int) -> int:
    """Where a line begins, counted from 1."""
    at = 0
    for _ in range(number - 1):
        at = lines.find("\n", at) + 1
    return at


def _shown(lines: bytes) -> str:
    """Return what a terminal shows of whole lines, without the lines that set tags."""
    block = lines.decode("utf-8", "replace")
    block = _TAGS.sub("", block) if "[ACAI_TAG" in block else block
    return _UNSEEN.sub("", block) if "\x1b" in block else block


def _count(lines: str) -> int:
    return lines.count("\n") + (lines != "" and not lines.endswith("\n"))


def _lower(text: str) -> str:
    """Lower case of the same length: there is one letter that would be two."""
    return text.replace("\u0130", "i").lower()
