"""First tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision."""
    op.create_table(
        "project",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("last_job", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_project")),
        sa.UniqueConstraint("name", name=op.f("uq_project_name")),
    )
    op.create_table(
        "user_account",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("is_global_admin", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_account")),
        sa.UniqueConstraint("name", name=op.f("uq_user_account_name")),
    )
    op.create_table(
        "attribute",
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("subject_kind", sa.String(length=16), nullable=False),
        sa.Column("subject_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=128), nullable=False),
        sa.Column("number", sa.Double(), nullable=True),
        sa.Column("text", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_attribute_project_id_project")),
        sa.PrimaryKeyConstraint("project_id", "subject_kind", "subject_id", "key", name=op.f("pk_attribute")),
    )
    with op.batch_alter_table("attribute", schema=None) as batch_op:
        batch_op.create_index("ix_attribute_number", ["project_id", "subject_kind", "key", "number"], unique=False)
        batch_op.create_index("ix_attribute_text", ["project_id", "subject_kind", "key", "text"], unique=False)

    op.create_table(
        "chunk",
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_chunk_project_id_project")),
        sa.PrimaryKeyConstraint("project_id", "sha256", name=op.f("pk_chunk")),
    )
    op.create_table(
        "event",
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("subject", sa.String(length=256), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_event_project_id_project")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_event")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("event", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_event_created_at"), ["created_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_event_project_id"), ["project_id"], unique=False)

    op.create_table(
        "file",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("path", sa.String(length=1024), nullable=False),
        sa.Column("latest", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_file_project_id_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file")),
        sa.UniqueConstraint("project_id", "path", name=op.f("uq_file_project_id")),
    )
    op.create_table(
        "file_set",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("latest", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_file_set_project_id_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file_set")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_file_set_project_id")),
    )
    op.create_table(
        "membership",
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("quota", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("budget_usd", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_membership_project_id_project")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_membership_user_id_user_account")),
        sa.PrimaryKeyConstraint("project_id", "user_id", name=op.f("pk_membership")),
    )
    op.create_table(
        "object",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("key", sa.String(length=256), nullable=False),
        sa.Column("size_bytes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_object_project_id_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_object")),
        sa.UniqueConstraint("key", name=op.f("uq_object_key")),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("scope", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_token_project_id_project")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_token_user_id_user_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_token")),
        sa.UniqueConstraint("hash", name=op.f("uq_token_hash")),
    )
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_token_user_id"), ["user_id"], unique=False)

    op.create_table(
        "upload_session",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("result", sa.JSON(), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_upload_session_project_id_project")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_upload_session_user_id_user_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_upload_session")),
    )
    op.create_table(
        "blob",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("object_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("offset", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["object_id"], ["object.id"], name=op.f("fk_blob_object_id_object")),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_blob_project_id_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_blob")),
        sa.UniqueConstraint("project_id", "sha256", name=op.f("uq_blob_project_id")),
    )
    with op.batch_alter_table("blob", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_blob_object_id"), ["object_id"], unique=False)

    op.create_table(
        "file_set_version",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("file_set_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False),
        sa.Column("file_count", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("size_bytes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["file_set_id"], ["file_set.id"], name=op.f("fk_file_set_version_file_set_id_file_set")
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_file_set_version_user_id_user_account")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file_set_version")),
        sa.UniqueConstraint("file_set_id", "number", name=op.f("uq_file_set_version_file_set_id")),
    )
    op.create_table(
        "upload_entry",
        sa.Column("upload_id", sa.String(length=32), nullable=False),
        sa.Column("path", sa.String(length=1024), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["upload_id"], ["upload_session.id"], name=op.f("fk_upload_entry_upload_id_upload_session")
        ),
        sa.PrimaryKeyConstraint("upload_id", "path", name=op.f("pk_upload_entry")),
    )
    op.create_table(
        "upload_object",
        sa.Column("key", sa.String(length=256), nullable=False),
        sa.Column("upload_id", sa.String(length=32), nullable=False),
        sa.Column("size_bytes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("sha256", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["upload_id"], ["upload_session.id"], name=op.f("fk_upload_object_upload_id_upload_session")
        ),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_upload_object")),
    )
    with op.batch_alter_table("upload_object", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_upload_object_upload_id"), ["upload_id"], unique=False)

    op.create_table(
        "file_version",
        sa.Column("file_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("blob_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["blob_id"], ["blob.id"], name=op.f("fk_file_version_blob_id_blob")),
        sa.ForeignKeyConstraint(["file_id"], ["file.id"], name=op.f("fk_file_version_file_id_file")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_file_version_user_id_user_account")),
        sa.PrimaryKeyConstraint("file_id", "number", name=op.f("pk_file_version")),
    )
    with op.batch_alter_table("file_version", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_file_version_blob_id"), ["blob_id"], unique=False)

    op.create_table(
        "job",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("priority", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("output_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["output_version_id"], ["file_set_version.id"], name=op.f("fk_job_output_version_id_file_set_version")
        ),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_job_project_id_project")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_job_user_id_user_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
        sa.UniqueConstraint("project_id", "number", name=op.f("uq_job_project_id")),
    )
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.create_index(
            "ix_job_open",
            ["state", "project_id", "user_id"],
            unique=False,
            sqlite_where=sa.text("ended_at IS NULL"),
            postgresql_where=sa.text("ended_at IS NULL"),
        )

    op.create_table(
        "action",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("project_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("user_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_action_job_id_job")),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_action_project_id_project")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_action_user_id_user_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_action")),
        sa.UniqueConstraint("job_id", name=op.f("uq_action_job_id")),
    )
    with op.batch_alter_table("action", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_action_project_id"), ["project_id"], unique=False)

    op.create_table(
        "attempt",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("number", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("runner", sa.String(length=32), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("vcpu", sa.Double(), nullable=False),
        sa.Column("memory_bytes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("price_book", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("exit_code", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("run_seconds", sa.Double(), nullable=True),
        sa.Column("billed_seconds", sa.Double(), nullable=True),
        sa.Column("cost_usd", sa.Double(), nullable=True),
        sa.Column("log_bytes", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_attempt_job_id_job")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempt")),
        sa.UniqueConstraint("job_id", "number", name=op.f("uq_attempt_job_id")),
    )
    op.create_table(
        "job_input",
        sa.Column("job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("file_set_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(
            ["file_set_version_id"],
            ["file_set_version.id"],
            name=op.f("fk_job_input_file_set_version_id_file_set_version"),
        ),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_job_input_job_id_job")),
        sa.PrimaryKeyConstraint("job_id", "position", name=op.f("pk_job_input")),
    )
    with op.batch_alter_table("job_input", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_job_input_file_set_version_id"), ["file_set_version_id"], unique=False)

    op.create_table(
        "action_input",
        sa.Column("action_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("file_set_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(["action_id"], ["action.id"], name=op.f("fk_action_input_action_id_action")),
        sa.ForeignKeyConstraint(
            ["file_set_version_id"],
            ["file_set_version.id"],
            name=op.f("fk_action_input_file_set_version_id_file_set_version"),
        ),
        sa.PrimaryKeyConstraint("action_id", "position", name=op.f("pk_action_input")),
    )
    with op.batch_alter_table("action_input", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_action_input_file_set_version_id"), ["file_set_version_id"], unique=False)

    op.create_table(
        "action_output",
        sa.Column("file_set_version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("action_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(["action_id"], ["action.id"], name=op.f("fk_action_output_action_id_action")),
        sa.ForeignKeyConstraint(
            ["file_set_version_id"],
            ["file_set_version.id"],
            name=op.f("fk_action_output_file_set_version_id_file_set_version"),
        ),
        sa.PrimaryKeyConstraint("file_set_version_id", name=op.f("pk_action_output")),
    )
    with op.batch_alter_table("action_output", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_action_output_action_id"), ["action_id"], unique=False)

    op.create_table(
        "transition",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("job_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("attempt_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["attempt_id"], ["attempt.id"], name=op.f("fk_transition_attempt_id_attempt")),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=op.f("fk_transition_job_id_job")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_transition")),
    )
    with op.batch_alter_table("transition", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_transition_job_id"), ["job_id"], unique=False)
