"""A log without the lines that attach attributes: those are shown where the job is. The log itself keeps them."""

from __future__ import annotations

import re

from acai_jupyter.contract.loglines import TAG_MARK

_PLAIN = "[ACAI_TAG"
_MARKED = TAG_MARK + _PLAIN
_LINE = re.compile(rf"(?:^|{TAG_MARK}){re.escape(_PLAIN)}[^\n]*\n", re.MULTILINE)


class WithoutTags:
    """Takes a log in pieces, cut anywhere."""

    def __init__(self) -> None:
        self._held = ""
        """The beginning of one, or what may become that."""
        self._is_within = False
        """What comes next, held or not, does not begin a line."""

    def feed(self, text: str) -> str:
        """Take a piece; return what of it is to be seen now."""
        before = "." * self._is_within
        text = before + self._held + text
        start = text.rfind("\n") + 1
        end = start + _begun(text[start:])
        self._held, self._is_within = text[end:], end > start
        text = text[:end]
        return (_LINE.sub("", text) if _PLAIN in text else text)[len(before) :]

    def close(self) -> str:
        """Return what was held for nothing."""
        held, self._held = self._held, ""
        return "" if held.startswith((_PLAIN, _MARKED)) else held


def _begun(line: str) -> int:
    """Where in a line that has not ended a tag begins, or may begin."""
    if line.startswith(_PLAIN[: len(line)]):
        return 0
    found = line.find(_MARKED)
    if found >= 0:
        return found
    return len(line) - next((n for n in range(len(_MARKED) - 1, 0, -1) if line.endswith(_MARKED[:n])), 0)
