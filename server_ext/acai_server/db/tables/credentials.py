"""Projects, people, what opens them, and what they did."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    ForeignKey,
    Index,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from acai_server.db.tables.table import Path, Table


class ProjectRow(Table):
    """An isolated workspace. `last_job` and `last_commit` number the next one inside the transaction that makes it.

    `restrictions` counts its restrictions: who comes to a project without any is not asked what they may see.
    """

    __tablename__ = "project"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(128), unique=True)
    last_job: Mapped[int] = mapped_column(default=0)
    last_commit: Mapped[int] = mapped_column(default=0)
    restrictions: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]


class UserRow(Table):
    """A person or program, in any number of projects."""

    __tablename__ = "user_account"  # "user" is a reserved word in PostgreSQL
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(128), unique=True)
    is_global_admin: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]


class MembershipRow(Table):
    """A user's role and quota in a project. `served_at` is when a job of theirs was last started."""

    __tablename__ = "membership"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"), primary_key=True)
    role: Mapped[str] = mapped_column(String(16))
    quota: Mapped[int | None]
    served_at: Mapped[datetime | None]


class TokenRow(Table):
    """A token, of which only the hash is kept. `project_id` is its own project; some open their user's others too."""

    __tablename__ = "token"
    __table_args__ = (
        Index(
            "ix_token_name",
            "user_id",
            "project_id",
            "name",
            unique=True,
            sqlite_where=text("revoked_at IS NULL"),
            postgresql_where=text("revoked_at IS NULL"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"), index=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str] = mapped_column(String(128))
    hash: Mapped[bytes] = mapped_column(unique=True)
    scope: Mapped[str] = mapped_column(String(16))
    all_projects: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


class AuditRow(Table):
    """What somebody did, or was refused, in a project or beside. Rows are added, and never changed or removed."""

    __tablename__ = "audit_entry"
    __table_args__ = (Index("ix_audit_entry_project", "project_id", "id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    project_id: Mapped[int | None] = mapped_column(ForeignKey("project.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    token_id: Mapped[int | None] = mapped_column(ForeignKey("token.id"))
    action: Mapped[str] = mapped_column(String(64))
    thing: Mapped[str] = mapped_column(String(512))
    address: Mapped[str] = mapped_column(String(64))
    request_id: Mapped[str] = mapped_column(String(64))
    status: Mapped[int]


class GroupRow(Table):
    """Users of a project who are named together."""

    __tablename__ = "user_group"  # "group" is a reserved word
    __table_args__ = (UniqueConstraint("project_id", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str] = mapped_column(String(128))


class GroupMemberRow(Table):
    """A user in a group."""

    __tablename__ = "group_member"
    group_id: Mapped[int] = mapped_column(ForeignKey("user_group.id"), primary_key=True, autoincrement=False)
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"), primary_key=True, autoincrement=False)


class RestrictionRow(Table):
    """A name of file sets, or a folder (which ends in '/'), that not everybody in the project may read or write."""

    __tablename__ = "restriction"
    __table_args__ = (UniqueConstraint("project_id", "kind", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    kind: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(Path())
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    created_at: Mapped[datetime]


class GrantRow(Table):
    """What a user or a group may do behind a restriction. Who writes reads."""

    __tablename__ = "restriction_grant"
    id: Mapped[int] = mapped_column(primary_key=True)
    restriction_id: Mapped[int] = mapped_column(ForeignKey("restriction.id"), index=True)
    user_id: Mapped[int | None] = mapped_column(ForeignKey("user_account.id"))
    group_id: Mapped[int | None] = mapped_column(ForeignKey("user_group.id"))
    allows: Mapped[str] = mapped_column(String(8))


class LiftRow(Table):
    """Why a file set is open though it was made of what is restricted; without a number, all versions of the name."""

    __tablename__ = "lift"
    id: Mapped[int] = mapped_column(primary_key=True)
    file_set_id: Mapped[int] = mapped_column(ForeignKey("file_set.id"), index=True)
    number: Mapped[int | None]
    reason: Mapped[str]
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class RestrictedVersionRow(Table):
    """A file set version behind a restriction: of its name or with files of its folder (`is_own`), or made of such."""

    __tablename__ = "restricted_version"
    __table_args__ = (Index("ix_restricted_version_restriction", "restriction_id"),)
    file_set_version_id: Mapped[int] = mapped_column(
        ForeignKey("file_set_version.id"), primary_key=True, autoincrement=False
    )
    restriction_id: Mapped[int] = mapped_column(ForeignKey("restriction.id"), primary_key=True, autoincrement=False)
    is_own: Mapped[bool]
    is_lifted: Mapped[bool]


class RestrictedJobRow(Table):
    """A job behind a restriction: it was given what is, or writes there."""

    __tablename__ = "restricted_job"
    __table_args__ = (Index("ix_restricted_job_restriction", "restriction_id"),)
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"), primary_key=True, autoincrement=False)
    restriction_id: Mapped[int] = mapped_column(ForeignKey("restriction.id"), primary_key=True, autoincrement=False)


class RestrictedSessionRow(Table):
    """An upload session all of whose file versions are behind a restriction."""

    __tablename__ = "restricted_session"
    __table_args__ = (Index("ix_restricted_session_restriction", "restriction_id"),)
    session_id: Mapped[int] = mapped_column(ForeignKey("upload_session.id"), primary_key=True, autoincrement=False)
    restriction_id: Mapped[int] = mapped_column(ForeignKey("restriction.id"), primary_key=True, autoincrement=False)
