"""Records as the collector of garbage sees them: what lives, what does not, and freeing it.

A content lives while a version has its hash that is not deleted for good, or that a pending session staged. File
versions have no index by hash, so what lives is found once for all contents together; what comes to life while they are
being freed is found by the sessions and numbers that changed since (`Standing`).
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, delete, func, select, update

from acai_jupyter.contract.ids import ObjectKey, ProjectId, SessionId, UserId
from acai_jupyter.contract.states import StorageClass, UploadState
from acai_server.db import batches
from acai_server.db.tables import (
    BlobRow,
    FileRow,
    FileVersionRow,
    ObjectRow,
    ProjectRow,
    UploadSessionRow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy.orm import Session


class Weight(NamedTuple):
    """How much of an object is not needed there."""

    contents: int
    size_bytes: int
    spare: int
    """So many of the contents are kept elsewhere too."""

    def with_dead(self, size_bytes: int) -> Weight:
        """Add a dead content."""
        return Weight(self.contents + 1, self.size_bytes + size_bytes, self.spare)

    def with_spare(self, size_bytes: int) -> Weight:
        """Add a content that is kept elsewhere too."""
        return Weight(self.contents + 1, self.size_bytes + size_bytes, self.spare + 1)


_NOTHING = Weight(0, 0, 0)


class Piece(NamedTuple):
    """A content in an object."""

    id: int
    object: int
    sha256: bytes
    offset: int
    size_bytes: int
    is_wrong: bool


class Pack(NamedTuple):
    """An object with what is in it."""

    id: int
    key: ObjectKey
    size_bytes: int
    user_id: UserId
    storage: StorageClass
    contents: int
    held_bytes: int


class Bare(NamedTuple):
    """An object with no contents."""

    id: int
    key: ObjectKey
    size_bytes: int


@dataclass(frozen=True)
class Standing:
    """How far a project is: whatever comes to life changes it."""

    last_commit: int
    pending: dict[int, int]
    """How often what each pending session holds was changed."""


# Sorting all hashes together beats any index, and anything that looks one up after the other.
_DEAD = """
    SELECT sha256 FROM (
        SELECT b.sha256, 1 AS dead
        FROM object o JOIN upload_session t ON t.id = o.session_id JOIN blob b ON b.object_id = o.id
        WHERE o.project_id = ? AND o.id > ? AND o.id <= ? AND t.commit_number IS NOT NULL
        UNION ALL
        SELECT v.sha256, 0 FROM upload_session s JOIN file_version v ON v.session_id = s.id
        WHERE s.project_id = ? AND s.state <> 'aborted' AND (v.deleted_at IS NULL OR v.deleted_at > ?)
    ) AS known GROUP BY sha256 HAVING min(dead) = 1"""
_HELD = """
    SELECT b.sha256, o.id, b.size_bytes
    FROM object o JOIN upload_session t ON t.id = o.session_id JOIN blob b ON b.object_id = o.id
    WHERE o.project_id = ? AND o.id > ? AND o.id <= ? AND t.commit_number IS NOT NULL"""
# Of the good ones that were hashed again the first is kept.
_IS_SPARE = """EXISTS (
        SELECT 1 FROM blob k JOIN object p ON p.id = k.object_id JOIN upload_session u ON u.id = p.session_id
        WHERE k.project_id = b.project_id AND k.sha256 = b.sha256 AND k.id <> b.id AND k.size_bytes = b.size_bytes
          AND NOT k.is_wrong AND p.checked_at IS NOT NULL AND u.commit_number IS NOT NULL
          AND (k.id < b.id OR b.is_wrong OR o.checked_at IS NULL))"""
_SPARE = "SELECT b.id FROM blob b JOIN object o ON o.id = b.object_id WHERE {spare} AND b.object_id IN"
_SPARE_OF_ALL = """
    SELECT b.sha256, o.id, b.size_bytes
    FROM blob b JOIN object o ON o.id = b.object_id JOIN upload_session t ON t.id = o.session_id
    WHERE b.project_id = ? AND t.commit_number IS NOT NULL AND b.object_id > ? AND b.object_id <= ?
      AND b.sha256 IN (SELECT sha256 FROM blob WHERE project_id = ? GROUP BY sha256 HAVING count(*) > 1) AND {spare}"""
_PIECES = 'SELECT id, object_id, sha256, "offset", size_bytes, is_wrong FROM blob WHERE object_id IN'
_CONTENTS = """
    SELECT o.id, (SELECT count(*) FROM blob b WHERE b.object_id = o.id) FROM object o WHERE o.project_id = ?
    ORDER BY o.id"""
_STAGED = "SELECT sha256 FROM file_version WHERE session_id = ?"
_COMMITTED = """
    SELECT v.sha256 FROM upload_session s JOIN file_version v ON v.session_id = s.id
    WHERE s.project_id = ? AND s.commit_number > ?"""
# The plus keeps SQLite from walking all files of the project.
_RESTORED = """
    SELECT v.sha256 FROM file_version v JOIN file f ON f.id = v.file_id
    WHERE v.marked > ? AND v.deleted_at IS NULL AND +f.project_id = ?"""


class GarbageRecords:
    """What nothing refers to."""

    def __init__(self, session: Session) -> None:
        self._session = session

    # -- contents

    def stretches(self, project: ProjectId, contents: int) -> list[tuple[int, int]]:
        """Cut the objects into stretches with about so many contents each: after which object, and up to which."""
        found: list[tuple[int, int]] = []
        after = count = last = 0
        for last, some in batches.select(self._session, _CONTENTS, project):
            count += some
            if count >= contents:
                found.append((after, last))
                after, count = last, 0
        return found if after == last else [*found, (after, last)]

    def dead(self, project: ProjectId, cutoff: datetime, stretch: tuple[int, int]) -> set[bytes]:
        """Return the contents, by hash, in some objects that no version has which lives or a pending session staged.

        What pending sessions sent is not among them.
        """
        moment = batches.as_stored(self._session, cutoff)
        return set(self._hashes(_DEAD, project, *stretch, project, moment))

    def needless(self, project: ProjectId, dead: set[bytes], stretch: tuple[int, int]) -> dict[int, Weight]:
        """Return how many contents of some objects, and bytes, are dead or kept elsewhere too."""
        found: dict[int, Weight] = {}
        held = self._rows(_HELD, project, *stretch) if dead else ()
        for _, number, size in (row for row in held if row[0] in dead):
            found[number] = found.get(number, _NOTHING).with_dead(size)
        spare = self._rows(_SPARE_OF_ALL.format(spare=_IS_SPARE), project, *stretch, project)
        for _, number, size in (row for row in spare if row[0] not in dead):
            found[number] = found.get(number, _NOTHING).with_spare(size)
        return found

    def spare(self, objects: list[int]) -> set[int]:
        """Return which contents of these objects are kept elsewhere too, right and hashed again."""
        return {row[0] for row in batches.select_in(self._session, _SPARE.format(spare=_IS_SPARE), objects)}

    def packs(self, objects: list[int]) -> list[Pack]:
        """Return objects with what is in them; not those that are gone or emptied."""
        columns = (
            ObjectRow.id,
            ObjectRow.key,
            ObjectRow.size_bytes,
            UploadSessionRow.user_id,
            UploadSessionRow.storage,
        )
        found: list[Pack] = []
        for page in batches.pages(objects):
            query = (
                select(*columns, func.count(BlobRow.id), func.coalesce(func.sum(BlobRow.size_bytes), 0))
                .join(UploadSessionRow, UploadSessionRow.id == ObjectRow.session_id)
                .join(BlobRow, BlobRow.object_id == ObjectRow.id)
                .where(ObjectRow.id.in_(page), ObjectRow.emptied_at.is_(None))
                .group_by(*columns)
                .order_by(ObjectRow.id)
            )
            for number, key, size, user, storage, contents, held in self._session.execute(query):
                known = (number, ObjectKey(key), size, UserId(user), StorageClass(storage))
                found.append(Pack(*known, contents, int(held)))
        return found

    def pieces(self, objects: list[int]) -> dict[int, list[Piece]]:
        """Return the contents of objects, by offset."""
        found: dict[int, list[Piece]] = {number: [] for number in objects}
        for row in batches.select_in(self._session, _PIECES, objects):
            found[row[1]].append(Piece(*row))
        for pieces in found.values():
            pieces.sort(key=_PLACE)
        return found

    def lock(self, objects: list[int]) -> None:
        """Let nobody else write down what is found of these: the checker takes an object before its contents."""
        for page in batches.pages(sorted(objects)):
            query = select(ObjectRow.id).where(ObjectRow.id.in_(page)).order_by(ObjectRow.id)
            self._session.execute(query.with_for_update())

    def free(self, objects: list[int]) -> None:
        """Drop the record of objects and of what is in them."""
        for page in batches.pages(objects):
            self._session.execute(delete(BlobRow).where(BlobRow.object_id.in_(page)))
            self._session.execute(delete(ObjectRow).where(ObjectRow.id.in_(page)))

    def empty(self, objects: list[int], now: datetime) -> None:
        """Drop the record of what is in objects, which stay for those who are reading them."""
        for page in batches.pages(objects):
            self._session.execute(delete(BlobRow).where(BlobRow.object_id.in_(page)))
            self._session.execute(update(ObjectRow).where(ObjectRow.id.in_(page)).values(emptied_at=now))

    def move(self, moves: list[tuple[int, int, Piece]]) -> None:
        """Say that contents are in other objects now: the object and the offset there of each."""
        sql = 'UPDATE blob SET object_id = ?, "offset" = ? WHERE id = ? AND object_id = ?'
        rows = [(target, offset, piece.id, piece.object) for target, offset, piece in moves]
        batches.change(self._session, sql, rows)

    def add_checked(self, project: ProjectId, session: SessionId, bare: Bare, now: datetime) -> int:
        """Record an object whose bytes were hashed on their way into it."""
        row = ObjectRow(project_id=project, session_id=session, key=bare.key, size_bytes=bare.size_bytes)
        row.checked_at = now
        self._session.add(row)
        self._session.flush()
        return row.id

    def found_wrong(self, piece: Piece) -> None:
        """Remember that a content is not what was said."""
        where = (BlobRow.id == piece.id, BlobRow.object_id == piece.object, BlobRow.sha256 == piece.sha256)
        self._session.execute(update(BlobRow).where(*where).values(is_wrong=True))

    def emptied(self, project: ProjectId, before: datetime, after: int, limit: int) -> list[Bare]:
        """Return objects that were emptied by then, after an object."""
        return self._bare(project, ObjectRow.emptied_at <= before, after, limit)

    def bare(self, project: ProjectId, before: datetime, after: int, limit: int) -> list[Bare]:
        """Return objects in which there never was anything, of sessions that were committed by then."""
        ended = and_(UploadSessionRow.commit_number > 0, UploadSessionRow.ended_at <= before)
        return self._bare(project, and_(ObjectRow.emptied_at.is_(None), ended), after, limit)

    def _bare(self, project: ProjectId, where: Any, after: int, limit: int) -> list[Bare]:
        query = (
            select(ObjectRow.id, ObjectRow.key, ObjectRow.size_bytes)
            .join(UploadSessionRow, UploadSessionRow.id == ObjectRow.session_id)
            .where(ObjectRow.project_id == project, ObjectRow.id > after, where)
            .where(~select(BlobRow.id).where(BlobRow.object_id == ObjectRow.id).exists())
            .order_by(ObjectRow.id)
        )
        return [Bare(row.id, ObjectKey(row.key), row.size_bytes) for row in self._session.execute(query.limit(limit))]

    def names(self, project: ProjectId, hashes: list[bytes]) -> list[str]:
        """Return some file versions, for people, that have these contents."""
        query = (
            select(FileRow.path, FileVersionRow.number)
            .join(FileVersionRow, FileVersionRow.file_id == FileRow.id)
            .where(FileRow.project_id == project, FileVersionRow.sha256.in_(hashes), FileVersionRow.number > 0)
        )
        return [f"{path}:{number}" for path, number in self._session.execute(query.limit(len(hashes)))]

    # -- what comes to life meanwhile

    def standing(self, project: ProjectId) -> Standing:
        """Return how far the project is."""
        last = self._session.scalars(select(ProjectRow.last_commit).where(ProjectRow.id == project)).one()
        pending = select(UploadSessionRow.id, UploadSessionRow.pages).where(
            UploadSessionRow.project_id == project,
            UploadSessionRow.state == UploadState.PENDING,
            UploadSessionRow.tidied_at.is_(None),  # always so: it leads to the index
        )
        return Standing(last, dict(self._session.execute(pending).all()))

    def since(self, project: ProjectId, before: Standing, now: Standing) -> Iterator[bytes]:
        """Iterate over hashes of all that may have come to life in between."""
        for session, changes in now.pending.items():
            if before.pending.get(session) != changes:
                yield from self._hashes(_STAGED, session)
        if before.last_commit != now.last_commit:
            yield from self._hashes(_COMMITTED, project, before.last_commit)
            yield from self._hashes(_RESTORED, before.last_commit, project)

    def _hashes(self, sql: str, *parameters: Any) -> Iterator[bytes]:
        return (row[0] for row in self._rows(sql, *parameters))

    def _rows(self, sql: str, *parameters: Any) -> Iterator[Any]:
        """Iterate over what a query finds without holding it."""
        result = self._session.connection().exec_driver_sql(
            batches.marked(self._session, sql), parameters, execution_options={"stream_results": True}
        )
        for part in result.partitions(5000):
            yield from part


_PLACE = attrgetter("offset", "id")
