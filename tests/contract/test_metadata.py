"""The suites about attributes and searches over each kind of database."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.errors import SearchTooLong
from acai_jupyter.contract.metadata import ThingChange
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.query.parser import parse
from acai_server.testing.counting import CountingSuite
from acai_server.testing.metadata import MetadataSuite
from acai_server.testing.queries import NOON
from acai_server.testing.searches import SearchSuite

if TYPE_CHECKING:
    from acai_server.db.database import Database
    from acai_server.testing.libraries import Library


class TestSqlite(MetadataSuite):
    @pytest.fixture
    def database(self, sqlite_database: Database) -> Database:
        return sqlite_database


class TestPostgres(MetadataSuite):
    @pytest.fixture
    def database(self, postgres_database: Database) -> Database:
        return postgres_database


class TestSearchesOfSqlite(SearchSuite):
    @pytest.fixture
    def database(self, sqlite_database: Database) -> Database:
        return sqlite_database

    def test_a_search_is_ended_in_time_however_long_each_match_takes(self, made: Library) -> None:
        chance = Random(1)
        made.change_all(
            *(ThingChange(str(made.submit()), set={"note": "".join(chance.choices("xabc", k=500))}) for _ in range(400))
        )
        query = parse("note ~ '(.{1,90}[ab]){10}$'", NOON)
        with pytest.raises(SearchTooLong), made.database.reading() as work:
            work.search.find(made.project, SubjectKind.JOB, query, None, 10, seconds=0.2)
        assert len(made.things("job", "has(note) limit 3")) == 3


class TestSearchesOfPostgres(SearchSuite):
    @pytest.fixture
    def database(self, postgres_database: Database) -> Database:
        return postgres_database


class TestCountsOfSqlite(CountingSuite):
    @pytest.fixture
    def database(self, sqlite_database: Database) -> Database:
        return sqlite_database


class TestCountsOfPostgres(CountingSuite):
    @pytest.fixture
    def database(self, postgres_database: Database) -> Database:
        return postgres_database
