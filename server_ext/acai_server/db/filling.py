"""An empty database that is being filled with records from elsewhere: all of them, or none."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from acai_jupyter.contract.errors import BadRequest, Conflict, DatabaseNewer
from acai_server.db import schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy.engine import Connection

    from acai_server.db.database import Database
    from acai_server.db.work import Work


def refuse_filled(database: Database, revision: str) -> None:
    """Refuse a database that is not empty, and records of a revision that it cannot be given."""
    with database.connect() as connection:
        _look(connection, revision)


@contextmanager
def filling(database: Database, revision: str) -> Iterator[tuple[Work, Callable[[], None]]]:
    """Give one transaction over a database without rows whose tables are at a revision.

    When all is written, what is given beside it brings the tables to this code's revision; the rest of the transaction
    may then do what services do.
    """
    with database.connect() as connection:
        found = _look(connection, revision)
        connection.rollback()
        with schema.references_unchecked(connection):
            if found is None:
                schema.bring_to(connection, revision)
            with Session(connection) as session:
                work = database.joined(session)
                yield work, lambda: _finish(session, work)
                work.changes.flush()
                work.events.flush()
                session.commit()  # which is for nothing when the connection was in a transaction before
            connection.commit()


def _look(connection: Connection, revision: str) -> str | None:
    if revision not in schema.KNOWN:
        raise DatabaseNewer(found=revision, known=schema.HEAD)
    found = schema.revision(connection)
    if found is None:
        return None
    if found != revision:
        reason = f"its tables are at revision {found}, and the records are of {revision}; use one without tables"
        raise Conflict(reason=f"the database cannot be filled: {reason}")
    for table in ("project", "user_account"):
        if connection.exec_driver_sql(f"SELECT 1 FROM {table} LIMIT 1").first():
            raise Conflict(reason="the database is not empty; nothing is written over")
    return found


def _finish(session: Session, work: Work) -> None:
    """Bring the tables to this code's revision, and let numbers go on behind those that were written."""
    connection = session.connection()
    if schema.revision(connection) != schema.HEAD:
        schema.bring_to(connection, schema.HEAD)
    if connection.dialect.name == "sqlite":  # PostgreSQL has checked each row
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise BadRequest(f"A record of '{broken[0]}' refers to one of '{broken[2]}' that is not in the backup.")
    work.dumps.count_on()
