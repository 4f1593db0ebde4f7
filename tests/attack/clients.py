"""Clients that are slow, silent or gone: other users notice nothing, and what the clients held is freed.

One user's clients misbehave, all connected at once, while another user's requests for the status have to be answered.
Threads and descriptors of the server are counted; the time of the slowest answer is reported and not judged.
"""

from __future__ import annotations

import re
import socket
import time
from collections import Counter
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import urllib3

from acai_jupyter.client.follow import wait
from acai_jupyter.contract.endpoints import BASE
from tests.integration.places import Place, Server, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.attack.campaign import Run

CLIENTS = 100
SHORT_CLIENTS = 60
ASKED = 100
SHORT_ASKED = 20
"""How many requests for the status are made while the clients are connected."""
LEAVING = 0.4
"""The part of the clients that leave before they are answered."""
SPARE = 20
"""Descriptors that the server may open for its own work in the same time."""
MOST_THREADS = 60
"""Of all pools together and some for the server's own work, however many clients there are."""
LARGE = 20_000_000
PROGRAM = "import sys\nfor n in range(40): sys.stdout.write('a line of a log\\n' * 50_000)"
"""Writes a log of 32 MB, which no search passes at once."""
JOBS = "/v1/projects/default/jobs"


def slow_clients(run: Run) -> None:
    """Let many clients of one user misbehave at once, next to the requests of another user."""
    with closing(Place(run.home / "home")) as place:
        place.write("large/file", run.chance.randbytes(LARGE))
        server = place.start(program="acai")
        done = place.acai("put", "large", "/large", "--as", "large")
        assert done.returncode == 0, done.stderr
        number = server.ask("POST", JOBS, {"command": ["python3", "-c", PROGRAM]}).json["number"]
        assert wait(server.client(), number).state == "finished"
        made = server.ask("POST", "/v1/projects/default/users", {"name": "mallory", "role": "member"})
        attacker = Attacker(server, made.json["issued"]["secret"], int(number))
        bearer = {"Authorization": f"Bearer {attacker.token}"}
        assert server.ask("GET", JOBS, token=None, headers=bearer).status == 200, "else all would just be refused"
        for _ in run.rounds():
            _attack(run, server, attacker)
        if "Traceback" in server.log:
            run.violation("the server logged a traceback", server.log[server.log.index("Traceback") :][:2000])


@dataclass
class Attacker:
    """A user whose clients misbehave."""

    server: Server
    token: str
    job: int
    dripping: list[socket.socket] = field(default_factory=list)
    """Connections on which a body arrives byte by byte."""

    def connected(self) -> socket.socket:
        """Open a connection with a small receive buffer."""
        parts = urlsplit(self.server.root)
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.settimeout(60)
        client.connect((parts.hostname, parts.port))
        return client

    def head(self, method: str, path: str, *lines: str) -> bytes:
        """Return the head of a request by this user."""
        parts = urlsplit(self.server.root)
        first = f"{method} {parts.path}{BASE}{path} HTTP/1.1"
        return "\r\n".join(
            [first, f"Host: {parts.netloc}", f"Authorization: Bearer {self.token}", *lines, "", ""]
        ).encode()

    def drip(self) -> None:
        """Send one more byte of each body that is on its way."""
        for client in self.dripping:
            with suppress(OSError):  # the server may have given it up
                client.sendall(b" ")

    def searches(self) -> Counter[int]:
        """Count the searches in logs that the server is done with, by status."""
        text = self.server.ask("GET", "/v1/metrics").body.decode()
        found = re.findall(r'acai_requests_total\{route="list_log_lines",status="(\d+)"\} (\d+)', text)
        return Counter({int(status): int(count) for status, count in found})


def _attack(run: Run, server: Server, attacker: Attacker) -> None:
    assert server.status().status == 200
    before, searched = _descriptors(server), attacker.searches()
    count = SHORT_CLIENTS if run.is_short else CLIENTS
    kinds = [*KINDS, *[SEARCH] * (count // 4)]  # each kind at least once
    kinds += run.chance.choices(list(KINDS), k=count - len(kinds))
    run.chance.shuffle(kinds)
    steps = sorted(f"{kinds.count(name)} clients: {name}" for name in set(kinds))
    attacker.dripping.clear()
    with ExitStack() as opened:
        left = 0
        for name in kinds:
            client = opened.enter_context(attacker.connected())
            with suppress(OSError):
                KINDS[name](client, attacker)
            run.figures["requests"] += 1
            if run.chance.random() < LEAVING:
                client.close()
                left += 1
        slowest = _ask(run, server, attacker, *steps)
        threads, more = _threads(server), _descriptors(server) - before
        if threads > MOST_THREADS:
            run.violation(f"the server has {threads} threads, more than {MOST_THREADS}", *steps)
        if more > count + SPARE:
            run.violation(f"for {count} clients the server holds {more} descriptors more", *steps)
    searches = kinds.count(SEARCH)
    _check_freed(run, server, attacker, searched + Counter({0: searches}), before, *steps)
    run.figures["slowest_ms"] = max(run.figures["slowest_ms"], slowest)
    run.say(
        f"{count} slow clients, {left} of them gone, {searches} searches: "
        f"slowest status {slowest} ms, {threads} threads, {more} descriptors more"
    )


def _ask(run: Run, server: Server, attacker: Attacker, *steps: str) -> int:
    """Ask as another user while all clients are connected; returns the milliseconds of the slowest answer."""
    slowest = 0.0
    for number in range(SHORT_ASKED if run.is_short else ASKED):
        attacker.drip()
        began = time.monotonic()
        try:
            status = server.status().status
        except urllib3.exceptions.HTTPError as error:
            run.violation(f"request {number} for the status was not answered: {error}", *steps)
            raise
        slowest = max(slowest, time.monotonic() - began)
        run.figures["requests"] += 1
        if status != 200:
            run.violation(f"request {number} for the status was answered with {status}", *steps)
    if not server.get("/v1/projects/default/files?spec=/")["entries"]:
        run.violation("files are not listed while others are slow", *steps)
    return round(slowest * 1000)


def _check_freed(
    run: Run, server: Server, attacker: Attacker, expected: Counter[int], before: int, *steps: str
) -> None:
    """Check that nothing is held, and no search goes on, for clients that left."""
    try:
        until(lambda: _descriptors(server) <= before + SPARE, "connections to be freed")
    except AssertionError:
        run.violation(f"the server keeps {_descriptors(server) - before} descriptors of clients that left", *steps)
    try:
        until(lambda: attacker.searches().total() >= expected.total(), "searches to end")
    except AssertionError:
        run.violation(f"{expected.total() - attacker.searches().total()} searches go on for clients that left", *steps)
        return
    ended = attacker.searches() - expected
    if set(ended) - {200, 429, 499} or not ended[499]:
        run.violation(f"searches whose clients left ended with {dict(ended)}, not with 499", *steps)


def _half_a_head(client: socket.socket, attacker: Attacker) -> None:
    client.sendall(attacker.head("GET", "/v1/status")[:40])


def _half_a_body(client: socket.socket, attacker: Attacker) -> None:
    client.sendall(attacker.head("POST", JOBS, "Content-Length: 1000") + b'{"command"')


def _body_byte_by_byte(client: socket.socket, attacker: Attacker) -> None:
    client.sendall(attacker.head("POST", JOBS, "Content-Length: 100000") + b"{")
    attacker.dripping.append(client)


def _half_an_upload(client: socket.socket, attacker: Attacker) -> None:
    path = "/v1/objects/p1/objects/ab/" + "ab" * 16 + "/1"
    client.sendall(attacker.head("PUT", path, f"Content-Length: {LARGE}") + b"x" * 1000)


def _no_reading(client: socket.socket, attacker: Attacker) -> None:
    for _ in range(20):
        client.sendall(attacker.head("GET", "/v1/projects/default/files?spec=/"))


def _no_reading_of_a_log(client: socket.socket, attacker: Attacker) -> None:
    client.sendall(attacker.head("GET", f"{JOBS}/{attacker.job}/log.txt"))


def _search(client: socket.socket, attacker: Attacker) -> None:
    client.sendall(attacker.head("GET", f"{JOBS}/{attacker.job}/log/lines?text=nothing"))


def _silent_stream(client: socket.socket, attacker: Attacker) -> None:
    upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    path = "/v1/projects/default/events/stream?since=0"
    client.sendall(attacker.head("GET", path, *upgrade, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="))


def _waiting(client: socket.socket, attacker: Attacker) -> None:
    last = attacker.server.get("/v1/projects/default/events")["last"]
    client.sendall(attacker.head("GET", f"/v1/projects/default/events?since={last}&wait_seconds=20"))


def _nothing(client: socket.socket, attacker: Attacker) -> None:
    del client, attacker


def _no_http(client: socket.socket, attacker: Attacker) -> None:
    del attacker
    client.sendall(b"\x16\x03\x01\x02\x00\x01\x00" + b"\0" * 500)


SEARCH = "a search in a large log"
KINDS: dict[str, Callable[[socket.socket, Attacker], None]] = {
    "half a head": _half_a_head,
    "half a body": _half_a_body,
    "a body byte by byte": _body_byte_by_byte,
    "half an upload": _half_an_upload,
    "many requests, no reading": _no_reading,
    "a large log, no reading": _no_reading_of_a_log,
    SEARCH: _search,
    "a silent stream of events": _silent_stream,
    "a long wait": _waiting,
    "nothing": _nothing,
    "TLS to a server without it": _no_http,
}


def _descriptors(server: Server) -> int:
    return sum(1 for _ in Path(f"/proc/{server.process.pid}/fd").iterdir())


def _threads(server: Server) -> int:
    return sum(1 for _ in Path(f"/proc/{server.process.pid}/task").iterdir())
