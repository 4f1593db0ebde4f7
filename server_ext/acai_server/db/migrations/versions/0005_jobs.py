"""Jobs with what their next attempt gets, memos and tombstones; attempts with pieces of their log and what was seen."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    with op.batch_alter_table("membership", schema=None) as batch_op:
        batch_op.add_column(sa.Column("served_at", sa.DateTime(timezone=True), nullable=True))
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    moment = sa.DateTime(timezone=True)
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.add_column(sa.Column("vcpu", sa.Double(), nullable=False, server_default="1"))
        batch_op.add_column(sa.Column("memory_bytes", big, nullable=False, server_default="1073741824"))
        batch_op.add_column(sa.Column("gpus", big, nullable=False, server_default="0"))
        batch_op.add_column(sa.Column("template", sa.String(length=300), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("memo", sa.LargeBinary(), nullable=True))
        for name in ("partial_version_id", "answered_by_id", "killed_by_id"):
            batch_op.add_column(sa.Column(name, big, nullable=True))
        for name in ("not_before", "kill_asked_at", "deleted_at", "collected_at"):
            batch_op.add_column(sa.Column(name, moment, nullable=True))
    for statement in _FILL[op.get_bind().dialect.name]:
        op.execute(sa.text(statement))
    with op.batch_alter_table("job", schema=None) as batch_op:
        for name in ("vcpu", "memory_bytes", "gpus", "template"):
            batch_op.alter_column(name, server_default=None)
        for name, table in (
            ("partial_version_id", "file_set_version"),
            ("answered_by_id", "job"),
            ("killed_by_id", "user_account"),
        ):
            batch_op.create_foreign_key(op.f(f"fk_job_{name}_{table}"), table, [name], ["id"])
        batch_op.drop_index("ix_job_open")
    is_open = sa.text("ended_at IS NULL")
    with op.batch_alter_table("job", schema=None) as batch_op:
        batch_op.create_index(
            "ix_job_open",
            ["state", "project_id", "user_id", "priority", "number"],
            sqlite_where=is_open,
            postgresql_where=is_open,
        )
        batch_op.create_index("ix_job_memo", ["project_id", "memo"])
        batch_op.create_index("ix_job_template", ["project_id", "template", "ended_at"])
    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.add_column(sa.Column("log", sa.JSON(), nullable=True))
        batch_op.add_column(sa.Column("machine", sa.Text(), nullable=False, server_default=""))
        batch_op.add_column(sa.Column("seen", sa.JSON(), nullable=False, server_default="{}"))
    with op.batch_alter_table("attempt", schema=None) as batch_op:
        batch_op.alter_column("machine", server_default=None)
        batch_op.alter_column("seen", server_default=None)


_FILL = {
    "sqlite": (
        "UPDATE job SET vcpu = coalesce(json_extract(request, '$.resources.vcpu'), 1)",
        "UPDATE job SET memory_bytes = coalesce(json_extract(request, '$.resources.memory_bytes'), 1073741824)",
    ),
    "postgresql": (
        "UPDATE job SET vcpu = coalesce((request -> 'resources' ->> 'vcpu')::float8, 1)",
        "UPDATE job SET memory_bytes = coalesce((request -> 'resources' ->> 'memory_bytes')::float8, 1073741824)",
    ),
}
