"""`acai-server`: what an administrator does from a shell, to a server's database and for its cluster."""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import AcaiError
from acai_server import admin_backups as backups
from acai_server import admin_clock as clocks
from acai_server import admin_repair as repairs
from acai_server import admin_store as store
from acai_server.admin_backups import database_of
from acai_server.app import AcaiApp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from acai_server.settings import Settings


def main(argv: Sequence[str] | None = None) -> int:
    """Do one thing; an error is one sentence and a non-zero status."""
    parser = argparse.ArgumentParser(prog="acai-server", description="Administer an ACAI server.")
    parser.add_argument(
        "--config", metavar="FILE", help="a file of Jupyter's configuration, as `jupyter acai` takes it"
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("migrate", help="bring the database's tables to this version")
    lost = verbs.add_parser("token", help="make a token for a user of a project who has lost theirs, and print it")
    lost.add_argument("project", metavar="PROJECT", help="the project")
    lost.add_argument("user", metavar="USER", help="the user's name")
    verbs.add_parser("audit", help="print who changed what, of all projects, as lines of JSON")
    verbs.add_parser("kubernetes-role", help="print the Role that the server needs in its cluster, for kubectl apply")
    backups.declare(verbs)
    repairs.declare(verbs)
    clocks.declare(verbs)
    store.declare(verbs)
    arguments = parser.parse_args(argv)
    try:
        for line in _VERBS[arguments.verb](_settings(arguments.config), arguments):
            print(line)  # noqa: T201 (a command prints)
        sys.stdout.flush()
    except AcaiError as error:
        print(error.message, file=sys.stderr)  # noqa: T201 (the same)
        return error.exit_status
    except BrokenPipeError:  # whoever reads has enough; Python would say so once more at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _settings(config: str | None) -> Settings:
    """Read what `jupyter acai` would read, but for its command line."""
    app = AcaiApp()
    app.read_jupyters(None if config is None else Path(config))
    return app.read_settings()


def token(settings: Settings, project: str, user: str) -> str:
    """Make a token: who reads and writes the database needs to ask nobody."""
    from acai_server.credentials.users import replace_lost
    from acai_server.db import schema

    with closing(database_of(settings)) as database:
        schema.check(database)
        return replace_lost(database, project, user).secret


def audit(settings: Settings) -> Iterator[str]:
    """Give the audit log, the oldest entry first."""
    import msgspec

    from acai_server.db import schema

    with closing(database_of(settings)) as database:
        schema.check(database)
        with database.reading() as work:
            for entry in work.audit.all_of_them():
                yield msgspec.json.encode(entry).decode()


def kubernetes_role(settings: Settings) -> str:
    """Return the Role that these settings need, as JSON, which is YAML too."""
    from acai_server.runners.kubernetes import calls

    made = calls.role(settings.kubernetes_namespace or "default", settings.kubernetes_secrets)
    return json.dumps(made, indent=2)


def migrate(settings: Settings) -> str:
    """Bring the database of these settings to this code's revision; says what was done."""
    from acai_server.db import schema

    with closing(database_of(settings)) as database:
        before = schema.migrate(database)
        which = f"The database {database.url.render_as_string(hide_password=True)}"
    if before == schema.HEAD:
        return f"{which} is at revision {schema.HEAD}; there is nothing to do."
    return f"{which} is now at revision {schema.HEAD}; it was {f'at {before}' if before else 'empty'}."


_VERBS: dict[str, Callable[[Settings, argparse.Namespace], Iterable[str]]] = {
    "migrate": lambda settings, _: [migrate(settings)],
    "token": lambda settings, given: [token(settings, given.project, given.user)],
    "audit": lambda settings, _: audit(settings),
    "kubernetes-role": lambda settings, _: [kubernetes_role(settings)],
    **backups.VERBS,
    **repairs.VERBS,
    **clocks.VERBS,
    **store.VERBS,
}
