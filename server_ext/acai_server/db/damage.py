"""Records of damaged contents: marking them, naming the files that have them, and how far the scrubber is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import or_, select, update

from acai_jupyter.contract.ids import JobNumber, ObjectKey, ProjectId, UserId
from acai_jupyter.contract.states import StorageClass
from acai_server.db import batches
from acai_server.db.blobs import DAMAGED, RecordedObject
from acai_server.db.tables import BlobRow, ObjectRow, ScrubPassRow, UploadSessionRow

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import SessionId

_EVERY = f"SELECT b.project_id, b.sha256 {DAMAGED}"
"""Copies are counted once in Python: with DISTINCT or GROUP BY, SQLite reads every blob instead of `ix_blob_wrong`."""
_HASHES = f"SELECT b.sha256 {DAMAGED} AND b.project_id = ?"
_VISIBLE = f"""
    FROM file_version v JOIN file f ON f.id = v.file_id JOIN upload_session u ON u.id = v.session_id
    LEFT JOIN job j ON j.id = u.job_id
    WHERE f.project_id = ? AND u.commit_number IS NOT NULL AND v.deleted_at IS NULL AND v.size_bytes > 0
      AND v.sha256 IN ({_HASHES})"""
_FILE_COUNT = f"SELECT count(*) {_VISIBLE}"
_FILES = f"SELECT f.path, v.number, v.sha256, v.size_bytes, j.number {_VISIBLE} ORDER BY f.path, v.number LIMIT ?"
_REPORTED = """
    SELECT f.path, v.number, v.sha256 FROM file_version v JOIN file f ON f.id = v.file_id
    JOIN upload_session u ON u.id = v.session_id
    WHERE u.commit_number IS NOT NULL AND f.project_id = ? AND f.path IN"""
_COPIES = """
    SELECT b.object_id, b.id, b.sha256, b."offset", b.size_bytes
    FROM blob b JOIN object o ON o.id = b.object_id JOIN upload_session s ON s.id = o.session_id
    WHERE b.project_id = ? AND NOT b.is_wrong AND s.commit_number IS NOT NULL AND b.sha256 IN"""
_MARKED = _COPIES.replace("AND NOT b.is_wrong", "AND b.is_wrong AND o.emptied_at IS NULL").replace(
    "SELECT b.object_id", "SELECT o.key, b.object_id"
)
_ALL_COPIES = """
    SELECT b.sha256, o.key, b."offset", b.size_bytes
    FROM blob b JOIN object o ON o.id = b.object_id WHERE b.project_id = ? AND b.sha256 IN"""
_CONTENTS = f"""
    SELECT b.sha256, b.size_bytes, s.user_id, s.storage {DAMAGED} AND b.project_id = ?"""
_SET_VERSIONS = """
    SELECT n.name, w.number, w.id, w.root FROM file_set_version w JOIN file_set n ON n.id = w.file_set_id
    WHERE n.project_id = ? AND w.deleted_at IS NULL ORDER BY w.id"""
_USING = """
    SELECT DISTINCT i.file_set_version_id, j.number FROM job_input i JOIN job j ON j.id = i.job_id
    WHERE j.project_id = ? AND i.file_set_version_id IN"""
_PROJECTS = "SELECT id, name FROM project ORDER BY name"
_RELIED = """
    SELECT DISTINCT o.id, o.key, o.size_bytes
    FROM file_version v JOIN blob b ON b.project_id = ? AND b.sha256 = v.sha256 AND NOT b.is_wrong
    JOIN object o ON o.id = b.object_id JOIN upload_session s ON s.id = o.session_id
    WHERE v.session_id = ? AND s.commit_number IS NOT NULL"""
_COMMITTED = """
    SELECT o.id, o.key, o.size_bytes FROM object o JOIN upload_session s ON s.id = o.session_id
    WHERE o.project_id = ? AND o.emptied_at IS NULL AND s.commit_number IS NOT NULL"""
_HAS_SOUND = """
    (o.id NOT IN (SELECT b.object_id FROM blob b WHERE b.is_wrong AND b.project_id = ?)
      OR EXISTS (SELECT 1 FROM blob b WHERE b.object_id = o.id AND NOT b.is_wrong))"""
_BY_KEY = _COMMITTED.replace("SELECT o.id", "SELECT o.project_id, o.id").replace("o.project_id = ?", "o.key = ?")
_HOLDING = """
    SELECT DISTINCT o.id, o.key, o.size_bytes FROM blob b JOIN object o ON o.id = b.object_id
    WHERE b.project_id = ? AND NOT b.is_wrong AND b.sha256 IN"""
_DOUBTFUL = """
    SELECT o.id FROM object o WHERE o.suspected_at <= ? AND o.emptied_at IS NULL
    UNION SELECT b.object_id FROM blob b JOIN object o ON o.id = b.object_id
    WHERE b.is_wrong AND b.project_id IN (SELECT id FROM project) AND o.emptied_at IS NULL AND o.checked_at < ?
      AND o.suspected_at IS NULL
    ORDER BY 1 LIMIT ?"""
"""Naming the projects leads SQLite to `ix_blob_wrong`."""
_WHOLE = "SELECT count(*), coalesce(sum(size_bytes), 0) FROM object WHERE emptied_at IS NULL"
_CLAIM = """
    UPDATE scrub_pass SET holder = ?, held_until = ?
    WHERE id = 1 AND (holder = ? OR held_until <= ? OR held_until > ?)"""
OVERHEAD_BYTES = 64 * 1024
"""What opening an object counts for in a pass, in addition to its bytes."""


class DamagedFile(NamedTuple):
    """A file version whose content is damaged in every copy, and the job that made it."""

    path: str
    version: int
    sha256: bytes
    size_bytes: int
    job: JobNumber | None


class Copy(NamedTuple):
    """One copy of a content."""

    object: int
    blob: int
    sha256: bytes
    offset: int
    size_bytes: int


class StoredPlace(NamedTuple):
    """Where a copy of a content is recorded to be, whether or not it is sound."""

    sha256: bytes
    key: ObjectKey
    offset: int
    size_bytes: int


class DamagedContent(NamedTuple):
    """A content that is damaged in every copy, and whose upload it came with."""

    sha256: bytes
    size_bytes: int
    user_id: UserId
    storage: StorageClass


class SetVersion(NamedTuple):
    """A version of a file set, with the root of its manifest."""

    name: str
    number: int
    id: int
    root: bytes


class ScrubPass(NamedTuple):
    """How far the current pass over all objects is."""

    position: int
    """The last object that was looked at."""
    done_bytes: int
    total_bytes: int
    began_at: datetime


class DamageRecords:
    """Damaged contents."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def count(self) -> int:
        """Count the damaged contents of all projects."""
        return len({(project, bytes(sha256)) for project, sha256 in batches.select(self._session, _EVERY)})

    def hashes(self, project: ProjectId) -> set[bytes]:
        """Return the hashes of a project's damaged contents."""
        return {bytes(row[0]) for row in batches.select(self._session, _HASHES, project)}

    def file_count(self, project: ProjectId) -> int:
        """Count the damaged file versions that the caller may see."""
        return int(batches.select(self._session, _FILE_COUNT, project, project)[0][0])

    def files(self, project: ProjectId, limit: int) -> list[DamagedFile]:
        """Return the damaged file versions that the caller may see, by path."""
        return [DamagedFile(*row) for row in batches.select(self._session, _FILES, project, project, limit)]

    def projects(self) -> list[tuple[ProjectId, str]]:
        """Return all projects by name."""
        return [(ProjectId(number), name) for number, name in batches.select(self._session, _PROJECTS)]

    def contents(self, project: ProjectId) -> list[DamagedContent]:
        """Return the damaged contents of a project."""
        found: dict[tuple[bytes, int], DamagedContent] = {}
        for sha256, size, user, storage in sorted(batches.select(self._session, _CONTENTS, project)):
            found.setdefault((sha256, size), DamagedContent(sha256, size, UserId(user), StorageClass(storage)))
        return list(found.values())

    def set_versions(self, project: ProjectId) -> list[SetVersion]:
        """Return all versions of file sets that are not deleted."""
        return [SetVersion(*row) for row in batches.select(self._session, _SET_VERSIONS, project)]

    def using(self, project: ProjectId, versions: list[int]) -> dict[int, list[int]]:
        """Return the numbers of the jobs that were given versions of file sets, by version."""
        found: dict[int, list[int]] = {}
        for version, job in batches.select_in(self._session, _USING, versions, project):
            found.setdefault(version, []).append(job)
        return found

    def heal(self, project: ProjectId, number: int, contents: list[tuple[DamagedContent, int]]) -> None:
        """Record contents that are in an object now, each at an offset."""
        columns = ("project_id", "sha256", "size_bytes", "object_id", "offset", "is_wrong")
        rows = [(project, one.sha256, one.size_bytes, number, offset, False) for one, offset in contents]
        batches.load(self._session, BlobRow, columns, rows)

    def reported(self, project: ProjectId, wanted: set[tuple[str, int]]) -> dict[tuple[str, int], bytes]:
        """Return the hashes of file versions, by path and number; only of those that the caller may see."""
        rows = batches.select_in(self._session, _REPORTED, sorted({path for path, _ in wanted}), project)
        return {(path, number): sha256 for path, number, sha256 in rows if (path, number) in wanted}

    def copies(self, project: ProjectId, hashes: Iterable[bytes]) -> list[Copy]:
        """Return the copies of contents that are not marked as damaged."""
        return [Copy(*row) for row in batches.select_in(self._session, _COPIES, hashes, project)]

    def marked(self, project: ProjectId, hashes: Iterable[bytes]) -> list[tuple[ObjectKey, Copy]]:
        """Return the copies of contents that are marked as damaged, and the object each of them is in."""
        rows = batches.select_in(self._session, _MARKED, hashes, project)
        return [(ObjectKey(key), Copy(*row)) for key, *row in rows]

    def places(self, project: ProjectId, hashes: Iterable[bytes]) -> list[StoredPlace]:
        """Return every recorded place of contents, the damaged ones and those of pending sessions too."""
        return [StoredPlace(*row) for row in batches.select_in(self._session, _ALL_COPIES, hashes, project)]

    # -- objects

    def relied_on(self, project: ProjectId, session: SessionId) -> list[RecordedObject]:
        """Return the objects of earlier sessions that hold contents of a session's new versions."""
        return [RecordedObject(*row) for row in batches.select(self._session, _RELIED, project, session)]

    def committed(self, project: ProjectId, limit: int) -> list[RecordedObject]:
        """Return some objects of committed sessions; those in which everything is damaged are left out."""
        sql = f"{_COMMITTED} AND {_HAS_SOUND} LIMIT ?"
        return [RecordedObject(*row) for row in batches.select(self._session, sql, project, project, limit)]

    def every(self, project: ProjectId) -> list[RecordedObject]:
        """Return all objects of committed sessions."""
        return [RecordedObject(*row) for row in batches.select(self._session, _COMMITTED, project)]

    def holding(self, project: ProjectId, hashes: Iterable[bytes]) -> set[RecordedObject]:
        """Return the objects that hold these contents."""
        return {RecordedObject(*row) for row in batches.select_in(self._session, _HOLDING, hashes, project)}

    def cut(self, one: RecordedObject, size_bytes: int) -> int:
        """Mark the contents that reach beyond the first bytes of an object as damaged; returns how many are new."""
        same = select(ObjectRow.id).where(ObjectRow.id == one.id, ObjectRow.key == one.key)
        beyond = (BlobRow.size_bytes > 0, BlobRow.offset + BlobRow.size_bytes > size_bytes, ~BlobRow.is_wrong)
        where = (BlobRow.object_id.in_(same), *beyond)
        found = self._session.execute(update(BlobRow).where(*where).values(is_wrong=True))
        return int(found.rowcount)  # type: ignore[attr-defined]  # an UPDATE has one

    def mark(self, copies: Iterable[Copy], *, as_damaged: bool = True) -> None:
        """Mark copies as damaged, or as sound."""
        for one in copies:
            where = (BlobRow.id == one.blob, BlobRow.object_id == one.object, BlobRow.sha256 == one.sha256)
            self._session.execute(update(BlobRow).where(*where).values(is_wrong=as_damaged))

    def recorded(self, key: ObjectKey) -> tuple[ProjectId, RecordedObject] | None:
        """Return the object of a committed session that a key names, with its project; None if it was emptied."""
        found = batches.select(self._session, _BY_KEY, key)
        return None if not found else (ProjectId(found[0][0]), RecordedObject(*found[0][1:]))

    def suspect(self, objects: Iterable[int], now: datetime, unless_checked_since: datetime) -> None:
        """Have the scrubber read objects before all others, except those that were read recently."""
        for page in batches.pages(sorted(set(objects))):
            is_old = or_(ObjectRow.checked_at.is_(None), ObjectRow.checked_at < unless_checked_since)
            where = (ObjectRow.id.in_(page), ObjectRow.suspected_at.is_(None), is_old)
            self._session.execute(update(ObjectRow).where(*where).values(suspected_at=now))

    def doubtful(self, suspected_before: datetime, checked_before: datetime, limit: int) -> list[int]:
        """Return objects that readers had trouble with, or that have damaged contents and were read before then."""
        moments = [batches.as_stored(self._session, moment) for moment in (suspected_before, checked_before)]
        return [row[0] for row in batches.select(self._session, _DOUBTFUL, *moments, limit)]

    def postpone(self, number: int, until: datetime) -> None:
        """Have the scrubber read an object again at a later moment: it could not be read now."""
        self._session.execute(update(ObjectRow).where(ObjectRow.id == number).values(suspected_at=until))

    def not_suspected(self, number: int) -> None:
        """Forget that an object was suspected."""
        self._session.execute(update(ObjectRow).where(ObjectRow.id == number).values(suspected_at=None))

    # -- the scrubber's pass

    def claim(self, holder: str, now: datetime, until: datetime) -> bool:
        """Take the pass for a server until a moment; says whether it is this server's now.

        What is dated ahead was written while the clock was wrong: such a claim has expired, and such a pass restarts.
        """
        row = {"id": 1, "position": 0, "done_bytes": 0, "total_bytes": 0, "holder": "", "held_until": now}
        if not batches.select(self._session, "SELECT 1 FROM scrub_pass"):
            batches.insert_missing(self._session, ScrubPassRow, [row | {"began_at": now}])
        as_stored = batches.as_stored
        end = as_stored(self._session, until)
        taken = batches.changed(self._session, _CLAIM, holder, end, holder, as_stored(self._session, now), end)
        if taken and self.scrub_pass().began_at > now:
            self.begin_pass(now)
        return taken == 1

    def release(self, holder: str, now: datetime) -> None:
        """Let another server take the pass."""
        self._session.execute(update(ScrubPassRow).where(ScrubPassRow.holder == holder).values(held_until=now))

    def scrub_pass(self) -> ScrubPass:
        """Return how far the pass is."""
        row = self._session.scalars(select(ScrubPassRow)).one()
        return ScrubPass(row.position, row.done_bytes, row.total_bytes, row.began_at)

    def begin_pass(self, began_at: datetime) -> None:
        """Begin at the first object."""
        count, size = batches.select(self._session, _WHOLE)[0]
        total = int(size) + int(count) * OVERHEAD_BYTES
        values: dict[str, Any] = {"position": 0, "done_bytes": 0, "total_bytes": total, "began_at": began_at}
        self._session.execute(update(ScrubPassRow).values(**values))

    def passed(self, one: RecordedObject) -> None:
        """Record that the pass has been over an object, unless another server has come further since."""
        done = ScrubPassRow.done_bytes + one.size_bytes + OVERHEAD_BYTES
        behind = update(ScrubPassRow).where(ScrubPassRow.position < one.id)
        self._session.execute(behind.values(position=one.id, done_bytes=done))

    def next_objects(self, after: int, limit: int) -> list[RecordedObject]:
        """Return the objects of committed sessions that come after one."""
        query = (
            select(ObjectRow.id, ObjectRow.key, ObjectRow.size_bytes)
            .join(UploadSessionRow, UploadSessionRow.id == ObjectRow.session_id)
            .where(ObjectRow.id > after, ObjectRow.emptied_at.is_(None), UploadSessionRow.commit_number.is_not(None))
        )
        rows = self._session.execute(query.order_by(ObjectRow.id).limit(limit))
        return [RecordedObject(row.id, ObjectKey(row.key), row.size_bytes) for row in rows]
