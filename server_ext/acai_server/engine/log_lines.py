"""Lines of a log by their numbers: a place in each stretch of it is remembered, so that a jump reads one of them.

Lines that tag something are none that somebody sees, so they have no number.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING

from acai_jupyter.contract.jobs import FoundLine, FoundLines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

STRETCH_BYTES = 64 * 1024
"""So far from each other are the places that are remembered, unless a line is longer."""
WIDEST_BYTES = 8000
"""So much of a line is told, colours and all."""
_TAG = b"[ACAI_TAG"
_TAGS = re.compile(rb"^\x1e?\[ACAI_TAG", re.MULTILINE)
_LONGEST_TAG = 10


class LineIndex:
    """Where lines of a log begin that only grows. Safe to use by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._offsets = array("q", [0])
        self._before = array("q", [0])
        """How many lines there are before each of these places."""
        self._passed = 0
        self._begun = b""
        """How the line begins that has not ended yet."""

    def lines(self, stream: Callable[[int], Iterable[bytes]], first: int, limit: int) -> FoundLines:
        """Return lines from a number on, as they were printed; `stream` gives the log's bytes from one on."""
        with self._lock:
            for piece in stream(self._passed):
                for at in range(0, len(piece), STRETCH_BYTES):
                    self._pass(piece[at : at + STRETCH_BYTES])
            count = self._before[-1] + bool(self._begun and not _TAGS.match(self._begun))
            place = bisect_right(self._before, max(0, first - 1)) - 1
            number, offset = self._before[place], self._offsets[place]
        found: list[FoundLine] = []
        last = min(count, first + limit - 1)
        lines = _lines(stream(offset)) if last >= first else iter(())
        for line, more in lines:
            number += 1
            if number >= first:
                found.append(FoundLine(number, line.decode("utf-8", "replace"), more=more))
            if number >= last:
                break
        return FoundLines(found, len(found), count)

    def _pass(self, piece: bytes) -> None:
        cut = piece.rfind(b"\n") + 1
        if cut:
            ended = self._begun + piece[:cut]
            tags = len(_TAGS.findall(ended)) if _TAG in ended else 0
            self._offsets.append(self._passed + cut)
            self._before.append(self._before[-1] + piece.count(b"\n") - tags)
            self._begun = b""
        self._begun = (self._begun + piece[cut:])[:_LONGEST_TAG]
        self._passed += len(piece)


def _lines(pieces: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Give the lines that somebody sees, each cut, and how much of each is not told; hold a piece and a line."""
    held, lost = b"", 0
    for piece in pieces:
        begin = 0
        while (end := piece.find(b"\n", begin)) >= 0:
            line = held + piece[begin:end]
            if not _TAGS.match(line):
                yield _cut(line, lost)
            held, lost, begin = b"", 0, end + 1
        held += piece[begin:]
        if len(held) > 2 * WIDEST_BYTES:
            held, lost = _cut(held, lost)
    if held and not _TAGS.match(held):
        yield _cut(held, lost)


def _cut(line: bytes, lost: int) -> tuple[bytes, int]:
    """As much of a line as is told; of one that was written over again and again, the end, as that is what is seen."""
    if len(line) <= WIDEST_BYTES:
        return line, lost
    end = line.rstrip(b"\r")[-WIDEST_BYTES:]
    _, is_over, rest = end.partition(b"\r")
    if is_over:
        return rest, 0
    return line[:WIDEST_BYTES], lost + len(line[WIDEST_BYTES:].decode("utf-8", "ignore"))
