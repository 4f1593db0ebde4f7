"""Records of upload sessions: their lives, and the objects they have targets for. What they hold: `staging.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, or_, select, update

from acai_jupyter.contract.errors import UploadNotFound, printable
from acai_jupyter.contract.ids import ProjectId, SessionId, UploadId, UserId
from acai_jupyter.contract.states import StorageClass, UploadState
from acai_server.db import batches, rows, sight
from acai_server.db.tables import (
    FileVersionRow,
    ObjectRow,
    ProjectRow,
    RestrictedSessionRow,
    UploadEntryRow,
    UploadObjectRow,
    UploadSessionRow,
    UserRow,
)
from acai_server.objects.keys import folder_prefix, upload_folder

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_server.db.identity import KnownIdentity

_LAST_COMMIT = "SELECT last_commit FROM project WHERE id = ?"


@dataclass(frozen=True)
class StoredUpload:
    """An upload session as it is kept."""

    id: SessionId
    key: UploadId
    project_id: ProjectId
    user_id: UserId
    state: UploadState
    label: str
    only_changed: bool
    is_direct: bool
    file_set: str | None
    storage: StorageClass
    base_id: SessionId | None
    pages: int
    reconciled: int
    commit_number: int | None
    root: bytes | None
    created_at: datetime
    touched_at: datetime
    ended_at: datetime | None
    result: dict[str, Any] | None
    object_folder: str

    @property
    def object_prefix(self) -> str:
        """What the keys of all its objects begin with; their numbers follow."""
        return folder_prefix(self.project_id, self.object_folder)


@dataclass(frozen=True)
class ExpectedObject:
    """An object that a target was given for."""

    size_bytes: int
    sha256: bytes | None
    parts_id: str | None


class UploadRecords:
    """Upload sessions."""

    def __init__(self, session: Session, identity: KnownIdentity) -> None:
        self._session = session
        self._identity = identity

    def create(self, key: str, project: ProjectId, user: UserId, now: datetime, **how: Any) -> StoredUpload:
        """Start a session."""
        row = UploadSessionRow(key=key, project_id=project, user_id=user, state=UploadState.PENDING.value, **how)
        row.created_at = row.touched_at = now
        row.object_folder = upload_folder(key, self._identity.of(self._session))
        row.reconciled = batches.select(self._session, _LAST_COMMIT, project)[0][0]
        rows.insert(self._session, row)
        return _stored(row)

    def get(self, project: ProjectId, key: str, *, lock: bool = False) -> StoredUpload:
        """Return a session; with `lock` nobody else changes it until this transaction has ended."""
        query = select(UploadSessionRow).where(UploadSessionRow.project_id == project, UploadSessionRow.key == key)
        row = self._session.scalar(query.with_for_update() if lock else query)
        if row is None:
            raise UploadNotFound(upload=key[:64])
        return _stored(row)

    def by_id(self, session: SessionId) -> StoredUpload:
        """Return a session that is known to be there."""
        return _stored(self._session.scalars(select(UploadSessionRow).where(UploadSessionRow.id == session)).one())

    def of_user(
        self, project: ProjectId, user: UserId, state: UploadState, before: str | None, limit: int
    ) -> list[StoredUpload]:
        """Return a user's sessions in a state, the newest first, from behind one of them on."""
        query = select(UploadSessionRow).where(
            UploadSessionRow.project_id == project, UploadSessionRow.user_id == user, UploadSessionRow.state == state
        )
        if restrictions := sight.unseen():  # a session of theirs may have become restricted since
            of_restricted = select(RestrictedSessionRow.session_id)
            hidden = of_restricted.where(RestrictedSessionRow.restriction_id.in_(restrictions))
            query = query.where(UploadSessionRow.id.not_in(hidden))
        if before is not None:
            of_it = UploadSessionRow.project_id == project, UploadSessionRow.user_id == user
            last = self._session.scalar(select(UploadSessionRow.id).where(*of_it, UploadSessionRow.key == before))
            if last is None:
                raise UploadNotFound(upload=printable(before[:64]))
            query = query.where(UploadSessionRow.id < last)
        return [_stored(row) for row in self._session.scalars(query.order_by(UploadSessionRow.id.desc()).limit(limit))]

    def untidy(self, before: dict[UploadState, datetime], limit: int) -> list[StoredUpload]:
        """Return sessions in these states that nobody touched since these moments, and that are to be tidied."""
        old = or_(*((UploadSessionRow.state == s) & (UploadSessionRow.touched_at <= at) for s, at in before.items()))
        query = select(UploadSessionRow).where(UploadSessionRow.tidied_at.is_(None), old)
        return [_stored(row) for row in self._session.scalars(query.order_by(UploadSessionRow.id).limit(limit))]

    def is_busy(self, since: datetime) -> bool:
        """Whether anybody has worked on a session since then that is still pending."""
        pending = (UploadSessionRow.state == UploadState.PENDING, UploadSessionRow.tidied_at.is_(None))
        query = select(UploadSessionRow.id).where(*pending, UploadSessionRow.touched_at > since)
        return self._session.scalars(query.limit(1)).first() is not None

    def under_way(self, user: UserId, since: datetime) -> int:
        """Count the pending sessions of a user, of all projects, that somebody has worked on since then."""
        query = select(func.count()).where(
            UploadSessionRow.user_id == user,
            UploadSessionRow.state == UploadState.PENDING,
            UploadSessionRow.job_id.is_(None),
            UploadSessionRow.touched_at > since,
        )
        return self._session.scalars(query).one()

    def touch(self, session: SessionId, now: datetime) -> None:
        """Remember that somebody works on it."""
        self._session.execute(update(UploadSessionRow).where(UploadSessionRow.id == session).values(touched_at=now))

    def changed(self, session: SessionId, now: datetime | None = None) -> None:
        """Remember that what a session holds is not what it was; with a time, that somebody works on it."""
        values = {"pages": UploadSessionRow.pages + 1} | ({} if now is None else {"touched_at": now})
        self._session.execute(update(UploadSessionRow).where(UploadSessionRow.id == session).values(**values))

    def staged_files(self, session: SessionId) -> int:
        """Count the files that a session holds by itself."""
        versions = select(func.count()).where(FileVersionRow.session_id == session)
        entries = select(func.count()).where(
            UploadEntryRow.session_id == session, UploadEntryRow.version_id.is_not(None)
        )
        return self._session.scalars(versions).one() + self._session.scalars(entries).one()

    def sent_bytes(self, session: SessionId) -> int:
        """Count the bytes that arrived in a session."""
        query = select(func.coalesce(func.sum(ObjectRow.size_bytes), 0)).where(ObjectRow.session_id == session)
        return int(self._session.scalars(query).one())

    def next_object(self, session: SessionId) -> int:
        """Return a number above those of all objects that arrived or are expected."""
        keys = self._session.scalars(select(ObjectRow.key).where(ObjectRow.session_id == session))
        arrived = (int(number) for _, _, number in (key.rpartition("/") for key in keys) if number.isdigit())
        return max((0, *arrived, *self.expected(session))) + 1

    def creator(self, user: UserId) -> str:
        """Return a user's name."""
        return self._session.scalars(select(UserRow.name).where(UserRow.id == user)).one()

    def expect(self, session: SessionId, number: int, wanted: ExpectedObject) -> None:
        """Remember that a target was given for an object; asked again, the last word counts."""
        where = (UploadObjectRow.session_id == session, UploadObjectRow.number == number)
        self._session.execute(delete(UploadObjectRow).where(*where))
        row = UploadObjectRow(session_id=session, number=number, size_bytes=wanted.size_bytes, parts_id=wanted.parts_id)
        row.sha256 = wanted.sha256
        self._session.add(row)
        self._session.flush()

    def expected(self, session: SessionId) -> dict[int, ExpectedObject]:
        """Return the objects that targets were given for, by number."""
        rows = self._session.scalars(select(UploadObjectRow).where(UploadObjectRow.session_id == session))
        return {row.number: ExpectedObject(row.size_bytes, row.sha256, row.parts_id) for row in rows}

    def lock_project(self, project: ProjectId) -> int:
        """Let nobody else stage or commit in the project before this transaction ends; returns the last commit.

        Not against rows that refer to the project: who writes an event has its lock already, and would wait for ours.
        """
        locking = " FOR NO KEY UPDATE" if self._session.get_bind().dialect.name == "postgresql" else ""
        return int(batches.select(self._session, _LAST_COMMIT + locking, project)[0][0])

    def set_reconciled(self, session: SessionId, commit: int) -> None:
        """Remember up to which commit a session agrees with the others."""
        self._session.execute(update(UploadSessionRow).where(UploadSessionRow.id == session).values(reconciled=commit))

    def made_since(self, project: ProjectId, commit: int) -> int:
        """Count the versions that were made after a commit."""
        query = select(func.coalesce(func.sum(UploadSessionRow.made_files), 0))
        since = (UploadSessionRow.project_id == project, UploadSessionRow.commit_number > commit)
        return int(self._session.scalars(query.where(*since)).one())

    def next_commit(self, project: ProjectId, commit: int) -> StoredUpload:
        """Return the session that was committed next after a commit."""
        query = select(UploadSessionRow).where(
            UploadSessionRow.project_id == project, UploadSessionRow.commit_number > commit
        )
        return _stored(self._session.scalars(query.order_by(UploadSessionRow.commit_number).limit(1)).one())

    def next_number(self, project: ProjectId) -> int:
        """Take the next number in the order of commits. The project is locked until this transaction ends."""
        number = self.lock_project(project) + 1
        rows.update(self._session, ProjectRow, project, {"last_commit": number})
        return number

    def commit(self, stored: StoredUpload, root: bytes | None, result: dict[str, Any], now: datetime) -> None:
        """Make all that a session holds visible. The project is locked, so numbers have no gaps."""
        made = int(result["new_files"])
        number = self.next_number(stored.project_id)
        ended = {"state": UploadState.COMMITTED.value, "commit_number": number, "ended_at": now, "touched_at": now}
        kept = {"root": root, "result": result, "reconciled": number, "made_files": made}
        rows.update(self._session, UploadSessionRow, stored.id, ended | kept)

    def give_up(self, session: SessionId) -> None:
        """Say that a session will not be committed. What it holds is cleaned up afterwards."""
        self._session.execute(
            update(UploadSessionRow).where(UploadSessionRow.id == session).values(state=UploadState.ABORTED)
        )

    def give_up_pending(self, project: ProjectId | None = None) -> None:
        """Say of all sessions, or those of a project, that are pending, that they will not be committed."""
        pending = update(UploadSessionRow).where(UploadSessionRow.state == UploadState.PENDING)
        if project is not None:
            pending = pending.where(UploadSessionRow.project_id == project)
        self._session.execute(pending.values(state=UploadState.ABORTED))

    def tidied(self, session: SessionId, now: datetime, *, for_good: bool) -> None:
        """Say that nothing is left of a session that nobody needs."""
        where = UploadSessionRow.id == session
        self._session.execute(delete(UploadObjectRow).where(UploadObjectRow.session_id == session))
        if for_good:
            self._session.execute(update(UploadSessionRow).where(where).values(tidied_at=now))
        unended = (where, UploadSessionRow.ended_at.is_(None))
        self._session.execute(update(UploadSessionRow).where(*unended).values(ended_at=now))


def _stored(row: UploadSessionRow) -> StoredUpload:
    return StoredUpload(
        id=SessionId(row.id),
        key=UploadId(row.key),
        project_id=ProjectId(row.project_id),
        user_id=UserId(row.user_id),
        state=UploadState(row.state),
        label=row.label,
        only_changed=row.only_changed,
        is_direct=row.is_direct,
        file_set=row.file_set,
        storage=StorageClass(row.storage),
        base_id=None if row.base_id is None else SessionId(row.base_id),
        pages=row.pages,
        reconciled=row.reconciled,
        commit_number=row.commit_number,
        root=row.root,
        created_at=row.created_at,
        touched_at=row.touched_at,
        ended_at=row.ended_at,
        result=row.result,
        object_folder=row.object_folder or upload_folder(row.key),
    )
