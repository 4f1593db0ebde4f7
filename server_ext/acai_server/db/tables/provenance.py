"""Actions, and what went into and came out of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    ForeignKey,
    Index,
    String,
)
from sqlalchemy.orm import Mapped, mapped_column

from acai_server.db.tables.table import Table


class ActionRow(Table):
    """What made a file set version."""

    __tablename__ = "action"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    kind: Mapped[str] = mapped_column(String(16))
    job_id: Mapped[int | None] = mapped_column(ForeignKey("job.id"), unique=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    created_at: Mapped[datetime]


class ActionInputRow(Table):
    """A file set version that went into an action. Both ways through it are answered by an index alone."""

    __tablename__ = "action_input"
    __table_args__ = (
        Index("ix_action_input_use", "file_set_version_id", "action_id"),
        {"sqlite_with_rowid": False},
    )
    action_id: Mapped[int] = mapped_column(ForeignKey("action.id"), primary_key=True, autoincrement=False)
    position: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    file_set_version_id: Mapped[int] = mapped_column(ForeignKey("file_set_version.id"))
    role: Mapped[str] = mapped_column(String(16))


class ActionSourcesRow(Table):
    """What a file set was made of by whoever wrote it down, all by versions; not when too long."""

    __tablename__ = "action_sources"
    action_id: Mapped[int] = mapped_column(ForeignKey("action.id"), primary_key=True, autoincrement=False)
    sources: Mapped[list[Any]] = mapped_column(JSON())


class ActionOutputRow(Table):
    """A file set version that an action made. Each is made once."""

    __tablename__ = "action_output"
    file_set_version_id: Mapped[int] = mapped_column(ForeignKey("file_set_version.id"), primary_key=True)
    action_id: Mapped[int] = mapped_column(ForeignKey("action.id"), index=True)


class FileSetLinkRow(Table):
    """Some version of a name was made of some version of another one, in the role data."""

    __tablename__ = "file_set_link"
    __table_args__ = (Index("ix_file_set_link_target", "target_id"), {"sqlite_with_rowid": False})
    source_id: Mapped[int] = mapped_column(ForeignKey("file_set.id"), primary_key=True, autoincrement=False)
    target_id: Mapped[int] = mapped_column(ForeignKey("file_set.id"), primary_key=True, autoincrement=False)
