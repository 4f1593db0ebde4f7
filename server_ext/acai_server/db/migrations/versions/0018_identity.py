"""The identity of the database, and where the objects of upload sessions and jobs are."""

from __future__ import annotations

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    table = op.create_table(
        "database_identity",
        sa.Column("identity", sa.String(32), nullable=False),
        sa.Column("nonce", sa.String(32), nullable=False),
        sa.Column("next_nonce", sa.String(32), nullable=True),
        sa.PrimaryKeyConstraint("identity", name=op.f("pk_database_identity")),
    )
    op.bulk_insert(table, [{"identity": f"i{secrets.token_hex(8)}", "nonce": secrets.token_hex(16)}])
    # Rows of before have no folder: their objects stay under the keys that they have.
    op.add_column("upload_session", sa.Column("object_folder", sa.String(80), nullable=True))
    op.add_column("job", sa.Column("object_folder", sa.String(80), nullable=True))
