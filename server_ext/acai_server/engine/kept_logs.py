"""Logs that are kept: rows of gzip members in objects, and where each begins, so that a page needs one or two of them.

A log whose agent could not send it all is taken from the runner, and kept in the same way.
"""

from __future__ import annotations

import io
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

from acai_jupyter.contract import loglines
from acai_jupyter.contract.errors import ObjectNotFound
from acai_server.engine.attempts import Slot, runner_name, slot_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acai_jupyter.contract.ids import ObjectKey
    from acai_jupyter.contract.launch import LogPiece
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Runner

MEMBER_BYTES = 4 * 1024**2
_PIECE_BYTES = 64 * 1024**2
_GZIP = 16 + zlib.MAX_WBITS


class Piece(NamedTuple):
    """An object of the log, and the sizes of its members, of the log and compressed. Kept as a list in a record."""

    slot: Slot
    number: int
    members: list[tuple[int, int]]
    rank: int = 0

    @property
    def size_bytes(self) -> int:
        """How much of the log it holds."""
        return sum(size for size, _ in self.members)


class KeptLog:
    """The log of one attempt, of a gang that of one rank. One from before pieces were kept is a plain object."""

    def __init__(self, objects: ObjectStore, job: StoredJob, attempt: StoredAttempt, rank: int = 0) -> None:
        self._objects = objects
        self._job = job
        self._attempt = attempt
        known = None if attempt.log is None else [_piece(row) for row in attempt.log]
        self._pieces = None if known is None else [piece for piece in known if piece.rank == rank]

    def read(self, offset: int, size_bytes: int) -> bytes:
        """Return a stretch of it, cut at its end."""
        if self._pieces is None:
            return self._plain(offset, size_bytes)
        found = b"".join(self._members(offset, offset + size_bytes))
        return found[:size_bytes]

    def stream(self, offset: int = 0) -> Iterator[bytes]:
        """Give all of it from a byte on; hold one member."""
        if self._pieces is not None:
            yield from self._members(offset, None)
            return
        while piece := self._plain(offset, MEMBER_BYTES):
            yield piece
            offset += len(piece)

    def _plain(self, offset: int, size_bytes: int) -> bytes:
        try:
            return self._objects.get(slot_key(self._job, self._attempt, "log"), offset, size_bytes)
        except ObjectNotFound:
            return b""

    def _members(self, start: int, end: int | None) -> Iterator[bytes]:
        """The members that hold these bytes, the first without what lies before them."""
        position = 0
        for piece in self._pieces or ():
            stored_position = 0
            for size, stored in piece.members:
                if end is not None and position >= end:
                    return
                if position + size > start:
                    key = slot_key(self._job, self._attempt, piece.slot, piece.number, rank=piece.rank)
                    body = unpacked(self._objects.get(key, stored_position, stored), size)
                    yield body[max(0, start - position) :]
                position += size
                stored_position += stored


class LogKeeper:
    """Finds out what the log of an attempt's agent is, when it is over."""

    def __init__(self, objects: ObjectStore, runner: Runner, rank: int = 0) -> None:
        self._objects = objects
        self._runner = runner
        self._rank = rank

    def sent(self, job: StoredJob, attempt: StoredAttempt, told: list[LogPiece]) -> list[Piece] | None:
        """Return the pieces that an agent said it has sent; None when they are not there like that."""
        found = []
        for number, piece in enumerate(told):
            sizes = (sum(size for size, _ in piece.members), sum(stored for _, stored in piece.members))
            if sizes != (piece.size_bytes, piece.stored_bytes) or any(size > MEMBER_BYTES for size, _ in piece.members):
                return None
            try:
                if self._objects.size(self._key(job, attempt, "log", number)) != piece.stored_bytes:
                    return None
            except ObjectNotFound:
                return None
            found.append(Piece("log", number, list(piece.members), self._rank))
        return found

    def found(self, job: StoredJob, attempt: StoredAttempt) -> list[Piece]:
        """Keep what the runner has of a log, or find the pieces that were sent where these hold more of it.

        Both begin at the first byte: of a machine that was lost, the pieces may be what is left.
        """
        sent = list(self._look(job, attempt))
        printed_bytes = sum(map(len, self._printed(job, attempt)))
        if sum(piece.size_bytes for piece in sent) >= printed_bytes:
            return sent
        return list(self._keep(job, attempt, self._printed(job, attempt)))

    def _printed(self, job: StoredJob, attempt: StoredAttempt) -> Iterator[bytes]:
        name, position, held = runner_name(job, attempt), 0, b""
        while printed := self._runner.printed(name, position, self._rank):
            text, _, used = loglines.split(held + printed, attempt.key)
            position += len(printed)
            held = (held + printed)[used:]
            if text:
                yield text
        if held:
            yield held  # the beginning of a mark whose end never came

    def _keep(self, job: StoredJob, attempt: StoredAttempt, texts: Iterable[bytes]) -> Iterator[Piece]:
        members: list[tuple[int, int]] = []
        stored = bytearray()
        number = 0
        for data in _cut(texts):
            member = packed(data)
            members.append((len(data), len(member)))
            stored += member
            if len(stored) >= _PIECE_BYTES:
                yield self._put(job, attempt, number, members, stored)
                members, stored, number = [], bytearray(), number + 1
        if members:
            yield self._put(job, attempt, number, members, stored)

    def _put(
        self, job: StoredJob, attempt: StoredAttempt, number: int, members: list[tuple[int, int]], stored: bytearray
    ) -> Piece:
        key = self._key(job, attempt, "found", number)
        self._objects.put(key, io.BytesIO(stored), size_bytes=len(stored))
        return Piece("found", number, members, self._rank)

    def _look(self, job: StoredJob, attempt: StoredAttempt) -> Iterator[Piece]:
        number = 0
        while True:
            try:
                members = _sizes(self._objects.stream(self._key(job, attempt, "log", number)))
            except ObjectNotFound:
                return
            yield Piece("log", number, members, self._rank)
            number += 1

    def _key(self, job: StoredJob, attempt: StoredAttempt, slot: Slot, number: int) -> ObjectKey:
        return slot_key(job, attempt, slot, number, rank=self._rank)


def packed(data: bytes) -> bytes:
    """Return a gzip member."""
    packer = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
    return packer.compress(data) + packer.flush()


def unpacked(stored: bytes, size_bytes: int) -> bytes:
    """Return what a member holds, never more than was said; one that is broken is what can be read of it."""
    try:
        return zlib.decompressobj(_GZIP).decompress(stored, size_bytes).ljust(size_bytes, b"\0")
    except zlib.error:
        return b"\0" * size_bytes


def _cut(texts: Iterable[bytes]) -> Iterator[bytes]:
    held = bytearray()
    for text in texts:
        held += text
        while len(held) >= MEMBER_BYTES:
            yield bytes(held[:MEMBER_BYTES])
            del held[:MEMBER_BYTES]
    if held:
        yield bytes(held)


def _sizes(stream: Iterable[bytes]) -> list[tuple[int, int]]:
    """Read the members of a piece that nobody told of; what is broken, or too large to be ours, ends them."""
    found: list[tuple[int, int]] = []
    unpacker, size, stored = zlib.decompressobj(_GZIP), 0, 0
    for piece in stream:
        data = piece
        while data:
            try:
                size += len(unpacker.decompress(data, MEMBER_BYTES + 1 - size))
            except zlib.error:
                return found
            if size > MEMBER_BYTES or (unpacker.unconsumed_tail and not unpacker.eof and size == MEMBER_BYTES + 1):
                return found
            rest = unpacker.unused_data or unpacker.unconsumed_tail
            stored += len(data) - len(rest)
            data = rest
            if unpacker.eof:
                found.append((size, stored))
                unpacker, size, stored = zlib.decompressobj(_GZIP), 0, 0
    return found


def _piece(row: Any) -> Piece:
    slot, number, members, *rank = row
    return Piece(slot, number, [(size, stored) for size, stored in members], *rank)
