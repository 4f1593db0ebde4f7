"""Databases with all tables, of both kinds."""

from __future__ import annotations

from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def migrated(url: str) -> Iterator[Database]:
    with closing(Database(url, Clock())) as database:
        schema.migrate(database)
        yield database


@pytest.fixture
def postgres_database(postgres_url: str) -> Iterator[Database]:
    with closing(Database(postgres_url, Clock())) as database:
        yield database


@pytest.fixture
def sqlite_database(tmp_path: Path) -> Iterator[Database]:
    with migrated(f"sqlite:///{tmp_path / 'acai.db'}") as database:
        yield database


@pytest.fixture
def memory_database() -> Iterator[Database]:
    with migrated("sqlite://") as database:
        yield database
