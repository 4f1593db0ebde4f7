"""Profilings, and the runs that were made for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from sqlalchemy import func, select, update

from acai_jupyter.contract import decoding
from acai_jupyter.contract.ids import JobNumber, ProjectId, UserId
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.profilings import CreateProfiling
from acai_jupyter.contract.query.builtin import TAGS, SubjectKind
from acai_jupyter.contract.states import JobState
from acai_server.db import batches, rows
from acai_server.db.attributes import AttributeRecords
from acai_server.db.tables import ProfilingRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

PREFIX = "profile-"
_RUNS = """
    SELECT j.number, j.state, j.reason, j.request, a.price_book, a.seen, a.cost_usd,
    (SELECT coalesce(sum(b.cost_usd), 0) FROM attempt b WHERE b.job_id = j.id),
    (SELECT t.at FROM transition t WHERE t.attempt_id = a.id AND t.state = 'downloading'),
    (SELECT i.file_set_version_id FROM job_input i WHERE i.job_id = j.id AND i.role = 'data' LIMIT 1)
    FROM attribute_label l JOIN job j ON j.id = l.subject_id
    LEFT JOIN attempt a ON a.id = (SELECT max(id) FROM attempt WHERE job_id = j.id)
    WHERE l.key_id = ? AND l.label = ? AND j.deleted_at IS NULL ORDER BY j.number"""


@dataclass(frozen=True)
class StoredProfiling:
    """A profiling; its tag is made of its number in the project."""

    id: int
    project_id: ProjectId
    user_id: UserId
    number: int
    request: CreateProfiling
    sentence: str
    has_failed: bool
    created_at: datetime
    ended_at: datetime | None

    @property
    def tag(self) -> str:
        """The label of its jobs."""
        return f"{PREFIX}{self.number}"


@dataclass(frozen=True)
class ProfiledRun:
    """A job that was made for a profiling, with its last attempt."""

    number: JobNumber
    state: JobState
    reason: str
    request: CreateJob
    price_book: int | None
    held: list[str]
    ran_out_of_memory: bool
    spent_usd: float
    """By attempts that are over."""
    billed_since: datetime | None
    """Since when a live attempt is billed."""
    input_version: int | None


class ProfilingRecords:
    """Profilings by project and number."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def create(self, project: ProjectId, user: UserId, wanted: CreateProfiling, now: datetime) -> StoredProfiling:
        """Write one with the project's next number; the project is locked."""
        last = self._session.scalar(
            select(func.coalesce(func.max(ProfilingRow.number), 0)).where(ProfilingRow.project_id == project)
        )
        row = ProfilingRow(project_id=project, user_id=user, number=int(last or 0) + 1, created_at=now)
        row.request, row.template = msgspec.to_builtins(wanted), wanted.job.template
        self._session.add(row)
        self._session.flush()
        return _stored(row)

    def open(self) -> list[StoredProfiling]:
        """Return those of all projects that have not ended, as they came."""
        query = select(ProfilingRow).where(ProfilingRow.ended_at.is_(None)).order_by(ProfilingRow.id)
        return [_stored(row) for row in self._session.scalars(query)]

    def open_of(self, project: ProjectId, template: str) -> StoredProfiling | None:
        """Return the one that measures a template, if one does."""
        query = select(ProfilingRow).where(ProfilingRow.project_id == project, ProfilingRow.template == template)
        row = self._session.scalars(query.where(ProfilingRow.ended_at.is_(None))).first()
        return None if row is None else _stored(row)

    def newest_of(self, project: ProjectId, template: str) -> StoredProfiling | None:
        """Return the one that measured a template last, or does, if one did."""
        query = select(ProfilingRow).where(ProfilingRow.project_id == project, ProfilingRow.template == template)
        row = self._session.scalars(query.order_by(ProfilingRow.number.desc())).first()
        return None if row is None else _stored(row)

    def with_tag(self, project: ProjectId, tag: str) -> StoredProfiling | None:
        """Return the one whose jobs bear a tag, if there is one."""
        number = tag.removeprefix(PREFIX)
        if not (tag.startswith(PREFIX) and number.isascii() and number.isdecimal() and len(number) < 10):  # noqa: PLR2004 (digits of an INTEGER)
            return None
        query = select(ProfilingRow).where(ProfilingRow.project_id == project, ProfilingRow.number == int(number))
        row = self._session.scalars(query).first()
        return None if row is None else _stored(row)

    def end(self, profiling: int, sentence: str, now: datetime, *, has_failed: bool = False) -> bool:
        """Write down how one ended; says whether this call did."""
        query = (
            update(ProfilingRow)
            .where(ProfilingRow.id == profiling, ProfilingRow.ended_at.is_(None))
            .values(ended_at=now, sentence=sentence, has_failed=has_failed)
            .returning(ProfilingRow.id)
        )
        return bool(self._session.scalars(query).all())

    def runs(self, project: ProjectId, tag: str) -> list[ProfiledRun]:
        """Return the jobs with a tag, by number."""
        key = AttributeRecords(self._session).keys(project, SubjectKind.JOB, [TAGS]).get(TAGS)
        return [] if key is None else [_run(row) for row in batches.select(self._session, _RUNS, key, tag)]


def _stored(row: ProfilingRow) -> StoredProfiling:
    return StoredProfiling(
        row.id,
        ProjectId(row.project_id),
        UserId(row.user_id),
        row.number,
        decoding.convert(row.request, CreateProfiling),
        row.sentence,
        row.has_failed,
        row.created_at,
        row.ended_at,
    )


def _run(row: Any) -> ProfiledRun:
    number, state, reason, request, book, seen, cost, spent, since, version = row
    told = rows.as_json(seen) or {}
    return ProfiledRun(
        number=JobNumber(number),
        state=JobState(state),
        reason=reason,
        request=decoding.convert(rows.as_json(request), CreateJob),
        price_book=book,
        held=told.get("held") or [],
        ran_out_of_memory=bool(told.get("ran_out_of_memory")),
        spent_usd=float(spent),
        billed_since=None if since is None or cost is not None else batches.as_time(since),
        input_version=version,
    )
