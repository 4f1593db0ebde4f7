"""Records of file sets and of the chunks of their manifests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, func, select, update

from acai_jupyter.contract.errors import FileSetNotFound
from acai_jupyter.contract.filesets import FileSet
from acai_jupyter.contract.ids import FileSetVersionId, ProjectId, UserId
from acai_jupyter.contract.specs import LATEST, SetRef
from acai_jupyter.contract.states import InputRole
from acai_server.db import batches, rows, sight
from acai_server.db.aliases import AliasRecords
from acai_server.db.batches import pages
from acai_server.db.chunks import ChunkMemory
from acai_server.db.rows import as_time
from acai_server.db.tables import FileSetRow, FileSetVersionRow, UserRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

_USED_LATELY = timedelta(hours=1)
"""So long it is not written down again: nothing is collected that was asked for within a day."""
_NEIGHBOURS = 5000
"""Among so many names on either side the nearest is looked for: all of them take a tenth of a second."""
_LIVING = """
    SELECT v.id, v.root FROM file_set s JOIN file_set_version v ON v.file_set_id = s.id
    WHERE s.project_id = ? AND v.deleted_at IS NULL"""
_READABLE = """
    SELECT v.id, v.root FROM file_set s JOIN file_set_version v ON v.file_set_id = s.id
    WHERE s.project_id = ? AND v.collected_at IS NULL AND v.id > ? ORDER BY v.id"""
_IN_USE = """
    SELECT v.id, j.number FROM file_set_version v JOIN job_input i ON i.file_set_version_id = v.id
    JOIN job j ON j.id = i.job_id WHERE v.file_set_id = ? AND j.ended_at IS NULL"""

_VERSION = """
    SELECT v.id, v.root, v.number, v.file_count, v.size_bytes, v.note, v.created_at, v.deleted_at, v.collected_at,
    v.file_set_id, n.name AS name, n.role, u.name AS creator
    FROM file_set_version v JOIN file_set n ON n.id = v.file_set_id JOIN user_account u ON u.id = v.user_id WHERE"""
_OF_ALIAS = "(SELECT number FROM file_set_alias WHERE file_set_id = n.id AND alias = ? ORDER BY id DESC LIMIT 1)"
_NEXT_OF_NAME = """
    INSERT INTO file_set (project_id, name, role, last, latest) VALUES (?, ?, ?, 1, 1)
    ON CONFLICT (project_id, name) DO UPDATE SET last = file_set.last + 1, latest = file_set.last + 1
    RETURNING id, last"""
_USED = "SELECT sha256 FROM chunk WHERE project_id = ? AND used_at > ? AND sha256 IN"
_ADD_CHUNK = """
    INSERT INTO chunk (project_id, sha256, body, used_at) VALUES (?, ?, ?, ?)
    ON CONFLICT (project_id, sha256) DO UPDATE SET used_at = excluded.used_at"""


@dataclass(frozen=True)
class StoredFileSet:
    """One version of a file set with the root of its manifest."""

    id: FileSetVersionId
    root: bytes
    public: FileSet
    file_set_id: int
    """The row of its name."""
    collected_at: datetime | None = None


@dataclass(frozen=True)
class NamedFileSet:
    """A name of file sets."""

    id: int
    name: str
    role: InputRole
    last: int
    latest: int


class FileSetRecords:
    """Names, versions, chunks."""

    def __init__(self, session: Session, remembered: ChunkMemory | None = None) -> None:
        self._session = session
        self._aliases = AliasRecords(session)
        self._remembered = remembered or ChunkMemory()

    def find(
        self, project: ProjectId, ref: SetRef, *, or_deleted: bool = False, with_aliases: bool = True
    ) -> StoredFileSet:
        """Return one version of a set, or say which sets there are."""
        rows = batches.select(self._session, *_finding(project, ref))
        found = self._with_aliases(rows) if with_aliases else [_stored(row, []) for row in rows]
        if not found or (found[0].public.deleted_at is not None and not or_deleted):
            raise self._missing(project, ref, found[0] if found else None)
        opened = sight.opened()
        if opened is not None:
            opened.sets[found[0].id] = found[0].public.ref
        return found[0]

    def name(self, project: ProjectId, name: str, *, lock: bool = False) -> NamedFileSet | None:
        """Return what is known of a name; with `lock` nobody else changes it until this transaction has ended."""
        table = FileSetRow
        query = select(table.id, table.name, table.role, table.last, table.latest)
        query = query.where(table.project_id == project, table.name == name)
        row = self._session.execute(query).one_or_none()
        if row is not None and lock:  # in two steps: what is looked up is what may be seen, what is locked is the row
            self.lock(row.id)
            row = self._session.execute(query).one()
        return None if row is None else NamedFileSet(row.id, row.name, InputRole(row.role), row.last, row.latest)

    def lock(self, file_set: int) -> None:
        """Let nobody else change a name until this transaction has ended."""
        self._session.execute(select(FileSetRow.id).where(FileSetRow.id == file_set).with_for_update())

    def by_id(self, ids: list[FileSetVersionId]) -> dict[FileSetVersionId, StoredFileSet]:
        """Return file set versions by id, the deleted ones too."""
        rows = list(batches.select_in(self._session, f"{_VERSION} v.id IN", ids))
        return {stored.id: stored for stored in self._with_aliases(rows)}

    def newest(self, project: ProjectId, after: str, limit: int) -> list[FileSet]:
        """Return the newest version of each data set, by name."""
        some = (FileSetRow.project_id == project, FileSetRow.name > after, FileSetRow.role == InputRole.DATA)
        # The names first: a database without statistics might read all versions, and sort them.
        names = select(FileSetRow.id).where(*some, FileSetRow.latest > 0).order_by(FileSetRow.name).limit(limit)
        query = _versions().where(FileSetVersionRow.number == FileSetRow.latest, FileSetRow.id.in_(names))
        return [stored.public for stored in self._told(query.order_by(FileSetRow.name))]

    def versions(self, file_set: int, before: int | None, limit: int) -> list[StoredFileSet]:
        """Return the versions of a name, the deleted ones too, the newest first."""
        query = _versions().where(FileSetVersionRow.file_set_id == file_set)
        if before is not None:
            query = query.where(FileSetVersionRow.number < before)
        return self._told(query.order_by(FileSetVersionRow.number.desc()).limit(limit))

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
        note: str = "",
    ) -> StoredFileSet:
        """Make the next version of a name. The row of the name is locked, so numbers have no gaps."""
        sight.refuse_set(name)
        file_set, number = batches.select(self._session, _NEXT_OF_NAME, project, name, role.value)[0]
        version = FileSetVersionRow(file_set_id=file_set, number=number, root=root, file_count=file_count, note=note)
        version.size_bytes, version.user_id, version.created_at = size_bytes, user, now
        rows.insert(self._session, version)
        self._session.expire_all()
        return _stored(batches.select(self._session, f"{_VERSION} v.id = ?", version.id)[0], [])

    def set_note(self, version: FileSetVersionId, note: str, expect: str | None = None) -> bool:
        """Change the note of a version; returns False where another was expected, and changes nothing then."""
        sql = "UPDATE file_set_version SET note = ? WHERE id = ?"
        expected = () if expect is None else (expect,)
        more = "" if expect is None else " AND note = ?"
        return batches.changed(self._session, sql + more, note, version, *expected) == 1

    # -- tombstones

    def mark(self, file_set: int, versions: Iterable[FileSetVersionId], deleted_at: datetime | None) -> None:
        """Bury versions of a name that is locked, or bring them back, and find out again which is the latest."""
        table = FileSetVersionRow
        for page in pages(versions):
            self._session.execute(update(table).where(table.id.in_(page)).values(deleted_at=deleted_at))
        newest = select(func.coalesce(func.max(table.number), 0)).where(
            table.file_set_id == file_set, table.deleted_at.is_(None)
        )
        with sight.everything():
            latest = self._session.scalars(newest).one()
        self._session.execute(update(FileSetRow).where(FileSetRow.id == file_set).values(latest=latest))

    def in_use(self, file_set: int) -> dict[FileSetVersionId, int]:
        """Return the versions of a name that jobs use which have not ended, each with the number of one."""
        with sight.everything():
            return {FileSetVersionId(row): job for row, job in batches.select(self._session, _IN_USE, file_set)}

    def living(self, project: ProjectId) -> dict[FileSetVersionId, bytes]:
        """Return the manifests of all versions of all sets that are not deleted."""
        with sight.everything():
            rows = batches.select(self._session, _LIVING, project)
        return {FileSetVersionId(version): root for version, root in rows}

    def readable(self, project: ProjectId, above: int) -> dict[FileSetVersionId, bytes]:
        """Return the manifests of all versions of all sets that were not collected, of those with ids above one."""
        rows = batches.select(self._session, _READABLE, project, above)
        return {FileSetVersionId(version): root for version, root in rows}

    def ref_of(self, project: ProjectId, root: bytes) -> str | None:
        """Return a version that is not deleted and has this manifest; none where only ones have that are hidden."""
        query = _versions().where(FileSetRow.project_id == project, FileSetVersionRow.root == root)
        found = self._told(query.where(FileSetVersionRow.deleted_at.is_(None)).limit(1))
        return found[0].public.ref if found else None

    # -- chunks

    def add_chunks(self, project: ProjectId, chunks: dict[bytes, bytes], now: datetime) -> None:
        """Store the chunks that are not there yet; what is there and was not asked for lately, is in use again."""
        for page in pages(sorted(chunks)):
            since = batches.as_stored(self._session, now - _USED_LATELY)
            known = {row[0] for row in batches.select_in(self._session, _USED, page, project, since)}
            at = batches.as_stored(self._session, now)
            batches.change(self._session, _ADD_CHUNK, [(project, h, chunks[h], at) for h in page if h not in known])

    def chunk(self, project: ProjectId, sha256: bytes) -> bytes:
        """Return one chunk, which may be remembered."""
        body = self._remembered.get(project, sha256)
        if body is None:
            sql = "SELECT body FROM chunk WHERE project_id = ? AND sha256 = ?"
            body = batches.select(self._session, sql, project, sha256)[0][0]
            self._remembered.add(project, sha256, body)
        return body

    def chunks(self, project: ProjectId, hashes: list[bytes]) -> dict[bytes, bytes]:
        """Return many chunks."""
        sql = "SELECT sha256, body FROM chunk WHERE project_id = ? AND sha256 IN"
        return dict(batches.select_in(self._session, sql, hashes, project))

    def _told(self, query: Select[Any]) -> list[StoredFileSet]:
        """Read versions, with the aliases of all of them in one more query."""
        return self._with_aliases(self._session.execute(query).all())

    def _with_aliases(self, rows: Sequence[Any]) -> list[StoredFileSet]:
        aliases = self._aliases.of_many(row.file_set_id for row in rows)
        return [_stored(row, aliases.get((row.file_set_id, row.number), [])) for row in rows]

    # -- what is said of what is not there

    def _missing(self, project: ProjectId, ref: SetRef, deleted: StoredFileSet | None) -> FileSetNotFound:
        name = self.name(project, ref.name)
        if name is None:
            hint = self._nearest(project, ref.name)
        elif deleted is not None:
            hint = _buried(deleted.public.ref, is_gone=deleted.collected_at is not None)
        elif not name.latest:
            some = (FileSetVersionRow.file_set_id == name.id, FileSetVersionRow.collected_at.is_(None))
            hint = _buried(name.name, is_gone=self._session.scalars(select(func.count()).where(*some)).one() == 0)
        else:
            hint = self.said_aliases(name) if isinstance(ref.version, str) and ref.version != LATEST else ""
            hint += f" The latest is '{name.name}:{name.latest}'."
        return FileSetNotFound(name=ref.name if ref.version == LATEST else str(ref), hint=hint)

    def said_aliases(self, name: NamedFileSet) -> str:
        """Say what aliases a name has."""
        aliases = self._aliases.of(name.id)
        said = ", ".join(f"'{alias}' ({name.name}:{number})" for alias, number in list(aliases.items())[:10])
        return f" Its aliases are {said}." if said else " It has no aliases."

    def _nearest(self, project: ProjectId, name: str) -> str:
        query = select(FileSetRow.name, FileSetRow.latest).where(
            FileSetRow.project_id == project, FileSetRow.role == InputRole.DATA, FileSetRow.latest > 0
        )
        below = query.where(FileSetRow.name < name).order_by(FileSetRow.name.desc())
        above = query.where(FileSetRow.name > name).order_by(FileSetRow.name)
        latest: dict[str, int] = {}
        for side in (below, above):
            latest |= dict(self._session.execute(side.limit(_NEIGHBOURS)).all())
        folded = {known.casefold(): known for known in latest}
        near = [folded[known] for known in get_close_matches(name.casefold(), folded, n=1)]
        return f" Did you mean {near[0]} (latest: {near[0]}:{latest[near[0]]})?" if near else ""


def _finding(project: ProjectId, ref: SetRef) -> tuple[str, *tuple[Any, ...]]:
    """The query that finds a version, with its parameters."""
    sql = f"{_VERSION} n.project_id = ? AND n.name = ? AND v.number ="
    if ref.version == LATEST:
        return f"{sql} n.latest", project, ref.name
    return (f"{sql} ?" if isinstance(ref.version, int) else f"{sql} {_OF_ALIAS}"), project, ref.name, ref.version


def _buried(what: str, *, is_gone: bool) -> str:
    every = "It was" if ":" in what else "All its versions were"
    if is_gone:
        return f" {every} deleted too long ago to come back."
    return f" {every} deleted; bring {'it' if ':' in what else 'them'} back with acai fileset rm --undo {what}."


def _versions() -> Select[Any]:
    version, name = FileSetVersionRow, FileSetRow
    columns: tuple[Any, ...] = (
        *(version.id, version.root, version.number, version.file_count, version.size_bytes, version.note),
        *(version.created_at, version.deleted_at, version.collected_at, version.file_set_id, name.name, name.role),
        UserRow.name.label("creator"),
    )
    tables = select(*columns).select_from(version).join(name, name.id == version.file_set_id)
    return tables.join(UserRow, UserRow.id == version.user_id)


def _stored(row: Any, aliases: list[str]) -> StoredFileSet:
    public = FileSet(
        name=row.name,
        version=row.number,
        file_count=row.file_count,
        size_bytes=row.size_bytes,
        created_at=batches.as_time(row.created_at),
        creator=row.creator,
        role=InputRole(row.role),
        note=row.note,
        aliases=aliases,
        deleted_at=as_time(row.deleted_at),
    )
    collected_at = as_time(row.collected_at)
    return StoredFileSet(FileSetVersionId(row.id), row.root, public, row.file_set_id, collected_at)
