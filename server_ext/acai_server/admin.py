"""`acai-server`: what an administrator does to a server's database from a shell."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import AcaiError
from acai_server.app import AcaiApp
from acai_server.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_server.settings import Settings


def main(argv: Sequence[str] | None = None) -> int:
    """Do one thing; an error is one sentence and a non-zero status."""
    parser = argparse.ArgumentParser(prog="acai-server", description="Administer an ACAI server.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("migrate", help="bring the database's tables to this version")
    parser.parse_args(argv)
    try:
        print(migrate(AcaiApp().read_settings()))  # noqa: T201 (a command prints)
    except AcaiError as error:
        print(error.message, file=sys.stderr)  # noqa: T201 (the same)
        return error.exit_status
    return 0


def migrate(settings: Settings) -> str:
    """Bring the database of these settings to this code's revision; says what was done."""
    from acai_server.db import schema
    from acai_server.db.database import Database

    if not settings.database:
        settings.data_folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    database = Database(settings.database or f"sqlite:///{settings.data_folder / 'acai.db'}", Clock())
    try:
        before = schema.migrate(database)
    finally:
        database.close()
    if before == schema.HEAD:
        return f"The database is at revision {schema.HEAD}; there is nothing to do."
    return f"The database is now at revision {schema.HEAD}" + (
        f"; it was at {before}." if before else "; it was empty."
    )
