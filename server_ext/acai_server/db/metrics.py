"""What there is of jobs and bytes, by project and user: for those who watch a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from acai_server.db import batches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy.orm import Session

_SECONDS = {
    "sqlite": "(julianday(t.at) - julianday(j.created_at)) * 86400",
    "postgresql": "EXTRACT(EPOCH FROM t.at - j.created_at)",
}
_OF = "FROM job j JOIN project p ON p.id = j.project_id JOIN user_account u ON u.id = j.user_id"
_JOBS = f"SELECT p.name, u.name, j.state, count(*) {_OF} GROUP BY p.name, u.name, j.state"
_COSTS = f"""
    SELECT p.name, u.name, coalesce(sum(a.cost_usd), 0), coalesce(sum(a.billed_seconds), 0) {_OF}
    JOIN attempt a ON a.job_id = j.id GROUP BY p.name, u.name"""
_WAITED = f"""
    SELECT p.name, u.name, coalesce(sum({{seconds}}), 0) {_OF} JOIN transition t ON t.job_id = j.id
    AND t.state = 'launching' AND t.attempt_id = (SELECT min(a.id) FROM attempt a WHERE a.job_id = j.id)
    GROUP BY p.name, u.name"""  # noqa: S608 (the same)
_BYTES = """
    SELECT p.name, u.name, coalesce(sum(o.size_bytes), 0) FROM object o JOIN project p ON p.id = o.project_id
    JOIN upload_session s ON s.id = o.session_id JOIN user_account u ON u.id = s.user_id GROUP BY p.name, u.name"""


class Sample(NamedTuple):
    """One number, with what it is of."""

    name: str
    labels: dict[str, str]
    value: float


class MetricRecords:
    """Sums over all jobs and objects."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def samples(self) -> Iterator[Sample]:
        """Give all numbers; those of one name follow each other."""
        for project, user, state, count in batches.select(self._session, _JOBS):
            yield Sample("acai_jobs", {"project": project, "user": user, "state": state}, count)
        costs = batches.select(self._session, _COSTS)
        for project, user, cost, _ in costs:
            yield Sample("acai_cost_usd_total", {"project": project, "user": user}, cost)
        for project, user, _, seconds in costs:
            yield Sample("acai_billed_seconds_total", {"project": project, "user": user}, seconds)
        waited = _WAITED.format(seconds=_SECONDS[self._session.get_bind().dialect.name])
        for project, user, seconds in batches.select(self._session, waited):
            yield Sample("acai_waited_seconds_total", {"project": project, "user": user}, float(seconds))
        for project, user, size in batches.select(self._session, _BYTES):
            yield Sample("acai_stored_bytes", {"project": project, "user": user}, float(size))
