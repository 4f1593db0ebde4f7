"""Every job is an action; links between names of file sets; which session holds a job's outputs."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    if op.get_bind().dialect.name == "sqlite":
        _rebuild_inputs(big)
    else:
        op.drop_index("ix_action_input_file_set_version_id", "action_input")
    op.create_index("ix_action_input_use", "action_input", ["file_set_version_id", "action_id"])
    op.create_table(
        "file_set_link",
        sa.Column("source_id", big, autoincrement=False, nullable=False),
        sa.Column("target_id", big, autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["source_id"], ["file_set.id"], name=op.f("fk_file_set_link_source_id_file_set")),
        sa.ForeignKeyConstraint(["target_id"], ["file_set.id"], name=op.f("fk_file_set_link_target_id_file_set")),
        sa.PrimaryKeyConstraint("source_id", "target_id", name=op.f("pk_file_set_link")),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_file_set_link_target", "file_set_link", ["target_id"])
    with op.batch_alter_table("upload_session", schema=None) as batch_op:
        batch_op.add_column(sa.Column("job_id", big, nullable=True))
        batch_op.create_foreign_key(op.f("fk_upload_session_job_id_job"), "job", ["job_id"], ["id"])
    for statement in (_JOBS, _INPUTS, _LINKS):
        op.execute(sa.text(statement))


def _rebuild_inputs(big: sa.types.TypeEngine[int]) -> None:
    """SQLite keeps the rows of a table in another one when it is to be without row numbers."""
    op.drop_index("ix_action_input_file_set_version_id", "action_input")
    op.rename_table("action_input", "action_input_before")
    op.create_table(
        "action_input",
        sa.Column("action_id", big, autoincrement=False, nullable=False),
        sa.Column("position", big, autoincrement=False, nullable=False),
        sa.Column("file_set_version_id", big, nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.ForeignKeyConstraint(["action_id"], ["action.id"], name=op.f("fk_action_input_action_id_action")),
        sa.ForeignKeyConstraint(
            ["file_set_version_id"],
            ["file_set_version.id"],
            name=op.f("fk_action_input_file_set_version_id_file_set_version"),
        ),
        sa.PrimaryKeyConstraint("action_id", "position", name=op.f("pk_action_input")),
        sqlite_with_rowid=False,
    )
    op.execute(sa.text("INSERT INTO action_input SELECT * FROM action_input_before"))
    op.drop_table("action_input_before")


_JOBS = """
    INSERT INTO action (project_id, kind, job_id, user_id, created_at)
    SELECT j.project_id, 'job', j.id, j.user_id, j.created_at FROM job j
    WHERE NOT EXISTS (SELECT 1 FROM action a WHERE a.job_id = j.id) ORDER BY j.id"""
_INPUTS = """
    INSERT INTO action_input (action_id, position, file_set_version_id, role)
    SELECT a.id, i.position, i.file_set_version_id, i.role FROM job_input i JOIN action a ON a.job_id = i.job_id
    WHERE NOT EXISTS (SELECT 1 FROM action_input x WHERE x.action_id = a.id)"""
_LINKS = """
    INSERT INTO file_set_link (source_id, target_id)
    SELECT DISTINCT s.file_set_id, t.file_set_id FROM action_output o
    JOIN file_set_version t ON t.id = o.file_set_version_id
    JOIN action_input i ON i.action_id = o.action_id AND i.role = 'data'
    JOIN file_set_version s ON s.id = i.file_set_version_id WHERE s.file_set_id <> t.file_set_id"""
