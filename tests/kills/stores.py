"""Looking into the database and the object store from beside, as no client can: every way that a deployment has."""

from __future__ import annotations

import os
import sqlite3
from collections import defaultdict
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.seaweedfs import Seaweedfs

Row = tuple[Any, ...]
UNFINISHED = (".part", ".parts/")


class Database(Protocol):
    """A database that can be read while a server works on it."""

    def rows(self, query: str) -> list[Row]:
        """Return what a query finds."""
        ...

    def faults(self) -> list[str]:
        """Return what the database itself finds wrong with it."""
        ...

    def change(self, statement: str) -> None:
        """Change something, when nobody is at work."""
        ...


class Objects(Protocol):
    """The bytes."""

    def sizes(self) -> dict[str, int]:
        """Return the size of each object of a project by key; what is not finished has a key that says so."""
        ...

    def read(self, key: str) -> bytes:
        """Return all of an object."""
        ...


class Sqlite:
    """The file beside the server."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self, query: str) -> list[Row]:
        with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True, timeout=20)) as connection:
            return connection.execute(query).fetchall()

    def change(self, statement: str) -> None:
        with closing(sqlite3.connect(self._path, timeout=20)) as connection, connection:
            connection.execute(statement)

    def faults(self) -> list[str]:
        found = [row[0] for row in self.rows("PRAGMA integrity_check") if row[0] != "ok"]
        return found + [f"a foreign key is broken: {row}" for row in self.rows("PRAGMA foreign_key_check")]


class Postgres:
    """A server of its own."""

    def __init__(self, url: str) -> None:
        self._url = url

    def rows(self, query: str) -> list[Row]:
        import psycopg

        with psycopg.connect(self._url, autocommit=True) as connection:
            return connection.execute(query.encode()).fetchall()

    def change(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self._url) as connection:
            connection.execute(statement.encode())

    def faults(self) -> list[str]:
        return []


class Folder:
    """Objects as files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def sizes(self) -> dict[str, int]:
        return dict(self._walk())

    def _walk(self) -> Iterator[tuple[str, int]]:
        for project in self._folder.glob("p*"):
            for root, _, files in os.walk(project):
                for path in (Path(root, name) for name in files):
                    with suppress(FileNotFoundError):
                        yield str(path.relative_to(self._folder)), path.stat().st_size

    def read(self, key: str) -> bytes:
        return (self._folder / key).read_bytes()


class Bucket:
    """Objects in S3."""

    def __init__(self, server: Seaweedfs, name: str) -> None:
        self._client = server.client()
        self._name = name

    def sizes(self) -> dict[str, int]:
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._name, Prefix="p")
        return {one["Key"]: one["Size"] for page in pages for one in page.get("Contents", [])}

    def read(self, key: str) -> bytes:
        body: bytes = self._client.get_object(Bucket=self._name, Key=key)["Body"].read()
        return body


def is_finished(key: str) -> bool:
    """Whether a key is that of an object, not of something on its way to be one."""
    return not any(mark in key for mark in UNFINISHED)


def by_session(keys: Iterator[str]) -> dict[str, list[str]]:
    """Sort keys by the upload session that their prefix names."""
    found: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        parts = key.split("/")
        if len(parts) > 4 and parts[1] == "objects":  # the database's identity and the first letters come before
            found[parts[4]].append(key)
    return found
