"""A PostgreSQL restarted under load: each request is done or refused in a sentence; nothing is lost or done twice."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import ExitStack, closing
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from tests.integration.places import until
from tests.servers.postgres import database_of, either, restartable
from tests.servers.process import ServerMissing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.places import Place, Server
    from tests.servers.postgres import Restartable

JOBS = "/v1/projects/default/jobs"
HOUR_BEHIND = """
    CREATE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
    AS 'SELECT pg_catalog.clock_timestamp() - interval ''1 hour'''"""
"""Where `public` is looked into first, this is the clock."""


class Load:
    """Somebody who submits jobs and looks at them, all the time."""

    def __init__(self, server: Server, ran: Path) -> None:
        self.accepted: list[int] = []
        self.answers: Counter[tuple[int, str]] = Counter()
        self._server = server
        self._body = {"command": ["sh", "-c", f"echo $ACAI_JOB >> {ran}"]}
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._submit), threading.Thread(target=self._look)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _submit(self) -> None:
        while not self._over.wait(0.1):
            answer = self._server.ask("POST", JOBS, self._body)
            self.answers[answer.status, answer.code if answer.status >= 400 else ""] += 1
            if answer.status == 201:
                self.accepted.append(answer.json["number"])

    def _look(self) -> None:
        while not self._over.wait(0.05):
            answer = self._server.ask("GET", JOBS)
            self.answers[answer.status, answer.code if answer.status >= 400 else ""] += 1


@pytest.fixture
def postgres() -> Iterator[Restartable]:
    with ExitStack() as stack:
        try:
            running = stack.enter_context(restartable())
        except ServerMissing as missing:
            pytest.skip(str(missing))
        yield running


@pytest.mark.postgres
def test_a_database_that_is_restarted_under_load_loses_nothing(place: Place, postgres: Restartable) -> None:
    url = postgres.server.create_database()
    with closing(Database(url, Clock())) as database:
        schema.migrate(database)
    server = place.start(program="acai", ACAI_DATABASE=url)
    ran = place.home / "ran"
    load = Load(server, ran)
    try:
        until(lambda: load.accepted, "the first job")
        postgres.stop()
        until(lambda: load.answers[503, "database_busy"] >= 2, "its being missed")
        before = len(load.accepted)
        postgres.start()
        until(lambda: len(load.accepted) > before, "jobs being taken again")
    finally:
        load.end()
    check(load, server, ran)
    server.end()


@pytest.mark.postgres
def test_a_standby_whose_clock_is_behind_takes_the_databases_place_and_nothing_is_lost(
    place: Place, postgres: Restartable
) -> None:
    """One that had each commit before it was told of, as those who cannot lose any set it up."""
    url = postgres.server.create_database()
    with closing(Database(url, Clock())) as database:
        schema.migrate(database)
        with database.connect() as connection:
            connection.exec_driver_sql(HOUR_BEHIND)
            connection.commit()
    with postgres.standby() as standby:
        server = place.start(program="acai", ACAI_DATABASE=either(url, postgres, standby))
        ran = place.home / "ran"
        load = Load(server, ran)
        try:
            until(lambda: load.accepted, "the first job")
            postgres.stop()
            until(lambda: load.answers[503, "database_busy"] >= 2, "its being missed")
            before = len(load.accepted)
            standby.promote()
            with closing(psycopg.connect(standby.server.url, autocommit=True)) as connection:
                name = database_of(url)
                connection.execute(f'ALTER DATABASE "{name}" SET search_path = public, pg_catalog'.encode())
                connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            until(lambda: len(load.accepted) > before, "jobs being taken again")
            until(lambda: "s behind; times go by it" in server.log, "the clock's being noticed")
            seen = len(load.accepted)
            until(lambda: len(load.accepted) > seen, "jobs being taken after that")
        finally:
            load.end()
        check(load, server, ran)
        jobs = server.get(f"{JOBS}?limit=1000")["jobs"]
        moments = [job["created_at"] for job in jobs]
        assert moments == sorted(moments, reverse=True)
        for job in jobs:
            steps = [step["at"] for attempt in job["attempts"] for step in attempt["transitions"]]
            assert [job["created_at"], *steps] == sorted([job["created_at"], *steps])
        server.end()


def check(load: Load, server: Server, ran: Path) -> None:
    """Each job that was taken ran, and none ran twice."""
    assert set(load.answers) <= {(200, ""), (201, ""), (503, "database_busy")}
    for number in load.accepted:
        job = until(partial(has_ended, server, number), "each coming to its end")
        assert (job["state"], len(job["attempts"])) == ("finished", 1)
    counted = Counter(map(int, ran.read_text().split()))
    assert set(load.accepted) <= set(counted)
    assert set(counted.values()) == {1}


def has_ended(server: Server, number: int) -> dict[str, Any] | None:
    job: dict[str, Any] = server.get(f"{JOBS}/{number}")
    return job if job["ended_at"] else None
