"""Whether the database fits this code, and bringing it there.

The check speaks to SQLite by itself: it runs while JupyterLab starts, where SQLAlchemy with Alembic would cost a third
of a second.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import AcaiError, DatabaseBusy, DatabaseNewer

if TYPE_CHECKING:
    from alembic.config import Config
    from sqlalchemy.engine import Connection

    from acai_server.db.database import Database

HEAD = "0001"
"""The newest migration; a test holds it against the folder of migrations."""
KNOWN = ("0001",)


def has_pending_jobs(path: Path) -> bool:
    """Whether a SQLite database has jobs that have not ended, so that the loops must run."""
    if not path.exists():
        return False
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=1)) as connection:
            found = connection.execute("SELECT 1 FROM job WHERE ended_at IS NULL LIMIT 1").fetchone()
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
        _upgrade(connection)
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


def _upgrade(connection: Connection) -> None:
    from alembic import command

    try:
        command.upgrade(alembic_config(connection), "head")
        connection.commit()
    except AcaiError:
        raise
    except Exception as error:
        raise DatabaseBusy(reason=f"bringing its tables to revision {HEAD} failed: {error}") from error


def alembic_config(connection: Connection) -> Config:
    """Return the configuration of Alembic over an open connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config
