"""What attempts have cost, added up; and those that still cost something."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.prices import CostGroup, CostRow
from acai_jupyter.contract.query.builtin import TAGS, SubjectKind
from acai_jupyter.contract.states import InputRole
from acai_server.db import batches
from acai_server.db.attributes import AttributeRecords
from acai_server.db.rows import as_json

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId

_CODE = f"""
    LEFT JOIN job_input i ON i.job_id = j.id AND i.role = '{InputRole.CODE.value}'
    LEFT JOIN file_set_version v ON v.id = i.file_set_version_id
    LEFT JOIN file_set s ON s.id = v.file_set_id"""
_KEYS = {
    CostGroup.USER: ("u.name", "JOIN user_account u ON u.id = j.user_id"),
    CostGroup.NOTEBOOK: ("s.name", _CODE),
    CostGroup.TAG: ("l.label", "LEFT JOIN attribute_label l ON l.subject_id = j.id AND l.key_id = {tags}"),
    CostGroup.JOB: ("j.number", ""),
}
_DAYS = {
    "sqlite": "substr(j.created_at, 1, 10)",
    "postgresql": "to_char(j.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
}
_WITHIN = "j.project_id = ? AND j.created_at >= ? AND j.created_at < ?"
_SUMS = """
    SELECT {key}, count(DISTINCT j.id), count(a.id), coalesce(sum(a.billed_seconds), 0), coalesce(sum(a.cost_usd), 0)
    FROM job j JOIN attempt a ON a.job_id = j.id {joined} WHERE {within} {grouped}"""
_LIVE = """
    SELECT {key}, j.id, a.vcpu, a.memory_bytes, j.gpus, j.request, j.nodes, a.price_book, t.at
    FROM job j JOIN attempt a ON a.job_id = j.id
    JOIN transition t ON t.attempt_id = a.id AND t.state = 'downloading' {joined}
    WHERE j.ended_at IS NULL AND a.cost_usd IS NULL AND j.state IN ('downloading', 'running', 'uploading')
    AND a.id = (SELECT max(id) FROM attempt WHERE job_id = j.id) AND {within}"""


@dataclass(frozen=True)
class LiveShare:
    """What each node of a live attempt holds, how many there are, under which prices, and since when it is billed."""

    key: str
    job: int
    vcpu: float
    memory_bytes: int
    gpus: int
    gpu_type: str
    nodes: int
    price_book: int | None
    since: datetime


class CostRecords:
    """Costs by project and time of submission."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def rows(self, project: ProjectId, by: CostGroup, since: datetime, until: datetime) -> list[CostRow]:
        """Return what attempts that are over have cost."""
        key, joined = self._grouping(project, by)
        sql = _SUMS.format(key=key, joined=joined, within=_WITHIN, grouped=f"GROUP BY {key}")
        return [_row(row) for row in batches.select(self._session, sql, *self._within(project, since, until))]

    def total(self, project: ProjectId, since: datetime, until: datetime) -> CostRow:
        """Return all of it, each job once."""
        sql = _SUMS.format(key="''", joined="", within=_WITHIN, grouped="")
        return _row(batches.select(self._session, sql, *self._within(project, since, until))[0])

    def live(self, project: ProjectId, by: CostGroup, since: datetime, until: datetime) -> list[LiveShare]:
        """Return the attempts that are being billed."""
        key, joined = self._grouping(project, by)
        found = batches.select(
            self._session,
            _LIVE.format(key=key, joined=joined, within=_WITHIN),
            *self._within(project, since, until),
        )
        return [
            LiveShare(str(name or ""), job, vcpu, memory, gpus, _gpu_type(request), nodes, book, batches.as_time(at))
            for name, job, vcpu, memory, gpus, request, nodes, book, at in found
        ]

    def _grouping(self, project: ProjectId, by: CostGroup) -> tuple[str, str]:
        if by is CostGroup.DAY:
            return _DAYS[self._session.get_bind().dialect.name], ""
        key, joined = _KEYS[by]
        tags = AttributeRecords(self._session).keys(project, SubjectKind.JOB, [TAGS]).get(TAGS, -1)
        return key, joined.format(tags=int(tags))

    def _within(self, project: ProjectId, since: datetime, until: datetime) -> tuple[Any, ...]:
        return project, batches.as_stored(self._session, since), batches.as_stored(self._session, until)


def _gpu_type(request: Any) -> str:
    return str(as_json(request).get("resources", {}).get("gpu_type", ""))


def _row(row: Any) -> CostRow:
    key, jobs, attempts, seconds, usd = row
    return CostRow("" if key is None else str(key), int(jobs), int(attempts), float(seconds), float(usd))
