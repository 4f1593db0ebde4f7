"""Groups of jobs: those that bear a label."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.ids import JobId, JobNumber, ProjectId
from acai_jupyter.contract.query.builtin import TAGS, SubjectKind
from acai_jupyter.contract.states import JobState
from acai_server.db import batches
from acai_server.db.attributes import AttributeRecords

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

_FROM = """
    FROM attribute_label l JOIN job j ON j.id = l.subject_id
    WHERE l.key_id = ? AND l.label = ? AND j.deleted_at IS NULL"""
_STANDING = f"SELECT j.number, j.state {_FROM} ORDER BY j.number"
_IDS = f"SELECT j.id {_FROM} ORDER BY j.number"
_OPEN = f"SELECT j.id {_FROM} AND j.ended_at IS NULL ORDER BY j.number"
_COST = f"SELECT coalesce(sum(a.cost_usd), 0) {_FROM.replace('WHERE', 'JOIN attempt a ON a.job_id = j.id WHERE')}"
_ENDED = f"SELECT count(*), count(j.ended_at) {_FROM}"


class SweepRecords:
    """Jobs by project and label; those that were deleted are left out."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def standing(self, project: ProjectId, label: str) -> list[tuple[JobNumber, JobState]]:
        """Return their numbers and states, by number."""
        key = self._key(project)
        found = [] if key is None else batches.select(self._session, _STANDING, key, label)
        return [(JobNumber(number), JobState(state)) for number, state in found]

    def jobs(self, project: ProjectId, label: str, *, open_only: bool = False) -> list[JobId]:
        """Return their rows, by number: all, or of those that have not ended."""
        key, sql = self._key(project), _OPEN if open_only else _IDS
        return [] if key is None else [JobId(row) for (row,) in batches.select(self._session, sql, key, label)]

    def cost_usd(self, project: ProjectId, label: str) -> float:
        """Return what their attempts have cost, as far as that is known."""
        key = self._key(project)
        return 0.0 if key is None else float(batches.select(self._session, _COST, key, label)[0][0])

    def counts(self, project: ProjectId, label: str) -> tuple[int, int]:
        """Return how many there are, and how many of them have ended; cheap, as it is asked often."""
        key = self._key(project)
        if key is None:
            return 0, 0
        count, ended = batches.select(self._session, _ENDED, key, label)[0]
        return int(count), int(ended)

    def _key(self, project: ProjectId) -> int | None:
        return AttributeRecords(self._session).keys(project, SubjectKind.JOB, [TAGS]).get(TAGS)
