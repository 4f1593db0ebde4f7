"""The provenance graph: a step, closures and recording, beside recursive SQL alone and ML Metadata."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import tempfile
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acai_jupyter.client import lineages
from acai_jupyter.contract.ids import FileSetVersionId
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.lineage import LineageDirection
from acai_jupyter.contract.queries import ClosureQuery, NeighbourhoodQuery
from acai_jupyter.contract.specs import parse_set
from acai_jupyter.contract.states import ActionKind, InputRole
from acai_server.db import batches
from acai_server.db.tables import FileSetRow, FileSetVersionRow
from acai_server.lake.service import Lake
from acai_server.objects.memory import MemoryObjectStore
from acai_server.provenance.service import Provenance
from acai_server.testing.lakes import SIGNER
from benchmarks import peers
from benchmarks.lake.programs import environment, one_line
from benchmarks.metadata import Member, _vacuum
from benchmarks.report import Row, median
from benchmarks.servers import over_postgres, over_sqlite
from tests.servers.process import ServerMissing

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.db.database import Database
    from tests.integration.places import Server

RUNS = 21
SETS, INPUTS = 200_000, 5
"""A million edges."""
NEAR = 50
"""Inputs are among so many sets before."""
CLOSURES = (10_000, 100_000)
_WALK = """
    WITH RECURSIVE walk(id) AS (SELECT ? UNION SELECT i.file_set_version_id FROM walk
    JOIN action_output o ON o.file_set_version_id = walk.id JOIN action_input i ON i.action_id = o.action_id)"""
_IDS = f"{_WALK} SELECT id FROM walk"
_ALL = (
    f"""{_WALK} SELECT v.id, n.name, v.number, n.role, v.file_count, v.size_bytes, v.created_at, u.name, v.deleted_at
    FROM walk JOIN file_set_version v ON v.id = walk.id JOIN file_set n ON n.id = v.file_set_id
    JOIN user_account u ON u.id = v.user_id""",
    f"""{_WALK} SELECT o.action_id, o.file_set_version_id FROM walk
    JOIN action_output o ON o.file_set_version_id = walk.id""",
    f"""{_WALK} SELECT a.id, a.kind, a.created_at, u.name, j.number, j.state FROM walk
    JOIN action_output o ON o.file_set_version_id = walk.id JOIN action a ON a.id = o.action_id
    JOIN user_account u ON u.id = a.user_id LEFT JOIN job j ON j.id = a.job_id""",
    f"""{_WALK} SELECT i.action_id, i.file_set_version_id, i.role FROM walk
    JOIN action_output o ON o.file_set_version_id = walk.id JOIN action_input i ON i.action_id = o.action_id""",
)
"""What a closure is, fetched by SQL alone."""


def run() -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for name, open_server in (("SQLite", over_sqlite), ("PostgreSQL", over_postgres)):
            try:
                with open_server(Path(folder) / name) as (server, database):
                    rows += _measure(server, database, name, Path(folder))
            except ServerMissing as missing:
                rows.append(Row(f"{name}", float("nan"), "ms", beside=str(missing)))
    return rows


def _measure(server: Server, database: Database, name: str, folder: Path) -> list[Row]:
    with database.reading() as work:
        member = Member(*batches.select(work._session, "SELECT project_id, user_id FROM membership")[0])  # noqa: SLF001
    lake = Lake(database, MemoryObjectStore(SIGNER))
    graph = Provenance(database, lake.files, lake.composing)
    rate = _fill(database, member, "many", SETS, INPUTS)
    for count in CLOSURES:
        _fill(database, member, f"closed{count}", count, 2)
    if database.name == "postgresql":
        _vacuum(database)
    rows = [Row(f"{name}: recording a million edges in bulk, each", 1e6 / rate, "µs", 10)]
    rows += _steps(graph, server, member, name)
    rows += _closures(graph, server, database, member, name, folder)
    return rows + _recording(database, member, name)


def _fill(database: Database, member: Member, name: str, count: int, inputs: int) -> float:
    """Make versions of a name, each of some before it; returns how many edges are recorded in a second."""
    chance, edges, seconds = random.Random(7), 0, 0.0
    with database.writing() as work:
        session, now = work._session, work.clock.now()  # noqa: SLF001 (no service makes so many sets at once)
        file_set = FileSetRow(project_id=member.project_id, name=name, role="data", last=count, latest=count)
        session.add(file_set)
        session.flush()
        ids = [FileSetVersionId(one) for one in batches.free_ids(session, FileSetVersionRow, count)]
        at = batches.as_stored(session, now)
        columns = ("id", "file_set_id", "number", "root", "file_count", "size_bytes", "user_id", "note", "created_at")
        made = [(one, file_set.id, n, b"", 1, 2, member.user_id, "", at) for n, one in enumerate(ids, 1)]
        batches.load(session, FileSetVersionRow, columns, made)
        actions = [
            (
                ActionKind.CREATION,
                [ids[at] for at in {max(0, n - 1 - chance.randrange(NEAR)) for _ in range(inputs)} | {n - 1} if n][
                    :inputs
                ],
                one,
            )
            for n, one in enumerate(ids)
        ]
        for page in batches.pages(actions, 20_000):
            edges += sum(len(used) for _, used, _ in page)
            began = time.perf_counter()
            work.actions.load(member.project_id, member.user_id, page, now)
            seconds += time.perf_counter() - began
    return edges / seconds


def _steps(graph: Provenance, server: Server, member: Member, name: str) -> list[Row]:
    chance, client = random.Random(11), server.client()

    def ref() -> str:
        return f"many:{chance.randrange(1000, SETS - 1000)}"

    rows = []
    for what, query in (("back", NeighbourhoodQuery(1, 0)), ("forward", NeighbourhoodQuery(0, 1))):

        def here(query: NeighbourhoodQuery = query) -> object:
            return graph.neighbourhood(member.project_id, ref(), query)

        def there(query: NeighbourhoodQuery = query) -> object:
            return lineages.neighbourhood(client, ref(), back=query.back, forward=query.forward)

        seconds = _median(here)
        rows.append(Row(f"{name}: one step {what}, 1,000,000 edges in the project", seconds * 1000, "ms", 3))
        rows.append(Row(f"{name}: the same over HTTP", _median(there) * 1000, "ms", 15))
    return rows


def _closures(
    graph: Provenance, server: Server, database: Database, member: Member, name: str, folder: Path
) -> list[Row]:
    rows = []
    for count in CLOSURES:
        ref = f"closed{count}:{count}"
        with database.reading() as work:
            start = work.file_sets.find(member.project_id, parse_set(ref)).id
            ids = _median(partial(work.closures.all, start, LineageDirection.BACK, 1_000_000))
        whole = _median(partial(_gone_through, graph, member, ref))
        sql_ids, sql_all = (_median(partial(_alone, database, start, which)) for which in ((_IDS,), _ALL))
        rows += [
            Row(f"{name}: closure of {count:,} sets, recursive SQL alone, ids", sql_ids * 1000, "ms"),
            Row(f"{name}: the same in the service", ids * 1000, "ms", 1500 * sql_ids, "1.5 times SQL alone"),
            Row(f"{name}: closure of {count:,} with all its rows, SQL alone", sql_all * 1000, "ms"),
            Row(f"{name}: the same in the service, as JSON", whole * 1000, "ms", 1500 * sql_all, "1.5 times SQL alone"),
        ]
        streamed = _median(partial(lineages.closure, server.client(), ref))
        limit = 1.0 if count == CLOSURES[-1] else None
        rows.append(Row(f"{name}: closure of {count:,}, streamed and read in Python", streamed, "s", limit))
        if name == "SQLite":
            rows += _of_ml_metadata(folder, count, ids, whole)
    return rows


def _gone_through(graph: Provenance, member: Member, ref: str) -> int:
    return sum(len(piece) for piece in graph.closure(member.project_id, ref, ClosureQuery(limit=1_000_000)))


def _alone(database: Database, start: int, statements: tuple[str, ...]) -> None:
    if database.name == "sqlite":
        with closing(sqlite3.connect(database.url.database or "")) as connection:
            for sql in statements:
                connection.execute(sql, (start,)).fetchall()
        return
    with closing(database.connect()) as connection:
        cursor = connection.connection.cursor()
        for sql in statements:
            cursor.execute(sql.replace("SELECT ?", "SELECT CAST(%s AS BIGINT)"), (start,))
            cursor.fetchall()


def _of_ml_metadata(folder: Path, count: int, ids: float, whole: float) -> list[Row]:
    """The same graph in ML Metadata, whose own call for lineage stops at 100 steps: it is walked by its queries.

    What it gives then are ids. To name them, it would have to be asked for each artifact and execution besides.
    """
    command = [str(peers.python()), "-m", "benchmarks.mlmd_lineage", str(folder / f"mlmd{count}.db"), str(count)]
    with tempfile.TemporaryDirectory() as home:
        root = Path(__file__).parents[1]
        done = subprocess.run(
            command, env=environment(Path(home)), cwd=root, capture_output=True, text=True, check=False
        )
    what = f"ML Metadata, SQLite: closure of {count:,}, ids"
    if done.returncode:
        return [Row(what, float("nan"), "ms", beside=one_line(done.stderr[-200:]))]
    measured = json.loads(done.stdout.splitlines()[-1])["closure"]
    same = Row("ours beside it, ids", ids * 1000, "ms").promising(200 * measured, "a fifth of ML Metadata")
    return [Row(what, measured * 1000, "ms"), same, Row("ours beside it, with all its rows", whole * 1000, "ms")]


def _recording(database: Database, member: Member, name: str) -> list[Row]:
    """What of a job's own transactions goes into the graph: its action at submit, its output at the end."""
    request, begun, ended, whole = CreateJob(command=["true"]), list[float](), list[float](), list[float]()
    for number in range(50):
        with database.writing() as work:
            used = [(work.file_sets.find(member.project_id, parse_set(f"many:{number + 1}")).id, InputRole.DATA)]
        began = time.perf_counter()
        with database.writing() as work:
            job = work.jobs.create(member.project_id, member.user_id, request, used, work.clock.now())
        whole.append(time.perf_counter() - began)
        with database.writing() as work:
            counted: dict[str, Any] = {"root": b"", "file_count": 0, "size_bytes": 0}
            now, role = work.clock.now(), InputRole.DATA
            made = work.file_sets.add(member.project_id, member.user_id, "made", role, now=now, **counted)
            began = time.perf_counter()
            work.actions.begin(member.project_id, member.user_id, ActionKind.CREATION, used, now)
            begun.append(time.perf_counter() - began)
            began = time.perf_counter()
            work.actions.add_output(job.id, made.id)
            ended.append(time.perf_counter() - began)
    submit = median(whole)
    return [
        Row(f"{name}: a job's record at submit, a transaction of its own", submit * 1000, "ms"),
        Row(f"{name}: of it, its action with an input", median(begun) * 1000, "ms"),
        Row(f"{name}: at its end, its output in the graph", median(ended) * 1000, "ms"),
    ]


def _median(act: Callable[[], object]) -> float:
    found = []
    for _ in range(RUNS):
        began = time.perf_counter()
        act()
        found.append(time.perf_counter() - began)
    return median(found)
