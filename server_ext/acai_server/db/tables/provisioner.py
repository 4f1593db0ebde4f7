"""Prices, budgets, models and profilings."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ForeignKey,
    Index,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from acai_server.db.tables.table import Table


class PriceBookRow(Table):
    """What machines cost on a runner in a region. Its id is the version that attempts refer to."""

    __tablename__ = "price_book"
    __table_args__ = (UniqueConstraint("runner", "region", "hash"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    runner: Mapped[str] = mapped_column(String(32))
    region: Mapped[str] = mapped_column(String(64))
    hash: Mapped[bytes]
    content: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]


class BudgetRow(Table):
    """What a project, or a user in it, may spend: by each job, in a month, in all. `stops`: it is enforced."""

    __tablename__ = "budget"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id"))
    job_usd: Mapped[float | None]
    month_usd: Mapped[float | None]
    total_usd: Mapped[float | None]
    stops: Mapped[bool] = mapped_column(default=True)


class BudgetNoticeRow(Table):
    """What was told of a bound of a budget: that so much of so many dollars is spent. It is told once."""

    __tablename__ = "budget_notice"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(300), primary_key=True)
    limit_usd: Mapped[float] = mapped_column(primary_key=True)
    share: Mapped[float] = mapped_column(primary_key=True)
    told_at: Mapped[datetime]


class ModelVersionRow(Table):
    """What a version of a template's runtime model knew; it is named by that."""

    __tablename__ = "model_version"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    template: Mapped[str] = mapped_column(String(300), primary_key=True)
    version: Mapped[str] = mapped_column(String(16), primary_key=True)
    known: Mapped[bytes]
    created_at: Mapped[datetime]


class ProfilingRow(Table):
    """Runs that are made to learn from; they bear the label `profile-` and its number. Open until `ended_at`."""

    __tablename__ = "profiling"
    __table_args__ = (
        UniqueConstraint("project_id", "number"),
        Index(
            "ix_profiling_open",
            "project_id",
            "template",
            sqlite_where=text("ended_at IS NULL"),
            postgresql_where=text("ended_at IS NULL"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    number: Mapped[int]
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    template: Mapped[str] = mapped_column(String(300))
    request: Mapped[dict[str, Any]]
    sentence: Mapped[str] = mapped_column(default="")
    has_failed: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
