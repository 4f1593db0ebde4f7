"""What file sets were made of, to make the same of others."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision. Of sets that were made before, it is not known."""
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "action_sources",
        sa.Column("action_id", big, autoincrement=False, nullable=False),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["action_id"], ["action.id"], name=op.f("fk_action_sources_action_id_action")),
        sa.PrimaryKeyConstraint("action_id", name=op.f("pk_action_sources")),
    )
