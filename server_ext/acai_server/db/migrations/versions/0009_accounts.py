"""Tokens that open all projects of their user, and whose names are told apart; the audit log."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.add_column(sa.Column("all_projects", sa.Boolean(), nullable=False, server_default=sa.false()))
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.alter_column("all_projects", server_default=None)
    for statement in (_OF_SERVERS, _NAMES):
        op.execute(sa.text(statement))
    valid = sa.text("revoked_at IS NULL")
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.create_index(
            "ix_token_name",
            ["user_id", "project_id", "name"],
            unique=True,
            sqlite_where=valid,
            postgresql_where=valid,
        )
    _add_audit()


def _add_audit() -> None:
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "audit_entry",
        sa.Column("id", big, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("project_id", big, nullable=True),
        sa.Column("user_id", big, nullable=False),
        sa.Column("token_id", big, nullable=True),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("thing", sa.String(length=512), nullable=False),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("request_id", sa.String(length=64), nullable=False),
        sa.Column("status", big, nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_audit_entry_project_id_project")),
        sa.ForeignKeyConstraint(["user_id"], ["user_account.id"], name=op.f("fk_audit_entry_user_id_user_account")),
        sa.ForeignKeyConstraint(["token_id"], ["token.id"], name=op.f("fk_audit_entry_token_id_token")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entry")),
    )
    op.create_index("ix_audit_entry_project", "audit_entry", ["project_id", "id"])


_OF_SERVERS = "UPDATE token SET all_projects = TRUE"
"""Until now there were only those that servers made for themselves."""
_NAMES = """
    UPDATE token SET name = name || '-' || CAST(id AS VARCHAR(20))
    WHERE EXISTS (SELECT 1 FROM token o WHERE o.user_id = token.user_id AND o.project_id = token.project_id
                  AND o.name = token.name AND o.id > token.id)"""
