"""Records of file sets and of the chunks of their manifests."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from sqlalchemy import Select, select

from acai_jupyter.contract.errors import FileSetNotFound
from acai_jupyter.contract.filesets import FileSet
from acai_jupyter.contract.ids import FileSetVersionId, ProjectId, UserId
from acai_jupyter.contract.specs import LATEST, SetRef
from acai_jupyter.contract.states import InputRole
from acai_server.db.batches import insert_missing, pages
from acai_server.db.tables import ChunkRow, FileSetRow, FileSetVersionRow, UserRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session


@dataclass(frozen=True)
class StoredFileSet:
    """One version of a file set with the root of its manifest."""

    id: FileSetVersionId
    root: bytes
    public: FileSet


class FileSetRecords:
    """Names, versions, chunks."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, project: ProjectId, ref: SetRef) -> StoredFileSet:
        """Return one version of a set, or say which sets there are."""
        query = _versions().where(FileSetRow.project_id == project, FileSetRow.name == ref.name)
        number = FileSetRow.latest if ref.version == LATEST else ref.version
        if not isinstance(number, str):
            found = self._session.execute(query.where(FileSetVersionRow.number == number)).one_or_none()
            if found is not None:
                return _stored(*found)
        raise FileSetNotFound(name=ref.name if ref.version == LATEST else str(ref), hint=self._hint(project, ref.name))

    def by_id(self, ids: list[FileSetVersionId]) -> dict[FileSetVersionId, StoredFileSet]:
        """Return file set versions by id."""
        rows = self._session.execute(_versions().where(FileSetVersionRow.id.in_(ids)))
        return {stored.id: stored for stored in (_stored(*row) for row in rows)}

    def newest(self, project: ProjectId, after: str, limit: int) -> list[FileSet]:
        """Return the newest version of each data set, by name."""
        query = (
            _versions()
            .where(FileSetRow.project_id == project, FileSetRow.name > after, FileSetRow.role == InputRole.DATA)
            .where(FileSetVersionRow.number == FileSetRow.latest)
            .order_by(FileSetRow.name)
        )
        return [_stored(*row).public for row in self._session.execute(query.limit(limit))]

    def add(  # noqa: PLR0913 (a row has these columns)
        self,
        project: ProjectId,
        user: UserId,
        name: str,
        role: InputRole,
        *,
        root: bytes,
        file_count: int,
        size_bytes: int,
        now: datetime,
    ) -> StoredFileSet:
        """Make the next version of a name. The row of the name is locked, so numbers have no gaps."""
        named = {"project_id": project, "name": name, "role": role.value, "latest": 0}
        insert_missing(self._session, FileSetRow, [named])
        query = select(FileSetRow).where(FileSetRow.project_id == project, FileSetRow.name == name)
        row = self._session.scalars(query.with_for_update().execution_options(populate_existing=True)).one()
        row.latest += 1
        version = FileSetVersionRow(file_set_id=row.id, number=row.latest, root=root, file_count=file_count)
        version.size_bytes, version.user_id, version.created_at = size_bytes, user, now
        self._session.add(version)
        self._session.flush()
        return self.by_id([FileSetVersionId(version.id)])[FileSetVersionId(version.id)]

    def add_chunks(self, project: ProjectId, chunks: dict[bytes, bytes]) -> None:
        """Store the chunks that are not there yet."""
        for page in pages(sorted(chunks)):
            query = select(ChunkRow.sha256).where(ChunkRow.project_id == project, ChunkRow.sha256.in_(page))
            known = set(self._session.scalars(query))
            fresh = [{"project_id": project, "sha256": h, "body": chunks[h]} for h in page if h not in known]
            insert_missing(self._session, ChunkRow, fresh)

    def chunk(self, project: ProjectId, sha256: bytes) -> bytes:
        """Return one chunk."""
        query = select(ChunkRow.body).where(ChunkRow.project_id == project, ChunkRow.sha256 == sha256)
        return self._session.scalars(query).one()

    def _hint(self, project: ProjectId, name: str) -> str:
        query = select(FileSetRow.name, FileSetRow.latest).where(
            FileSetRow.project_id == project, FileSetRow.role == InputRole.DATA
        )
        latest = dict(self._session.execute(query.limit(10_000)).all())
        if name in latest:
            return f" The latest is '{name}:{latest[name]}'."
        near = get_close_matches(name, latest, n=1)
        return f" Did you mean {near[0]} (latest: {near[0]}:{latest[near[0]]})?" if near else ""


def _versions() -> Select[FileSetVersionRow, FileSetRow, str]:
    return (
        select(FileSetVersionRow, FileSetRow, UserRow.name)
        .join(FileSetRow, FileSetRow.id == FileSetVersionRow.file_set_id)
        .join(UserRow, UserRow.id == FileSetVersionRow.user_id)
    )


def _stored(version: FileSetVersionRow, file_set: FileSetRow, creator: str) -> StoredFileSet:
    public = FileSet(
        name=file_set.name,
        version=version.number,
        file_count=version.file_count,
        size_bytes=version.size_bytes,
        created_at=version.created_at,
        creator=creator,
        role=InputRole(file_set.role),
    )
    return StoredFileSet(FileSetVersionId(version.id), version.root, public)
