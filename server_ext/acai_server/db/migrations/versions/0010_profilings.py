"""Runs that are made to learn from."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "profiling",
        sa.Column("id", big, nullable=False),
        sa.Column("project_id", big, nullable=False),
        sa.Column("number", big, nullable=False),
        sa.Column("user_id", big, nullable=False),
        sa.Column("template", sa.String(length=300), nullable=False),
        sa.Column("request", sa.JSON(), nullable=False),
        sa.Column("sentence", sa.Text(), nullable=False),
        sa.Column("has_failed", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_profiling_project_id_project")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_profiling_user_id_user_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_profiling")),
        sa.UniqueConstraint("project_id", "number", name=op.f("uq_profiling_project_id")),
    )
    still = sa.text("ended_at IS NULL")
    columns = ["project_id", "template"]
    op.create_index("ix_profiling_open", "profiling", columns, sqlite_where=still, postgresql_where=still)
