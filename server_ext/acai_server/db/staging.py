"""Records of what an upload session holds before it is committed, and of the numbers its versions will have.

A staged version takes the number after the newest visible one, unless another pending session holds that number: then
it has none until the commit. Whoever commits a path first takes its next number, from a pending session if need be.
So a committed path's numbers have no gaps, and a commit of a million files has only contested numbers left to give.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, exists, or_, select

from acai_jupyter.contract.filesets import Entry
from acai_jupyter.contract.ids import FileVersionId, ProjectId, SessionId, Sha256
from acai_server.db import batches, sight
from acai_server.db.tables import FileRow, FileVersionRow, UploadEntryRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy.orm import Session

    from acai_server.db.uploads import StoredUpload

StagedFile = tuple[str, int, bytes]
"""Path, size and hash."""
_VERSION_COLUMNS = ("file_id", "number", "session_id", "size_bytes", "sha256")

_TOPS = """
    SELECT v.file_id, v.number, v.id, v.sha256, s.commit_number IS NOT NULL, v.deleted_at IS NOT NULL
    FROM file_version v JOIN upload_session s ON s.id = v.session_id
    WHERE v.number >= (SELECT max(w.number) - 1 FROM file_version w WHERE w.file_id = v.file_id) AND v.file_id IN"""
_ALIVE = """
    SELECT v.file_id, v.number, v.id, v.sha256
    FROM file_version v JOIN upload_session s ON s.id = v.session_id
    WHERE s.commit_number IS NOT NULL AND v.deleted_at IS NULL AND v.file_id IN"""
_ENTRIES = """
    SELECT f.path, v.number, v.size_bytes, v.sha256 FROM file_version v JOIN file f ON f.id = v.file_id
    WHERE v.session_id = ?
    UNION ALL
    SELECT f.path, v.number, v.size_bytes, v.sha256 FROM upload_entry e JOIN file f ON f.id = e.file_id
    LEFT JOIN file_version v ON v.id = e.version_id WHERE e.session_id = ?
    ORDER BY 1"""
_MADE_AT = """
    SELECT f.path, v.number, v.size_bytes, v.sha256 FROM file_version v JOIN file f ON f.id = v.file_id
    WHERE v.session_id = ? AND f.path IN"""
_KEPT_AT = """
    SELECT f.path, v.number, v.size_bytes, v.sha256 FROM upload_entry e JOIN file f ON f.id = e.file_id
    LEFT JOIN file_version v ON v.id = e.version_id WHERE e.session_id = ? AND f.path IN"""
_MADE = "SELECT file_id, sha256 FROM file_version WHERE session_id = ? AND file_id IN"
_KEPT = """
    SELECT e.file_id, e.version_id, k.size_bytes, k.sha256
    FROM upload_entry e JOIN file_version k ON k.id = e.version_id WHERE e.session_id = ? AND e.file_id IN"""
_TOUCHED = """
    SELECT f.path, f.id FROM upload_session s JOIN file_version v ON v.session_id = s.id
    JOIN file f ON f.id = v.file_id WHERE s.project_id = ? AND s.commit_number > ?"""
# The plus keeps SQLite from walking all files of the project.
_MARKED = """
    SELECT f.path, f.id FROM file_version v JOIN file f ON f.id = v.file_id
    WHERE v.marked > ? AND +f.project_id = ?"""


@dataclass
class _Top:
    """Where a path's numbers stand."""

    number: int = 0
    """The newest visible one, deleted or not."""
    taken: bool = False
    """Whether a pending session holds the next."""
    alive: int | None = None
    id: FileVersionId | None = None
    sha256: bytes | None = None
    """Of the newest visible one that is not deleted."""


class StagingRecords:
    """What sessions hold."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def stage(self, upload: StoredUpload, files: list[StagedFile]) -> list[int | None]:
        """Stage files; what the session held of the same paths is replaced.

        Returns the numbers that they have as things stand, in the order of the files.
        """
        sight.refuse_paths(path for path, _, _ in files)
        ids, fresh = self._ensure(upload.project_id, [path for path, _, _ in files])
        old = [file for file in ids.values() if file not in fresh]
        self._drop(upload.id, old)
        tops = self._tops(old)
        made: list[tuple[Any, ...]] = []
        kept: list[tuple[Any, ...]] = []
        numbers: list[int | None] = []
        first = _Top()
        for path, size, sha256 in files:
            file = ids[path]
            top = tops.get(file, first)
            if upload.only_changed and top.sha256 == sha256:
                kept.append((upload.id, file, top.id))
                numbers.append(top.alive)
            else:
                number = None if top.taken else top.number + 1
                made.append((file, number, upload.id, size, sha256))
                numbers.append(number)
        batches.load(self._session, FileVersionRow, _VERSION_COLUMNS, made)
        self._keep(kept)
        return numbers

    def leave_out(self, upload: StoredUpload, paths: list[str]) -> None:
        """Let the session not hold these paths of its base."""
        if not paths:
            return
        sight.refuse_paths(paths)
        ids, _ = self._ensure(upload.project_id, paths)
        self._drop(upload.id, list(ids.values()))
        self._keep([(upload.id, file, None) for file in ids.values()])

    def leaves(self, session: SessionId) -> Iterator[tuple[str, int | None, int | None, bytes | None]]:
        """Iterate over path, number, size and hash of what a session holds; no hash: it leaves the path out."""
        result = self._session.connection().exec_driver_sql(
            batches.marked(self._session, _ENTRIES), (session, session), execution_options={"stream_results": True}
        )
        for part in result.partitions(5000):
            yield from part

    def entries_of(self, session: SessionId, paths: list[str]) -> dict[str, Entry | None]:
        """Return what a session holds at these paths."""
        found: dict[str, Entry | None] = {}
        for sql in (_MADE_AT, _KEPT_AT):
            for path, number, size, sha256 in batches.select_in(self._session, sql, paths, session):
                found[path] = None if sha256 is None else Entry(path, number or 0, size, Sha256(sha256.hex()))
        return found

    def counts(self, session: SessionId) -> tuple[int, int]:
        """Count the versions that a session makes, and the files that it keeps or leaves out."""
        made = "SELECT count(*) FROM file_version WHERE session_id = ?"
        kept = "SELECT count(*) FROM upload_entry WHERE session_id = ?"
        return tuple(batches.select(self._session, sql, session)[0][0] for sql in (made, kept))

    def number(self, session: SessionId) -> list[Entry]:
        """Give numbers to all files of a session that have none, and return them. The project is locked."""
        sql = """
            SELECT v.file_id, v.id, f.path, v.size_bytes, v.sha256 FROM file_version v JOIN file f ON f.id = v.file_id
            WHERE v.session_id = ? AND v.number IS NULL ORDER BY f.path"""
        rows = batches.select(self._session, sql, session)
        tops = self._tops([row[0] for row in rows])
        given = [(tops.get(row[0], _Top()).number + 1, row) for row in rows]
        taken = "UPDATE file_version SET number = NULL WHERE file_id = ? AND number = ?"
        batches.change(self._session, taken, [(row[0], number) for number, row in given])
        batches.change(
            self._session,
            "UPDATE file_version SET number = ? WHERE id = ?",
            [(number, row[1]) for number, row in given],
        )
        return [Entry(row[2], number, row[3], Sha256(row[4].hex())) for number, row in given]

    def reconcile(self, upload: StoredUpload, files: list[int]) -> list[str]:
        """Bring what an `only_changed` session holds of these files to how they stand; returns the paths that moved.

        A file that somebody made the same in the meantime needs no version; one that was kept because it was the same,
        and is not any more, needs one.
        """
        made = list(batches.select_in(self._session, _MADE, files, upload.id))
        kept = list(batches.select_in(self._session, _KEPT, files, upload.id))
        tops = self._tops([row[0] for row in (*made, *kept)])
        same = [file for file, sha256 in made if tops[file].sha256 == sha256]
        kept = [row for row in kept if tops[row[0]].id != row[1]]
        self._drop(upload.id, [*same, *(row[0] for row in kept)])
        again = [row[0] for row in kept if tops[row[0]].sha256 == row[3]]
        self._keep([(upload.id, file, tops[file].id) for file in (*same, *again)])
        news = [(file, None, upload.id, size, sha256) for file, _, size, sha256 in kept if tops[file].sha256 != sha256]
        batches.load(self._session, FileVersionRow, _VERSION_COLUMNS, news)
        return self._paths([*same, *(row[0] for row in kept)])

    def files_of(self, session: SessionId) -> list[int]:
        """Return the files that a session says something of."""
        made = select(FileVersionRow.file_id).where(FileVersionRow.session_id == session)
        kept = select(UploadEntryRow.file_id).where(UploadEntryRow.session_id == session)
        return [*self._session.scalars(made), *self._session.scalars(kept)]

    def page_of(self, session: SessionId, after: int, limit: int) -> dict[str, int]:
        """Return paths, with their rows, of which a session made versions, after a row."""
        query = (
            select(FileRow.path, FileRow.id)
            .join(FileVersionRow, FileVersionRow.file_id == FileRow.id)
            .where(FileVersionRow.session_id == session, FileVersionRow.file_id > after)
            .order_by(FileVersionRow.file_id)
        )
        return dict(self._session.execute(query.limit(limit)).all())

    def rows_of(self, project: ProjectId, paths: list[str]) -> dict[str, int]:
        """Return the rows of those of the paths that have one."""
        sql = "SELECT path, id FROM file WHERE project_id = ? AND path IN"
        return dict(batches.select_in(self._session, sql, paths, project))

    def touched(self, project: ProjectId, since: int) -> dict[str, int]:
        """Return the paths, with their rows, that were committed, deleted or brought back since then."""
        return dict(batches.select(self._session, _TOUCHED, project, since)) | self.marked(project, since)

    def marked(self, project: ProjectId, since: int) -> dict[str, int]:
        """Return the paths, with their rows, that were deleted or brought back since then."""
        return dict(batches.select(self._session, _MARKED, since, project))

    def count_touched(self, project: ProjectId, since: int, limit: int) -> int:
        """Count the versions that were committed since then, and, up to a limit, those deleted or brought back."""
        made = "SELECT coalesce(sum(made_files), 0) FROM upload_session WHERE project_id = ? AND commit_number > ?"
        sql = f"SELECT ({made}) + (SELECT count(*) FROM ({_MARKED} LIMIT ?) m)"  # noqa: S608 (SQL of ours)
        return int(batches.select(self._session, sql, project, since, since, project, limit)[0][0])

    def held(self, session: SessionId, files: Iterable[int]) -> set[int]:
        """Return which of these files a session says something of."""
        wanted = list(files)
        made = "SELECT file_id FROM file_version WHERE session_id = ? AND file_id IN"
        kept = "SELECT file_id FROM upload_entry WHERE session_id = ? AND file_id IN"
        found = (*batches.select_in(self._session, made, wanted, session),)
        return {row[0] for row in (*found, *batches.select_in(self._session, kept, wanted, session))}

    def hold(self, upload: StoredUpload, file: int, entry: Entry) -> bool:
        """Let a session hold a file with a content of its base, as a new version if the newest has another.

        Says whether it had to: a base's own version that is the newest, or that has the newest's content, stays.
        """
        top = self._tops([file]).get(file, _Top())
        sha256 = bytes.fromhex(entry.sha256)
        if top.sha256 == sha256 and self._is_alive(file, entry.version):
            return False
        if top.sha256 == sha256:
            self._keep([(upload.id, file, top.id)])
        else:
            row = (file, None, upload.id, entry.size_bytes, sha256)
            batches.load(self._session, FileVersionRow, _VERSION_COLUMNS, [row])
        return True

    def _is_alive(self, file: int, number: int) -> bool:
        query = select(FileVersionRow.deleted_at.is_(None)).where(
            FileVersionRow.file_id == file, FileVersionRow.number == number
        )
        return bool(self._session.scalar(query))

    def hold_again(self, upload: StoredUpload, path: str, entry: Entry) -> None:
        """Let a session that held a version of a file as unchanged decide anew."""
        ids, _ = self._ensure(upload.project_id, [path])
        self._drop(upload.id, [ids[path]])
        if not self.hold(upload, ids[path], entry):
            self._keep([(upload.id, ids[path], self._tops([ids[path]])[ids[path]].id)])

    def forget(self, session: SessionId, limit: int) -> bool:
        """Drop some of what a session holds; says whether there may be more. Paths that nobody else uses go too."""
        kept = select(UploadEntryRow.file_id).where(UploadEntryRow.session_id == session).limit(limit)
        made = select(FileVersionRow.file_id).where(FileVersionRow.session_id == session).limit(limit)
        files = [*self._session.scalars(kept), *self._session.scalars(made)]
        self._drop(session, files)
        for page in batches.pages(files):
            others = (
                exists().where(FileVersionRow.file_id == FileRow.id),
                exists().where(UploadEntryRow.file_id == FileRow.id),
            )
            self._session.execute(delete(FileRow).where(FileRow.id.in_(page), ~or_(*others)))
        return len(files) > 0

    def forget_kept(self, session: SessionId, limit: int) -> bool:
        """Drop some of what a committed session remembers of unchanged files; says whether there may be more."""
        query = select(UploadEntryRow.file_id).where(UploadEntryRow.session_id == session)
        files = list(self._session.scalars(query.limit(limit)))
        for page in batches.pages(files):
            of_page = (UploadEntryRow.session_id == session, UploadEntryRow.file_id.in_(page))
            self._session.execute(delete(UploadEntryRow).where(*of_page))
        return bool(files)

    def _keep(self, rows: list[tuple[Any, ...]]) -> None:
        batches.load(self._session, UploadEntryRow, ("session_id", "file_id", "version_id"), rows)

    def _drop(self, session: SessionId, files: list[int]) -> None:
        for page in batches.pages(files):
            for table in (UploadEntryRow, FileVersionRow):
                self._session.execute(delete(table).where(table.session_id == session, table.file_id.in_(page)))

    def _paths(self, files: list[int]) -> list[str]:
        return [row[0] for row in batches.select_in(self._session, "SELECT path FROM file WHERE id IN", files)]

    def _ensure(self, project: ProjectId, paths: list[str]) -> tuple[dict[str, int], set[int]]:
        """Return the row of each path, made where missing, and which of them are new. The project is locked."""
        ids = self.rows_of(project, paths)
        missing = [path for path in paths if path not in ids]
        fresh = dict(zip(missing, batches.free_ids(self._session, FileRow, len(missing)), strict=True))
        rows = [(file, project, path) for path, file in fresh.items()]
        batches.load(self._session, FileRow, ("id", "project_id", "path"), rows)
        return ids | fresh, set(fresh.values())

    def _tops(self, files: list[int]) -> dict[int, _Top]:
        tops: dict[int, _Top] = {}
        buried: set[int] = set()
        with sight.everything():  # a number is taken whoever may see what has it
            rows = list(batches.select_in(self._session, _TOPS, files))
        for file, number, version, sha256, visible, deleted in rows:
            top = tops.setdefault(file, _Top())
            if not visible:
                top.taken = True
            elif number > top.number:
                top.number = number
                top.alive, top.id, top.sha256 = (None, None, None) if deleted else (number, version, sha256)
                (buried.add if deleted else buried.discard)(file)
        for file, number, version, sha256 in sorted(batches.select_in(self._session, _ALIVE, buried)):
            top = tops[file]  # ascending: the last one stays
            top.alive, top.id, top.sha256 = number, version, sha256
        if sight.unseen():
            self._cover(tops)
        return tops

    def _cover(self, tops: dict[int, _Top]) -> None:
        """Let nobody find out by sending the same that it is there already where they do not see it."""
        alive = [top.id for top in tops.values() if top.id is not None]
        seen = {row[0] for row in batches.select_in(self._session, "SELECT id FROM file_version WHERE id IN", alive)}
        for top in tops.values():
            if top.id is not None and top.id not in seen:
                top.alive, top.id, top.sha256 = None, None, None
