"""What a server may do with its database, and which one it is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from acai_jupyter.contract.checkups import Check, Finding
from acai_server.db import schema

if TYPE_CHECKING:
    from acai_server.db.database import Database

NAME = "database"
OLDEST = 14
"""PostgreSQL before this gets no corrections any more, and is not tried."""
_SHOWN = 5


def look(database: Database) -> Check:
    """Say which it is, how fast it answers, and what of it does not fit."""
    begun = time.monotonic()
    said = database.describe()
    with database.writing():  # somebody who never lets go of it would show here
        pass
    answers = f"{said}, answers in {(time.monotonic() - begun) * 1000:.0f} ms"
    with database.connect() as connection:
        found = schema.revision(connection)
    if found != schema.HEAD:
        said = f"its tables are at revision {found}, and this server is made for {schema.HEAD}"
        return Check(NAME, Finding.FAILED, f"{said}; upgrade the server, or run acai-server migrate.")
    lacking = database.lacking()
    if lacking:
        names = ", ".join(lacking[:_SHOWN]) + (" and others" if len(lacking) > _SHOWN else "")
        said = "GRANT SELECT, INSERT, UPDATE, DELETE on all tables and USAGE on all sequences to it"
        return Check(NAME, Finding.FAILED, f"{said}; its role may not read and write {names}.")
    if database.major and database.major < OLDEST:
        said = f"it gets no corrections any more; upgrade it to {OLDEST} or newer."
        return Check(NAME, Finding.WARNING, f"{answers}; {said}")
    return Check(NAME, Finding.OK, answers)
