"""Jobs that run on several machines at the same time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.add_column(sa.Column("nodes", big, nullable=False, server_default="1"))
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.alter_column("nodes", server_default=None)
