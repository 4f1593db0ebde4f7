"""The body of a request while it arrives: bounded, on disk when it is large, and refused when it stops arriving."""

from __future__ import annotations

import mmap
import tempfile
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tornado.httputil import HTTPServerRequest

    InThread = Callable[..., Awaitable[int]]

MEMORY_BYTES = 64 * 1024
"""What one body holds in memory; tornado reads it in pieces of this size."""
DROPPED_BYTES = 1024 * 1024
"""A refused body up to this size is read and dropped: closing the connection on it could lose the answer."""


def announced_bytes(request: HTTPServerRequest) -> int | None:
    """Return how long the body of a request is, None if only its end will tell."""
    if "Transfer-Encoding" in request.headers:
        return None
    length = request.headers.get("Content-Length", "0")
    return int(length) if length.isascii() and length.isdigit() else None  # tornado takes "5,5", and refuses the rest


class RequestBody:
    """Collects a body in memory and, above `MEMORY_BYTES`, in a file without a name."""

    def __init__(self, folder: str | None) -> None:
        self.size = 0
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(MEMORY_BYTES, dir=folder)  # noqa: SIM115 (closed by `close`)

    async def write(self, chunk: bytes, in_thread: InThread) -> None:
        """Append a piece; disks are written to in a thread."""
        self.size += len(chunk)
        if self.size > MEMORY_BYTES:
            await in_thread(self._file.write, chunk)
        else:
            self._file.write(chunk)

    def read(self) -> bytes | mmap.mmap:
        """Return all of it; a large one stays on disk and is mapped into memory."""
        if self.size > MEMORY_BYTES:
            self._file.flush()
            return mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        self._file.seek(0)
        return self._file.read()

    def close(self) -> None:
        """Free its memory and its room on disk."""
        self._file.close()
