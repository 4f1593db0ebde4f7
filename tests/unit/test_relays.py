"""Requests to another server that stops answering end, and so do those whose caller has left."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tornado.httputil import HTTPHeaders
from urllib3.exceptions import ReadTimeoutError

from acai_jupyter.contract.endpoints import BASE
from acai_jupyter.contract.errors import ServerUnreachable
from acai_server.api.proxy import Relay, Upstream
from acai_server.api.streams import fetched
from acai_server.engine.read_limit import ClientLeft

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

SIZE = 8 * 1024 * 1024


def run(test: Coroutine[Any, Any, None]) -> None:
    """Run a test in a thread: other tests of this process may leave an event loop running."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, test).result()


@contextmanager
def other_server(serve: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server for one connection; `serve` talks on it, and it is closed when `serve` returns."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def accept() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.settimeout(60)
                serve(connection)

        thread = threading.Thread(target=accept)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread.join(60)
        assert not thread.is_alive()


def until_closed(connection: socket.socket) -> int:
    """Read until the other side closes; returns how many bytes came."""
    size = 0
    while piece := connection.recv(1024 * 1024):
        size += len(piece)
    return size


def wants_body(connection: socket.socket) -> None:
    """Read the headers of a request and ask for its body."""
    with closing(connection.makefile("rb", buffering=0)) as file:
        while file.readline().strip():
            pass
    connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


def relay(url: str, seconds: float) -> Relay:
    request = SimpleNamespace(headers=HTTPHeaders(), path=f"{BASE}/v1/x", query="", method="POST")
    handler: Any = SimpleNamespace(request=request, path_kwargs={}, bearer=lambda: "acai_x", request_id="one")
    return Relay(handler, Upstream(url, "acai_x"), SIZE, timeout_seconds=seconds)


async def passed_on(one: Relay) -> None:
    await one.start()
    for _ in range(SIZE // 65_536):
        await one.write(bytes(65_536))
    await one.finish()


def test_a_relay_gives_up_a_server_that_does_not_answer() -> None:
    def serve(connection: socket.socket) -> None:
        wants_body(connection)
        assert until_closed(connection) == SIZE

    async def test(url: str) -> None:
        one = relay(url, 0.5)
        with pytest.raises(ServerUnreachable):
            await asyncio.wait_for(passed_on(one), 60)
        one.cancel()
        await asyncio.sleep(0)

    with other_server(serve) as url:
        run(test(url))


def test_a_relay_gives_up_a_server_that_takes_no_more_of_the_body() -> None:
    given_up = threading.Event()

    def serve(connection: socket.socket) -> None:
        wants_body(connection)
        assert given_up.wait(60)
        assert until_closed(connection) < SIZE

    async def test(url: str) -> None:
        one = relay(url, 0.5)
        with pytest.raises(ServerUnreachable):
            await asyncio.wait_for(passed_on(one), 60)
        one.cancel()
        given_up.set()
        await asyncio.sleep(0)

    with other_server(serve) as url:
        run(test(url))


def test_a_cancelled_relay_closes_its_connection_and_says_that_the_client_left() -> None:
    arrived = asyncio.Event()

    async def test(url: str) -> None:
        loop = asyncio.get_running_loop()
        loops.append(loop)
        one = relay(url, 60)
        passing = asyncio.ensure_future(passed_on(one))
        await asyncio.wait_for(arrived.wait(), 60)
        one.cancel()
        with pytest.raises(ClientLeft):
            await asyncio.wait_for(passing, 60)

    def serve(connection: socket.socket) -> None:
        wants_body(connection)
        left = SIZE
        while left:
            left -= len(connection.recv(min(left, 1024 * 1024)))
        loops[0].call_soon_threadsafe(arrived.set)
        assert until_closed(connection) == 0

    loops: list[asyncio.AbstractEventLoop] = []
    with other_server(serve) as url:
        run(test(url))


def test_a_stream_gives_up_a_server_that_falls_silent() -> None:
    def serve(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nabc")
        until_closed(connection)

    with other_server(serve) as url:
        pieces = fetched(url, {}, timeout_seconds=0.5)
        assert next(pieces) == b"text/plain"
        with pytest.raises(ReadTimeoutError):
            list(pieces)
