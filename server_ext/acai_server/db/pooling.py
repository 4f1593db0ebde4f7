"""Connections to PostgreSQL that are kept: prepared once, and not asked whether they are alive each time."""

from __future__ import annotations

import select
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event
from sqlalchemy.exc import DisconnectionError

if TYPE_CHECKING:
    from sqlalchemy import Engine

CONNECTIONS = 20
STATEMENTS = 400
"""So many statements a connection keeps prepared: more than there are that come again and again."""
QUIET_SECONDS = 60.0
"""After so long without use a connection is asked whether it is alive: something between may have forgotten it."""


def postgres_engine(url: str, idle_seconds: float) -> Engine:
    """Return what hands out connections to PostgreSQL, the one that was used last first: it knows most statements."""
    half = CONNECTIONS // 2
    engine = create_engine(url, pool_size=half, max_overflow=half, pool_use_lifo=True)
    event.listen(engine, "connect", partial(_prepare, idle_seconds))
    event.listen(engine, "checkout", _check)
    event.listen(engine, "checkin", _note)
    return engine


def _prepare(idle_seconds: float, connection: Any, record: Any) -> None:
    """A server that is paused in the middle of a transaction is not to keep the others from what it has locked."""
    connection.prepared_max = STATEMENTS
    connection.execute(f"SET idle_in_transaction_session_timeout = {round(idle_seconds * 1000)}")
    connection.commit()
    _note(connection, record)


def _note(connection: Any, record: Any) -> None:
    del connection
    record.info["used_at"] = time.monotonic()


def _check(connection: Any, record: Any, proxy: object) -> None:
    """Take another connection where this one has ended. A server that goes says so, and what it said is there to read.

    To ask each time would be one more way to the database and back for every transaction.
    """
    del proxy
    quiet = time.monotonic() - record.info.get("used_at", 0.0) > QUIET_SECONDS
    if (quiet or _has_word(connection)) and not _answers(connection):
        raise DisconnectionError("the connection has ended")


def _has_word(connection: Any) -> bool:
    """Whether the server said something that nobody had asked for. That it ended is such a word."""
    try:
        waiting = select.poll()
        waiting.register(connection.pgconn.socket, select.POLLIN)
        return bool(waiting.poll(0))
    except _faults():
        return True


def _answers(connection: Any) -> bool:
    try:
        connection.rollback()
        connection.execute("SELECT 1")
        connection.rollback()
    except _faults():
        return False
    return True


def _faults() -> tuple[type[Exception], ...]:
    """What goes wrong with a connection that has ended."""
    import psycopg

    return (psycopg.Error, OSError, ValueError)
