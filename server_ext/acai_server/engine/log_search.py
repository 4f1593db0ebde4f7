"""Finds the lines of a log that have a text, in one pass over its bytes; upper and lower case are the same."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from acai_jupyter.contract.jobs import FoundLine, FoundLines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

MOST_TOLD = 1000
"""So many lines are told, the first ones."""
MOST_COUNTED = 100_000
"""After so many it is not looked further."""
WIDEST = 2000
"""So much of a line is told; a page cuts there as well."""
_TAG = re.compile(r"\x1e?\[ACAI_TAG")
# What programs send to terminals: looks, and what has no width.
_UNSEEN = re.compile(r"\x1b\[[0-9;:?<=>]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?")


def search(pieces: Iterable[bytes], text: str) -> FoundLines:
    """Return which lines of a log have a text; marks that tag something are none that somebody sees."""
    wanted = _lower(text)
    found: list[FoundLine] = []
    count = passed = 0
    for block in _whole_lines(pieces):
        plain = _UNSEEN.sub("", block) if "\x1b" in block else block
        low = _lower(plain)
        at, number, seen = low.find(wanted), passed, 0
        while at >= 0:
            begin, end = low.rfind("\n", 0, at) + 1, low.find("\n", at)
            number, seen = number + low.count("\n", seen, begin), begin
            line = plain[begin : end if end >= 0 else None]
            if not _TAG.match(line):
                count += 1
                if len(found) < MOST_TOLD:
                    found.append(FoundLine(number + 1, line[:WIDEST]))
            if end < 0 or count >= MOST_COUNTED:
                break
            at = low.find(wanted, end)
        passed += low.count("\n") + (not low.endswith("\n"))
        if count >= MOST_COUNTED:
            return FoundLines(found, count, passed, is_cut=True)
    return FoundLines(found, count, passed)


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
