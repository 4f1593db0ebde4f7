"""A server over each kind of store, and the lines that people type to it: for the tests of the data lake."""

from __future__ import annotations

from contextlib import chdir, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.client.connection import Connection
from acai_jupyter.client.http import Client
from acai_jupyter.commands import verbs
from tests.integration.places import Place, Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acai_jupyter.commands.results import Result
    from tests.servers.seaweedfs import Seaweedfs

KINDS = [
    "direct",
    "signed",
    pytest.param("s3", marks=pytest.mark.s3),
    pytest.param("postgres", marks=[pytest.mark.s3, pytest.mark.postgres]),
]
"""A folder by the direct path and by signed URLs, S3, and S3 with PostgreSQL."""
FOLDERS = KINDS[:2]
S3 = KINDS[2:3]


@dataclass
class Lake:
    """A server, and where its bytes rest."""

    server: Server
    kind: str
    s3: Seaweedfs | None = None
    bucket: str = ""
    url: str = ""

    @property
    def place(self) -> Place:
        return self.server.place

    def client(self) -> Client:
        return Client(Connection(self.url or self.server.root, self.server.token))

    def typed(self, *words: str) -> Result:
        """Do what `acai` does with these words, in this process and in the working folder."""
        with chdir(self.place.work):
            return verbs.run(verbs.parse("acai", list(words)), self.client())

    def shell(self, *words: str, status: int = 0) -> str:
        """Run the command line, hold its exit status, and return what it said on the right stream."""
        done = self.place.acai(*words, ACAI_URL=self.url or self.server.root, ACAI_TOKEN=self.server.token)
        assert done.returncode == status, (done.stdout, done.stderr)
        if status:
            assert done.stdout == ""
            assert len(done.stderr.strip().splitlines()) == 1, done.stderr
            return done.stderr
        assert done.stderr == ""
        return done.stdout

    def cat(self, spec: str) -> bytes:
        from acai_jupyter.client import downloads

        return b"".join(downloads.read(self.client(), spec))

    def stored(self) -> dict[str, int]:
        """All objects of projects, with their sizes."""
        if self.s3 is None:
            root = self.place.data / "objects"
            files = (path for path in root.glob("p[0-9]*/**/*") if path.is_file())
            return {str(path.relative_to(root)): path.stat().st_size for path in files}
        pages = self.s3.client().get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix="p")
        return {one["Key"]: one["Size"] for page in pages for one in page.get("Contents", [])}

    def stored_bytes(self) -> int:
        return sum(self.stored().values())

    def pending(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.server.get("/v1/projects/default/uploads")["uploads"]
        return found


def add_user(place: Place) -> None:
    """Let there be a second user: nobody moves bytes by the direct path any more, and no jobs run on this machine."""
    made = place.servers[-1].ask("POST", "/v1/projects/default/users", {"name": "another"})
    assert made.status == 201, made.body


def remove_user(place: Place) -> None:
    """Let there be one user again."""
    assert place.servers[-1].ask("DELETE", "/v1/projects/default/users/another").status == 200


@contextmanager
def lake(kind: str, home: Path, request: pytest.FixtureRequest, s3_url: str = "") -> Iterator[Lake]:
    """Run a server over a kind of store in a home of its own."""
    place = Place(home)
    try:
        yield _started(kind, place, request, s3_url)
    finally:
        place.close()


def _started(kind: str, place: Place, request: pytest.FixtureRequest, s3_url: str) -> Lake:
    if kind in ("direct", "signed"):
        server = place.start()
        assert server.status().status == 200
        if kind == "signed":
            add_user(place)
        return Lake(server, kind)
    s3: Seaweedfs = request.getfixturevalue("s3_server")
    bucket = s3.make_bucket()
    variables = s3.environment | {
        "ACAI_OBJECT_STORE": "s3",
        "ACAI_S3_BUCKET": bucket,
        "ACAI_S3_ENDPOINT_URL": s3_url or s3.url,
    }
    if kind == "postgres":
        template = request.getfixturevalue("postgres_template")
        variables["ACAI_DATABASE"] = request.getfixturevalue("postgres_server").create_database(template)
    server = place.start(**variables)
    assert server.status().status == 200
    return Lake(server, kind, s3, bucket)
