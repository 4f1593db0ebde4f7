"""Records of upload sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from acai_jupyter.contract.errors import UploadNotFound
from acai_jupyter.contract.ids import ProjectId, Sha256, UploadId, UserId
from acai_jupyter.contract.states import UploadState
from acai_jupyter.contract.uploads import NewFile, NewObject
from acai_server.db.tables import UploadEntryRow, UploadObjectRow, UploadSessionRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session


@dataclass(frozen=True)
class StoredUpload:
    """An upload session as it is kept."""

    id: UploadId
    user_id: UserId
    state: UploadState
    result: dict[str, Any] | None


class UploadRecords:
    """Upload sessions, the names staged in them and the objects they may name."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def create(self, upload: UploadId, project: ProjectId, user: UserId, files: list[NewFile], now: datetime) -> None:
        """Stage a session with all its names."""
        self._session.execute(
            insert(UploadSessionRow),
            [{"id": upload, "project_id": project, "user_id": user, "state": UploadState.PENDING, "created_at": now}],
        )
        entries = [
            {"upload_id": upload, "path": f.path, "sha256": bytes.fromhex(f.sha256), "size_bytes": f.size_bytes}
            for f in files
        ]
        self._session.execute(insert(UploadEntryRow), entries)

    def get(self, project: ProjectId, upload: str, *, lock: bool = False) -> StoredUpload:
        """Return a session; with `lock` nobody else changes it until this transaction has ended."""
        query = select(UploadSessionRow).where(UploadSessionRow.project_id == project, UploadSessionRow.id == upload)
        row = self._session.scalar(query.with_for_update() if lock else query)
        if row is None:
            raise UploadNotFound(upload=upload)
        return StoredUpload(UploadId(row.id), UserId(row.user_id), UploadState(row.state), row.result)

    def entries(self, upload: UploadId) -> list[NewFile]:
        """Return the staged files by path."""
        query = select(UploadEntryRow).where(UploadEntryRow.upload_id == upload).order_by(UploadEntryRow.path)
        return [NewFile(row.path, row.size_bytes, row.sha256.hex()) for row in self._session.scalars(query)]

    def add_object(self, upload: UploadId, key: str, announced: NewObject) -> None:
        """Remember that the session was given a target for this object."""
        row = UploadObjectRow(upload_id=upload, key=key, size_bytes=announced.size_bytes)
        row.sha256 = bytes.fromhex(announced.sha256)
        self._session.add(row)

    def objects(self, upload: UploadId) -> dict[str, NewObject]:
        """Return the objects that the session was given targets for."""
        query = select(UploadObjectRow).where(UploadObjectRow.upload_id == upload)
        return {row.key: NewObject(row.size_bytes, Sha256(row.sha256.hex())) for row in self._session.scalars(query)}

    def commit(self, upload: UploadId, result: dict[str, Any], now: datetime) -> None:
        """End a session with the answer that a second commit will get."""
        self._session.execute(
            update(UploadSessionRow)
            .where(UploadSessionRow.id == upload, UploadSessionRow.state == UploadState.PENDING)
            .values(state=UploadState.COMMITTED, ended_at=now, result=result)
        )
