"""What versions of runtime models knew."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "model_version",
        sa.Column("project_id", big, nullable=False),
        sa.Column("template", sa.String(300), nullable=False),
        sa.Column("version", sa.String(16), nullable=False),
        sa.Column("known", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_model_version_project_id_project")),
        sa.PrimaryKeyConstraint("project_id", "template", "version", name=op.f("pk_model_version")),
    )
