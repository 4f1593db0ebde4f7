"""Objects whose content is in doubt, and how far the scrubber is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    moment = sa.DateTime(timezone=True)
    op.add_column("object", sa.Column("suspected_at", moment, nullable=True))
    op.create_index(
        "ix_object_suspected",
        "object",
        ["id"],
        sqlite_where=sa.text("suspected_at IS NOT NULL"),
        postgresql_where=sa.text("suspected_at IS NOT NULL"),
    )
    op.create_table(
        "scrub_pass",
        sa.Column("id", big, autoincrement=False, nullable=False),
        sa.Column("position", big, nullable=False),
        sa.Column("done_bytes", big, nullable=False),
        sa.Column("total_bytes", big, nullable=False),
        sa.Column("began_at", moment, nullable=False),
        sa.Column("holder", sa.String(32), nullable=False),
        sa.Column("held_until", moment, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scrub_pass")),
    )
