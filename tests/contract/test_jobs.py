"""The suites of the engine over each database that serves people. Each test has a database of its own."""

from __future__ import annotations

import shutil
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from acai_server.db.database import Database
from acai_server.testing.budgets import BudgetSuite
from acai_server.testing.costs import CostSuite
from acai_server.testing.job_model import check_lives, in_new_projects
from acai_server.testing.jobs import LifeSuite
from acai_server.testing.memory import MemorySuite
from acai_server.testing.plans import PlanSuite
from acai_server.testing.profiles import ProfileSuite
from acai_server.testing.queueing import QueueSuite
from acai_server.testing.registering import RegistrySuite
from acai_server.testing.skewed import Pair, SkewSuite
from acai_server.testing.stages import BEGAN, HandClock, JobUser
from acai_server.testing.sweeps import SweepSuite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def sqlite_user(sqlite_template: Path, tmp_path: Path) -> Iterator[JobUser]:
    time, path = HandClock(), tmp_path / "acai.db"
    shutil.copyfile(sqlite_template, path)
    with closing(Database(f"sqlite:///{path}", time.clock)) as database:
        yield JobUser(database, time)


@pytest.fixture
def postgres_user(postgres_url: str) -> Iterator[JobUser]:
    time = HandClock()
    with closing(Database(postgres_url, time.clock)) as database:
        yield JobUser(database, time)


class TestSqlite(
    LifeSuite, RegistrySuite, QueueSuite, SweepSuite, PlanSuite, CostSuite, BudgetSuite, ProfileSuite, MemorySuite
):
    @pytest.fixture
    def user(self, sqlite_user: JobUser) -> JobUser:
        return sqlite_user


class TestPostgres(
    LifeSuite, RegistrySuite, QueueSuite, SweepSuite, PlanSuite, CostSuite, BudgetSuite, ProfileSuite, MemorySuite
):
    @pytest.fixture
    def user(self, postgres_user: JobUser) -> JobUser:
        return postgres_user


def test_any_lives_are_what_a_simple_model_says_on_sqlite(sqlite_user: JobUser) -> None:
    check_lives(in_new_projects(sqlite_user), max_examples=15)


def test_any_lives_are_what_a_simple_model_says_on_postgres(postgres_user: JobUser) -> None:
    check_lives(in_new_projects(postgres_user), max_examples=5)


class TestSkewedOnSqlite(SkewSuite):
    @pytest.fixture
    def pair(self, sqlite_template: Path, tmp_path: Path) -> Iterator[Pair]:
        path = tmp_path / "acai.db"
        shutil.copyfile(sqlite_template, path)
        yield from skewed(f"sqlite:///{path}")


class TestSkewedOnPostgres(SkewSuite):
    @pytest.fixture
    def pair(self, postgres_url: str) -> Iterator[Pair]:
        yield from skewed(postgres_url)


def skewed(url: str) -> Iterator[Pair]:
    """A user at two servers that share all but the clock: the second one's is an hour behind."""
    right, late = HandClock(), HandClock(BEGAN - timedelta(hours=1))
    with closing(Database(url, right.clock)) as one, closing(Database(url, late.clock)) as two:
        first = JobUser(one, right)
        yield first, JobUser(two, late, first.runner, first.objects)
