"""Single rows, written by hand: what a unit of work costs is mostly what makes its statements, not the database."""

from __future__ import annotations

import json
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from acai_server.db import batches

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from acai_server.db.tables import Table


@lru_cache
def _columns(table: type[Table]) -> tuple[dict[str, Any], str]:
    """The columns that a new row is given, with what they are when nothing was said, and the statement."""
    columns = {
        column.key: None if column.default is None else column.default.arg
        for column in table.__table__.columns
        if column.key != "id"
    }
    names = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join("?" * len(columns))
    sql = f'INSERT INTO "{table.__tablename__}" ({names}) VALUES ({marks})'  # noqa: S608 (names of ours)
    return columns, f"{sql} RETURNING id" if "id" in table.__table__.columns else sql


def insert(session: Session, row: Table) -> None:
    """Write a new row, as it is then, defaults and id included. The session does not watch it."""
    columns, sql = _columns(type(row))
    values = []
    for name, default in columns.items():
        value = getattr(row, name)
        if value is None and default is not None:
            value = {} if callable(default) else default
            setattr(row, name, value)
        values.append(as_kept(session, value))
    if sql.endswith("id"):
        row.id = batches.select(session, sql, *values)[0][0]  # type: ignore[attr-defined]  # as its statement says
    else:
        batches.changed(session, sql, *values)


def update(session: Session, table: type[Table], row: int, values: dict[str, Any]) -> None:
    """Change columns of one row."""
    names = ", ".join(f'"{name}" = ?' for name in values)
    sql = f'UPDATE "{table.__tablename__}" SET {names} WHERE id = ?'  # noqa: S608 (names of ours)
    batches.changed(session, sql, *(as_kept(session, value) for value in values.values()), row)
    session.expire_all()


def as_kept(session: Session, value: Any) -> Any:
    """Return a value as SQL written by hand stores it."""
    if isinstance(value, datetime):
        return batches.as_stored(session, value)
    return json.dumps(value) if isinstance(value, dict | list) else value


def as_time(value: Any) -> datetime | None:
    """Return a time that may be missing, as SQL written by hand has read it."""
    return None if value is None else batches.as_time(value)


def as_json(value: Any) -> Any:
    """Return JSON that SQL written by hand has read: PostgreSQL's driver decodes it, SQLite's does not."""
    return json.loads(value) if isinstance(value, str | bytes) else value
