"""Opens the database and hands out units of work.

SQLite has one writer at a time: `writing()` begins with the lock in hand, so that a transaction never fails half-way
for want of it. Whatever the engine, trouble with the database leaves here as one of our errors.
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from sqlalchemy import URL, Engine, create_engine, event
from sqlalchemy.engine import Connection, make_url
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError, IntegrityError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool

from acai_jupyter.contract.errors import (
    AcaiError,
    BadRequest,
    BadSetting,
    Conflict,
    DatabaseBroken,
    DatabaseBusy,
    StoreFull,
)
from acai_server.db import sight
from acai_server.db.chunks import ChunkMemory
from acai_server.db.conditions import SQLITE_MATCHES
from acai_server.db.expressions import matches
from acai_server.db.identity import KnownIdentity
from acai_server.db.pooling import postgres_engine
from acai_server.db.work import Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from acai_server.clock import Clock

BUSY_MILLISECONDS = 10_000
IDLE_SECONDS = 30.0
"""So long PostgreSQL waits for the next statement of a transaction; then it takes it back."""
_LEVEL: dict[str, dict[str, Any]] = {
    "snapshot": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
    "alone": {"isolation_level": "AUTOCOMMIT"},
}


_LACKING = """
    SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND (
        c.relkind IN ('r', 'p') AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
            AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE'))
        OR c.relkind = 'S' AND NOT has_sequence_privilege(c.oid, 'USAGE')
    ) ORDER BY c.relkind DESC, c.relname"""


class Database:
    """One database, SQLite or PostgreSQL.

    `committed` is called after each transaction that recorded events; it must be quick and must not raise.
    """

    def __init__(
        self,
        url: str,
        clock: Clock,
        committed: Callable[[], None] = lambda: None,
        *,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.url = _url(url)
        self.name = self.url.get_backend_name()
        self._clock = clock
        self._committed = committed
        self._chunks = ChunkMemory()
        self._identity = KnownIdentity()
        self.is_in_memory = in_memory = self.name == "sqlite" and not self.url.database
        shown = self.url.render_as_string(hide_password=False)
        self._engine = _engine(shown, self.name, in_memory=in_memory, idle_seconds=idle_seconds)
        sight.listen(self._engine)
        # SQLite's transactions are snapshots anyway; PostgreSQL would show each statement another state.
        snapshots, alone = ({}, {}) if self.name == "sqlite" else (_LEVEL["snapshot"], _LEVEL["alone"])
        self._reader = self._engine.execution_options(**snapshots)
        self._asker = self._engine.execution_options(**alone)
        self._write_lock: Any = threading.RLock() if self.name == "sqlite" else nullcontext()
        self._read_lock: Any = self._write_lock if in_memory else nullcontext()

    @contextmanager
    def reading(self) -> Iterator[Work]:
        """Give a consistent view; nothing that is done in it stays."""
        with self._read_lock, _translated(), Session(self._reader) as session:
            yield self.joined(session)
            self._end_reading(session)

    def _end_reading(self, session: Session) -> None:
        """Let go of what was only read. After a rollback PostgreSQL's driver prepares all its statements anew."""
        if self.name == "sqlite":
            session.rollback()
        else:  # where nothing can have been written
            session.commit()

    @contextmanager
    def asking(self) -> Iterator[Work]:
        """Give what a single query needs, which only reads: PostgreSQL would take two round trips for a transaction."""
        with self._read_lock, _translated(), Session(self._asker) as session:
            yield self.joined(session)
            session.rollback()

    @contextmanager
    def adding(self) -> Iterator[Work]:
        """Give what a single statement that writes needs, without events: it stays as soon as it is done."""
        with self.writing() if self.name == "sqlite" else self.asking() as work:
            yield work

    @contextmanager
    def writing(self) -> Iterator[Work]:
        """Give a transaction: all of it stays, or on any error none of it."""
        with self._write_lock, _translated(), Session(self._engine.execution_options(acai_writes=True)) as session:
            work = self.joined(session)
            yield work
            work.changes.flush()
            told = work.events.flush()
            session.commit()
        if told:
            self._committed()

    def joined(self, session: Session) -> Work:
        """Give the records inside somebody's transaction."""
        return Work(session, self._clock, self.name, chunks=self._chunks, identity=self._identity)

    def connect(self) -> Connection:
        """Open a bare connection, for migrations and LISTEN."""
        with _translated():
            return self._engine.connect()

    def describe(self) -> str:
        """Say which database this is, in words for people."""
        with self.connect() as connection:
            if self.name != "sqlite":
                version = connection.exec_driver_sql("SHOW server_version").scalar_one()
                return f"PostgreSQL {version}"
            pages, size = (
                connection.exec_driver_sql(f"PRAGMA {what}").scalar_one() for what in ("page_count", "page_size")
            )
            return f"SQLite {sqlite3.sqlite_version}, {pages * size / 1024**2:.1f} MB"

    @property
    def major(self) -> int:
        """Return the first number of PostgreSQL's version; 0 for SQLite, which comes with Python."""
        if self.name == "sqlite":
            return 0
        with self.connect() as connection:
            return int(connection.exec_driver_sql("SHOW server_version_num").scalar_one()) // 10_000

    def now(self) -> datetime:
        """Return the time that is recorded."""
        return self._clock.now()

    def moment(self) -> datetime:
        """Return the time that PostgreSQL's machine tells."""
        with self.connect() as connection:
            told: datetime = connection.exec_driver_sql("SELECT clock_timestamp()").scalar_one()
            return told

    def lacking(self) -> list[str]:
        """Return the tables and sequences of PostgreSQL that the role may not read and write."""
        if self.name == "sqlite":
            return []
        with self.connect() as connection:
            return [str(name) for (name,) in connection.exec_driver_sql(_LACKING)]

    def close(self) -> None:
        """Give all connections back. Safe to call twice."""
        self._engine.dispose()


def _url(text: str) -> URL:
    try:
        url = make_url(_with_driver(text))
    except (ArgumentError, ValueError) as error:
        raise BadSetting(name="database", source="the settings", reason="it is not the URL of a database") from error
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise BadSetting(name="database", source="the settings", reason="only PostgreSQL and SQLite are understood")
    return url


def _with_driver(url: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"postgresql+psycopg://{rest}" if scheme in ("postgresql", "postgres") else url


def _engine(url: str, name: str, *, in_memory: bool, idle_seconds: float = IDLE_SECONDS) -> Engine:
    if name != "sqlite":
        return postgres_engine(url, idle_seconds)
    options: dict[str, Any] = {"connect_args": {"check_same_thread": False}}
    if in_memory:
        options["poolclass"] = StaticPool
    engine = create_engine(url, **options)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _prepare_sqlite(connection: sqlite3.Connection, record: object) -> None:
    del record
    connection.isolation_level = None  # the driver would begin transactions by its own rules; `_begin_sqlite` does
    # Some builds of SQLite do not sync a commit in WAL mode by default: a power cut would take what was acknowledged.
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", f"busy_timeout={BUSY_MILLISECONDS}"):
        connection.execute(f"PRAGMA {pragma}")
    connection.create_function(SQLITE_MATCHES, 2, matches, deterministic=True)


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get("acai_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def _translated() -> Iterator[None]:
    """Name what the database cannot help. What is left is a fault of ours, and told as one."""
    try:
        yield
    except IntegrityError as error:
        raise Conflict(reason="somebody else did the same at the same moment; try again") from error
    except DBAPIError as error:
        known = _named(error)
        if known is None:
            raise
        raise known from error
    except PoolTimeout as error:
        raise DatabaseBusy(reason="all connections are in use") from error


def _named(error: DBAPIError) -> AcaiError | None:
    cause = error.orig
    text = next(iter(str(cause).strip().splitlines()), type(cause).__name__)
    if isinstance(cause, sqlite3.Error):
        return _of_sqlite(getattr(cause, "sqlite_errorcode", 0) & 0xFF, text)
    if type(cause).__name__ == "DiskFull":
        return StoreFull(what="the database")
    if isinstance(error, DataError) and "NUL" in text:
        return BadRequest(reason="a text in it has a NUL character")
    taken_back = type(cause).__name__ == "IdleInTransactionSessionTimeout"
    return DatabaseBusy(reason=text) if taken_back or isinstance(error, OperationalError) else None


def _of_sqlite(code: int, text: str) -> AcaiError | None:
    if code == sqlite3.SQLITE_FULL:
        return StoreFull(what="the database")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return DatabaseBroken(reason=text)
    unavailable = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR)
    return DatabaseBusy(reason=text) if code in (*unavailable, sqlite3.SQLITE_READONLY) else None
