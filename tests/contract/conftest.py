"""Databases with all tables, of both kinds."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers.postgres import Postgres


@pytest.fixture
def postgres_database(postgres_url: str) -> Iterator[Database]:
    with closing(Database(postgres_url, Clock())) as database:
        yield database


@pytest.fixture
def sqlite_database(sqlite_template: Path, tmp_path: Path) -> Iterator[Database]:
    path = shutil.copyfile(sqlite_template, tmp_path / "acai.db")
    with closing(Database(f"sqlite:///{path}", Clock())) as database:
        yield database


@pytest.fixture
def memory_database() -> Iterator[Database]:
    with closing(Database("sqlite://", Clock())) as database:
        schema.migrate(database)
        yield database


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database without tables."""
    server: Postgres | None = request.getfixturevalue("postgres_server") if request.param == "postgresql" else None
    url = server.create_database() if server else f"sqlite:///{tmp_path / 'empty.db'}"
    with closing(Database(url, Clock())) as database:
        yield database
    if server:
        server.drop_database(url)
