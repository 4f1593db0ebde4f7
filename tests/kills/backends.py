"""Where a campaign keeps its records and bytes."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.integration.places import BIN
from tests.kills.stores import Bucket, Folder, Postgres, Sqlite
from tests.servers.postgres import postgres
from tests.servers.seaweedfs import seaweedfs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.places import Place
    from tests.kills.stores import Database, Objects


@dataclass(frozen=True)
class Backend:
    """A database, a store, and the settings that lead a server to them."""

    database: Database
    objects: Objects
    watched: Objects | None = None
    """The store again, where looking into it costs next to nothing."""
    variables: dict[str, str] = field(default_factory=dict)


@contextmanager
def embedded(place: Place) -> Iterator[Backend]:
    """SQLite and a folder."""
    folder = Folder(place.data / "objects")
    yield Backend(Sqlite(place.data / "acai.db"), folder, folder)


@contextmanager
def on_s3(place: Place) -> Iterator[Backend]:
    """SQLite and an S3 server, which is not killed."""
    with seaweedfs() as server:
        bucket = server.make_bucket()
        settings = {"ACAI_OBJECT_STORE": "s3", "ACAI_S3_BUCKET": bucket, "ACAI_S3_ENDPOINT_URL": server.url}
        yield Backend(Sqlite(place.data / "acai.db"), Bucket(server, bucket), variables=settings | server.environment)


@contextmanager
def on_postgres(place: Place) -> Iterator[Backend]:
    """PostgreSQL, which is not killed, and a folder."""
    with postgres() as server:
        url = server.create_database()
        variables = {"ACAI_DATABASE": url}
        subprocess.run([str(BIN / "acai-server"), "migrate"], env=place.environment | variables, check=True)
        folder = Folder(place.data / "objects")
        yield Backend(Postgres(url), folder, folder, variables)


@contextmanager
def of_a_team(place: Place) -> Iterator[Backend]:
    """PostgreSQL and an S3 server, as a team runs it; neither is killed."""
    with on_postgres(place) as records, on_s3(place) as bytes_:
        yield Backend(records.database, bytes_.objects, variables=bytes_.variables | records.variables)


BACKENDS = {"folder": embedded, "s3": on_s3, "postgres": on_postgres, "team": of_a_team}
