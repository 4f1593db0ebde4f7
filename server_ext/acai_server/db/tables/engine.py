"""Jobs, their inputs, attempts and transitions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    ForeignKey,
    Index,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from acai_server.db.tables.table import Table


class JobRow(Table):
    """What was asked for, and where it stands. (input, job, output) never changes once written.

    `vcpu`, `memory_bytes` and `gpus` are what each node of its next attempt gets; `memo` is the hash of all that its
    result depends on; `not_before` is when it may be tried again; after `collected_at` the log of a deleted job may be
    gone; `submission` is what who submitted called that, in the first job that came of it. `object_folder` is where the
    objects of its attempts are below the project's prefix; a job of version 0.1 has none, and `job_folder` names it.
    """

    __tablename__ = "job"
    __table_args__ = (
        UniqueConstraint("project_id", "number"),
        # The scheduler and the monitor look only for jobs that have not ended, however many have.
        Index(
            "ix_job_open",
            "state",
            "project_id",
            "user_id",
            "priority",
            "number",
            sqlite_where=text("ended_at IS NULL"),
            postgresql_where=text("ended_at IS NULL"),
        ),
        Index("ix_job_memo", "project_id", "memo"),
        Index("ix_job_template", "project_id", "template", "ended_at"),
        Index(
            "ix_job_submission",
            "project_id",
            "user_id",
            "submission",
            unique=True,
            sqlite_where=text("submission IS NOT NULL"),
            postgresql_where=text("submission IS NOT NULL"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    number: Mapped[int]
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    state: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(default="")
    priority: Mapped[int] = mapped_column(default=0)
    vcpu: Mapped[float]
    memory_bytes: Mapped[int]
    gpus: Mapped[int] = mapped_column(default=0)
    nodes: Mapped[int] = mapped_column(default=1)
    request: Mapped[dict[str, Any]]
    template: Mapped[str] = mapped_column(String(300), default="")
    memo: Mapped[bytes | None]
    output_version_id: Mapped[int | None] = mapped_column(ForeignKey("file_set_version.id"))
    partial_version_id: Mapped[int | None] = mapped_column(ForeignKey("file_set_version.id"))
    answered_by_id: Mapped[int | None] = mapped_column(ForeignKey("job.id"))
    created_at: Mapped[datetime]
    not_before: Mapped[datetime | None]
    kill_asked_at: Mapped[datetime | None]
    killed_by_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id"))
    kill_reason: Mapped[str | None]
    ended_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]
    collected_at: Mapped[datetime | None]
    submission: Mapped[str | None] = mapped_column(String(64))
    object_folder: Mapped[str | None] = mapped_column(String(80))


class JobInputRow(Table):
    """A file set version that a job was given, resolved when it was submitted."""

    __tablename__ = "job_input"
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    file_set_version_id: Mapped[int] = mapped_column(ForeignKey("file_set_version.id"), index=True)
    role: Mapped[str] = mapped_column(String(16))


class AttemptRow(Table):
    """One try at running a job: its machine, price, times, log (the pieces it is kept in) and end.

    `seen` is what its agent reported of the machine: what was used, which limits held, the environment, warnings.
    """

    __tablename__ = "attempt"
    __table_args__ = (UniqueConstraint("job_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"))
    number: Mapped[int]
    runner: Mapped[str] = mapped_column(String(32))
    key: Mapped[str] = mapped_column(String(64))
    vcpu: Mapped[float]
    memory_bytes: Mapped[int]
    price_book: Mapped[int | None]
    exit_code: Mapped[int | None]
    run_seconds: Mapped[float | None]
    billed_seconds: Mapped[float | None]
    cost_usd: Mapped[float | None]
    log_bytes: Mapped[int | None]
    log: Mapped[list[Any] | None] = mapped_column(JSON())
    machine: Mapped[str] = mapped_column(default="")
    seen: Mapped[dict[str, Any]] = mapped_column(default=dict)
    tag_misses: Mapped[list[str] | None] = mapped_column(JSON(none_as_null=True))


class TransitionRow(Table):
    """One step of a job's life."""

    __tablename__ = "transition"
    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"), index=True)
    attempt_id: Mapped[int | None] = mapped_column(ForeignKey("attempt.id"))
    state: Mapped[str] = mapped_column(String(16))
    at: Mapped[datetime]
    reason: Mapped[str]
