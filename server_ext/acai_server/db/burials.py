"""Records of the tombstones of many file versions at once. Those of one file: `files.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acai_server.db import batches

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import FileVersionId, ProjectId

_VISIBLE = """
    SELECT f.path, v.number, v.id, v.deleted_at IS NOT NULL, v.size_bytes, v.sha256
    FROM file f JOIN file_version v ON v.file_id = f.id JOIN upload_session s ON s.id = v.session_id
    WHERE s.commit_number IS NOT NULL AND f.project_id = ? AND f.path IN"""
# In the order in which they were deleted. The plus keeps SQLite from walking all files of the project.
_DELETED = """
    SELECT f.path, v.number, v.id, v.marked, v.size_bytes FROM file_version v JOIN file f ON f.id = v.file_id
    WHERE v.marked >= ? AND (v.marked > ? OR v.id > ?) AND v.deleted_at >= ? AND +f.project_id = ?
    ORDER BY v.marked, v.id LIMIT ?"""
_MARK = "UPDATE file_version SET deleted_at = ?, marked = ? WHERE id IN"


@dataclass(frozen=True)
class StoredVersion:
    """A version of a file."""

    path: str
    number: int
    id: FileVersionId
    size_bytes: int


@dataclass(frozen=True)
class KnownVersion:
    """A visible version of a file, deleted or not."""

    version: StoredVersion
    is_deleted: bool
    sha256: bytes


Mark = tuple[int, int]
"""Where a walk through deleted versions is: at which commit, and which row."""


class BurialRecords:
    """File versions, deleted and brought back."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def alive(self, project: ProjectId, paths: Iterable[str]) -> dict[str, list[StoredVersion]]:
        """Return the visible versions of paths that are not deleted, the newest last."""
        every = self.versions(project, paths).items()
        alive = {path: [one.version for one in versions if not one.is_deleted] for path, versions in every}
        return {path: versions for path, versions in alive.items() if versions}

    def versions(self, project: ProjectId, paths: Iterable[str]) -> dict[str, list[KnownVersion]]:
        """Return the visible versions of paths, the newest last."""
        found: dict[str, list[KnownVersion]] = {}
        for path, number, row, is_deleted, size, sha256 in batches.select_in(self._session, _VISIBLE, paths, project):
            known = KnownVersion(StoredVersion(path, number, row, size), bool(is_deleted), bytes(sha256))
            found.setdefault(path, []).append(known)
        for versions in found.values():
            versions.sort(key=lambda known: known.version.number)
        return found

    def deleted(self, project: ProjectId, since: datetime, after: Mark, limit: int) -> tuple[list[StoredVersion], Mark]:
        """Return versions that were deleted since a moment, in the order of commits, and where to go on."""
        commit, row = after
        at = batches.as_stored(self._session, since)
        rows = batches.select(self._session, _DELETED, commit, commit, row, at, project, limit)
        found = [StoredVersion(path, number, row, size) for path, number, row, _, size in rows]
        return found, (rows[-1][3], rows[-1][2]) if rows else after

    def mark(self, versions: Iterable[StoredVersion], deleted_at: datetime | None, commit: int) -> None:
        """Bury versions, or bring them back, in the order of commits."""
        at = None if deleted_at is None else batches.as_stored(self._session, deleted_at)
        batches.change_in(self._session, _MARK, (version.id for version in versions), at, commit)
