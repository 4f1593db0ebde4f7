"""What was told of budgets, so that it is told once."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "budget_notice",
        sa.Column("project_id", big, nullable=False),
        sa.Column("name", sa.String(300), nullable=False),
        sa.Column("limit_usd", sa.Double(), nullable=False),
        sa.Column("share", sa.Double(), nullable=False),
        sa.Column("told_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_budget_notice_project_id_project")),
        sa.PrimaryKeyConstraint("project_id", "name", "limit_usd", "share", name=op.f("pk_budget_notice")),
    )
