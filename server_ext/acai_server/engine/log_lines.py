"""Lines of a log by their numbers: a place in each stretch of it is remembered, so that a jump reads one stretch.

Lines that set tags are not shown, so they have no number.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_right
from typing import TYPE_CHECKING

from acai_jupyter.contract.jobs import FoundLine, FoundLines, LogPlace
from acai_server.engine.read_limit import unlimited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from acai_server.engine.read_limit import ReadLimit

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

    def lines(
        self, stream: Callable[[int], Iterable[bytes]], first: int, limit: int, *, reading: ReadLimit | None = None
    ) -> FoundLines:
        """Return lines from a number on, as they were printed; `stream` gives the log's bytes from an offset on.

        Where the limit is reached first, `next` is set: `of` counts the lines known so far, and lines may be missing.
        """
        reading = reading or unlimited()
        with self._lock:
            for piece in reading.blocks(stream(self._passed)):
                for at in range(0, len(piece), STRETCH_BYTES):
                    self._pass(piece[at : at + STRETCH_BYTES])
            count = self._before[-1] + bool(self._begun and not _TAGS.match(self._begun))
            place = bisect_right(self._before, max(0, first - 1)) - 1
            number, offset = self._before[place], self._offsets[place]
            following = LogPlace(self._offsets[-1], self._before[-1]) if reading.is_reached else None
        if following is not None:
            return FoundLines([], 0, count, is_cut=True, next=following)
        found: list[FoundLine] = []
        last = min(count, first + limit - 1)
        lines = _lines(stream(offset), reading) if last >= first else iter(())
        for line, more in lines:
            number += 1
            if number >= first:
                found.append(FoundLine(number, line.decode("utf-8", "replace"), more=more))
            if number >= last:
                break
        if number < last and reading.is_reached:
            following = LogPlace(offset, number)
        return FoundLines(found, len(found), count, is_cut=following is not None, next=following)

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


def _lines(pieces: Iterable[bytes], reading: ReadLimit) -> Iterator[tuple[bytes, int]]:
    """Give the lines that are shown, each cut, and how many characters are left out; hold a block and a line.

    A line at which the limit is reached is given only where it is the first one, as far as it was read.
    """
    held, lost, has_given = b"", 0, False
    for piece in reading.blocks(pieces):
        begin = 0
        while (end := piece.find(b"\n", begin)) >= 0:
            line = held + piece[begin:end]
            if not _TAGS.match(line):
                has_given = True
                yield _cut(line, lost)
            held, lost, begin = b"", 0, end + 1
        held += piece[begin:]
        if len(held) > 2 * WIDEST_BYTES:
            held, lost = _cut(held, lost)
    if held and not _TAGS.match(held) and not (reading.is_reached and has_given):
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
