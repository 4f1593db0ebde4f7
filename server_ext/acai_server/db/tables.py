"""All tables. What a row means is in the glossary of the contract; here is how it is kept."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

BigInt = BigInteger().with_variant(Integer(), "sqlite")
"""SQLite numbers rows by itself only when the key's type is INTEGER."""


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time in UTC; SQLite would forget the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse a time without a zone before it is stored."""
        del dialect
        if value is not None and value.tzinfo is None:
            raise ValueError("a time without a zone")
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the zone back."""
        del dialect
        if value is None or value.tzinfo is not None:
            return value
        return value.replace(tzinfo=UTC)


class Table(DeclarativeBase):
    """Base of all tables. Constraints have names, so that migrations can speak of them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 (SQLAlchemy reads it as a plain class attribute)
        int: BigInt,
        datetime: UtcDateTime(),
        str: Text(),
        bytes: LargeBinary(),
        dict[str, Any]: JSON(),
    }


# -- credentials


class ProjectRow(Table):
    """An isolated workspace. `last_job` gives the next job its number, inside the transaction that makes it."""

    __tablename__ = "project"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(128), unique=True)
    last_job: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]


class UserRow(Table):
    """A person or program, in any number of projects."""

    __tablename__ = "user_account"  # "user" is a reserved word in PostgreSQL
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(128), unique=True)
    is_global_admin: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime]


class MembershipRow(Table):
    """A user's role, quota and budget in a project."""

    __tablename__ = "membership"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"), primary_key=True)
    role: Mapped[str] = mapped_column(String(16))
    quota: Mapped[int | None]
    budget_usd: Mapped[float | None]


class TokenRow(Table):
    """A token, of which only the hash is kept."""

    __tablename__ = "token"
    id: Mapped[int] = mapped_column(primary_key=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"), index=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str] = mapped_column(String(128))
    hash: Mapped[bytes] = mapped_column(unique=True)
    scope: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]


# -- lake


class ObjectRow(Table):
    """What the object store holds under one key: a large file, or a pack of small ones."""

    __tablename__ = "object"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    key: Mapped[str] = mapped_column(String(256), unique=True)
    size_bytes: Mapped[int]
    sha256: Mapped[bytes]
    created_at: Mapped[datetime]


class BlobRow(Table):
    """A content: a byte range of an object. Kept once per project."""

    __tablename__ = "blob"
    __table_args__ = (UniqueConstraint("project_id", "sha256"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    sha256: Mapped[bytes]
    size_bytes: Mapped[int]
    object_id: Mapped[int] = mapped_column(ForeignKey("object.id"), index=True)
    offset: Mapped[int]


class UploadSessionRow(Table):
    """The transaction in which a batch of files is uploaded. `result` is what a second commit answers."""

    __tablename__ = "upload_session"
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    state: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    result: Mapped[dict[str, Any] | None]


class UploadEntryRow(Table):
    """A file that a session is about; it has no version before the commit."""

    __tablename__ = "upload_entry"
    upload_id: Mapped[str] = mapped_column(ForeignKey("upload_session.id"), primary_key=True)
    path: Mapped[str] = mapped_column(String(1024), primary_key=True)
    sha256: Mapped[bytes]
    size_bytes: Mapped[int]


class UploadObjectRow(Table):
    """An object that a session was given a target for: only these may be named at its commit."""

    __tablename__ = "upload_object"
    key: Mapped[str] = mapped_column(String(256), primary_key=True)
    upload_id: Mapped[str] = mapped_column(ForeignKey("upload_session.id"), index=True)
    size_bytes: Mapped[int]
    sha256: Mapped[bytes]


class FileRow(Table):
    """A path; `latest` is the number of its newest version."""

    __tablename__ = "file"
    __table_args__ = (UniqueConstraint("project_id", "path"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    path: Mapped[str] = mapped_column(String(1024))
    latest: Mapped[int]


class FileVersionRow(Table):
    """An immutable content at a path."""

    __tablename__ = "file_version"
    file_id: Mapped[int] = mapped_column(ForeignKey("file.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    blob_id: Mapped[int] = mapped_column(ForeignKey("blob.id"), index=True)
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    created_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]


class ChunkRow(Table):
    """A piece of a manifest, stored once by its hash."""

    __tablename__ = "chunk"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    sha256: Mapped[bytes] = mapped_column(primary_key=True)
    body: Mapped[bytes]


class FileSetRow(Table):
    """A name of a file set; `latest` is the number of its newest version."""

    __tablename__ = "file_set"
    __table_args__ = (UniqueConstraint("project_id", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str] = mapped_column(String(128))
    role: Mapped[str] = mapped_column(String(16))
    latest: Mapped[int]


class FileSetVersionRow(Table):
    """One version of a file set: the root of its manifest."""

    __tablename__ = "file_set_version"
    __table_args__ = (UniqueConstraint("file_set_id", "number"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    file_set_id: Mapped[int] = mapped_column(ForeignKey("file_set.id"))
    number: Mapped[int]
    root: Mapped[bytes]
    file_count: Mapped[int]
    size_bytes: Mapped[int]
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    created_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]


# -- provenance


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
    """A file set version that went into an action."""

    __tablename__ = "action_input"
    action_id: Mapped[int] = mapped_column(ForeignKey("action.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    file_set_version_id: Mapped[int] = mapped_column(ForeignKey("file_set_version.id"), index=True)
    role: Mapped[str] = mapped_column(String(16))


class ActionOutputRow(Table):
    """A file set version that an action made. Each is made once."""

    __tablename__ = "action_output"
    file_set_version_id: Mapped[int] = mapped_column(ForeignKey("file_set_version.id"), primary_key=True)
    action_id: Mapped[int] = mapped_column(ForeignKey("action.id"), index=True)


# -- engine


class JobRow(Table):
    """What was asked for, and where it stands. (input, job, output) never changes once written."""

    __tablename__ = "job"
    __table_args__ = (
        UniqueConstraint("project_id", "number"),
        # The scheduler and the monitor look only for jobs that have not ended, however many have.
        Index(
            "ix_job_open",
            "state",
            "project_id",
            "user_id",
            sqlite_where=text("ended_at IS NULL"),
            postgresql_where=text("ended_at IS NULL"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    number: Mapped[int]
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    state: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(default="")
    priority: Mapped[int] = mapped_column(default=0)
    request: Mapped[dict[str, Any]]
    output_version_id: Mapped[int | None] = mapped_column(ForeignKey("file_set_version.id"))
    created_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]


class JobInputRow(Table):
    """A file set version that a job was given, resolved when it was submitted."""

    __tablename__ = "job_input"
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    file_set_version_id: Mapped[int] = mapped_column(ForeignKey("file_set_version.id"), index=True)
    role: Mapped[str] = mapped_column(String(16))


class AttemptRow(Table):
    """One try at running a job: its machine, price, times, log and end."""

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


class TransitionRow(Table):
    """One step of a job's life."""

    __tablename__ = "transition"
    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("job.id"), index=True)
    attempt_id: Mapped[int | None] = mapped_column(ForeignKey("attempt.id"))
    state: Mapped[str] = mapped_column(String(16))
    at: Mapped[datetime]
    reason: Mapped[str]


# -- metadata and events


class AttributeRow(Table):
    """One key and value on a file version, file set version or job. Numbers and texts have an index each."""

    __tablename__ = "attribute"
    __table_args__ = (
        Index("ix_attribute_number", "project_id", "subject_kind", "key", "number"),
        Index("ix_attribute_text", "project_id", "subject_kind", "key", "text"),
    )
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    subject_kind: Mapped[str] = mapped_column(String(16), primary_key=True)
    subject_id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(128), primary_key=True)
    number: Mapped[float | None]
    text: Mapped[str | None]


class EventRow(Table):
    """A change, written in its transaction and numbered in commit order."""

    __tablename__ = "event"
    __table_args__ = {"sqlite_autoincrement": True}  # noqa: RUF012 (SQLAlchemy reads it as a plain class attribute)
    number: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), index=True)
    kind: Mapped[str] = mapped_column(String(32))
    subject: Mapped[str] = mapped_column(String(256))
    details: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(index=True)
