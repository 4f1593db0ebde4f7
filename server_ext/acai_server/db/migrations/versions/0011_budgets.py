"""Budgets; why a job was ended."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "budget",
        sa.Column("id", big, nullable=False),
        sa.Column("project_id", big, nullable=False),
        sa.Column("user_id", big, nullable=True),
        sa.Column("job_usd", sa.Double(), nullable=True),
        sa.Column("month_usd", sa.Double(), nullable=True),
        sa.Column("total_usd", sa.Double(), nullable=True),
        sa.Column("stops", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_budget_project_id_project")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_budget_user_id_user_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_budget")),
    )
    op.create_index("ix_budget_project_id", "budget", ["project_id"])
    with op.batch_alter_table("membership", schema=None) as batch_op:
        batch_op.drop_column("budget_usd")
    op.add_column("job", sa.Column("kill_reason", sa.Text(), nullable=True))
