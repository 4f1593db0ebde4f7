"""Attributes with types and numbered keys, labels, and who changed what; parameters of jobs become attributes."""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_RESERVED = {
    "job": "number name state created_at creator ended_at input output vcpu memory_bytes run_seconds billed_seconds "
    "cost_usd exit_code attempts template tags",
    "file_set": "name version latest created_at creator file_count size_bytes made_by job tags",
}
_NUMBER, _TEXT, _BOOLEAN = 2, 4, 1
_LONGEST = 500


def upgrade() -> None:
    """Bring the tables to this revision, with what is in them."""
    op.execute(sa.text("CREATE TABLE old_attribute AS SELECT * FROM attribute"))
    op.drop_table("attribute")
    _create()
    for kind, names in _RESERVED.items():
        taken = ", ".join(f"'{name}'" for name in names.split())
        # What the system now gives itself keeps the value that a program gave it, under another name.
        op.execute(
            sa.text(
                f"UPDATE old_attribute SET key = 'tag.' || key WHERE subject_kind = '{kind}' "  # noqa: S608 (names of ours)
                f"AND (key IN ({taken}) OR key LIKE 'params.%')"
            )
        )
    for statement in _MOVE:
        op.execute(sa.text(statement))
    _move_parameters()
    op.drop_table("old_attribute")


_MOVE = (
    """
    INSERT INTO attribute_key (project_id, subject_kind, name)
    SELECT DISTINCT project_id, subject_kind, key FROM old_attribute WHERE number IS NOT NULL OR text IS NOT NULL
    """,
    f"""
    INSERT INTO attribute (subject_id, key_id, type, number, text)
    SELECT o.subject_id, k.id, CASE WHEN o.text IS NULL THEN {_NUMBER} ELSE {_TEXT} END,
           CASE WHEN o.text IS NULL THEN o.number END, substr(o.text, 1, {_LONGEST})
    FROM old_attribute o JOIN attribute_key k
    ON k.project_id = o.project_id AND k.subject_kind = o.subject_kind AND k.name = o.key
    WHERE o.number IS NOT NULL OR o.text IS NOT NULL
    """,  # noqa: S608 (numbers of ours)
)
_ADD_KEY = "INSERT INTO attribute_key (project_id, subject_kind, name) VALUES (:project, 'job', :name) RETURNING id"
_ADD = "INSERT INTO attribute (subject_id, key_id, type, number, text) VALUES (:job, :key, :type, :number, :text)"


def _move_parameters() -> None:
    connection = op.get_bind()
    keys: dict[tuple[int, str], int] = {}
    for job, project, request in connection.execute(sa.text("SELECT id, project_id, request FROM job")).all():
        asked = json.loads(request) if isinstance(request, str) else request
        for name, value in asked.get("parameters", {}).items():
            kept = _kept(value)
            if kept is None:
                continue
            place = (project, f"params.{name}")
            if place not in keys:
                keys[place] = connection.execute(
                    sa.text(_ADD_KEY), {"project": place[0], "name": place[1]}
                ).scalar_one()
            connection.execute(sa.text(_ADD), {"job": job, "key": keys[place], **kept})


def _kept(value: object) -> dict[str, object] | None:
    """The columns of a value; None for what is too long, or no number, to find a job by."""
    if isinstance(value, str):
        return None if len(value) > _LONGEST else {"type": _TEXT, "number": None, "text": value}
    if not isinstance(value, int | float) or not abs(value) < float("inf"):
        return None
    return {"type": _BOOLEAN if isinstance(value, bool) else _NUMBER, "number": float(value), "text": None}


def _ordered(length: int) -> sa.types.TypeEngine[str]:
    return sa.String(length=length).with_variant(sa.String(length=length, collation="C"), "postgresql")


def _create() -> None:
    big = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "attribute_key",
        sa.Column("id", big, nullable=False),
        sa.Column("project_id", big, nullable=False),
        sa.Column("subject_kind", sa.String(length=16), nullable=False),
        sa.Column("name", _ordered(128), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["project.id"], name=op.f("fk_attribute_key_project_id_project")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attribute_key")),
        sa.UniqueConstraint("project_id", "subject_kind", "name", name=op.f("uq_attribute_key_project_id")),
    )
    op.create_table(
        "attribute",
        sa.Column("subject_id", big, autoincrement=False, nullable=False),
        sa.Column("key_id", big, autoincrement=False, nullable=False),
        sa.Column("type", sa.SmallInteger(), nullable=False),
        sa.Column("number", sa.Double(), nullable=True),
        sa.Column("text", _ordered(500), nullable=True),
        sa.ForeignKeyConstraint(["key_id"], ["attribute_key.id"], name=op.f("fk_attribute_key_id_attribute_key")),
        sa.PrimaryKeyConstraint("subject_id", "key_id", name=op.f("pk_attribute")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("attribute", schema=None) as batch_op:
        for column, names in (("number", ["key_id", "type", "number"]), ("text", ["key_id", "text"])):
            batch_op.create_index(
                f"ix_attribute_{column}",
                [*names, "subject_id"],
                unique=False,
                sqlite_where=sa.text(f"{column} IS NOT NULL"),
                postgresql_where=sa.text(f"{column} IS NOT NULL"),
            )
    op.create_table(
        "attribute_label",
        sa.Column("subject_id", big, autoincrement=False, nullable=False),
        sa.Column("key_id", big, autoincrement=False, nullable=False),
        sa.Column("label", _ordered(128), nullable=False),
        sa.ForeignKeyConstraint(["key_id"], ["attribute_key.id"], name=op.f("fk_attribute_label_key_id_attribute_key")),
        sa.PrimaryKeyConstraint("subject_id", "key_id", "label", name=op.f("pk_attribute_label")),
        sqlite_with_rowid=False,
    )
    with op.batch_alter_table("attribute_label", schema=None) as batch_op:
        batch_op.create_index("ix_attribute_label_label", ["key_id", "label", "subject_id"], unique=False)
    op.create_table(
        "attribute_change",
        sa.Column("number", big, nullable=False),
        sa.Column("subject_kind", sa.String(length=16), nullable=False),
        sa.Column("subject_id", big, nullable=False),
        sa.Column("user_id", big, nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("changes", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["user_account.id"], name=op.f("fk_attribute_change_user_id_user_account")
        ),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_attribute_change")),
    )
    with op.batch_alter_table("attribute_change", schema=None) as batch_op:
        batch_op.create_index("ix_attribute_change_subject", ["subject_kind", "subject_id", "number"], unique=False)
