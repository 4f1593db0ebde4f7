"""A team's server on PostgreSQL and S3: a request, 100 people at once, two replicas, and a restore.

People do something once a second on average: submit, list, read a log, search, and so on. Their jobs stay queued, by
quotas of 0, so that what is measured is the server. Two servers are then asked as fast as they answer.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import urllib3

from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from benchmarks import load, metadata
from benchmarks.report import Row, median
from tests.integration.places import BIN, Place, Server
from tests.servers.no_cluster import no_cluster
from tests.servers.postgres import postgres
from tests.servers.process import ServerMissing
from tests.servers.seaweedfs import seaweedfs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.postgres import Postgres

PRINTS = "for line in range(1000): print('line', line)"
CORES_FOR_MORE = 4
"""With fewer, two servers, PostgreSQL, S3 and who asks them are in each other's way."""


@dataclass(frozen=True)
class Size:
    """How much is done."""

    requests: int = 500
    people: int = 100
    seconds: float = 30.0
    pause_seconds: float = 1.0
    busy: int = 16
    """How many ask without a pause."""
    files: int = 100_000
    jobs: int = 10_000


def run(size: Size | None = None) -> list[Row]:
    """Measure all of it; where PostgreSQL or S3 is missing, that is the row."""
    wanted = size or Size()
    try:
        with postgres() as beside:
            return [
                *_served(beside, wanted),
                _restored("SQLite", None, wanted),
                _restored("PostgreSQL", beside, wanted),
            ]
    except ServerMissing as missing:
        return [Row("a team's server", float("nan"), "ms", beside=str(missing))]


def _served(beside: Postgres, size: Size) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder, _two_servers(beside, Path(folder)) as servers:
        first = servers[0]
        tokens = _people(first, size.people)
        rows = [_request(first, size.requests)]
        one, two = (
            load.loaded(roots, tokens, size.seconds, size.pause_seconds)
            for roots in ([first.root], [server.root for server in servers])
        )
        rows += _load_rows(f"{size.people} people, one server", one, 150)
        rows += _load_rows(f"{size.people} people, two servers", two, max(150, one.share(0.95)))
        busy = tokens[: size.busy]
        alone = load.loaded([first.root], busy, size.seconds, 0.0)
        both = load.loaded([server.root for server in servers], busy, size.seconds, 0.0)
        rows.append(Row(f"{size.busy} who do not pause, one server", alone.rate, "requests/s"))
        more = Row(f"{size.busy} who do not pause, two servers", both.rate, "requests/s", beside=_errors(both))
        times = Row("one server takes of the time of two", alone.rate / both.rate, "times")
        has_room = (os.cpu_count() or 1) >= CORES_FOR_MORE
        return [*rows, more, times.promising(1 / 1.5, "two do 1.5 times as much") if has_room else times]


def _load_rows(what: str, found: load.Answers, limit: float) -> list[Row]:
    return [
        Row(f"{what}, median", found.share(0.5), "ms", beside=f"{found.rate:.0f} requests/s"),
        Row(f"{what}, 95th percentile", found.share(0.95), "ms", limit),
        Row(f"{what}, slowest", max(found.seconds) * 1000, "ms", 1000),
        Row(f"{what}, errors", len(found.errors), "", 0, beside=_errors(found)),
    ]


def _errors(found: load.Answers) -> str:
    return found.errors[0][:120] if found.errors else ""


def _request(server: Server, count: int) -> Row:
    """Ask both in turn over one connection each, and take the medians."""
    bare: list[float] = []
    ours: list[float] = []
    asked: tuple[tuple[list[float], str, dict[str, str]], ...] = (
        (bare, "/acai/api/v1/health", {}),
        (ours, "/acai/api/v1/projects", {"Authorization": f"Bearer {server.token}"}),
    )
    with urllib3.PoolManager(maxsize=2) as http:
        for _ in range(count):
            for seconds, path, shown in asked:
                begun = time.perf_counter()
                answer = http.request("GET", f"{server.root}{path}", headers=shown)
                seconds.append(time.perf_counter() - begun)
                assert answer.status == 200, answer.data
    told = f"{median(bare) * 1000:.1f} ms bare, {median(ours) * 1000:.1f} ms ours"
    return Row("an authenticated request over a bare one", (median(ours) - median(bare)) * 1000, "ms", 2, beside=told)


def _people(server: Server, count: int) -> list[str]:
    """Let members in whose jobs stay queued."""
    tokens = []
    for number in range(count):
        wanted = {"name": f"person-{number}", "role": "member", "quota": 0}
        made = server.ask("POST", "/v1/projects/default/users", wanted)
        tokens.append(str(made.json["issued"]["secret"]))
    return tokens


@contextmanager
def _two_servers(beside: Postgres, folder: Path) -> Iterator[list[Server]]:
    with ExitStack() as opened:
        s3 = opened.enter_context(seaweedfs())
        url = beside.create_database()
        opened.callback(beside.drop_database, url)
        with closing(Database(url, Clock())) as database:
            schema.migrate(database)
        variables = s3.environment | {
            "ACAI_DATABASE": url,
            "ACAI_OBJECT_STORE": "s3",
            "ACAI_S3_BUCKET": s3.make_bucket(),
            "ACAI_S3_ENDPOINT_URL": s3.url,
        }
        places = [opened.enter_context(closing(Place(folder / name))) for name in ("one", "two")]
        for place in places:
            for unusual in ("PYTHONWARNINGS", "PYTHONDONTWRITEBYTECODE"):
                place.environment.pop(unusual, None)
        _run_one_job(places[0], variables)
        variables |= no_cluster(folder)
        servers = [place.start(program="acai", **variables) for place in places]
        for server in servers:
            assert server.status().status == 200  # it waits for a while, once, to see what the cluster has
        yield servers


def _run_one_job(place: Place, variables: dict[str, str]) -> None:
    """Run what people read the log of, while there is one user: this machine runs no jobs of several."""
    server = place.start(program="acai", **variables)
    place.write("prints.py", PRINTS)
    known = {"ACAI_URL": server.root, "ACAI_TOKEN": server.token}
    for line in ("submit prints.py", "wait 1"):
        done = place.acai(*line.split(), **known)
        assert done.returncode == 0, done.stderr
    server.end()


def _restored(name: str, beside: Postgres | None, size: Size) -> Row:
    """Fill a place, make a backup of it, and time its restoring into an empty one."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        root = Path(folder)
        urls = ["", ""]
        if beside is not None:
            urls = [beside.create_database() for _ in range(2)]
            for url in urls:
                opened.callback(beside.drop_database, url)
        full, empty = (opened.enter_context(closing(Place(root / one))) for one in ("full", "empty"))
        before, after = ({"ACAI_DATABASE": url} if url else {} for url in urls)
        _fill(full, before, size)
        _admin(full, before, "backup", str(root / "backup"))
        begun = time.perf_counter()
        said = _admin(empty, after, "restore", str(root / "backup"))
        seconds = time.perf_counter() - begun
        what = f"restore of {size.files:,} files and {size.jobs:,} jobs, {name}"
        return Row(what, seconds, "s", 60, beside=said.strip())


def _fill(place: Place, variables: dict[str, str], size: Size) -> None:
    source = place.work / "many"
    for number in range(size.files):
        path = source / f"{number // 1000:03}" / f"{number % 1000:03}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{number}\n")
    url = variables.get("ACAI_DATABASE")
    if url:
        _admin(place, variables, "migrate")
    server = place.start(**variables)
    subprocess.run(
        [str(BIN / "acai"), "put", "many", "/many", "--as", "many", "--no-progress"],
        env=place.environment,
        cwd=place.work,
        check=True,
        capture_output=True,
    )
    server.end()
    with closing(Database(url or f"sqlite:///{place.data / 'acai.db'}", Clock())) as database:
        with database.reading() as work:
            found = work.projects.find("default")
            user = work.users.listed(found, "", 1)[0].name if found is not None else ""
            member = metadata.Member(found, work.users.named(user))
        metadata.fill(database, member, size.jobs)


def _admin(place: Place, variables: dict[str, str], *words: str) -> str:
    done = subprocess.run(
        [str(BIN / "acai-server"), *words],
        env=place.environment | variables,
        cwd=place.work,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
