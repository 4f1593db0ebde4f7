"""Records as the collector of garbage sweeps them: sets and bases that are gone, pieces of lists, sessions and jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, delete, func, or_, select, update

from acai_jupyter.contract.ids import FileSetVersionId, JobId, JobNumber, ObjectKey, ProjectId, SessionId
from acai_jupyter.contract.query.builtin import TAGS, SubjectKind
from acai_jupyter.contract.states import InputRole, UploadState
from acai_server.db import batches
from acai_server.db.aliases import AliasRecords
from acai_server.db.retention import LABELLED
from acai_server.db.tables import (
    ChunkRow,
    FileSetRow,
    FileSetVersionRow,
    JobInputRow,
    JobRow,
    ObjectRow,
    ProjectRow,
    UploadSessionRow,
)
from acai_server.objects.keys import job_folder, upload_folder

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy.orm import Session


class DeadSet(NamedTuple):
    """A file set version that cannot be brought back."""

    id: FileSetVersionId
    ref: str
    root: bytes


class SetOfJobs(NamedTuple):
    """A file set version that deleted jobs alone have.

    Code, variables, what several inputs came to, or what a failed one left.
    """

    id: FileSetVersionId
    file_set_id: int
    ref: str
    root: bytes
    is_input: bool
    is_partial: bool


class UploadRoot(NamedTuple):
    """The manifest of a committed session, on which later ones may be based."""

    session: SessionId
    root: bytes
    in_use: bool
    """A pending session is based on it."""


class Owner(NamedTuple):
    """An upload session or a job as the owner of the objects in its folder."""

    folder: str
    ended_at: datetime | None
    is_collected: bool
    """Whether it is a job that was deleted and cannot be brought back: nothing of it is needed."""


_SETS_OF_JOBS = f"""
    WITH gone AS (SELECT id, number, partial_version_id FROM job
                  WHERE project_id = ? AND (collected_at IS NOT NULL OR deleted_at <= ?))
    SELECT q.id, q.file_set_id, s.name, q.number, q.root, s.role FROM (
        SELECT v.* FROM gone g JOIN job_input i ON i.job_id = g.id
        JOIN file_set_version v ON v.id = i.file_set_version_id JOIN file_set n ON n.id = v.file_set_id
        WHERE n.role <> 'data' OR n.name = 'job-' || g.number || '-input'
        UNION
        SELECT v.* FROM gone g JOIN file_set_version v ON v.id = g.partial_version_id) q
    JOIN file_set s ON s.id = q.file_set_id
    WHERE q.deleted_at IS NULL AND NOT {LABELLED}
      AND NOT EXISTS (SELECT 1 FROM job_input i WHERE i.file_set_version_id = q.id
                      AND i.job_id NOT IN (SELECT id FROM gone))
    ORDER BY q.id"""  # noqa: S608 (SQL of ours)
_CHUNKS = """
    SELECT sha256, length(body) FROM chunk WHERE project_id = ? AND sha256 > ? AND used_at < ?
    ORDER BY sha256 LIMIT ?"""


class SweepingRecords:
    """What nobody asks for any more, contents aside."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def projects(self) -> list[ProjectId]:
        """Return all projects."""
        return [ProjectId(row) for row in self._session.scalars(select(ProjectRow.id).order_by(ProjectRow.id))]

    # -- file sets

    def dead_sets(self, project: ProjectId, cutoff: datetime, limit: int | None = None) -> list[DeadSet]:
        """Return set versions that were deleted by then, and that no open job uses; not those collected before."""
        query = (
            select(FileSetVersionRow.id, FileSetRow.name, FileSetVersionRow.number, FileSetVersionRow.root)
            .join(FileSetRow, FileSetRow.id == FileSetVersionRow.file_set_id)
            .where(FileSetRow.project_id == project, _is_dead(cutoff))
            .order_by(FileSetVersionRow.id)
        )
        rows = self._session.execute(query.limit(limit))
        return [DeadSet(FileSetVersionId(row.id), f"{row.name}:{row.number}", row.root) for row in rows]

    def collect_sets(self, sets: list[DeadSet], now: datetime) -> None:
        """Say that these set versions do not come back. The project is locked."""
        for page in batches.pages(one.id for one in sets):
            where = FileSetVersionRow.id.in_(page)
            self._session.execute(update(FileSetVersionRow).where(where).values(collected_at=now))

    def set_roots(self, project: ProjectId, cutoff: datetime | None = None) -> list[bytes]:
        """Return the manifests of sets that are not collected; with a moment, as if all dead by then were."""
        query = (
            select(FileSetVersionRow.root)
            .join(FileSetRow, FileSetRow.id == FileSetVersionRow.file_set_id)
            .where(FileSetRow.project_id == project, FileSetVersionRow.collected_at.is_(None))
        )
        query = query if cutoff is None else query.where(~_is_dead(cutoff))
        return list(self._session.scalars(query.distinct()))

    # -- jobs

    def dead_jobs(self, project: ProjectId, cutoff: datetime, after: int, limit: int) -> dict[JobNumber, JobId]:
        """Return jobs that were deleted by then, after a number; not those collected before."""
        query = select(JobRow.number, JobRow.id).where(JobRow.project_id == project, JobRow.deleted_at <= cutoff)
        query = query.where(JobRow.collected_at.is_(None), JobRow.number > after).order_by(JobRow.number).limit(limit)
        return {JobNumber(number): JobId(row) for number, row in self._session.execute(query)}

    def sets_of_jobs(self, project: ProjectId, cutoff: datetime) -> list[SetOfJobs]:
        """Return what only jobs have that were deleted by then; not what has an alias or a label."""
        moment = batches.as_stored(self._session, cutoff)
        given = (project, moment, project, SubjectKind.FILE_SET.value, TAGS)
        rows = batches.select(self._session, _SETS_OF_JOBS, *given)
        aliases = AliasRecords(self._session).of_many({row[1] for row in rows})
        return [
            SetOfJobs(
                FileSetVersionId(row),
                file_set,
                f"{name}:{number}",
                root,
                is_input=role == InputRole.DATA and name.endswith("-input"),
                is_partial=role == InputRole.DATA and name.endswith("-partial"),
            )
            for row, file_set, name, number, root, role in rows
            if (file_set, number) not in aliases
        ]

    # -- what later uploads may be based on

    def upload_roots(self, project: ProjectId) -> list[UploadRoot]:
        """Return the manifests of committed sessions."""
        row = UploadSessionRow
        in_use = select(row.base_id).where(row.project_id == project, row.state == UploadState.PENDING)
        used = set(self._session.scalars(in_use.where(row.base_id.is_not(None))))
        query = select(row.id, row.root).where(row.project_id == project, row.commit_number > 0, row.root.is_not(None))
        found = self._session.execute(query.order_by(row.id))
        return [UploadRoot(SessionId(number), root or b"", number in used) for number, root in found]

    def old_bases(self, project: ProjectId, ended: datetime, superseded: datetime) -> list[SessionId]:
        """Return committed sessions with a manifest that ended by then, or over which another one did by then."""
        row = UploadSessionRow
        over = select(row.base_id).where(row.project_id == project, row.base_id.is_not(None), row.commit_number > 0)
        query = select(row.id).where(row.project_id == project, row.commit_number > 0, row.root.is_not(None))
        is_old = or_(row.ended_at <= ended, row.id.in_(over.where(row.ended_at <= superseded).subquery().select()))
        return [SessionId(number) for number in self._session.scalars(query.where(is_old).order_by(row.id))]

    def drop_roots(self, project: ProjectId, sessions: list[SessionId]) -> list[SessionId]:
        """Let nobody be based on these sessions any more; returns those that are in use. The project is locked."""
        row = UploadSessionRow
        pending = select(row.base_id).where(row.project_id == project, row.state == UploadState.PENDING)
        in_use = set(self._session.scalars(pending.where(row.base_id.is_not(None))))
        for page in batches.pages(one for one in sessions if one not in in_use):
            self._session.execute(update(row).where(row.id.in_(page)).values(root=None))
        return [one for one in sessions if one in in_use]

    # -- chunks

    def chunks(self, project: ProjectId, hashes: list[bytes]) -> dict[bytes, bytes]:
        """Return those of the chunks that are there."""
        sql = "SELECT sha256, body FROM chunk WHERE project_id = ? AND sha256 IN"
        return dict(batches.select_in(self._session, sql, hashes, project))

    def unused(self, project: ProjectId, before: datetime, after: bytes, limit: int) -> dict[bytes, int]:
        """Return chunks, with their sizes, that were last used before a moment, after a hash."""
        moment = batches.as_stored(self._session, before)
        return dict(batches.select(self._session, _CHUNKS, project, after, moment, limit))

    def drop_chunks(self, project: ProjectId, hashes: list[bytes], before: datetime) -> dict[bytes, int]:
        """Drop chunks unless they were used since; returns which were dropped, with their sizes.

        One that somebody is about to use is skipped: whoever waited for it could be waited for as well.
        """
        dropped: dict[bytes, int] = {}
        of_project = ChunkRow.project_id == project
        for page in batches.pages(hashes):
            query = select(ChunkRow.sha256, func.length(ChunkRow.body)).where(of_project, ChunkRow.sha256.in_(page))
            found = self._session.execute(query.where(ChunkRow.used_at < before).with_for_update(skip_locked=True))
            some: dict[bytes, int] = dict(found.all())
            dropped |= some
            self._session.execute(delete(ChunkRow).where(of_project, ChunkRow.sha256.in_(list(some))))
        return dropped

    # -- the store

    def sessions(self, project: ProjectId, keys: Iterable[str]) -> dict[str, Owner]:
        """Return those of the upload sessions that exist, by key."""
        row = UploadSessionRow
        found: dict[str, Owner] = {}
        for page in batches.pages(keys):
            query = select(row.key, row.object_folder, row.ended_at)
            for key, folder, ended_at in self._session.execute(
                query.where(row.project_id == project, row.key.in_(page))
            ):
                found[key] = Owner(folder or upload_folder(key), ended_at, is_collected=False)
        return found

    def jobs(self, project: ProjectId, numbers: Iterable[int]) -> dict[int, Owner]:
        """Return those of the jobs that exist, by number."""
        row = JobRow
        found: dict[int, Owner] = {}
        for page in batches.pages(numbers):
            query = select(row.number, row.object_folder, row.ended_at, row.collected_at)
            for number, folder, ended_at, collected_at in self._session.execute(
                query.where(row.project_id == project, row.number.in_(page))
            ):
                found[number] = Owner(folder or job_folder(number), ended_at, is_collected=collected_at is not None)
        return found

    def sample_objects(self, limit: int) -> list[tuple[ObjectKey, int]]:
        """Return the newest and the oldest objects that records name, with their sizes."""
        query = select(ObjectRow.key, ObjectRow.size_bytes).limit(limit)
        rows = [*self._session.execute(query.order_by(ObjectRow.id.desc()))]
        rows += self._session.execute(query.order_by(ObjectRow.id))
        return [(ObjectKey(key), size) for key, size in rows]

    def recorded(self, keys: Iterable[str]) -> set[str]:
        """Return which of these objects have a record."""
        return {row[0] for row in batches.select_in(self._session, "SELECT key FROM object WHERE key IN", keys)}


def _is_dead(cutoff: datetime) -> Any:
    version = FileSetVersionRow
    given = select(JobInputRow.job_id).join(JobRow, JobRow.id == JobInputRow.job_id)
    given = given.where(JobInputRow.file_set_version_id == version.id, JobRow.ended_at.is_(None))
    made = select(JobRow.id).where(JobRow.output_version_id == version.id, JobRow.ended_at.is_(None))
    deleted = (version.deleted_at.is_not(None), version.collected_at.is_(None), version.deleted_at <= cutoff)
    return and_(*deleted, ~given.exists(), ~made.exists())
