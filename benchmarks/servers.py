"""Servers to measure over HTTP, each with the database behind it."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from tests.integration.places import Place
from tests.servers.postgres import postgres

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.places import Server


@contextmanager
def over_sqlite(folder: Path, **variables: str) -> Iterator[tuple[Server, Database]]:
    """Start a server as it comes, or with some settings."""
    with closing(Place(folder)) as place:
        server = _started(place, **variables)
        with closing(Database(f"sqlite:///{place.data / 'acai.db'}", Clock())) as database:
            yield server, database


@contextmanager
def over_postgres(folder: Path) -> Iterator[tuple[Server, Database]]:
    """Start a server over a PostgreSQL; raises `ServerMissing` where there is none."""
    with postgres() as beside, closing(Place(folder)) as place:
        url = beside.create_database()
        try:
            with closing(Database(url, Clock())) as database:
                schema.migrate(database)
                server = _started(place, ACAI_DATABASE=url)
                yield server, database
                server.end()
        finally:
            beside.drop_database(url)


def _started(place: Place, **variables: str) -> Server:
    for name in ("PYTHONWARNINGS", "PYTHONDONTWRITEBYTECODE"):  # what tests want and a user does not have
        place.environment.pop(name, None)
    server = place.start(**variables)
    assert server.status().status == 200, server.log
    return server
