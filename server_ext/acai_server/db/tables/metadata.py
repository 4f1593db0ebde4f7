"""Attributes, their changes, and events."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ForeignKey,
    Index,
    SmallInteger,
    String,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from acai_server.db.tables.table import Ordered, Table


class AttributeKeyRow(Table):
    """A key that was used on a kind of things in a project; rows of values bear its number in place of all three."""

    __tablename__ = "attribute_key"
    __table_args__ = (UniqueConstraint("project_id", "subject_kind", "name"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"))
    subject_kind: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(Ordered(128))


class AttributeRow(Table):
    """One key and value on a file version, file set version or job.

    A value is a text, or a number that also stands for a boolean (0, 1) and for a time (seconds since 1970): `type`
    says which. The primary key gives a thing's values; each index gives the things with a value, ordered by it.
    """

    __tablename__ = "attribute"
    __table_args__ = (
        Index(
            "ix_attribute_number",
            "key_id",
            "type",
            "number",
            "subject_id",
            sqlite_where=text("number IS NOT NULL"),
            postgresql_where=text("number IS NOT NULL"),
        ),
        Index(
            "ix_attribute_text",
            "key_id",
            "text",
            "subject_id",
            sqlite_where=text("text IS NOT NULL"),
            postgresql_where=text("text IS NOT NULL"),
        ),
        {"sqlite_with_rowid": False},
    )
    subject_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    key_id: Mapped[int] = mapped_column(ForeignKey("attribute_key.id"), primary_key=True, autoincrement=False)
    type: Mapped[int] = mapped_column(SmallInteger())
    number: Mapped[float | None]
    text: Mapped[str | None] = mapped_column(Ordered(500))


class AttributeLabelRow(Table):
    """One label of a thing's list `tags`, whose key it bears."""

    __tablename__ = "attribute_label"
    __table_args__ = (
        Index("ix_attribute_label_label", "key_id", "label", "subject_id"),
        {"sqlite_with_rowid": False},
    )
    subject_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    key_id: Mapped[int] = mapped_column(ForeignKey("attribute_key.id"), primary_key=True, autoincrement=False)
    label: Mapped[str] = mapped_column(Ordered(128), primary_key=True)


class AttributeChangeRow(Table):
    """Who changed what on a thing and when; `number` counts all changes, `changes` is what the contract calls one."""

    __tablename__ = "attribute_change"
    __table_args__ = (Index("ix_attribute_change_subject", "subject_kind", "subject_id", "number"),)
    number: Mapped[int] = mapped_column(primary_key=True)
    subject_kind: Mapped[str] = mapped_column(String(16))
    subject_id: Mapped[int]
    user_id: Mapped[int] = mapped_column(ForeignKey("user_account.id"))
    at: Mapped[datetime]
    changes: Mapped[dict[str, Any]]


class EventRow(Table):
    """A change, written in its transaction and numbered in its project, in commit order."""

    __tablename__ = "event"
    project_id: Mapped[int] = mapped_column(ForeignKey("project.id"), primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str] = mapped_column(String(32))
    subject: Mapped[str] = mapped_column(String(256))
    details: Mapped[dict[str, Any]]
    created_at: Mapped[datetime] = mapped_column(index=True)
