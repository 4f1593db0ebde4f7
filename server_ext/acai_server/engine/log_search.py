"""Finds the lines of a log that have a text, in upper or lower case, or the first error, in one pass over its bytes."""

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
_TAGS = re.compile(r"^\x1e?\[ACAI_TAG[^\n]*(?:\n|\Z)", re.MULTILINE)
_ERROR = re.compile(r"Traceback \(most recent call last\)|(?:Error|ERROR|Exception|FATAL)\b")
_WORDS = ("Traceback", "Error", "ERROR", "Exception", "FATAL")
# What programs send to terminals: looks, and what has no width.
_UNSEEN = re.compile(r"\x1b\[[0-9;:?<=>]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?")


def search(pieces: Iterable[bytes], text: str) -> FoundLines:
    """Return which lines of a log have a text; those that tag something are none that somebody sees."""
    wanted = _lower(text)
    found: list[FoundLine] = []
    count = passed = 0
    for block in _whole_lines(pieces):
        plain = _seen(block)
        low = _lower(plain)
        at, number, seen = low.find(wanted), passed, 0
        while at >= 0:
            begin, end = low.rfind("\n", 0, at) + 1, low.find("\n", at)
            number, seen = number + low.count("\n", seen, begin), begin
            line = plain[begin : end if end >= 0 else None]
            count += 1
            if len(found) < MOST_TOLD:
                found.append(FoundLine(number + 1, line[:WIDEST]))
            if end < 0 or count >= MOST_COUNTED:
                break
            at = low.find(wanted, end)
        passed += _count(low)
        if count >= MOST_COUNTED:
            return FoundLines(found, count, passed, is_cut=True)
    return FoundLines(found, count, passed)


def first_error(pieces: Iterable[bytes]) -> FoundLines:
    """Return the first line of a log that tells of an error, and how many lines were looked at."""
    passed = 0
    for block in _whole_lines(pieces):
        plain = _seen(block)
        match = _ERROR.search(plain) if any(word in plain for word in _WORDS) else None
        if match is not None:
            begin = plain.rfind("\n", 0, match.start()) + 1
            line = plain[begin:].partition("\n")[0]
            number = passed + plain.count("\n", 0, begin) + 1
            return FoundLines([FoundLine(number, line[:WIDEST])], 1, number, is_cut=True)
        passed += _count(plain)
    return FoundLines([], 0, passed)


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
