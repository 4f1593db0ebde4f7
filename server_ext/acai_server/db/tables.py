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
    SmallInteger,
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


def Ordered(length: int) -> String:  # noqa: N802 (it stands where a type stands)
    """The type of a text that is ordered by code point on every database."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


def Path() -> String:  # noqa: N802 (it stands where a type stands)
    """The type of a path."""
    return Ordered(1024)


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


# -- lake


class UploadSessionRow(Table):
    """The transaction in which a batch of files is uploaded. Its commit number makes all its versions visible at once.

    `pages` counts the changes to what it holds; `reconciled` is the commit up to which that agrees with what others
    committed; `root` is the manifest of all its files; `result` is what a second commit answers; `tidied_at` is when
    what nobody needs of an ended session was dropped. `job_id` is the job whose outputs it holds.
    """

    __tablename__ = "upload_session"
    __table_args__ = (
        UniqueConstraint("project_id", "commit_number"),
        Index(
            "ix_upload_session_untidy",
            "state",
            "touched_at",
            sqlite_where=text("tidied_at IS NULL"),
            postgresql_where=text("tidied_at IS NULL"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    key: Mapped[str] = mapped_column(String(32), unique=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    state: Mapped[str] = mapped_column(String(16))
    label: Mapped[str] = mapped_column(default="")
    only_changed: Mapped[bool] = mapped_column(default=False)
    is_direct: Mapped[bool] = mapped_column(default=False)
    file_set: Mapped[str | None] = mapped_column(String(128))
    storage: Mapped[str] = mapped_column(String(16))
    base_id: Mapped[int | None] = mapped_column(ForeignKey("upload_session.id"))
    pages: Mapped[int] = mapped_column(default=0)
    reconciled: Mapped[int] = mapped_column(default=0)
    commit_number: Mapped[int | None]
    made_files: Mapped[int] = mapped_column(default=0)
    root: Mapped[bytes | None]
    created_at: Mapped[datetime]
    touched_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    tidied_at: Mapped[datetime | None]
    result: Mapped[dict[str, Any] | None]
    job_id: Mapped[int | None] = mapped_column(ForeignKey("job.id"))


class ObjectRow(Table):
    """What the object store holds under one key: a large file, or a pack of small ones.

    `checked_at` is when its bytes were last hashed again and found to be those that were announced; `emptied_at` is
    when its last contents were moved elsewhere: it goes when nobody can be reading it any more.
    """

    __tablename__ = "object"
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    session_id: Mapped[int] = mapped_column(ForeignKey("upload_session.id"), index=True)
    key: Mapped[str] = mapped_column(String(256), unique=True)
    size_bytes: Mapped[int]
    sha256: Mapped[bytes | None]
    checked_at: Mapped[datetime | None]
    emptied_at: Mapped[datetime | None]


class BlobRow(Table):
    """A content: a byte range of an object. One that is wrong holds other bytes than its uploader said."""

    __tablename__ = "blob"
    __table_args__ = (
        Index("ix_blob_sha256", "project_id", "sha256"),
        Index("ix_blob_wrong", "project_id", sqlite_where=text("is_wrong"), postgresql_where=text("is_wrong")),
        Index(
            "ix_blob_large",
            "project_id",
            "size_bytes",
            sqlite_where=text("size_bytes >= 8388608"),
            postgresql_where=text("size_bytes >= 8388608"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    sha256: Mapped[bytes]
    size_bytes: Mapped[int]
    object_id: Mapped[int] = mapped_column(ForeignKey("object.id"), index=True)
    offset: Mapped[int]
    is_wrong: Mapped[bool] = mapped_column(default=False)


class UploadObjectRow(Table):
    """An object that a session was given a target for, and where it is sent in parts, the store's id for them."""

    __tablename__ = "upload_object"
    session_id: Mapped[int] = mapped_column(ForeignKey("upload_session.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    size_bytes: Mapped[int]
    sha256: Mapped[bytes | None]
    parts_id: Mapped[str | None]


class FileRow(Table):
    """A path. It is there for its users when a version of it is visible."""

    __tablename__ = "file"
    __table_args__ = (UniqueConstraint("project_id", "path"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    path: Mapped[str] = mapped_column(Path())


class FileVersionRow(Table):
    """An immutable content at a path, visible when its session is committed.

    A pending session may hold the next number of a path; who commits that path first takes it away (no number then).
    `marked` is where, in the order of the project's commits, it was last deleted or brought back.
    """

    __tablename__ = "file_version"
    __table_args__ = (
        UniqueConstraint("file_id", "number"),
        UniqueConstraint("session_id", "file_id"),
        Index(
            "ix_file_version_unnumbered",
            "session_id",
            sqlite_where=text("number IS NULL"),
            postgresql_where=text("number IS NULL"),
        ),
        Index(
            "ix_file_version_marked",
            "marked",
            sqlite_where=text("marked IS NOT NULL"),
            postgresql_where=text("marked IS NOT NULL"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    file_id: Mapped[int] = mapped_column(ForeignKey("file.id"))
    number: Mapped[int | None]
    session_id: Mapped[int] = mapped_column(ForeignKey("upload_session.id"))
    size_bytes: Mapped[int]
    sha256: Mapped[bytes]
    deleted_at: Mapped[datetime | None]
    marked: Mapped[int | None]


class UploadEntryRow(Table):
    """A file of a session that needs no new version: the one it equals, or none where it is to be left out."""

    __tablename__ = "upload_entry"
    session_id: Mapped[int] = mapped_column(ForeignKey("upload_session.id"), primary_key=True)
    file_id: Mapped[int] = mapped_column(ForeignKey("file.id"), primary_key=True)
    version_id: Mapped[int | None] = mapped_column(ForeignKey("file_version.id"))


class ChunkRow(Table):
    """A piece of a manifest, stored once by its hash. `used_at` is when (to the hour) it was last asked for.

    What was needed lately stays though nothing refers to it yet: a file set that is being made may.
    """

    __tablename__ = "chunk"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    sha256: Mapped[bytes] = mapped_column(primary_key=True)
    body: Mapped[bytes]
    used_at: Mapped[datetime]


class FileSetRow(Table):
    """A name of a file set. `last` numbers the next version; `latest` is the newest that is not deleted, or 0."""

    __tablename__ = "file_set"
    __table_args__ = (UniqueConstraint("project_id", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    name: Mapped[str] = mapped_column(String(128))
    role: Mapped[str] = mapped_column(String(16))
    last: Mapped[int]
    latest: Mapped[int]


class FileSetVersionRow(Table):
    """One version of a file set: the root of its manifest.

    After `collected_at` the manifest of a deleted one may be gone, and it cannot be brought back.
    """

    __tablename__ = "file_set_version"
    __table_args__ = (
        UniqueConstraint("file_set_id", "number"),
        Index(
            "ix_file_set_version_deleted",
            "deleted_at",
            sqlite_where=text("deleted_at IS NOT NULL AND collected_at IS NULL"),
            postgresql_where=text("deleted_at IS NOT NULL AND collected_at IS NULL"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    file_set_id: Mapped[int] = mapped_column(ForeignKey("file_set.id"))
    number: Mapped[int]
    root: Mapped[bytes]
    file_count: Mapped[int]
    size_bytes: Mapped[int]
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    note: Mapped[str] = mapped_column(default="")
    created_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]
    collected_at: Mapped[datetime | None]


class FileSetAliasRow(Table):
    """From when on an alias stood for a version of a name, or for none; the last of an alias is what it is now."""

    __tablename__ = "file_set_alias"
    __table_args__ = (Index("ix_file_set_alias_alias", "file_set_id", "alias", "id"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    file_set_id: Mapped[int] = mapped_column(ForeignKey("file_set.id"))
    alias: Mapped[str] = mapped_column(String(128))
    number: Mapped[int | None]
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    at: Mapped[datetime]


class RetentionRow(Table):
    """What a project keeps of old versions."""

    __tablename__ = "retention"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True, autoincrement=False)
    keep_last: Mapped[int | None]
    keep_days: Mapped[float | None]
    files: Mapped[bool] = mapped_column(default=False)


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


# -- provisioner


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


# -- engine


class JobRow(Table):
    """What was asked for, and where it stands. (input, job, output) never changes once written.

    `vcpu`, `memory_bytes` and `gpus` are what each node of its next attempt gets; `memo` is the hash of all that its
    result depends on; `not_before` is when it may be tried again; after `collected_at` the log of a deleted job may be
    gone; `submission` is what who submitted called that, in the first job that came of it.
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


# -- metadata and events


class AttributeKeyRow(Table):
    """A key that was used on a kind of things in a project; rows of values bear its number in place of all three."""

    __tablename__ = "attribute_key"
    __table_args__ = (UniqueConstraint("project_id", "subject_kind", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    subject_kind: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(Ordered(128))


class AttributeRow(Table):
    """One key and value on a file version, file set version or job.

    A value is a text, or a number that also stands for a boolean (0, 1) and for a time (seconds since 1970): `type`
    says which. The primary key gives a thing's values; each index gives the things with a value, ordered by it.
    """

    __tablename__ = "attribute"
    __table_args__ = (
        Index(
            "ix_attribute_number",
            "key_id",
            "type",
            "number",
            "subject_id",
            sqlite_where=text("number IS NOT NULL"),
            postgresql_where=text("number IS NOT NULL"),
        ),
        Index(
            "ix_attribute_text",
            "key_id",
            "text",
            "subject_id",
            sqlite_where=text("text IS NOT NULL"),
            postgresql_where=text("text IS NOT NULL"),
        ),
        {"sqlite_with_rowid": False},
    )
    subject_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    key_id: Mapped[int] = mapped_column(ForeignKey("attribute_key.id"), primary_key=True, autoincrement=False)
    type: Mapped[int] = mapped_column(SmallInteger())
    number: Mapped[float | None]
    text: Mapped[str | None] = mapped_column(Ordered(500))


class AttributeLabelRow(Table):
    """One label of a thing's list `tags`, whose key it bears."""

    __tablename__ = "attribute_label"
    __table_args__ = (
        Index("ix_attribute_label_label", "key_id", "label", "subject_id"),
        {"sqlite_with_rowid": False},
    )
    subject_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    key_id: Mapped[int] = mapped_column(ForeignKey("attribute_key.id"), primary_key=True, autoincrement=False)
    label: Mapped[str] = mapped_column(Ordered(128), primary_key=True)


class AttributeChangeRow(Table):
    """Who changed what on a thing and when; `number` counts all changes, `changes` is what the contract calls one."""

    __tablename__ = "attribute_change"
    __table_args__ = (Index("ix_attribute_change_subject", "subject_kind", "subject_id", "number"),)
    number: Mapped[int] = mapped_column(primary_key=True)
    subject_kind: Mapped[str] = mapped_column(String(16))
    subject_id: Mapped[int]
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    at: Mapped[datetime]
    changes: Mapped[dict[str, Any]]


class EventRow(Table):
    """A change, written in its transaction and numbered in its project, in commit order."""

    __tablename__ = "event"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(32))
    subject: Mapped[str] = mapped_column(String(256))
    details: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(index=True)
