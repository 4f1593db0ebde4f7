"""Clients that are slow, silent or gone: other users notice nothing, and what they held is freed."""

from __future__ import annotations

import socket
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from acai_jupyter.contract.endpoints import BASE
from tests.integration.places import TOKEN, Place, Server, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.attack.campaign import Run

CLIENTS = 60
SHORT_CLIENTS = 20
SPARE = 20
"""Descriptors that the server may open for its own work in the same time."""
LARGE = 20_000_000


def slow_clients(run: Run) -> None:
    """Let many clients misbehave at once, next to one that asks as usual."""
    with closing(Place(run.home / "home")) as place:
        place.write("large/file", run.chance.randbytes(LARGE))
        server = place.start(program="acai")
        done = place.acai("put", "large", "/large", "--as", "large")
        assert done.returncode == 0, done.stderr
        for _ in run.rounds():
            _attack(run, server)
        if "Traceback" in server.log:
            run.violation("the server logged a traceback", server.log[server.log.index("Traceback") :][:2000])


def _attack(run: Run, server: Server) -> None:
    before = _descriptors(server)
    held: list[socket.socket] = []
    names = []
    for _ in range(SHORT_CLIENTS if run.is_short else CLIENTS):
        name = run.chance.choice(list(KINDS))
        names.append(name)
        client = _connected(server)
        with suppress(OSError):
            KINDS[name](client, server)
        run.figures["requests"] += 1
        if run.chance.random() < 0.3:
            client.close()
        else:
            held.append(client)
    steps = sorted(f"{names.count(name)} clients: {name}" for name in set(names))
    for _ in range(10):
        if server.status().status != 200:
            run.violation("the server does not answer while others are slow", *steps)
    if server.get("/v1/projects/default/files?spec=/")["entries"] == []:
        run.violation("files are not listed while others are slow", *steps)
    for client in held:
        client.close()
    try:
        until(lambda: _descriptors(server) <= before + SPARE, "connections to be freed")
    except AssertionError:
        run.violation(f"the server keeps {_descriptors(server) - before} descriptors of clients that left", *steps)


def _connected(server: Server) -> socket.socket:
    parts = urlsplit(server.root)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=60)


def _head(server: Server, method: str, path: str, *lines: str) -> bytes:
    parts = urlsplit(server.root)
    head = [f"{method} {parts.path}{BASE}{path} HTTP/1.1", f"Host: {parts.netloc}", f"Authorization: token {TOKEN}"]
    return "\r\n".join([*head, *lines, "", ""]).encode()


def _half_a_head(client: socket.socket, server: Server) -> None:
    client.sendall(_head(server, "GET", "/v1/status")[:40])


def _half_a_body(client: socket.socket, server: Server) -> None:
    client.sendall(_head(server, "POST", "/v1/projects/default/jobs", "Content-Length: 1000") + b'{"command"')


def _half_an_upload(client: socket.socket, server: Server) -> None:
    path = "/v1/objects/p1/objects/ab/" + "ab" * 16 + "/1"
    client.sendall(_head(server, "PUT", path, f"Content-Length: {LARGE}") + b"x" * 1000)


def _no_reading(client: socket.socket, server: Server) -> None:
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    for _ in range(20):
        client.sendall(_head(server, "GET", "/v1/projects/default/files?spec=/"))


def _silent_stream(client: socket.socket, server: Server) -> None:
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    path = "/v1/projects/default/events/stream?since=0"
    client.sendall(_head(server, "GET", path, *upgrade, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="))


def _waiting(client: socket.socket, server: Server) -> None:
    last = server.get("/v1/projects/default/events")["last"]
    client.sendall(_head(server, "GET", f"/v1/projects/default/events?since={last}&wait_seconds=20"))


def _nothing(client: socket.socket, server: Server) -> None:
    del client, server


def _no_http(client: socket.socket, server: Server) -> None:
    del server
    client.sendall(b"\x16\x03\x01\x02\x00\x01\x00" + b"\0" * 500)


KINDS: dict[str, Callable[[socket.socket, Server], None]] = {
    "half a head": _half_a_head,
    "half a body": _half_a_body,
    "half an upload": _half_an_upload,
    "many requests, no reading": _no_reading,
    "a silent stream of events": _silent_stream,
    "a long wait": _waiting,
    "nothing": _nothing,
    "TLS to a server without it": _no_http,
}


def _descriptors(server: Server) -> int:
    return len(list(Path(f"/proc/{server.process.pid}/fd").iterdir()))
