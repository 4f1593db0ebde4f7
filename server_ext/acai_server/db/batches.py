"""Statements over many values, and rows that somebody else may be inserting at the same moment.

A million files pass through here, so rows are bare tuples and go to the driver's own fastest way in. SQL written by
hand has `?` for its parameters on both databases.
"""

from __future__ import annotations

import time
from collections import namedtuple
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError

from acai_server.db import expressions, sight

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlalchemy.orm import Session

    from acai_server.db.tables import Table

PAGE = 500
"""Values per statement: SQLite takes at least 999 parameters wherever it was built."""

_INSTRUCTIONS = 10_000
"""After so many of its steps SQLite asks whether to go on: some hundred times a second."""

_OPEN = "acai_connection"
"""Where a session keeps the connection that it has, as to ask it costs more than many a statement."""
T = TypeVar("T")
_INSERTS: dict[str, Any] = {"postgresql": postgresql.insert, "sqlite": sqlite.insert}


def pages(values: Iterable[T], size: int = PAGE) -> Iterator[list[T]]:
    """Cut values into lists that fit into a statement."""
    rest = iter(values)
    while page := list(islice(rest, size)):
        yield page


def insert_missing(session: Session, table: type[Table], rows: list[dict[str, Any]]) -> None:
    """Insert the rows whose unique keys are not there yet.

    PostgreSQL waits for a transaction that is inserting the same key, so callers give rows in one order everywhere.
    """
    if rows:
        session.execute(_INSERTS[session.get_bind().dialect.name](table).on_conflict_do_nothing(), rows)


def load(session: Session, table: type[Table], columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows as they are."""
    load_into(session, table.__tablename__, columns, rows)


def load_into(session: Session, name: str, columns: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows into the table of a name: COPY on PostgreSQL, one prepared statement on SQLite."""
    if not rows:
        return
    names = ", ".join(f'"{column}"' for column in columns)
    if _is_postgres(session):
        _copy(session, f'COPY "{name}" ({names}) FROM STDIN', rows)
        return
    marks = ", ".join("?" * len(columns))
    sql = f'INSERT INTO "{name}" ({names}) VALUES ({marks})'  # noqa: S608 (names of ours)
    session.connection().exec_driver_sql(sql, list(rows))


def _copy(session: Session, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
    connection = session.connection()
    driver: Any = connection.connection.driver_connection
    faults: Any = connection.dialect.dbapi.Error  # type: ignore[union-attr]  # a connected dialect has its driver
    try:
        # A plan that was kept was made for tables as they were before so much came into them.
        driver.execute("SET LOCAL plan_cache_mode = force_custom_plan")
        with driver.cursor() as cursor, cursor.copy(sql) as copy:
            for row in rows:
                copy.write_row(row)
    except faults as error:  # as SQLAlchemy does for what goes through it
        raise DBAPIError.instance(sql, (), error, faults) from error


def change(session: Session, sql: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Run one statement once for each row of parameters."""
    if len(rows) == 1:
        _executed(session, sql, tuple(rows[0]))
    elif rows:
        session.connection().exec_driver_sql(marked(session, sql), list(rows))


def changed(session: Session, sql: str, *parameters: Any) -> int:
    """Run one statement; returns how many rows it changed."""
    return int(_executed(session, sql, parameters).rowcount)


def select(session: Session, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Run a query and return its rows, whose columns have names too."""
    found = _executed(session, sql, parameters)
    return list(map(_shape(*_names(found)), found.fetchall()))


def _names(cursor: Any) -> list[str]:
    """The names of what was found; PostgreSQL's driver makes much more of each where it is asked to describe it."""
    found = getattr(cursor, "pgresult", None)
    if found is None:
        return [column[0] for column in cursor.description]
    return [found.fname(place).decode() for place in range(found.nfields)]


@lru_cache
def _shape(*names: str) -> Callable[[tuple[Any, ...]], tuple[Any, ...]]:
    """What makes a row of the driver's one with names; what is no name, as of `count(*)`, gets none."""
    typed: Any = namedtuple  # noqa: PYI024 (the names are known when it runs)
    make: Callable[[tuple[Any, ...]], tuple[Any, ...]] = typed("Row", names, rename=True)._make
    return make


def _executed(session: Session, sql: str, parameters: tuple[Any, ...]) -> Any:
    """Run one statement by the driver itself: what else is done for each costs several times as much."""
    connection = session.info.get(_OPEN)
    if connection is None or connection.closed:
        connection = session.info[_OPEN] = session.connection()
    dialect: Any = connection.dialect
    sql = marked(session, sight.as_seen(sql, dialect.default_schema_name))
    driver: Any = connection.connection.driver_connection
    cursor = driver.cursor()
    told = connection.engine.dispatch
    for tell in told.before_cursor_execute:
        tell(connection, cursor, sql, parameters, None, False)  # noqa: FBT003 (whoever listens is told so)
    try:
        cursor.execute(sql, parameters)
    except dialect.dbapi.Error as error:  # as SQLAlchemy does for what goes through it
        raise DBAPIError.instance(sql, parameters, error, dialect.dbapi.Error) from error
    for tell in told.after_cursor_execute:
        tell(connection, cursor, sql, parameters, None, False)  # noqa: FBT003 (the same)
    return cursor


def bare(session: Session, sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
    """Run a query and return its rows as the driver has them: for answers of a hundred thousand rows."""
    connection = session.connection()
    faults: Any = connection.dialect.dbapi.Error  # type: ignore[union-attr]  # a connected dialect has its driver
    cursor = connection.connection.cursor()
    try:
        cursor.execute(marked(session, sight.as_seen(sql, connection.dialect.default_schema_name)), parameters)
        return cursor.fetchall()  # type: ignore[return-value]  # SQLAlchemy does not know what its drivers return
    except faults as error:  # as SQLAlchemy does for what goes through it
        raise DBAPIError.instance(sql, parameters, error, faults) from error
    finally:
        cursor.close()


def select_in(session: Session, sql: str, values: Iterable[Any], *parameters: Any, behind: str = "") -> Iterator[Any]:
    """Run a query that ends in `IN` over any number of values; the other parameters stand before it."""
    for ending, page in _lists(session, values):
        yield from select(session, sql.removesuffix("IN") + ending + behind, *parameters, *page)


def change_in(session: Session, sql: str, values: Iterable[Any], *parameters: Any) -> None:
    """Run a statement that ends in `IN` and returns nothing likewise."""
    for ending, page in _lists(session, values):
        statement = marked(session, sql.removesuffix("IN") + ending)
        session.connection().exec_driver_sql(statement, (*parameters, *page))


def _lists(session: Session, values: Iterable[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Cut values into lists, each with what compares with it: PostgreSQL takes one as a single parameter."""
    if _is_postgres(session):
        yield from (("= ANY(?)", [page]) for page in pages(values, 10_000))
    else:
        yield from ((f"IN ({', '.join('?' * len(page))})", page) for page in pages(values))


@contextmanager
def interrupted(session: Session, seconds: float) -> Iterator[None]:
    """End the statements of SQLite when they have taken so long together."""
    driver: Any = session.connection().connection.driver_connection
    end = time.monotonic() + seconds
    driver.set_progress_handler(lambda: time.monotonic() > end, _INSTRUCTIONS)
    try:
        with expressions.watched(end, driver.interrupt):
            yield
    finally:
        driver.set_progress_handler(None, 0)


def free_ids(session: Session, table: type[Table], count: int) -> Iterable[int]:
    """Take this many ids for rows that are going to be loaded."""
    name = table.__tablename__
    if _is_postgres(session):
        sql = "SELECT nextval(pg_get_serial_sequence(?, 'id')) FROM generate_series(1, ?)"
        return [row[0] for row in select(session, sql, name, count)]
    # SQLite has one writer: nobody else takes an id before this transaction has ended.
    with sight.everything():
        highest = select(session, f'SELECT coalesce(max(id), 0) FROM "{name}"')[0][0]  # noqa: S608 (a name of ours)
    return range(highest + 1, highest + 1 + count)


def marked(session: Session, sql: str) -> str:
    """Return SQL with the marks for parameters that the driver knows."""
    return sql.replace("?", "%s") if _is_postgres(session) else sql


def as_stored(session: Session, moment: datetime) -> Any:
    """Return a time as SQL written by hand compares it with those that are stored."""
    return moment if _is_postgres(session) else moment.astimezone(UTC).isoformat(" ", "microseconds")[:26]


def as_time(stored: Any) -> datetime:
    """Return the time that SQL written by hand has read."""
    moment = stored if isinstance(stored, datetime) else datetime.fromisoformat(stored)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _is_postgres(session: Session) -> bool:
    return session.get_bind().dialect.name == "postgresql"
