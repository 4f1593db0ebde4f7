"""Records of files and their visible versions: reading, and tombstones. How versions come to be: `staging.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, select

from acai_jupyter.contract.files import Child, ChildKind, FileVersion
from acai_jupyter.contract.filesets import Entry
from acai_jupyter.contract.ids import ProjectId, SessionId, Sha256
from acai_jupyter.contract.states import StorageClass, UploadState
from acai_server.db import batches
from acai_server.db.tables import (
    FileRow,
    FileVersionRow,
    ProjectRow,
    UploadEntryRow,
    UploadSessionRow,
    UserRow,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from sqlalchemy.orm import Session

LAST = "\U0010ffff"
"""Comes after every character that a path can have."""
Row = tuple[str, int, int, bytes]
"""Path, number, size and hash of a file version."""

_ALIVE = """
    EXISTS (SELECT 1 FROM file_version v JOIN upload_session s ON s.id = v.session_id
            WHERE v.file_id = f.id AND s.commit_number IS NOT NULL AND v.deleted_at IS NULL)"""
# Goes from one child to the next: past a file to the next path, past a folder to the first path that is not in it.
_CHILDREN = """
    WITH RECURSIVE child(path) AS (
        SELECT * FROM (SELECT f.path FROM file f WHERE f.project_id = ? AND f.path > ? AND f.path < ? AND {alive}
                       ORDER BY f.path LIMIT 1) AS first
        UNION ALL
        SELECT (SELECT f.path FROM file f WHERE f.project_id = ? AND f.path < ? AND {alive} AND f.path > CASE
                    WHEN {position}(substr(child.path, ?), '/') > 0
                    THEN substr(child.path, 1, ? + {position}(substr(child.path, ?), '/')) || ?
                    ELSE child.path END
                ORDER BY f.path LIMIT 1)
        FROM child WHERE child.path IS NOT NULL)
    SELECT path FROM child WHERE path IS NOT NULL LIMIT ?"""
_LATEST = """
    SELECT f.path, v.number, v.size_bytes, s.ended_at, v.sha256
    FROM file f JOIN file_version v ON v.file_id = f.id JOIN upload_session s ON s.id = v.session_id
    WHERE s.commit_number IS NOT NULL AND v.deleted_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM file_version w JOIN upload_session t ON t.id = w.session_id
        WHERE w.file_id = v.file_id AND w.number > v.number AND t.commit_number IS NOT NULL AND w.deleted_at IS NULL)
    AND f.project_id = ?"""

_AS_OF = """
    SELECT f.path, v.number, v.size_bytes, v.sha256, v.deleted_at IS NOT NULL
    FROM file f JOIN file_version v ON v.file_id = f.id JOIN upload_session s ON s.id = v.session_id
    WHERE s.commit_number <= ? AND (v.deleted_at IS NULL OR v.marked > ?) AND NOT EXISTS (
        SELECT 1 FROM file_version w JOIN upload_session t ON t.id = w.session_id
        WHERE w.file_id = v.file_id AND w.number > v.number AND t.commit_number <= ?
        AND (w.deleted_at IS NULL OR w.marked > ?))
    AND f.project_id = ? AND f.path >= ? AND f.path < ? ORDER BY f.path LIMIT ?"""
_EVERY = """
    SELECT f.path, v.number, v.size_bytes, v.sha256
    FROM file f JOIN file_version v ON v.file_id = f.id JOIN upload_session s ON s.id = v.session_id
    WHERE s.commit_number IS NOT NULL AND v.deleted_at IS NULL AND f.project_id = ? AND f.path IN"""


class FileRecords:
    """Files by path."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def latest(self, project: ProjectId, path: str) -> Entry | None:
        """Return the newest version of a file, if there is one."""
        return next(self._latest(f"{_LATEST} AND f.path = ?", project, path), None)

    def below(self, project: ProjectId, folder: str, after: str, limit: int) -> list[Entry]:
        """Return the newest versions of the files below a folder, which ends in '/', by path."""
        sql = f"{_LATEST} AND f.path > ? AND f.path < ? ORDER BY f.path LIMIT ?"
        return list(self._latest(sql, project, max(folder, after), folder + LAST, limit))

    def last_commit(self, project: ProjectId) -> int:
        """Return the number of the last commit or deletion."""
        return self._session.scalars(select(ProjectRow.last_commit).where(ProjectRow.id == project)).one()

    def latest_of(self, project: ProjectId, paths: Iterable[str]) -> dict[str, Row]:
        """Return the newest versions of the files among paths: path, number, size and hash."""
        rows = batches.select_in(self._session, f"{_LATEST} AND f.path IN", paths, project)
        return {path: (path, number, size, sha256) for path, number, size, _, sha256 in rows}

    def numbered(self, project: ProjectId, wanted: set[tuple[str, int]]) -> dict[tuple[str, int], Row]:
        """Return these versions of files, without those that are deleted: path, number, size and hash."""
        rows = batches.select_in(self._session, _EVERY, sorted({path for path, _ in wanted}), project)
        return {(row[0], row[1]): tuple(row) for row in rows if (row[0], row[1]) in wanted}

    def as_of(self, project: ProjectId, commit: int, start: str, end: str, limit: int) -> list[tuple[Row, bool]]:
        """Return the files of a range of paths as they were after a commit, and whether they are deleted now."""
        then = (commit, commit, commit, commit)
        rows = batches.select(self._session, _AS_OF, *then, project, start, end, limit)
        return [((path, number, size, sha256), bool(gone)) for path, number, size, sha256, gone in rows]

    def version(self, project: ProjectId, path: str, number: int) -> tuple[Entry, datetime | None] | None:
        """Return a version of a file and when it was deleted, if there is one."""
        query = _versions(project, path).where(FileVersionRow.number == number)
        found = self._session.execute(query).first()
        if found is None:
            return None
        row = found[0]
        return Entry(path, number, row.size_bytes, Sha256(row.sha256.hex())), row.deleted_at

    def versions(self, project: ProjectId, path: str, before: int | None, limit: int) -> list[FileVersion]:
        """Return the versions of a file, the deleted ones too, the newest first."""
        query = _versions(project, path).order_by(FileVersionRow.number.desc()).limit(limit)
        if before is not None:
            query = query.where(FileVersionRow.number < before)
        return [_version(path, *row) for row in self._session.execute(query)]

    def child(self, project: ProjectId, path: str) -> Child | None:
        """Return a file as its folder shows it."""
        rows = batches.select(self._session, f"{_LATEST} AND f.path = ?", project, path)
        return self._file(path.rpartition("/")[2], rows[0]) if rows else None

    def children(self, project: ProjectId, folder: str, after: str, limit: int) -> list[Child]:
        """Return the files and folders in a folder, which ends in '/', by name."""
        paths = self._child_paths(project, folder, after, limit)
        names = [path[len(folder) :] for path in paths]
        files = [path for path, name in zip(paths, names, strict=True) if "/" not in name]
        latest = {row[0]: row for row in batches.select_in(self._session, f"{_LATEST} AND f.path IN", files, project)}
        return [
            self._file(name, latest[folder + name])
            if "/" not in name
            else Child(name.partition("/")[0], ChildKind.FOLDER)
            for name in names
        ]

    def keepers(self, project: ProjectId, paths: Iterable[str]) -> list[tuple[SessionId, Entry]]:
        """Return the pending sessions that hold a version of one of the files as unchanged, and the version."""
        return [one for page in batches.pages(paths) for one in self._keepers(project, page)]

    def _keepers(self, project: ProjectId, paths: list[str]) -> list[tuple[SessionId, Entry]]:
        query = (
            select(UploadSessionRow.id, FileVersionRow, FileRow.path)
            .join(UploadEntryRow, UploadEntryRow.session_id == UploadSessionRow.id)
            .join(FileRow, FileRow.id == UploadEntryRow.file_id)
            .join(FileVersionRow, FileVersionRow.id == UploadEntryRow.version_id)
            .where(UploadSessionRow.project_id == project, UploadSessionRow.state == UploadState.PENDING)
            .where(FileRow.project_id == project, FileRow.path.in_(paths))
        )
        return [
            (SessionId(session), Entry(path, row.number or 0, row.size_bytes, Sha256(row.sha256.hex())))
            for session, row, path in self._session.execute(query)
        ]

    def _latest(self, sql: str, *parameters: Any) -> Iterator[Entry]:
        for path, number, size, _, sha256 in batches.select(self._session, sql, *parameters):
            yield Entry(path, number, size, Sha256(sha256.hex()))

    def _child_paths(self, project: ProjectId, folder: str, after: str, limit: int) -> list[str]:
        postgres = self._session.get_bind().dialect.name == "postgresql"
        sql = _CHILDREN.format(alive=_ALIVE, position="strpos" if postgres else "instr")
        end, name = folder + LAST, len(folder) + 1
        start = folder + after + (LAST if after.endswith("/") else "")
        rows = batches.select(self._session, sql, project, start, end, project, end, name, name - 1, name, LAST, limit)
        return [row[0] for row in rows]

    def _file(self, name: str, row: tuple[Any, ...]) -> Child:
        return Child(name, ChildKind.FILE, row[1], row[2], batches.as_time(row[3]))


def _versions(project: ProjectId, path: str) -> Select[FileVersionRow, UploadSessionRow, str]:
    return (
        select(FileVersionRow, UploadSessionRow, UserRow.name)
        .join(FileRow, FileRow.id == FileVersionRow.file_id)
        .join(UploadSessionRow, UploadSessionRow.id == FileVersionRow.session_id)
        .join(UserRow, UserRow.id == UploadSessionRow.user_id)
        .where(FileRow.project_id == project, FileRow.path == path, UploadSessionRow.commit_number.is_not(None))
    )


def _version(path: str, row: FileVersionRow, session: UploadSessionRow, creator: str) -> FileVersion:
    assert row.number is not None
    assert session.ended_at is not None
    return FileVersion(
        path=path,
        version=row.number,
        size_bytes=row.size_bytes,
        sha256=Sha256(row.sha256.hex()),
        created_at=session.ended_at,
        creator=creator,
        storage=StorageClass(session.storage),
        deleted_at=row.deleted_at,
    )
