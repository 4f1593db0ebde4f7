"""Whether the database fits this code, and bringing it there.

The check speaks to SQLite by itself: it runs while JupyterLab starts, where SQLAlchemy with Alembic would cost a third
of a second.
"""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import AcaiError, DatabaseBusy, DatabaseNewer
from acai_server.objects.keys import new_identity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from alembic.config import Config
    from sqlalchemy.engine import Connection

    from acai_server.db.database import Database

HEAD = "0019"
"""The newest migration; a test holds it against the folder of migrations."""
KNOWN = tuple(f"{number:04}" for number in range(1, int(HEAD) + 1))

_PENDING = """
    SELECT 1 FROM job WHERE ended_at IS NULL UNION ALL SELECT 1 FROM profiling WHERE ended_at IS NULL LIMIT 1"""

_REVISION = """
    CREATE TABLE alembic_version (
        version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"""


def has_pending_jobs(path: Path) -> bool:
    """Whether a SQLite database has jobs that have not ended, or are still to be made: the loops must run."""
    if not path.exists():
        return False
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1)) as connection:
            found = connection.execute(_PENDING).fetchone()
    except sqlite3.Error:
        return True  # whatever is wrong is found, and said, by opening it in earnest
    return found is not None


def migrate(database: Database) -> str | None:
    """Bring the database to this code's revision and return the one it had. A newer one is left alone and refused."""
    with database.connect() as connection:
        found = revision(connection)
        connection.rollback()
        if found == HEAD:
            return found
        if found is not None and found not in KNOWN:
            raise DatabaseNewer(found=found, known=HEAD)
        try:
            _create(connection) if found is None else _upgrade(connection)
        except AcaiError:
            raise
        except Exception as error:
            raise DatabaseBusy(reason=f"bringing its tables to revision {HEAD} failed: {error}") from error
        return found


def check(database: Database) -> None:
    """Refuse a database that is not at this code's revision."""
    with database.connect() as connection:
        found = revision(connection)
    if found == HEAD:
        return
    if found is not None and found not in KNOWN:
        raise DatabaseNewer(found=found, known=HEAD)
    raise DatabaseBusy(reason="its tables are not there or are older than this ACAI; run `acai-server migrate`")


def revision(connection: Connection) -> str | None:
    """Return the revision of a database, or None when it is empty."""
    dialect = connection.dialect
    if not dialect.has_table(connection, "alembic_version"):
        return None
    return str(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar_one())


def _create(connection: Connection) -> None:
    """Make what all migrations together make, in a tenth of the time; a test holds one against the other."""
    from acai_server.db.tables import Table

    Table.metadata.create_all(connection, checkfirst=False)
    connection.exec_driver_sql(_REVISION)
    connection.exec_driver_sql(f"INSERT INTO alembic_version VALUES ('{HEAD}')")  # noqa: S608 (our own word)
    named = f"'{new_identity()}', '{secrets.token_hex(16)}'"
    connection.exec_driver_sql(f"INSERT INTO database_identity (identity, nonce) VALUES ({named})")  # noqa: S608 (the same)
    connection.commit()


def _upgrade(connection: Connection) -> None:
    with references_unchecked(connection):
        bring_to(connection, HEAD)
        connection.commit()


def bring_to(connection: Connection, wanted: str) -> None:
    """Bring tables to a revision that is known, in the transaction that the connection is in."""
    from alembic import command

    command.upgrade(alembic_config(connection), wanted)


@contextmanager
def references_unchecked(connection: Connection) -> Iterator[None]:
    """SQLite would not rebuild a table that others refer to, and takes this setting only between transactions."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver: Any = connection.connection.driver_connection
    driver.execute("PRAGMA foreign_keys=OFF")
    try:
        yield
    finally:
        connection.rollback()
        driver.execute("PRAGMA foreign_keys=ON")


def alembic_config(connection: Connection) -> Config:
    """Return the configuration of Alembic over an open connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
