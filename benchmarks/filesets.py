"""File sets of a million files over HTTP: new versions, differences, merges, folders, lookups; the server's memory."""

from __future__ import annotations

import hashlib
import re
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.filesets import CompareSources, CreateFileSet, ResolveSources, Source, Without
from acai_jupyter.contract.states import ActionKind, InputRole
from acai_jupyter.contract.uploads import UploadResult
from acai_server.db import batches
from acai_server.db.tables import FileRow, FileVersionRow
from acai_server.lake.filesets import add_root
from acai_server.lake.manifests import Builder
from benchmarks.report import Row, median
from benchmarks.servers import over_postgres, over_sqlite
from tests.servers.process import ServerMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.filesets import Comparison, CreatedFileSet
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from tests.integration.places import Server

MANY, FOLDER, SPARE = 1_000_000, 1000, 100
"""Files in the set, in each folder of it, and of others that are in none."""
RUNS, MERGES = 11, 3
STORED_KB, PEAK_MIB = 128, 300
HALVES = {"even": range(0, MANY, 2), "odd": range(1, MANY, 2), "low": range(MANY // 2), "high": range(MANY // 2, MANY)}
COLUMNS = ("file_id", "number", "session_id", "size_bytes", "sha256")


def run() -> list[Row]:
    rows: list[Row] = []
    for name, open_server in (("SQLite", over_sqlite), ("PostgreSQL", over_postgres)):
        with tempfile.TemporaryDirectory() as folder:
            try:
                with open_server(Path(folder)) as (server, database):
                    rows += _measured(name, server, database)
            except ServerMissing as missing:
                rows.append(Row(name, float("nan"), "ms", beside=str(missing)))
    return rows


def _peak_mib(server: Server) -> float:
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{server.process.pid}/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


# -- a million files, of which there are only the records


def _path(number: int) -> str:
    if number >= MANY:
        return f"/data/{(number - MANY) * 7:04}/spare.png"
    return f"/data/{number // FOLDER:04}/{number:07}.png"


def _hash(number: int, version: int = 1) -> bytes:
    return hashlib.sha256(b"%d:%d" % (number, version)).digest()


def _fill(database: Database) -> None:
    with database.writing() as work:
        session = work._session  # noqa: SLF001 (no service makes a million files without their bytes)
        project, user = batches.select(session, "SELECT project_id, user_id FROM membership")[0]
        ids = list(batches.free_ids(session, FileRow, MANY + SPARE))
        for page in batches.pages(range(MANY + SPARE), FOLDER):
            batches.load(session, FileRow, ("id", "project_id", "path"), [(ids[n], project, _path(n)) for n in page])
        for version, numbers in ((1, range(MANY + SPARE)), (2, range(0, MANY, MANY // SPARE))):
            upload = work.uploads.create(uuid4().hex, project, user, work.clock.now(), storage="frequent")
            for page in batches.pages(numbers, FOLDER):
                rows = [(ids[n], version, upload.id, n, _hash(n, version)) for n in page]
                batches.load(session, FileVersionRow, COLUMNS, rows)
            result = UploadResult(upload.key, len(numbers), 0, 0)
            work.uploads.commit(upload, None, msgspec.to_builtins(result), work.clock.now())
        for name, numbers in {"million": range(MANY), **HALVES}.items():
            _add_set(work, project, user, name, numbers)
    if database.name == "postgresql":
        _vacuum(database)


def _add_set(work: Work, project: ProjectId, user: UserId, name: str, numbers: Sequence[int]) -> None:
    chunks: dict[bytes, bytes] = {}
    builder = Builder(chunks.__setitem__)
    for number in numbers:
        builder.add((_path(number), 1, number, _hash(number)))
    root = builder.root()
    work.file_sets.add_chunks(project, chunks, work.clock.now())
    amount = {"file_count": len(numbers), "size_bytes": sum(numbers)}
    made = add_root(work, project, user, name, InputRole.DATA, root=root, **amount)
    work.actions.add(project, user, ActionKind.UPLOAD, [], made.id, work.clock.now())


def _vacuum(database: Database) -> None:
    """Do what PostgreSQL does by itself some time after so many rows were written."""
    with closing(database.connect()) as connection:
        driver: Any = connection.connection.driver_connection
        driver.rollback()
        driver.autocommit = True
        driver.execute("VACUUM ANALYZE")
        driver.autocommit = False


# -- what is measured


@dataclass
class Requests:
    """Somebody at a server."""

    client: Client
    database: Database

    def create(self, name: str, *sources: Source) -> CreatedFileSet:
        return self.client.call(endpoints.CREATE_FILE_SET, CreateFileSet(name, list(sources)))

    def compare(self, before: str, after: str) -> Comparison:
        return self.client.call(endpoints.COMPARE_SOURCES, CompareSources([before], [after]))

    def chunk_bytes(self) -> int:
        """What is stored of manifests."""
        with self.database.reading() as work:
            sql = "SELECT sum(length(body)) FROM chunk"
            return int(batches.select(work._session, sql)[0][0])  # noqa: SLF001 (nobody else asks)


def _measured(name: str, server: Server, database: Database) -> list[Row]:
    _fill(database)
    requests = Requests(server.client(), database)
    requests.create("warm", "@even:1", f"{_path(1)}:1")
    idle = f"{_peak_mib(server):.0f} MiB before"
    rows = _versions(requests)
    rows.append(Row("the server's memory at its peak", _peak_mib(server), "MiB", PEAK_MIB, beside=idle))
    rows += [*_asked(requests), *_merges(requests)]
    rows.append(Row("the server's memory at its peak, merges too", _peak_mib(server), "MiB", PEAK_MIB))
    return [replace(row, what=f"{name}: {row.what}") for row in rows]


def _versions(requests: Requests) -> list[Row]:
    """New versions, and how they differ, with another file each time."""
    changes: dict[str, Callable[[int], list[Source]]] = {
        "changed": lambda n: ["@million", f"{_path(n * (MANY // SPARE))}:2"],
        "removed": lambda n: [Without(["@million"], [_path(n * 7777 + 5)])],
        "added": lambda n: ["@million", _path(MANY + n)],
    }
    rows = []
    for what, sources in changes.items():
        stored = requests.chunk_bytes()
        seconds = _median(lambda n, sources=sources: requests.create("million", *sources(n)))  # type: ignore[misc]
        grown = (requests.chunk_bytes() - stored) / RUNS / 1024
        rows.append(Row(f"new version of {MANY:,} files, one {what}", seconds * 1000, "ms", 300))
        rows.append(Row("stored for it", grown, "KB", STORED_KB))
    seconds = _median(lambda n: requests.compare(f"@million:{n + 1}", f"@million:{n + 2}"))
    rows.append(Row("how two such versions differ", seconds * 1000, "ms", 50))
    seconds = _median(lambda n: requests.compare("@million:1", f"@million:{2 * RUNS + n}"))
    rows.append(Row(f"how two versions differ that have {2 * RUNS} changes between them", seconds * 1000, "ms"))
    return rows


def _asked(requests: Requests) -> list[Row]:
    call = requests.client.call
    seconds = _median(lambda n: requests.create("folder", f"/data/{n * 37 + 1:04}/@million"))
    rows = [Row(f"a folder of {FOLDER:,} as a new set", seconds * 1000, "ms", 50)]
    seconds = _median(lambda n: call(endpoints.LIST_FILES, query={"spec": f"{_path(n * 7777)}@million:1"}))
    rows.append(Row("where a set has a path", seconds * 1000, "ms", 5))
    halves: list[Source] = ["@even", "@odd"]
    page = {n: ResolveSources(halves, after=_path(n * 77_777), limit=1000) for n in range(RUNS)}
    seconds = _median(lambda n: call(endpoints.RESOLVE_SOURCES, page[n]))
    rows.append(Row("a page of 1,000 in the middle of two halves", seconds * 1000, "ms"))
    counted = ResolveSources(halves, limit=0, counted=True)
    seconds = _median(lambda _: call(endpoints.RESOLVE_SOURCES, counted), MERGES)
    rows.append(Row("how many files two interleaved halves are", seconds * 1000, "ms"))
    return rows


def _merges(requests: Requests) -> list[Row]:
    rows = []
    for what, halves in (("interleaved", ("@even", "@odd")), ("side by side", ("@low", "@high"))):
        seconds = _median(lambda n, halves=halves, what=what: requests.create(f"{what[0]}{n}", *halves), MERGES)  # type: ignore[misc]
        rows.append(Row(f"merge of two sets of {MANY // 2:,} files, {what}", seconds, "s", 5))
    return rows


def _median(act: Callable[[int], object], runs: int = RUNS) -> float:
    found = []
    for number in range(runs):
        began = time.perf_counter()
        act(number)
        found.append(time.perf_counter() - began)
    return median(found)
