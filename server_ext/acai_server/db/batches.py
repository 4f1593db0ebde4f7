"""Statements over many values, and rows that somebody else may be inserting at the same moment."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy.orm import Session

    from acai_server.db.tables import Table

PAGE = 500
"""Values per statement: SQLite takes at least 999 parameters wherever it was built."""

T = TypeVar("T")
_INSERTS: dict[str, Any] = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}


def pages(values: Iterable[T]) -> Iterator[list[T]]:
    """Cut values into lists that fit into a statement."""
    rest = iter(values)
    while page := list(islice(rest, PAGE)):
        yield page


def insert_missing(session: Session, table: type[Table], rows: list[dict[str, Any]]) -> None:
    """Insert the rows whose unique keys are not there yet.

    PostgreSQL waits for a transaction that is inserting the same key, so callers give rows in one order everywhere.
    """
    if rows:
        session.execute(_INSERTS[session.get_bind().dialect.name](table).on_conflict_do_nothing(), rows)
