"""What pods print, kept on this machine as it comes: asked for by its bytes, and the same after a restart."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PIECE = 1024 * 1024
_STAMP_BYTES = 64
_STATE_BYTES = 160


@dataclass
class Position:
    """Where a log is: at which line, as its time tells, and how far in it."""

    stamp: str = ""
    """The time of the last line that began, as the cluster writes it: these sort as the times do."""
    among: int = 0
    """How many lines with this time have begun."""
    inside: int = 0
    """How many bytes of the last of these are kept."""
    has_ended: bool = True
    """Whether that line has ended."""
    kept: int = 0
    """How many bytes of the log are kept in all."""


class PodLog:
    """One pod's log. The stream has a time before each line; from the last one on it can be asked for again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state = path.with_name(f"{path.name}.position")
        self._at = self._read_position()
        self._again = Position()
        self._head = b""
        self.resume()

    @property
    def since(self) -> str:
        """The whole second of the last line; empty before there is one."""
        return f"{self._at.stamp[:19]}Z" if self._at.stamp else ""

    def resume(self) -> None:
        """Begin to take a stream that was asked for from `since` on."""
        self._again = Position()
        self._head = b""

    def take(self, data: bytes) -> bool:
        """Take the next bytes of the stream; says whether any were new."""
        new = b"".join(self._new(data))
        if not new:
            return False
        _write(self._path, self._at.kept, new)
        self._at.kept += len(new)
        _write(self._state, 0, json.dumps(asdict(self._at)).ljust(_STATE_BYTES).encode())
        return True

    @staticmethod
    def read_at(path: Path, offset: int) -> bytes:
        """Return what was printed from a byte on; at most a piece of it. From any thread."""
        try:
            with path.open("rb") as file:
                file.seek(offset)
                return file.read(PIECE)
        except FileNotFoundError:
            return b""

    def remove(self) -> None:
        """Forget it all."""
        self._path.unlink(missing_ok=True)
        self._state.unlink(missing_ok=True)

    def _new(self, data: bytes) -> list[bytes]:
        """Cut the times out of a stream, and what was kept before."""
        found: list[bytes] = []
        data, self._head = self._head + data, b""
        while data:
            if self._again.has_ended:
                stamp, space, data = data.partition(b" ")
                if not space:
                    self._head = stamp
                    break
                self._begin(stamp.decode("ascii", "replace")[:_STAMP_BYTES])
            line, end, data = data.partition(b"\n")
            found.append(self._unseen(line + end))
            self._again.has_ended = bool(end)
        return found

    def _begin(self, stamp: str) -> None:
        again = self._again
        again.among = again.among + 1 if stamp == again.stamp else 1
        again.stamp, again.inside, again.has_ended = stamp, 0, False

    def _unseen(self, part: bytes) -> bytes:
        """Return what of a part of a line was not kept before, and move on."""
        at, again = self._at, self._again
        begins, again.inside = again.inside, again.inside + len(part)
        order, known = (again.stamp, again.among), (at.stamp, at.among)
        if order < known:
            return b""
        if order == known:
            part = part[max(0, at.inside - begins) :]
            at.inside = max(at.inside, again.inside)
        else:
            at.stamp, at.among, at.inside = again.stamp, again.among, again.inside
        return part

    def _read_position(self) -> Position:
        """Return where an earlier server was; what it wrote after it last said so is not known, and is cut off."""
        found = Position()
        with suppress(OSError, ValueError, TypeError):
            found = Position(**json.loads(self._state.read_text()))
        with suppress(OSError):
            os.truncate(self._path, found.kept)
        return found if self._path.is_file() else Position()


def _write(path: Path, offset: int, data: bytes) -> None:
    """Write in place: a second server that is taking over writes the same bytes there."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.pwrite(descriptor, data, offset)
    finally:
        os.close(descriptor)
