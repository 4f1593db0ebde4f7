"""Attributes: recording them in a batch, and finding things by them on both databases; the same in other trackers."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.metadata import ChangeMetadata, FindThings, ThingChange
from acai_jupyter.contract.query.builtin import SubjectKind, ValueType
from acai_server.clock import Clock
from acai_server.db import batches, schema
from acai_server.db.attributes import TYPES
from acai_server.db.database import Database
from acai_server.db.tables import AttributeRow, JobRow
from acai_server.metadata.service import Attributes
from acai_server.testing.databases import enter
from acai_server.testing.libraries import Files
from benchmarks import peers
from benchmarks.lake.programs import environment, one_line
from benchmarks.report import Row, median
from benchmarks.runs import NAMES, NUMBERS, values
from benchmarks.servers import over_postgres, over_sqlite
from tests.servers.postgres import postgres
from tests.servers.process import ServerMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.integration.places import Server

FEW, MANY = 100_000, 1_000_000
RUNS = 21
RECORDED = 200
LIMITS_MS = {FEW: 3.0, MANY: 10.0}
HTTP_LIMITS_MS = {FEW: 10.0, MANY: 20.0}
QUERIES = {
    "metric above x and parameter equals y, best ten": "accuracy > 0.9 and params.lr = 0.01 "
    "order by accuracy desc limit 10",
    "the same with a rare parameter": "accuracy > 0.5 and seed = 4711 order by accuracy desc limit 10",
    "the best one": "order by accuracy desc limit 1",
    "newest ten of a model": "model = 'model-3' and accuracy > 0.5 limit 10",
}
EXPRESSIONS = {
    "a regular expression that few match": "n.{3}7{3}5",
    "one that nothing matches and each place begins": "(0|1|2|3|4|5|6|7|8|9)*x$",
}


def run() -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, open_server in (("SQLite", over_sqlite), ("PostgreSQL", over_postgres)):
            for count in (FEW, MANY):
                try:
                    with open_server(Path(folder) / f"{name}-{count}") as (server, database):
                        rows += _measure(server, database, name, count)
                except ServerMissing as missing:
                    rows.append(Row(f"{name}, {count:,} jobs", float("nan"), "ms", beside=str(missing)))
        rows += _recording(Path(folder))
        rows += _of_trackers(Path(folder))
    return rows


def _measure(server: Server, database: Database, name: str, count: int) -> list[Row]:
    with database.reading() as work:
        member = Member(*batches.select(work._session, "SELECT project_id, user_id FROM membership")[0])  # noqa: SLF001
    fill(database, member, count)
    service, client = Attributes(database, Files()), server.client()
    rows = []
    for what, query in QUERIES.items():
        request = FindThings(SubjectKind.JOB, query)
        seconds = _median(partial(service.find, member.project_id, request))
        rows.append(Row(f"{name}, {count:,} jobs: {what}", seconds * 1000, "ms", LIMITS_MS[count]))
        seconds = _median(partial(client.call, endpoints.FIND_THINGS, request))
        rows.append(Row(f"{name}, {count:,} jobs: {what}, over HTTP", seconds * 1000, "ms", HTTP_LIMITS_MS[count]))
    if count == FEW:
        for what, pattern in EXPRESSIONS.items():
            request = FindThings(SubjectKind.JOB, f"note ~ '{pattern}'")
            seconds = _median(partial(service.find, member.project_id, request))
            rows.append(Row(f"{name}, {what} over {count:,} texts", seconds * 1000, "ms", 200))
    return rows


def _median(act: Callable[[], object]) -> float:
    found = []
    for _ in range(RUNS):
        began = time.perf_counter()
        act()
        found.append(time.perf_counter() - began)
    return median(found)


class Member(NamedTuple):
    """Who the jobs belong to."""

    project_id: Any
    user_id: Any


def fill(database: Database, member: Member, count: int) -> None:
    """Make jobs with 15 attributes each. Indexes are made afterwards, which changes only how long this takes."""
    with database.writing() as work:
        session = work._session  # noqa: SLF001 (no service makes a million jobs at once)
        keys = work.attributes.ensure(member.project_id, SubjectKind.JOB, [*NUMBERS, *NAMES])
        indexes = _without_indexes(session)
        for ids in batches.pages(range(1, count + 1), 20_000):
            _add_jobs(session, member, ids)
            rows = [row for n in ids for row in _values(n, keys)]
            batches.load(session, AttributeRow, ("subject_id", "key_id", "type", "number", "text"), rows)
        for sql in indexes:
            session.connection().exec_driver_sql(sql)
    if database.name == "postgresql":
        _vacuum(database)


def _vacuum(database: Database) -> None:
    """Do what PostgreSQL does by itself some time after so many rows were written."""
    with closing(database.connect()) as connection:
        driver: Any = connection.connection.driver_connection
        driver.rollback()
        driver.autocommit = True
        driver.execute("VACUUM ANALYZE")
        driver.autocommit = False


def _add_jobs(session: Any, member: Member, ids: Iterable[int]) -> None:
    """Make jobs that have ended, as nobody runs them."""
    now = batches.as_stored(session, datetime.now(UTC))
    shared = {
        "project_id": member.project_id,
        "user_id": member.user_id,
        "state": "finished",
        "reason": "",
        "priority": 0,
        "vcpu": 1.0,
        "memory_bytes": 2**30,
        "gpus": 0,
        "nodes": 1,
        "request": '{"command": ["true"], "name": "", "resources": {"vcpu": 1, "memory_bytes": 1073741824}}',
        "template": "true ()",
        "created_at": now,
        "ended_at": now,
    }
    batches.load(session, JobRow, ("id", "number", *shared), [(n, n, *shared.values()) for n in ids])


def _without_indexes(session: Any) -> list[str]:
    names = "('ix_attribute_number', 'ix_attribute_text')"
    if session.get_bind().dialect.name == "sqlite":
        sql = f"SELECT sql, name FROM sqlite_master WHERE type = 'index' AND name IN {names}"
    else:
        sql = f"SELECT indexdef, indexname FROM pg_indexes WHERE indexname IN {names}"
    found = batches.select(session, sql)
    for _, name in found:
        session.connection().exec_driver_sql(f"DROP INDEX {name}")
    return [row[0] for row in found]


def _values(number: int, keys: dict[str, int]) -> list[tuple[Any, ...]]:
    numbers, texts = values(number)
    number_type, text_type = TYPES[ValueType.NUMBER], TYPES[ValueType.TEXT]
    rows: list[tuple[Any, ...]] = [(number, keys[key], number_type, float(n), None) for key, n in numbers.items()]
    rows += [(number, keys[key], text_type, None, text) for key, text in texts.items()]
    return sorted(rows, key=lambda row: int(row[1]))


# -- recording


def _recording(folder: Path) -> list[Row]:
    plain = _median_of_fresh(lambda at: _plain(folder / f"plain-{at}.db"))
    rows = [Row("200 jobs x 15 values, plain durable SQLite", plain * 1000, "ms")]
    with closing(Database(f"sqlite:///{folder / 'recording.db'}", Clock())) as database:
        schema.migrate(database)
        ours = _median_of_fresh(lambda at: recorded(database, at))
    rows.append(Row("200 jobs x 15 values in a batch, SQLite", ours * 1000, "ms", 3000 * plain, "3 times plain SQLite"))
    return rows


def _median_of_fresh(act: Callable[[int], float]) -> float:
    return median([act(at) for at in range(9)])


def _plain(path: Path) -> float:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE value (job INTEGER, key TEXT, value REAL, PRIMARY KEY (job, key))")
        connection.execute("CREATE INDEX by_value ON value (key, value)")
        connection.commit()
        rows = [(job, key, job / 7) for job in range(RECORDED) for key in NUMBERS + NAMES]
        began = time.perf_counter()
        with connection:
            connection.executemany("INSERT INTO value VALUES (?, ?, ?)", rows)
        return time.perf_counter() - began


def recorded(database: Database, at: int) -> float:
    """Make jobs, and return the seconds that it takes to record their attributes in a batch."""
    entered, ids = enter(database), range(at * RECORDED + 1, (at + 1) * RECORDED + 1)
    member = Member(entered.project_id, entered.user_id)
    with database.writing() as work:
        session = work._session  # noqa: SLF001 (no service makes a million jobs at once)
        _add_jobs(session, member, ids)
    names = [name.removeprefix("params.") for name in NUMBERS + NAMES]
    changes = [ThingChange(str(n), set=dict.fromkeys(names, n / 7)) for n in ids]
    service = Attributes(database, Files())
    began = time.perf_counter()
    service.change(member.project_id, member.user_id, ChangeMetadata(changes))
    return time.perf_counter() - began


# -- the same in others


def _of_trackers(folder: Path) -> list[Row]:
    """MLflow and ML Metadata with the same data, in a process and an environment of their own."""
    rows = _tracked("MLflow on SQLite", "mlflow", f"sqlite:///{folder / 'mlflow.db'}")
    try:
        with postgres() as beside:
            url = beside.create_database()
            rows += _tracked("MLflow on PostgreSQL", "mlflow", url.replace("postgresql://", "postgresql+psycopg://", 1))
            beside.drop_database(url)
    except ServerMissing as missing:
        rows.append(Row("MLflow on PostgreSQL", float("nan"), "ms", beside=str(missing)))
    return rows + _tracked("ML Metadata on SQLite", "mlmd", str(folder / "mlmd.db"))


def _tracked(name: str, tracker: str, address: str) -> list[Row]:
    command = [str(peers.python()), "-m", "benchmarks.trackers", tracker, address, str(FEW)]
    with tempfile.TemporaryDirectory() as home:
        root = Path(__file__).parents[1]
        done = subprocess.run(
            command, env=environment(Path(home)), cwd=root, capture_output=True, text=True, check=False
        )
    if done.returncode:
        return [Row(name, float("nan"), "ms", beside=one_line(done.stderr[-200:]))]
    measured = json.loads(done.stdout.splitlines()[-1])
    logged = f"{name}: 200 runs x 15 values"
    return [
        Row(logged if what == "logging" else f"{name}, {FEW:,} runs: {what}, best ten", seconds * 1000, "ms")
        for what, seconds in measured.items()
    ]
