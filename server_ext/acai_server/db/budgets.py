"""Budgets of projects and of users in them, and what open jobs have cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, select

from acai_jupyter.contract.budgets import Budget
from acai_jupyter.contract.ids import JobId, ProjectId, UserId
from acai_server.db import batches
from acai_server.db.tables import BudgetNoticeRow, BudgetRow, UserRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

_PROJECTS = """
    SELECT DISTINCT b.project_id FROM budget b JOIN job j ON j.project_id = b.project_id AND j.ended_at IS NULL"""
_OPEN = """
    SELECT j.id, j.user_id, (SELECT coalesce(sum(cost_usd), 0) FROM attempt WHERE job_id = j.id) FROM job j
    WHERE j.project_id = ? AND j.ended_at IS NULL AND j.kill_asked_at IS NULL ORDER BY j.id"""
_ANY = "SELECT 1 FROM budget WHERE project_id = ? LIMIT 1"
Notice = tuple[str, float, float]
"""The name of a bound, how much it is, and how much of it is spent."""


@dataclass(frozen=True)
class OpenJob:
    """A job that has not ended, and what attempts of it that are over have cost."""

    id: JobId
    user_id: UserId
    spent_usd: float


class BudgetRecords:
    """Budgets by project and user."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of(self, project: ProjectId) -> list[tuple[UserId | None, Budget]]:
        """Return the project's own, then those of users by name."""
        query = (
            select(BudgetRow, UserRow.name)
            .outerjoin(UserRow, UserRow.id == BudgetRow.user_id)
            .where(BudgetRow.project_id == project)
            .order_by(BudgetRow.user_id.is_not(None), UserRow.name)
        )
        return [
            (
                None if row.user_id is None else UserId(row.user_id),
                Budget(name, row.job_usd, row.month_usd, row.total_usd, row.stops),
            )
            for row, name in self._session.execute(query)
        ]

    def are_there(self, project: ProjectId) -> bool:
        """Whether a project has any; cheap."""
        return bool(batches.select(self._session, _ANY, project))

    def keep(self, project: ProjectId, user: UserId | None, budget: Budget) -> None:
        """Put one in the place of what there was; the project is locked."""
        of_user = BudgetRow.user_id.is_(None) if user is None else BudgetRow.user_id == user
        self._session.execute(delete(BudgetRow).where(BudgetRow.project_id == project, of_user))
        caps: dict[str, Any] = {name: getattr(budget, name) for name in ("job_usd", "month_usd", "total_usd")}
        if any(cap is not None for cap in caps.values()):
            self._session.add(BudgetRow(project_id=project, user_id=user, stops=budget.stops, **caps))
        self._session.flush()

    def told(self, project: ProjectId) -> set[Notice]:
        """Return what was told of bounds that are nearly spent, or spent."""
        query = select(BudgetNoticeRow.name, BudgetNoticeRow.limit_usd, BudgetNoticeRow.share)
        found = self._session.execute(query.where(BudgetNoticeRow.project_id == project))
        return {(name, limit, share) for name, limit, share in found}

    def tell(self, project: ProjectId, notices: list[Notice], now: datetime) -> None:
        """Write down what is told; the project is locked."""
        for name, limit, share in notices:
            self._session.add(BudgetNoticeRow(project_id=project, name=name, limit_usd=limit, share=share, told_at=now))
        self._session.flush()

    def projects(self) -> list[ProjectId]:
        """Return the projects with a budget and with jobs that have not ended."""
        return [ProjectId(row[0]) for row in batches.select(self._session, _PROJECTS)]

    def open_jobs(self, project: ProjectId) -> list[OpenJob]:
        """Return jobs that have not ended, and that nobody asked to."""
        found = batches.select(self._session, _OPEN, project)
        return [OpenJob(JobId(job), UserId(user), float(spent)) for job, user, spent in found]
