"""Names of submissions: the same one is taken in once, however often it is sent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    is_given = sa.text("submission IS NOT NULL")
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.add_column(sa.Column("submission", sa.String(length=64), nullable=True))
        batch_op.create_index(
            "ix_job_submission",
            ["project_id", "user_id", "submission"],
            unique=True,
            sqlite_where=is_given,
            postgresql_where=is_given,
        )
