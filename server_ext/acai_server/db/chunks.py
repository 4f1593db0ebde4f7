"""Chunks of manifests that were read lately. Chunks never change, so that what is remembered cannot be out of date."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId

MOST_BYTES = 8 * 2**20
"""Room for the upper chunks of ten sets of a million files: to find a path then takes one or two more."""


class ChunkMemory:
    """Keeps what was read last, by project and hash, up to so many bytes. Safe in threads."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._bodies: OrderedDict[tuple[ProjectId, bytes], bytes] = OrderedDict()
        self.size_bytes = 0

    def get(self, project: ProjectId, sha256: bytes) -> bytes | None:
        """Return a chunk, if it is still remembered."""
        with self._lock:
            body = self._bodies.get((project, sha256))
            if body is not None:
                self._bodies.move_to_end((project, sha256))
            return body

    def add(self, project: ProjectId, sha256: bytes, body: bytes) -> None:
        """Remember a chunk; what was not asked for the longest is forgotten for it."""
        with self._lock:
            if (project, sha256) not in self._bodies:
                self._bodies[project, sha256] = body
                self.size_bytes += len(body)
            while self.size_bytes > self._most_bytes:
                self.size_bytes -= len(self._bodies.popitem(last=False)[1])
