"""Events are numbered within their project: what others do moves no number that one can see."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_COLUMNS = "project_id, number, kind, subject, details, created_at"


def upgrade() -> None:
    """Bring the tables to this revision; numbers that were given stay, and go on from there."""
    op.execute("CREATE TABLE event_kept AS SELECT * FROM event")
    op.drop_table("event")
    op.create_table(
        "event",
        sa.Column("project_id", _BIG, nullable=False),
        sa.Column("number", _BIG, autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("subject", sa.String(length=256), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_event_project_id_project")),
        sa.PrimaryKeyConstraint("project_id", "number", name=op.f("pk_event")),
    )
    op.create_index(op.f("ix_event_created_at"), "event", ["created_at"], unique=False)
    op.execute(f"INSERT INTO event ({_COLUMNS}) SELECT {_COLUMNS} FROM event_kept")  # noqa: S608 (SQL of ours)
    op.drop_table("event_kept")
