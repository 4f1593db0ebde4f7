"""Which jobs of a project are at work, wait, and ended last. However many there are, few rows are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.ids import JobId, ProjectId
from acai_jupyter.contract.states import JobState
from acai_server.db import batches
from acai_server.db.attempts import LIVE

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

LOOKED_BACK = 500
"""What ended last is looked for among so many that were submitted last: no index has the ends of a project in order."""

_OPEN = "FROM job WHERE ended_at IS NULL AND project_id = ?"
_STATES = f"SELECT state, count(*) {_OPEN} GROUP BY state"
_RUNNING = "SELECT id {} AND state IN ({}) ORDER BY number DESC LIMIT ?".format(
    _OPEN, ", ".join(f"'{state}'" for state in LIVE)
)
_WAITING = f"SELECT id {_OPEN} AND state = '{JobState.QUEUED.value}' ORDER BY priority DESC, number LIMIT ?"
_RECENT = f"""
    SELECT id FROM (
        SELECT id, ended_at FROM job WHERE project_id = ? AND ended_at IS NOT NULL AND deleted_at IS NULL
        ORDER BY number DESC LIMIT {LOOKED_BACK}
    ) AS newest ORDER BY ended_at DESC, id DESC LIMIT ?"""


class OverviewRecords:
    """Jobs by project, at most so many of each kind."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def states(self, project: ProjectId) -> dict[JobState, int]:
        """Return how many jobs that have not ended are in each state."""
        return {JobState(state): int(count) for state, count in batches.select(self._session, _STATES, project)}

    def running(self, project: ProjectId, most: int) -> list[JobId]:
        """Return jobs that hold a machine, the newest first."""
        return self._ids(_RUNNING, project, most)

    def waiting(self, project: ProjectId, most: int) -> list[JobId]:
        """Return jobs in the queue, the next first."""
        return self._ids(_WAITING, project, most)

    def recent(self, project: ProjectId, most: int) -> list[JobId]:
        """Return jobs that have ended and are not deleted, the last first."""
        return self._ids(_RECENT, project, most)

    def _ids(self, sql: str, project: ProjectId, most: int) -> list[JobId]:
        return [JobId(row) for (row,) in batches.select(self._session, sql, project, most)]
