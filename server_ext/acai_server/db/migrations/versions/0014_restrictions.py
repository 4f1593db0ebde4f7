"""Restrictions of file sets and folders, whom they let through, what is behind them; groups of users."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_BIG = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_PATH = sa.String(length=1024).with_variant(sa.String(length=1024, collation="C"), "postgresql")


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    with op.batch_alter_table("project", schema=None) as batch_op:
        batch_op.add_column(sa.Column("restrictions", _BIG, nullable=False, server_default="0"))
    with op.batch_alter_table("project", schema=None) as batch_op:
        batch_op.alter_column("restrictions", server_default=None)
    _add_groups()
    _add_restrictions()
    for what, thing in (("version", "file_set_version"), ("job", "job"), ("session", "upload_session")):
        _add_restricted(what, thing)


def _key(table: str, column: str, of: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{of}.id"], name=op.f(f"fk_{table}_{column}_{of}"))


def _add_groups() -> None:
    op.create_table(
        "user_group",
        sa.Column("id", _BIG, nullable=False),
        sa.Column("project_id", _BIG, nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        _key("user_group", "project_id", "project"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_user_group")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_user_group_project_id")),
    )
    op.create_table(
        "group_member",
        sa.Column("group_id", _BIG, autoincrement=False, nullable=False),
        sa.Column("user_id", _BIG, autoincrement=False, nullable=False),
        _key("group_member", "group_id", "user_group"),
        _key("group_member", "user_id", "user_account"),
        sa.PrimaryKeyConstraint("group_id", "user_id", name=op.f("pk_group_member")),
    )


def _add_restrictions() -> None:
    op.create_table(
        "restriction",
        sa.Column("id", _BIG, nullable=False),
        sa.Column("project_id", _BIG, nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("name", _PATH, nullable=False),
        sa.Column("user_id", _BIG, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _key("restriction", "project_id", "project"),
        _key("restriction", "user_id", "user_account"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_restriction")),
        sa.UniqueConstraint("project_id", "kind", "name", name=op.f("uq_restriction_project_id")),
    )
    op.create_table(
        "restriction_grant",
        sa.Column("id", _BIG, nullable=False),
        sa.Column("restriction_id", _BIG, nullable=False),
        sa.Column("user_id", _BIG, nullable=True),
        sa.Column("group_id", _BIG, nullable=True),
        sa.Column("allows", sa.String(length=8), nullable=False),
        _key("restriction_grant", "restriction_id", "restriction"),
        _key("restriction_grant", "user_id", "user_account"),
        _key("restriction_grant", "group_id", "user_group"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_restriction_grant")),
    )
    op.create_index(op.f("ix_restriction_grant_restriction_id"), "restriction_grant", ["restriction_id"])
    op.create_table(
        "lift",
        sa.Column("id", _BIG, nullable=False),
        sa.Column("file_set_id", _BIG, nullable=False),
        sa.Column("number", _BIG, nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("user_id", _BIG, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("ended_at", sa.DateTime(timezone=True), nullable=True),
        _key("lift", "file_set_id", "file_set"),
        _key("lift", "user_id", "user_account"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_lift")),
    )
    op.create_index(op.f("ix_lift_file_set_id"), "lift", ["file_set_id"])


def _add_restricted(what: str, thing: str) -> None:
    table = f"restricted_{what}"
    own = "file_set_version_id" if what == "version" else f"{what}_id"
    marks = [sa.Column(name, sa.Boolean(), nullable=False) for name in ("is_own", "is_lifted")]
    op.create_table(
        table,
        sa.Column(own, _BIG, autoincrement=False, nullable=False),
        sa.Column("restriction_id", _BIG, autoincrement=False, nullable=False),
        *(marks if what == "version" else []),
        _key(table, own, thing),
        _key(table, "restriction_id", "restriction"),
        sa.PrimaryKeyConstraint(own, "restriction_id", name=op.f(f"pk_{table}")),
    )
    op.create_index(f"ix_{table}_restriction", table, ["restriction_id"])
