"""The suites of credentials over each kind of database."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from acai_server.clock import Clock
from acai_server.db.database import Database
from acai_server.testing.accounts import AccountSuite, ExpirySuite, Moved, clock
from acai_server.testing.restrictions import RestrictionSuite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class TestSqlite(AccountSuite):
    @pytest.fixture
    def database(self, sqlite_template: Path, tmp_path: Path) -> Iterator[Database]:
        path = shutil.copy(sqlite_template, tmp_path / "acai.db")
        with closing(Database(f"sqlite:///{path}", Clock())) as database:
            yield database


class TestPostgres(AccountSuite):
    @pytest.fixture
    def database(self, postgres_database: Database) -> Database:
        return postgres_database


class TestExpiryOnSqlite(ExpirySuite):
    @pytest.fixture
    def moved(self) -> Moved:
        return Moved()

    @pytest.fixture
    def database(self, sqlite_template: Path, tmp_path: Path, moved: Moved) -> Iterator[Database]:
        path = shutil.copy(sqlite_template, tmp_path / "acai.db")
        with closing(Database(f"sqlite:///{path}", clock(moved))) as database:
            yield database


class TestExpiryOnPostgres(ExpirySuite):
    @pytest.fixture
    def moved(self) -> Moved:
        return Moved()

    @pytest.fixture
    def database(self, postgres_url: str, moved: Moved) -> Iterator[Database]:
        with closing(Database(postgres_url, clock(moved))) as database:
            yield database


class TestRestrictionsOnSqlite(RestrictionSuite):
    @pytest.fixture
    def database(self, sqlite_database: Database) -> Database:
        return sqlite_database


class TestRestrictionsOnPostgres(RestrictionSuite):
    @pytest.fixture
    def database(self, postgres_database: Database) -> Database:
        return postgres_database
