"""File sets with notes, aliases and tombstones; rules of what is kept; what collecting garbage has to know."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    moment = sa.DateTime(timezone=True)
    _add_filled("chunk", sa.Column("used_at", moment), datetime.now(UTC))
    _add_filled("file_set", sa.Column("last", big), sa.column("latest"))
    _add_filled("file_set_version", sa.Column("note", sa.Text()), "")
    with op.batch_alter_table("object", schema=None) as batch_op:
        batch_op.add_column(sa.Column("emptied_at", moment, nullable=True))
    with op.batch_alter_table("file_set_version", schema=None) as batch_op:
        batch_op.add_column(sa.Column("collected_at", moment, nullable=True))
    buried = sa.text("deleted_at IS NOT NULL AND collected_at IS NULL")
    with op.batch_alter_table("file_set_version", schema=None) as batch_op:
        batch_op.create_index(
            "ix_file_set_version_deleted", ["deleted_at"], sqlite_where=buried, postgresql_where=buried
        )
    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.add_column(sa.Column("tag_misses", sa.JSON(), nullable=True))
    op.create_table(
        "file_set_alias",
        sa.Column("id", big, nullable=False),
        sa.Column("file_set_id", big, nullable=False),
        sa.Column("alias", sa.String(length=128), nullable=False),
        sa.Column("number", big, nullable=True),
        sa.Column("user_id", big, nullable=False),
        sa.Column("at", moment, nullable=False),
        sa.ForeignKeyConstraint(["file_set_id"], ["file_set.id"], name=op.f("fk_file_set_alias_file_set_id_file_set")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_file_set_alias_user_id_user_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_file_set_alias")),
    )
    with op.batch_alter_table("file_set_alias", schema=None) as batch_op:
        batch_op.create_index("ix_file_set_alias_alias", ["file_set_id", "alias", "id"])
    op.create_table(
        "retention",
        sa.Column("project_id", big, autoincrement=False, nullable=False),
        sa.Column("keep_last", big, nullable=True),
        sa.Column("keep_days", sa.Double(), nullable=True),
        sa.Column("files", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_retention_project_id_project")),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_retention")),
    )


def _add_filled(table: str, column: sa.Column[object], value: object) -> None:
    """Add a column that is never empty, with a value for the rows that are there."""
    name, kind = column.name, column.type
    with op.batch_alter_table(table, schema=None) as batch_op:
        batch_op.add_column(sa.Column(name, kind, nullable=True))
    op.execute(sa.update(sa.table(table, sa.column(name, kind))).values({name: value}))
    with op.batch_alter_table(table, schema=None) as batch_op:
        batch_op.alter_column(name, nullable=False)
