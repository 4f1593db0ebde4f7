"""For all tests: nothing of the shell reaches them; real back ends are started once, and named when missing."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, TypeVar

import pytest
from hypothesis import HealthCheck, settings

from tests.servers.postgres import Postgres, database_of, postgres
from tests.servers.process import ServerMissing
from tests.servers.seaweedfs import Seaweedfs, seaweedfs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

T = TypeVar("T")
pytest.register_assert_rewrite("acai_server.testing")

OF_THE_SHELL = ("ACAI_", "XDG_", "AWS_")
NEEDS = {"s3": "an S3 server", "postgres": "PostgreSQL", "browser": "Chromium", "cluster": "a cluster"}
"""Markers of tests that need something real, and its name for people."""
FIXTURES = {
    "s3_server": "s3",
    "postgres_server": "postgres",
    "on_a_cluster": "cluster",
}
"""Fixtures that mark the tests which use them."""

settings.register_profile(
    "house",
    deadline=None,
    database=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],  # how fast a machine makes examples says nothing of the test
)
settings.load_profile("house")


def pytest_configure() -> None:
    """Be interruptible, however this was started."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell that started this in the background ignores interrupts, and so would every program that tests start.
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def bare_shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Take away the settings of the shell that the tests were started from, before any server is."""
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(OF_THE_SHELL):
                patch.delenv(name)
        _move_home(patch, tmp_path_factory.mktemp("home"))
        yield


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a home of its own."""
    return _move_home(monkeypatch, tmp_path_factory.mktemp("home"))


def _move_home(patch: pytest.MonkeyPatch, home: Path) -> Path:
    patch.setenv("HOME", str(home))
    patch.setenv("XDG_DATA_HOME", str(home / "data"))
    patch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    return home


@pytest.fixture(scope="session")
def s3_server() -> Iterator[Seaweedfs]:
    """Return the S3 server of this run."""
    yield from _started(seaweedfs())


@pytest.fixture
def s3_bucket(s3_server: Seaweedfs, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a new bucket, with the environment in which boto3 finds its credentials."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server.make_bucket()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Postgres]:
    """Return the PostgreSQL of this run."""
    yield from _started(postgres())


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database file with all tables, which others are copied from: making them takes longer than a test."""
    from acai_server.clock import Clock
    from acai_server.db import schema
    from acai_server.db.database import Database

    path = tmp_path_factory.mktemp("template") / "acai.db"
    with closing(Database(f"sqlite:///{path}", Clock())) as database:
        schema.migrate(database)
    return path


@pytest.fixture(scope="session")
def postgres_template(postgres_server: Postgres) -> Iterator[str]:
    """Return the name of a database with all tables, which others are copied from."""
    from acai_server.clock import Clock
    from acai_server.db import schema
    from acai_server.db.database import Database

    url = postgres_server.create_database()
    with closing(Database(url, Clock())) as database:
        schema.migrate(database)
    yield database_of(url)
    postgres_server.drop_database(url)


@pytest.fixture
def postgres_url(postgres_server: Postgres, postgres_template: str) -> Iterator[str]:
    """Return the URL of a database of this test's own, with all tables."""
    url = postgres_server.create_database(postgres_template)
    yield url
    postgres_server.drop_database(url)


def _started(server: AbstractContextManager[T]) -> Iterator[T]:
    with ExitStack() as stack:
        try:
            running = stack.enter_context(server)
        except ServerMissing as missing:
            pytest.skip(str(missing))
        yield running


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test with what it needs, so that `-m "not s3"` leaves it out."""
    for item in items:
        for fixture in getattr(item, "fixturenames", ()):
            if fixture in FIXTURES:
                item.add_marker(FIXTURES[fixture])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
    """Say last which tests did not run for want of something real, and why: a line each."""
    yield
    for need, reasons in _not_run(terminalreporter.stats.get("skipped", [])).items():
        files = sorted({report.nodeid.partition("::")[0] for reports in reasons.values() for report in reports})
        count = sum(map(len, reasons.values()))
        said = f"NOT RUN for want of {NEEDS[need]}: {count} tests in {', '.join(files)}: {'; '.join(reasons)}"
        terminalreporter.write_line(said, yellow=True)


def _not_run(skipped: list[pytest.TestReport]) -> dict[str, dict[str, list[pytest.TestReport]]]:
    """Skipped tests by what they need, and by the reason."""
    found: dict[str, dict[str, list[pytest.TestReport]]] = defaultdict(lambda: defaultdict(list))
    for report in skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        for need in NEEDS:
            if need in report.keywords:
                found[need][reason.removeprefix("Skipped: ")].append(report)
    return found
