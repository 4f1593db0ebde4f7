"""Reading what is to be kept."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, BinaryIO

from acai_jupyter.contract.errors import HashMismatch

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECE_BYTES = 1024 * 1024


class VerifiedSource:
    """The bytes of a source, piece by piece, to its end and not further than it may go.

    Bytes that are not those announced raise `HashMismatch`, at the latest after the last piece. What the source itself
    raises goes through.
    """

    def __init__(self, source: BinaryIO, what: str, size_bytes: int, sha256: str | None) -> None:
        self._source = source
        self._what = what
        self._left = size_bytes
        self._announced = sha256
        self._digest = hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        while piece := self._source.read(min(PIECE_BYTES, self._left + 1)):
            self._left -= len(piece)
            if self._left < 0:
                break
            self._digest.update(piece)
            yield piece
        if self._left or self._announced not in (None, self.sha256):
            raise HashMismatch(what=self._what)

    @property
    def sha256(self) -> str:
        """The hash of what was read."""
        return self._digest.hexdigest()
