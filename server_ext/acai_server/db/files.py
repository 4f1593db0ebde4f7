"""Records of files, their versions, and the blobs and objects behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from acai_jupyter.contract.filesets import Entry
from acai_jupyter.contract.ids import BlobId, ObjectKey, ProjectId, Sha256, UserId
from acai_server.db.batches import insert_missing, pages
from acai_server.db.tables import BlobRow, FileRow, FileVersionRow, ObjectRow

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.uploads import NewFile, SentObject


@dataclass(frozen=True)
class BlobPlace:
    """Where the bytes of a content are."""

    key: ObjectKey
    offset: int
    size_bytes: int


@dataclass(frozen=True)
class AddedVersions:
    """What adding versions came to."""

    entries: list[Entry]
    new_files: int


class FileRecords:
    """Files by path, contents by hash."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def known_blobs(self, project: ProjectId, hashes: Iterable[str]) -> dict[Sha256, BlobId]:
        """Return which of these contents the project has."""
        found: dict[Sha256, BlobId] = {}
        for page in pages(sorted(set(hashes))):
            query = select(BlobRow.sha256, BlobRow.id).where(
                BlobRow.project_id == project, BlobRow.sha256.in_([bytes.fromhex(h) for h in page])
            )
            found |= {Sha256(sha.hex()): BlobId(blob) for sha, blob in self._session.execute(query)}
        return found

    def places(self, project: ProjectId, hashes: Iterable[str]) -> dict[Sha256, BlobPlace]:
        """Return where the bytes of these contents are."""
        found: dict[Sha256, BlobPlace] = {}
        for page in pages(sorted(set(hashes))):
            query = (
                select(BlobRow.sha256, ObjectRow.key, BlobRow.offset, BlobRow.size_bytes)
                .join(ObjectRow, ObjectRow.id == BlobRow.object_id)
                .where(BlobRow.project_id == project, BlobRow.sha256.in_([bytes.fromhex(h) for h in page]))
            )
            for sha, key, offset, size in self._session.execute(query):
                found[Sha256(sha.hex())] = BlobPlace(ObjectKey(key), offset, size)
        return found

    def add_object(self, project: ProjectId, sent: SentObject, now: datetime) -> None:
        """Record an object that has arrived, and the contents in it that the project did not have."""
        known = self.known_blobs(project, (blob.sha256 for blob in sent.blobs))
        fresh = {blob.sha256: blob for blob in sent.blobs if blob.sha256 not in known}
        row = ObjectRow(project_id=project, key=sent.key, size_bytes=sent.size_bytes, created_at=now)
        row.sha256 = bytes.fromhex(sent.sha256)
        self._session.add(row)
        self._session.flush()
        blobs = [
            {
                "project_id": project,
                "sha256": bytes.fromhex(blob.sha256),
                "size_bytes": blob.size_bytes,
                "object_id": row.id,
                "offset": blob.offset,
            }
            for _, blob in sorted(fresh.items())
        ]
        insert_missing(self._session, BlobRow, blobs)

    def add_versions(
        self, project: ProjectId, user: UserId, files: list[NewFile], now: datetime, *, only_changed: bool
    ) -> AddedVersions:
        """Give each file its next version; with `only_changed` a file whose content is the latest keeps its number."""
        blobs = self.known_blobs(project, (f.sha256 for f in files))
        ids = self._ensure_files(project, [f.path for f in files])
        latest = self._latest(ids.values())
        entries, fresh = [], []
        for file in files:
            file_id, blob = ids[file.path], blobs[Sha256(file.sha256)]
            number, current = latest.get(file_id, (0, None))
            if not (only_changed and current == blob):
                number += 1
                fresh.append(
                    {"file_id": file_id, "number": number, "blob_id": blob, "user_id": user, "created_at": now}
                )
            entries.append(Entry(file.path, number, file.size_bytes, Sha256(file.sha256)))
        if fresh:
            self._session.execute(insert(FileVersionRow), fresh)
            latest_rows = [{"id": row["file_id"], "latest": row["number"]} for row in fresh]
            self._session.execute(update(FileRow), latest_rows)
        return AddedVersions(entries, len(fresh))

    def _ensure_files(self, project: ProjectId, paths: list[str]) -> dict[str, int]:
        """Return the row of each path, made where missing, locked in one order so that two commits cannot deadlock."""
        in_order = list(pages(sorted(paths)))
        for page in in_order:
            query = select(FileRow.path).where(FileRow.project_id == project, FileRow.path.in_(page))
            known = set(self._session.scalars(query))
            missing = [{"project_id": project, "path": path, "latest": 0} for path in page if path not in known]
            insert_missing(self._session, FileRow, missing)
        ids: dict[str, int] = {}
        for page in in_order:
            rows = select(FileRow.path, FileRow.id).where(FileRow.project_id == project, FileRow.path.in_(page))
            ids |= dict(self._session.execute(rows.order_by(FileRow.path).with_for_update()).all())
        return ids

    def _latest(self, files: Iterable[int]) -> dict[int, tuple[int, int]]:
        latest: dict[int, tuple[int, int]] = {}
        for page in pages(list(files)):
            query = (
                select(FileVersionRow.file_id, FileVersionRow.number, FileVersionRow.blob_id)
                .join(FileRow, (FileRow.id == FileVersionRow.file_id) & (FileRow.latest == FileVersionRow.number))
                .where(FileRow.id.in_(page))
            )
            latest |= {file: (number, blob) for file, number, blob in self._session.execute(query)}
        return latest
