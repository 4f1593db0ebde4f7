"""Outputs that cannot be recorded: why, and the warnings that name them."""

import unicodedata
from typing import List, Optional

MAX_NAMED = 20
"""Every omission is counted; this many are named, each in a warning of its own."""
_SHOWN_CHARACTERS = 120


class Omissions:
    """Collects outputs that are left out. The others are recorded all the same."""

    def __init__(self) -> None:
        self.count = 0
        self._warnings: List[str] = []

    def add(self, name: str, reason: str) -> None:
        """Leave out an output."""
        self.count += 1
        if self.count <= MAX_NAMED:
            self._warnings.append("output %s was not kept: %s" % (shortened(name), reason))

    def warnings(self) -> List[str]:
        """Return one warning for each output that is named, and one that counts the others."""
        more = self.count - MAX_NAMED
        return self._warnings + (["%d more outputs were not kept" % more] if more > 0 else [])


def name_fault(name: str, max_bytes: int) -> Optional[str]:
    """Return why a normalized name below the output folder cannot be part of a path in a project, if it cannot."""
    try:
        size_bytes = len(name.encode())
    except UnicodeEncodeError:
        return "its name is not valid UTF-8"
    if any(unicodedata.category(character) == "Cc" for character in name):
        return "its name has a control character"
    if "\U0010ffff" in name:
        return "its name has the character U+10FFFF"
    if size_bytes > max_bytes:
        return too_long(max_bytes)
    return None


def too_long(max_bytes: int) -> str:
    """Return the reason for a path that is too long."""
    return "its path is too long; below the output folder a path can have %s bytes" % format(max_bytes, ",")


def shortened(name: str) -> str:
    """Quote a name on one line. Of a long one, the beginning and the end are shown."""
    half = _SHOWN_CHARACTERS // 2
    return "%a" % (name if len(name) <= _SHOWN_CHARACTERS else name[:half] + "..." + name[-half:])
