"""Contents that say who wrote them: whatever is read back can be held against what was sent."""

from __future__ import annotations

import hashlib
import random
from functools import cached_property

import msgspec

ANYONE = "anyone"
"""Several writers may write the same; that is nobody's content in particular."""


class Origin(msgspec.Struct, frozen=True, dict=True):
    """What a content is made of: a line that names this, then noise that follows from it."""

    path: str
    writer: str
    counter: int
    size_bytes: int
    """What was wished for: a content is as long as its line at least. An empty one has no line."""

    @property
    def data(self) -> bytes:
        """All bytes; made anew each time, as they may be many."""
        line = self._line
        return line + random.Random(line).randbytes(self.length - len(line))

    @cached_property
    def length(self) -> int:
        """How many bytes there are."""
        return max(self.size_bytes, len(self._line))

    @cached_property
    def sha256(self) -> str:
        """The hash of all bytes."""
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def _line(self) -> bytes:
        return msgspec.json.encode(self) + b"\n" if self.size_bytes else b""


def origin_of(data: bytes) -> Origin | None:
    """Return what a content says of itself; nothing if that is not what it is."""
    try:
        origin = msgspec.json.decode(data.partition(b"\n")[0], type=Origin)
    except msgspec.MsgspecError:
        return None
    return origin if origin.data == data else None
