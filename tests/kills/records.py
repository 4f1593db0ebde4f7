"""All records of a project, read at one moment from beside the server."""

from __future__ import annotations

import json
import zlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from tests.kills.stores import Database

Leaf = tuple[str, int, int, bytes]
"""Path, version, size and hash of a file in a manifest."""


class Session(NamedTuple):
    """An upload session."""

    id: int
    key: str
    state: str
    label: str
    only_changed: bool
    base_id: int | None
    commit_number: int | None
    root: bytes | None
    result: Any
    ended_at: Any


class StoredVersion(NamedTuple):
    """A version of a file; one without a number has not been given one."""

    path: str
    number: int | None
    session_id: int
    size_bytes: int
    sha256: str
    is_buried: bool


class StoredBlob(NamedTuple):
    """A content in an object."""

    key: str
    object_bytes: int
    session_id: int
    sha256: str
    offset: int
    size_bytes: int


class SetVersion(NamedTuple):
    """A version of a file set."""

    name: str
    number: int
    last: int
    root: bytes
    file_count: int
    size_bytes: int
    is_buried: bool
    is_collected: bool

    @property
    def ref(self) -> str:
        return f"{self.name}:{self.number}"


@dataclass(frozen=True)
class Records:
    """What is written down."""

    sessions: dict[int, Session]
    versions: list[StoredVersion]
    """Of all sessions."""
    objects: list[tuple[str, int, int]]
    """Key, size, session."""
    blobs: list[StoredBlob]
    sets: list[SetVersion]
    chunks: dict[bytes, bytes]
    entries: list[int]
    """The sessions that something else than versions is kept for."""
    last_commit: int

    @property
    def visible(self) -> list[StoredVersion]:
        """Versions that are committed."""
        return [one for one in self.versions if self.sessions[one.session_id].commit_number is not None]

    def numbers(self) -> dict[str, list[int | None]]:
        """Return the numbers of each path's visible versions."""
        found: dict[str, list[int | None]] = defaultdict(list)
        for one in self.visible:
            found[one.path].append(one.number)
        return found

    def pieces(self, root: bytes) -> set[bytes]:
        """Return all chunks of a manifest."""
        _, branches = self._opened(root)
        return {root, *(piece for _, chunk in branches for piece in self.pieces(chunk))}

    def manifest(self, root: bytes) -> list[Leaf]:
        """Return what a manifest lists. Raises KeyError where a chunk of it is missing."""
        leaves, branches = self._opened(root)
        return [*leaves, *(leaf for _, chunk in branches for leaf in self.manifest(chunk))]

    def _opened(self, chunk: bytes) -> tuple[list[Leaf], list[tuple[str, bytes]]]:
        body = zlib.decompress(self.chunks[chunk])
        return msgspec.msgpack.decode(body, type=tuple[list[Leaf], list[tuple[str, bytes]]])


def read(database: Database) -> Records:
    """Read everything; nobody writes meanwhile."""
    rows = database.rows
    sessions = rows(
        "SELECT id, key, state, label, only_changed, base_id, commit_number, root, result, ended_at FROM upload_session"
    )
    versions = rows(
        "SELECT f.path, v.number, v.session_id, v.size_bytes, v.sha256, v.deleted_at IS NOT NULL"
        " FROM file_version v JOIN file f ON f.id = v.file_id"
    )
    blobs = rows(
        'SELECT o.key, o.size_bytes, o.session_id, b.sha256, b."offset", b.size_bytes'
        " FROM blob b LEFT JOIN object o ON o.id = b.object_id WHERE NOT b.is_wrong"
    )
    sets = rows(
        "SELECT s.name, v.number, s.last, v.root, v.file_count, v.size_bytes, v.deleted_at IS NOT NULL,"
        " v.collected_at IS NOT NULL"
        " FROM file_set_version v JOIN file_set s ON s.id = v.file_set_id"
    )
    return Records(
        {row[0]: Session._make([*row[:8], _json(row[8]), row[9]]) for row in sessions},
        [StoredVersion._make([*row[:4], row[4].hex(), bool(row[5])]) for row in versions],
        [(row[0], row[1], row[2]) for row in rows("SELECT key, size_bytes, session_id FROM object")],
        [StoredBlob._make([*row[:3], row[3].hex(), *row[4:]]) for row in blobs],
        [SetVersion._make([*row[:6], bool(row[6]), bool(row[7])]) for row in sets],
        {row[0]: row[1] for row in rows("SELECT sha256, body FROM chunk")},
        [row[0] for row in rows("SELECT DISTINCT session_id FROM upload_entry")],
        rows("SELECT last_commit FROM project")[0][0],
    )


def _json(stored: Any) -> Any:
    return json.loads(stored) if isinstance(stored, str) else stored
