"""What is known of a pending session while it grows, so that its commit need not read it all again.

Only a shortcut: pages that come by ascending path, as `put` sends them, are cut into the manifest at once, and contents
that have not arrived are remembered. Whatever else happens, a restart included, the commit finds out from the records.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

from acai_server.lake import manifests

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acai_jupyter.contract.ids import UploadId
    from acai_jupyter.contract.uploads import PackedBlob
    from acai_server.db.blobs import RecordedObject
    from acai_server.db.staging import StagedFile

SESSIONS = 100
MISSING = 100_000


class Growing:
    """One session. `chunks` are those that were cut and not yet stored."""

    def __init__(self) -> None:
        self.chunks: dict[bytes, bytes] = {}
        self.pages = 0
        self.file_count = 0
        self.size_bytes = 0
        self.missing: set[tuple[bytes, int]] = set()
        """Hash and size of contents that have not arrived."""
        self.relied: set[RecordedObject] = set()
        """Objects of earlier sessions that hold contents of this one."""
        self._builder = manifests.Builder(self._keep)
        self._last = ""

    def add(
        self, files: list[StagedFile], numbers: list[int | None], missing: list[int], relied: set[RecordedObject]
    ) -> bool:
        """Take a page as it was staged; says whether the shortcut still holds."""
        self.missing.update((files[position][2], files[position][1]) for position in missing)
        self.relied |= relied
        if len(self.missing) + len(self.relied) > MISSING:
            return False
        leaves: list[manifests.Leaf] = []
        for (path, size, sha256), number in zip(files, numbers, strict=True):
            if number is None or path <= self._last:
                return False
            leaves.append((path, number, size, sha256))
            self._last = path
            self.size_bytes += size
        self._builder.extend(leaves)
        self.pages += 1
        self.file_count += len(files)
        return True

    def arrived(self, blobs: Iterable[PackedBlob]) -> None:
        """Take what has arrived."""
        self.missing.difference_update((bytes.fromhex(blob.sha256), blob.size_bytes) for blob in blobs)

    def root(self) -> bytes:
        """Return the manifest's root; no page may come afterwards."""
        return self._builder.root()

    def _keep(self, key: bytes, body: bytes) -> None:
        self.chunks[key] = body


class GrowingSessions:
    """Those that this process has seen from their beginning. Thread-safe."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[UploadId, Growing] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, session: UploadId, growing: Growing | None = None) -> None:
        """Watch a session, or go on with it; the one that was quiet for longest may be forgotten for it."""
        with self._lock:
            self._sessions[session] = growing or Growing()
            while len(self._sessions) > SESSIONS:
                self._sessions.popitem(last=False)

    def get(self, session: UploadId) -> Growing | None:
        """Return what is known of a session, if it is."""
        with self._lock:
            if session in self._sessions:
                self._sessions.move_to_end(session)
            return self._sessions.get(session)

    def forget(self, session: UploadId) -> Growing | None:
        """Stop watching a session, and return what was known of it."""
        with self._lock:
            return self._sessions.pop(session, None)
