"""Many readers at once: the latency of /status while 100 users search a large log, and of writes with open streams.

The readers run in a separate process; half of their requests are abandoned before the answer.
"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import random
import resource
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import aiohttp
import urllib3

from acai_jupyter.client.follow import wait
from benchmarks.report import Row, median
from benchmarks.servers import over_sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.integration.places import Server

API = "/acai/api/v1"
JOBS = f"{API}/projects/default/jobs"
OPEN_FILES = 4096


@dataclass(frozen=True)
class Size:
    """How much is done."""

    readers: int = 100
    log_mib: int = 300
    requests: int = 600
    streams: tuple[int, ...] = (0, 500, 1000)
    listeners: int = 20
    """How many users the streams belong to."""
    writes: int = 100


def run(size: Size | None = None) -> list[Row]:
    """Measure both."""
    wanted = size or Size()
    with tempfile.TemporaryDirectory() as folder:
        rows: list[Row] = []
        with over_sqlite(Path(folder) / "logs") as (server, _):
            rows += _status(server, wanted)
        with over_sqlite(Path(folder) / "streams", ACAI_REQUESTS_PER_SECOND="0") as (server, _):
            rows += _writes(server, wanted)
        return rows


def _status(server: Server, size: Size) -> list[Row]:
    program = f"import sys\nfor n in range({size.log_mib} * 16): sys.stdout.write('a line of a log\\n' * 4096)"
    job = int(server.ask("POST", "/v1/projects/default/jobs", {"command": ["python3", "-c", program]}).json["number"])
    assert wait(server.client(), job).state == "finished"
    tokens = _users(server, size.readers)
    address = f"{server.root}{JOBS}/{job}/log/lines?text=nothing"
    quiet = _timed(server, size.requests, lambda: ("GET", f"{API}/status", None))
    with _beside(_search, (address, tokens)):
        busy = _timed(server, size.requests, lambda: ("GET", f"{API}/status", None))
    what = f"/status, {size.readers} users searching a log of {size.log_mib} MiB"
    return [
        Row("/status, median, alone", median(quiet) * 1000, "ms"),
        Row(f"{what}, median", median(busy) * 1000, "ms"),
        Row(f"{what}, 99th percentile", _percentile(busy, 0.99) * 1000, "ms", 100),
    ]


def _writes(server: Server, size: Size) -> list[Row]:
    job = server.ask("POST", "/v1/projects/default/jobs", {"command": ["true"]}).json["number"]
    assert wait(server.client(), job).state == "finished"
    tokens = _users(server, size.listeners)
    address = f"{server.root}{API}/projects/default/events/stream".replace("http", "ws", 1)

    values = itertools.count()

    def write() -> tuple[str, str, Any]:
        change = {"thing": str(job), "set": {"value": next(values)}}
        return "POST", f"{API}/projects/default/metadata", {"changes": [change]}

    rows: list[Row] = []
    for streams in size.streams:
        with _beside(_listen, (address, [tokens[number % len(tokens)] for number in range(streams)])):
            seconds = _timed(server, size.writes, write)
        rows.append(Row(f"a write with {streams} streams open, median", median(seconds) * 1000, "ms"))
        if streams:
            ratio = rows[-1].measured / rows[0].measured
            rows.insert(-1, Row(f"with {streams} streams a write takes of the time without", ratio, "times", 1.2))
    return [rows[0], *sorted(rows[1:], key=lambda row: row.unit)]


def _users(server: Server, count: int) -> list[str]:
    made = (
        server.ask("POST", "/v1/projects/default/users", {"name": f"user{number}", "role": "viewer"})
        for number in range(count)
    )
    return [answer.json["issued"]["secret"] for answer in made]


def _timed(server: Server, count: int, request: Callable[[], tuple[str, str, Any]]) -> list[float]:
    """Ask one after the other over one connection, and return how long each took."""
    seconds: list[float] = []
    with urllib3.PoolManager(maxsize=1, retries=False) as http:
        for _ in range(count):
            method, path, body = request()
            began = time.perf_counter()
            answer = http.request(
                method, f"{server.root}{path}", json=body, headers={"Authorization": f"Bearer {server.token}"}
            )
            seconds.append(time.perf_counter() - began)
            assert answer.status in (200, 201), answer.data
    return seconds


def _percentile(seconds: Sequence[float], part: float) -> float:
    return sorted(seconds)[min(len(seconds) - 1, int(part * len(seconds)))]


@contextmanager
def _beside(work: Callable[..., Any], arguments: tuple[Any, ...]) -> Iterator[None]:
    """Run some work in another process; enter once it reports that it has begun."""
    context = multiprocessing.get_context("spawn")
    begun = context.Event()
    process = context.Process(target=_run, args=(work, arguments, begun), daemon=True)
    process.start()
    try:
        assert begun.wait(120), "the readers did not begin"
        yield
    finally:
        process.kill()
        process.join()


def _run(work: Callable[..., Any], arguments: tuple[Any, ...], begun: Any) -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(OPEN_FILES, most), most))
    asyncio.run(work(*arguments, begun))


async def _search(address: str, tokens: list[str], begun: Any) -> None:
    """Search without end; every other time leave before the answer."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def reader(token: str, number: int) -> None:
            chance = random.Random(number)
            headers = {"Authorization": f"Bearer {token}"}
            while True:
                patience = aiohttp.ClientTimeout(total=chance.choice((chance.uniform(0.05, 1.0), 120)))
                with suppress(TimeoutError, aiohttp.ClientError):
                    async with session.get(address, headers=headers, timeout=patience) as answer:
                        await answer.read()

        readers = [asyncio.ensure_future(reader(token, number)) for number, token in enumerate(tokens)]
        await asyncio.sleep(3)
        begun.set()
        await asyncio.gather(*readers)


async def _listen(address: str, tokens: list[str], begun: Any) -> None:
    """Open streams, and read what comes."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        streams = []
        for token in tokens:
            stream = await session.ws_connect(address, headers={"Authorization": f"Bearer {token}"})
            await stream.receive()
            streams.append(stream)
        begun.set()

        async def read(stream: aiohttp.ClientWebSocketResponse) -> None:
            async for _ in stream:
                pass

        await asyncio.gather(asyncio.sleep(3600), *map(read, streams))
