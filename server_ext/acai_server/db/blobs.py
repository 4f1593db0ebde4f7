"""Records of objects and of the contents in them.

A content may be kept more than once, as two sessions that send it at the same moment do not lean on each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import delete, or_, select, update

from acai_jupyter.contract.errors import Conflict
from acai_jupyter.contract.ids import ObjectKey, ProjectId, SessionId, UserId
from acai_server.db import batches, rows, sight
from acai_server.db.tables import BlobRow, ObjectRow, UploadSessionRow, UserRow

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.uploads import PackedBlob, SentObject


@dataclass(frozen=True)
class BlobPlace:
    """Where the bytes of a content are. One that is wrong is there only to say whose it is."""

    key: ObjectKey
    offset: int
    size_bytes: int
    is_wrong: bool
    creator: str
    is_whole: bool = True
    """Whether they are all that is in the object."""

    @property
    def within(self) -> tuple[int, int] | None:
        """The bytes that alone may be had by who does not see all of the object; none where that is the same."""
        return None if self.is_whole or not self.size_bytes else (self.offset, self.size_bytes)


class RecordedObject(NamedTuple):
    """An object as the records have it."""

    id: int
    key: ObjectKey
    size_bytes: int


Usable = dict[tuple[bytes, int], RecordedObject | None]
"""Contents by hash and size, with the object of an earlier session that holds each; None for the session's own."""


@dataclass(frozen=True)
class StoredObject:
    """An object whose contents are to be hashed again."""

    id: int
    project_id: ProjectId
    key: ObjectKey
    creator: str
    blobs: list[tuple[int, bytes, int, int]]
    """Id, hash, offset and size of each."""
    wrong: frozenset[int] = frozenset()
    """The blobs that are marked as damaged."""


_USABLE = """
    SELECT b.sha256, b.size_bytes, o.id, o.key, o.size_bytes, s.id
    FROM blob b JOIN object o ON o.id = b.object_id JOIN upload_session s ON s.id = o.session_id
    WHERE b.project_id = ? AND NOT b.is_wrong
      AND (s.id = ? OR s.commit_number IS NOT NULL AND (s.user_id = ? OR o.checked_at IS NOT NULL))
      AND b.sha256 IN"""
_UNSENT = """
    SELECT f.path FROM file_version v JOIN file f ON f.id = v.file_id
    WHERE v.session_id = ? AND NOT EXISTS (
        SELECT 1 FROM blob b JOIN object o ON o.id = b.object_id JOIN upload_session s ON s.id = o.session_id
        WHERE b.project_id = ? AND b.sha256 = v.sha256 AND b.size_bytes = v.size_bytes AND NOT b.is_wrong
          AND (s.id = ? OR s.commit_number IS NOT NULL AND (s.user_id = ? OR o.checked_at IS NOT NULL)))
    LIMIT 1"""
_SOUND_COPY = """
    SELECT 1 FROM blob r JOIN object p ON p.id = r.object_id JOIN upload_session t ON t.id = p.session_id
    WHERE r.project_id = b.project_id AND r.sha256 = b.sha256 AND NOT r.is_wrong AND t.commit_number IS NOT NULL"""
DAMAGED = f"""
    FROM blob b JOIN object o ON o.id = b.object_id JOIN upload_session s ON s.id = o.session_id
    WHERE b.is_wrong AND s.commit_number IS NOT NULL AND NOT EXISTS ({_SOUND_COPY})"""
"""Contents of committed sessions that are damaged in every copy."""
_WRONG = f"SELECT 1 {DAMAGED} AND b.project_id = ? LIMIT 1"
_PLACES = """
    SELECT b.sha256, o.key, b."offset", b.size_bytes, b.is_wrong, u.name, o.checked_at IS NOT NULL,
    o.size_bytes = b.size_bytes
    FROM blob b JOIN object o ON o.id = b.object_id JOIN upload_session s ON s.id = o.session_id
    JOIN user_account u ON u.id = s.user_id
    WHERE b.project_id = ? AND s.commit_number IS NOT NULL AND b.sha256 IN"""


class BlobRecords:
    """Objects by key, contents by hash."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def usable(self, project: ProjectId, session: SessionId, user: UserId, hashes: Iterable[bytes]) -> Usable:
        """Return which of these contents a session may rely on, and the object that each of them is in.

        They are its own, its user's, or ones that the server has hashed: a claim counts only for its own user.
        """
        found: Usable = {}
        for sha256, size, number, key, object_bytes, of_session in batches.select_in(
            self._session, _USABLE, hashes, project, session, user
        ):
            if of_session == session:
                found[sha256, size] = None
            else:
                found.setdefault((sha256, size), RecordedObject(number, ObjectKey(key), object_bytes))
        return found

    def may_have(self, project: ProjectId, size_bytes: int) -> bool:
        """Whether the project has a large content of this size."""
        if sight.unseen():
            return False
        sql = "SELECT 1 FROM blob WHERE project_id = ? AND size_bytes >= 8388608 AND size_bytes = ? LIMIT 1"
        return bool(batches.select(self._session, sql, project, size_bytes))

    def unsent(self, project: ProjectId, session: SessionId, user: UserId) -> str | None:
        """Return a path of a session whose bytes it may not lean on, if there is one."""
        rows = batches.select(self._session, _UNSENT, session, project, session, user)
        return rows[0][0] if rows else None

    def unsent_of(self, project: ProjectId, session: SessionId, user: UserId, paths: list[str]) -> str | None:
        """Return one of these paths of a session whose bytes it may not lean on, if there is one."""
        sql = _UNSENT.replace("LIMIT 1", "AND f.path IN")
        return next(
            (row[0] for row in batches.select_in(self._session, sql, paths, session, project, session, user)), None
        )

    def places(self, project: ProjectId, hashes: Iterable[bytes]) -> dict[bytes, BlobPlace]:
        """Return where the bytes of these contents are: a place that was checked before one that was not."""
        best: dict[bytes, tuple[tuple[bool, bool], BlobPlace]] = {}
        for sha, key, offset, size, wrong, creator, checked, whole in batches.select_in(
            self._session, _PLACES, hashes, project
        ):
            rank = (not wrong, bool(checked))
            if sha not in best or rank > best[sha][0]:
                best[sha] = (rank, BlobPlace(ObjectKey(key), offset, size, bool(wrong), creator, bool(whole)))
        return {sha: place for sha, (_, place) in best.items()}

    def add(self, project: ProjectId, session: SessionId, key: str, sent: SentObject) -> None:
        """Record an object that has arrived, and the contents in it. Doing it again changes nothing."""
        known = batches.select(self._session, "SELECT id FROM object WHERE key = ?", key)
        if known:
            self._refuse_another(known[0][0], sent)
            return
        row = ObjectRow(project_id=project, session_id=session, key=key, size_bytes=sent.size_bytes)
        row.sha256 = None if sent.sha256 is None else bytes.fromhex(sent.sha256)
        rows.insert(self._session, row)
        blobs: dict[PackedBlob, tuple[Any, ...]] = {
            b: (project, bytes.fromhex(b.sha256), b.size_bytes, row.id, b.offset, False) for b in sent.blobs
        }
        columns = ("project_id", "sha256", "size_bytes", "object_id", "offset", "is_wrong")
        batches.load(self._session, BlobRow, columns, list(blobs.values()))

    def _refuse_another(self, known: int, sent: SentObject) -> None:
        """Refuse to be told something else of an object than before."""
        columns = select(BlobRow.sha256, BlobRow.offset, BlobRow.size_bytes).where(BlobRow.object_id == known)
        before = {(sha256, offset, size) for sha256, offset, size in self._session.execute(columns)}
        if before != {(bytes.fromhex(blob.sha256), blob.offset, blob.size_bytes) for blob in sent.blobs}:
            raise Conflict(reason=f"object {sent.number} was told before, with other contents")

    def any_wrong(self, project: ProjectId) -> bool:
        """Whether a content of the project is damaged in every copy."""
        return bool(batches.select(self._session, _WRONG, project))

    def told(self, session: SessionId, keys: list[ObjectKey]) -> set[str]:
        """Return which of these objects of a session are recorded."""
        sql = "SELECT key FROM object WHERE session_id = ? AND key IN"
        return {row[0] for row in batches.select_in(self._session, sql, keys, session)}

    def forget(self, session: SessionId, limit: int) -> bool:
        """Drop some records of a session's contents, then of its objects; says whether there may be more."""
        of_session = select(ObjectRow.id).where(ObjectRow.session_id == session)
        contents = select(BlobRow.id).where(BlobRow.object_id.in_(of_session)).limit(limit)
        for row, query in ((BlobRow, contents), (ObjectRow, of_session.limit(limit))):
            numbers = list(self._session.scalars(query))
            for page in batches.pages(numbers):
                self._session.execute(delete(row).where(row.id.in_(page)))
            if numbers:
                return True
        return False

    def unchecked(self, before: datetime, now: datetime, limit: int) -> list[int]:
        """Return objects of sessions that were committed before a moment and not verified since.

        Those that could not be read are left out until they are due again.
        """
        query = (
            select(ObjectRow.id)
            .join(UploadSessionRow, UploadSessionRow.id == ObjectRow.session_id)
            .where(ObjectRow.checked_at.is_(None), ObjectRow.emptied_at.is_(None))
            .where(UploadSessionRow.commit_number.is_not(None))
            .where(UploadSessionRow.ended_at < before)
            .where(or_(ObjectRow.suspected_at.is_(None), ObjectRow.suspected_at <= now))
        )
        return list(self._session.scalars(query.order_by(ObjectRow.id).limit(limit)))

    def object(self, number: int) -> StoredObject | None:
        """Return an object with its contents by offset, unless it was collected."""
        query = (
            select(ObjectRow, UserRow.name)
            .join(UploadSessionRow, UploadSessionRow.id == ObjectRow.session_id)
            .join(UserRow, UserRow.id == UploadSessionRow.user_id)
            .where(ObjectRow.id == number)
        )
        found = self._session.execute(query.where(ObjectRow.emptied_at.is_(None))).one_or_none()
        if found is None:
            return None
        row, creator = found
        columns = select(BlobRow.id, BlobRow.sha256, BlobRow.offset, BlobRow.size_bytes, BlobRow.is_wrong)
        rows = self._session.execute(columns.where(BlobRow.object_id == number).order_by(BlobRow.offset)).all()
        blobs = [(row.id, row.sha256, row.offset, row.size_bytes) for row in rows]
        wrong = frozenset(row.id for row in rows if row.is_wrong)
        return StoredObject(row.id, ProjectId(row.project_id), ObjectKey(row.key), creator, blobs, wrong)

    def checked(self, number: int, wrong: list[int], now: datetime) -> None:
        """Record that all contents of an object were hashed, and which of them are damaged; the others are sound."""
        values = {"checked_at": now, "suspected_at": None}
        self._session.execute(update(ObjectRow).where(ObjectRow.id == number).values(**values))
        marked = (BlobRow.object_id == number, BlobRow.is_wrong)
        self._session.execute(update(BlobRow).where(*marked).values(is_wrong=False))
        for page in batches.pages(wrong):
            where = (BlobRow.object_id == number, BlobRow.id.in_(page))
            self._session.execute(update(BlobRow).where(*where).values(is_wrong=True))

    def missing(self, project: ProjectId, hashes: Iterable[bytes]) -> set[bytes]:
        """Return which of these contents the project has not, or not any more."""
        wanted = set(hashes)
        return wanted - self.places(project, wanted).keys()
