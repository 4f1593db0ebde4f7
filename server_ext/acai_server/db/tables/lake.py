"""Uploads, files, objects, file sets and what is kept of them."""

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

from acai_server.db.tables.table import Path, Table


class UploadSessionRow(Table):
    """The transaction in which a batch of files is uploaded. Its commit number makes all its versions visible at once.

    `pages` counts the changes to what it holds; `reconciled` is the commit up to which that agrees with what others
    committed; `root` is the manifest of all its files; `result` is what a second commit answers; `tidied_at` is when
    what nobody needs of an ended session was dropped. `job_id` is the job whose outputs it holds. `object_folder` is
    where its objects are below the project's prefix; a session of version 0.1 has none, and `upload_folder` names it.
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
    object_folder: Mapped[str | None] = mapped_column(String(80))


class ObjectRow(Table):
    """What the object store holds under one key: a large file, or a pack of small ones.

    `checked_at` is when the server last hashed its bytes; `suspected_at` is when a reader had trouble with it that has
    not been looked into yet, or when the scrubber tries again to read it; `emptied_at` is when its last contents were
    moved elsewhere: it is deleted once every URL that leads to it has expired.
    """

    __tablename__ = "object"
    __table_args__ = (
        Index(
            "ix_object_suspected",
            "id",
            sqlite_where=text("suspected_at IS NOT NULL"),
            postgresql_where=text("suspected_at IS NOT NULL"),
        ),
    )
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    session_id: Mapped[int] = mapped_column(ForeignKey("upload_session.id"), index=True)
    key: Mapped[str] = mapped_column(String(256), unique=True)
    size_bytes: Mapped[int]
    sha256: Mapped[bytes | None]
    checked_at: Mapped[datetime | None]
    emptied_at: Mapped[datetime | None]
    suspected_at: Mapped[datetime | None]


class BlobRow(Table):
    """A content: a byte range of an object. `is_wrong` marks one whose bytes are lost or do not match its hash."""

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


class ScrubPassRow(Table):
    """How far the scrubber is in its current pass over all objects, and which server is at it until when. One row."""

    __tablename__ = "scrub_pass"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    position: Mapped[int] = mapped_column(default=0)
    done_bytes: Mapped[int] = mapped_column(default=0)
    total_bytes: Mapped[int] = mapped_column(default=0)
    began_at: Mapped[datetime]
    holder: Mapped[str] = mapped_column(String(32), default="")
    held_until: Mapped[datetime]
