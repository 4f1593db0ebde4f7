"""Upload sessions whose versions are staged and become visible at once; contents may be kept more than once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_REBUILT = ("upload_entry", "upload_object", "file_version", "blob", "object", "file", "upload_session")


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them. Sessions that were pending are given up."""
    for table in _REBUILT:
        op.execute(sa.text(f"CREATE TABLE old_{table} AS SELECT * FROM {table}"))  # noqa: S608 (names of ours)
        op.drop_table(table)
    with op.batch_alter_table("project", schema=None) as batch_op:
        batch_op.add_column(
            sa.Column(
                "last_commit", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False, server_default="0"
            )
        )
    with op.batch_alter_table("project", schema=None) as batch_op:
        batch_op.alter_column("last_commit", server_default=None)
    _create()
    for statement in _MOVE:
        op.execute(sa.text(statement))
    _restart_sequences()
    for table in _REBUILT:
        op.drop_table(f"old_{table}")


# One session stands for all that one user recorded at one moment, as a commit did.
_MOVE = (
    """
    INSERT INTO upload_session (key, project_id, user_id, state, label, only_changed, is_direct, storage, pages,
                                reconciled, commit_number, made_files, created_at, touched_at, ended_at, tidied_at)
    SELECT 'before-0002-' || f.project_id || '-' || row_number() OVER of_project, f.project_id, v.user_id, 'committed',
           '', FALSE, FALSE, 'frequent', 0, 0, row_number() OVER of_project, count(*),
           v.created_at, v.created_at, v.created_at, v.created_at
    FROM old_file_version v JOIN old_file f ON f.id = v.file_id
    GROUP BY f.project_id, v.user_id, v.created_at
    WINDOW of_project AS (PARTITION BY f.project_id ORDER BY v.created_at, v.user_id)
    """,
    "UPDATE project SET last_commit = (SELECT count(*) FROM upload_session s WHERE s.project_id = project.id)",
    "INSERT INTO file (id, project_id, path) SELECT id, project_id, path FROM old_file",
    """
    INSERT INTO file_version (file_id, number, session_id, size_bytes, sha256, deleted_at)
    SELECT v.file_id, v.number, s.id, b.size_bytes, b.sha256, v.deleted_at
    FROM old_file_version v JOIN old_file f ON f.id = v.file_id JOIN old_blob b ON b.id = v.blob_id
    JOIN upload_session s ON s.project_id = f.project_id AND s.user_id = v.user_id AND s.created_at = v.created_at
    """,
    """
    INSERT INTO object (id, project_id, session_id, key, size_bytes, sha256)
    SELECT o.id, o.project_id, coalesce(
        (SELECT min(s.id) FROM upload_session s WHERE s.project_id = o.project_id AND s.created_at = o.created_at),
        (SELECT min(s.id) FROM upload_session s WHERE s.project_id = o.project_id)), o.key, o.size_bytes, o.sha256
    FROM old_object o WHERE EXISTS (SELECT 1 FROM upload_session s WHERE s.project_id = o.project_id)
    """,
    """
    INSERT INTO blob (id, project_id, sha256, size_bytes, object_id, "offset", is_wrong)
    SELECT b.id, b.project_id, b.sha256, b.size_bytes, b.object_id, b."offset", FALSE
    FROM old_blob b JOIN object o ON o.id = b.object_id
    """,
)
_NUMBERED = ("upload_session", "file", "object", "blob")


def _restart_sequences() -> None:
    """PostgreSQL's sequences do not see rows that bring their numbers along."""
    if op.get_bind().dialect.name == "postgresql":
        for table in _NUMBERED:
            highest = f"(SELECT coalesce(max(id), 0) + 1 FROM {table})"  # noqa: S608 (names of ours)
            op.execute(sa.text(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), {highest}, false)"))


def _create() -> None:
    op.create_table(
        "file",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "path",
            sa.String(length=1024).with_variant(sa.String(length=1024, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_file_project_id_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file")),
        sa.UniqueConstraint("project_id", "path", name=op.f("uq_file_project_id")),
    )
    op.create_table(
        "upload_session",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=32), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("only_changed", sa.Boolean(), nullable=False),
        sa.Column("is_direct", sa.Boolean(), nullable=False),
        sa.Column("file_set", sa.String(length=128), nullable=True),
        sa.Column("storage", sa.String(length=16), nullable=False),
        sa.Column("base_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("pages", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("reconciled", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("commit_number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("made_files", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("touched_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("tidied_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(
            ["base_id"], ["upload_session.id"], name=op.f("fk_upload_session_base_id_upload_session")
        ),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_upload_session_project_id_project")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_upload_session_user_id_user_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_upload_session")),
        sa.UniqueConstraint("key", name=op.f("uq_upload_session_key")),
        sa.UniqueConstraint("project_id", "commit_number", name=op.f("uq_upload_session_project_id")),
    )
    with op.batch_alter_table("upload_session", schema=None) as batch_op:
        batch_op.create_index(
            "ix_upload_session_untidy",
            ["state", "touched_at"],
            unique=False,
            sqlite_where=sa.text("tidied_at IS NULL"),
            postgresql_where=sa.text("tidied_at IS NULL"),
        )
    op.create_table(
        "file_version",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("file_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("session_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("size_bytes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("marked", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_file_version_file_id_file")),
        sa.ForeignKeyConstraint(
            ["session_id"], ["upload_session.id"], name=op.f("fk_file_version_session_id_upload_session")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file_version")),
        sa.UniqueConstraint("file_id", "number", name=op.f("uq_file_version_file_id")),
        sa.UniqueConstraint("session_id", "file_id", name=op.f("uq_file_version_session_id")),
    )
    with op.batch_alter_table("file_version", schema=None) as batch_op:
        batch_op.create_index(
            "ix_file_version_unnumbered",
            ["session_id"],
            unique=False,
            sqlite_where=sa.text("number IS NULL"),
            postgresql_where=sa.text("number IS NULL"),
        )
        batch_op.create_index(
            "ix_file_version_marked",
            ["marked"],
            unique=False,
            sqlite_where=sa.text("marked IS NOT NULL"),
            postgresql_where=sa.text("marked IS NOT NULL"),
        )

    op.create_table(
        "object",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("session_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=256), nullable=False),
        sa.Column("size_bytes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=True),
        sa.Column("checked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_object_project_id_project")),
        sa.ForeignKeyConstraint(
            ["session_id"], ["upload_session.id"], name=op.f("fk_object_session_id_upload_session")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_object")),
        sa.UniqueConstraint("key", name=op.f("uq_object_key")),
    )
    with op.batch_alter_table("object", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_object_session_id"), ["session_id"], unique=False)

    op.create_table(
        "upload_object",
        sa.Column("session_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("size_bytes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=True),
        sa.Column("parts_id", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["session_id"], ["upload_session.id"], name=op.f("fk_upload_object_session_id_upload_session")
        ),
        sa.PrimaryKeyConstraint("session_id", "number", name=op.f("pk_upload_object")),
    )
    op.create_table(
        "blob",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("object_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("offset", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("is_wrong", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["object_id"], ["object.id"], name=op.f("fk_blob_object_id_object")),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_blob_project_id_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blob")),
    )
    with op.batch_alter_table("blob", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_blob_object_id"), ["object_id"], unique=False)
        batch_op.create_index("ix_blob_sha256", ["project_id", "sha256"], unique=False)
        batch_op.create_index(
            "ix_blob_wrong",
            ["project_id"],
            unique=False,
            sqlite_where=sa.text("is_wrong"),
            postgresql_where=sa.text("is_wrong"),
        )
        batch_op.create_index(
            "ix_blob_large",
            ["project_id", "size_bytes"],
            unique=False,
            sqlite_where=sa.text("size_bytes >= 8388608"),
            postgresql_where=sa.text("size_bytes >= 8388608"),
        )

    op.create_table(
        "upload_entry",
        sa.Column("session_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("file_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_upload_entry_file_id_file")),
        sa.ForeignKeyConstraint(
            ["session_id"], ["upload_session.id"], name=op.f("fk_upload_entry_session_id_upload_session")
        ),
        sa.ForeignKeyConstraint(
            ["version_id"], ["file_version.id"], name=op.f("fk_upload_entry_version_id_file_version")
        ),
        sa.PrimaryKeyConstraint("session_id", "file_id", name=op.f("pk_upload_entry")),
    )
