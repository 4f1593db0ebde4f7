"""What all tables have in common: their base and the types of their columns."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Text,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase

BigInt = BigInteger().with_variant(Integer(), "sqlite")
"""SQLite numbers rows by itself only when the key's type is INTEGER."""


class UtcDateTime(TypeDecorator[datetime]):
    """An aware time in UTC; SQLite would forget the zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Refuse a time without a zone before it is stored."""
        del dialect
        if value is not None and value.tzinfo is None:
            raise ValueError("a time without a zone")
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the zone back."""
        del dialect
        if value is None or value.tzinfo is not None:
            return value
        return value.replace(tzinfo=UTC)


def Ordered(length: int) -> String:  # noqa: N802 (it stands where a type stands)
    """The type of a text that is ordered by code point on every database."""
    return String(length).with_variant(String(length, collation="C"), "postgresql")


def Path() -> String:  # noqa: N802 (it stands where a type stands)
    """The type of a path."""
    return Ordered(1024)


class Table(DeclarativeBase):
    """Base of all tables. Constraints have names, so that migrations can speak of them."""

    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s",
            "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {  # noqa: RUF012 (SQLAlchemy reads it as a plain class attribute)
        int: BigInt,
        datetime: UtcDateTime(),
        str: Text(),
        bytes: LargeBinary(),
        dict[str, Any]: JSON(),
    }
