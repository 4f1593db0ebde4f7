"""Bodies of requests: callers are identified by the headers, nothing large is held in memory, nothing stalls."""

from __future__ import annotations

import json
import select
import socket
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from acai_jupyter.contract.endpoints import BASE
from tests.integration.places import Place, Server, until

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = "/v1/projects/default"
JOBS = f"{PROJECT}/jobs"
MIB = 1024 * 1024
LARGE = 490 * MIB
ALLOWED_GROWTH = 48 * MIB


@pytest.fixture(scope="module", params=["acai", "server"])
def either(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server alone, and one inside Jupyter."""
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        server = place.start(program=request.param)
        assert server.ask("POST", JOBS, {"command": []}).status == 400
        yield server


def connected(server: Server) -> socket.socket:
    parts = urlsplit(server.root)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=120)


def head(server: Server, method: str, path: str, *lines: str, token: str | None = None) -> bytes:
    sent = [f"{method} {urlsplit(server.root).path}{BASE}{path} HTTP/1.1", "Host: 127.0.0.1", *lines]
    sent += [] if token is None else [f"Authorization: Bearer {token}"]
    return "\r\n".join([*sent, "", ""]).encode()


def answer(connection: socket.socket) -> tuple[int, dict[str, str], Any]:
    """Read one answer, and no byte more."""
    with closing(connection.makefile("rb", buffering=0)) as file:
        status = int(file.readline().split()[1])
        headers = {}
        while line := file.readline().strip():
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        body = file.read(int(headers["content-length"])) or b""
        while len(body) < int(headers["content-length"]):
            body += file.read(int(headers["content-length"]) - len(body)) or b""
        return status, headers, json.loads(body)


def peak_bytes(server: Server) -> int:
    """The most memory that the server ever held."""
    lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def sent_until_closed(connection: socket.socket, most: int) -> int:
    """Send zeros until the server hangs up or all are sent; returns how many the sockets took."""
    sent, piece = 0, bytes(MIB)
    try:
        while sent < most:
            sent += connection.send(piece[: most - sent])
    except OSError:
        pass
    return sent


OPEN = ("POST", "/v1/sign-in")
"""Every caller may send a little to this route."""
ROUTES = [
    ("POST", JOBS),
    ("POST", f"{PROJECT}/uploads"),
    ("PUT", "/v1/objects/p1/none?expires=1&signature=0"),
    ("PUT", "/v1/nothing"),
    ("DELETE", f"{JOBS}/1"),
    OPEN,
    ("POST", "/v1/health"),
    ("GET", f"{PROJECT}/events/stream"),
    ("GET", f"{PROJECT}/provenance/a/closure"),
]


ANNOUNCED, UNANNOUNCED = f"Content-Length: {LARGE}", "Transfer-Encoding: chunked"
TWICE = f"Content-Length: {LARGE},{LARGE}"
SIZES = [(*route, ANNOUNCED) for route in ROUTES]
SIZES += [(*route, size) for route in ROUTES if route != OPEN for size in (UNANNOUNCED, TWICE)]


@pytest.mark.parametrize(("method", "path", "size"), SIZES)
@pytest.mark.parametrize("token", [None, "acai_of-no-one-at-all"])
@pytest.mark.parametrize("awaits_word", [False, True])
def test_a_large_body_of_a_stranger_is_refused_at_its_headers(
    either: Server, method: str, path: str, size: str, token: str | None, awaits_word: bool
) -> None:
    with closing(connected(either)) as connection:
        expects = ["Expect: 100-continue"] if awaits_word else []
        connection.sendall(head(either, method, path, size, *expects, token=token))
        status, headers, body = answer(connection)  # not a byte of the body was sent
        assert status in (401, 403, 405, 413), body
        assert headers["connection"] == "close"
        assert connection.recv(1) == b""


def test_strangers_who_send_gigabytes_take_no_memory(either: Server) -> None:
    before = peak_bytes(either)
    with ExitStack() as stack:
        connections = []
        for method, path in ROUTES[:5]:
            connection = stack.enter_context(closing(connected(either)))
            connection.sendall(head(either, method, path, f"Content-Length: {LARGE}"))
            connections.append(connection)
        taken = [sent_until_closed(connection, LARGE) for connection in connections]
    assert max(taken) < 32 * MIB  # what the sockets of both sides hold
    assert peak_bytes(either) - before < ALLOWED_GROWTH


def test_bodies_of_members_wait_on_disk(either: Server) -> None:
    size, arriving = 60 * MIB, 8
    before = peak_bytes(either)
    with ExitStack() as stack:
        for _ in range(arriving):
            connection = stack.enter_context(closing(connected(either)))
            connection.sendall(
                head(either, "POST", f"{PROJECT}/uploads", f"Content-Length: {size}", token=either.token)
            )
            assert sent_until_closed(connection, size - 1) == size - 1
        assert either.status().status == 200
        assert peak_bytes(either) - before < ALLOWED_GROWTH


@pytest.mark.parametrize("framing", ["length", "chunks", "one chunk"])
def test_a_body_above_the_limit_of_its_route_is_refused_with_a_sentence(either: Server, framing: str) -> None:
    with closing(connected(either)) as connection:
        size = "Content-Length: 70000000" if framing == "length" else "Transfer-Encoding: chunked"
        connection.sendall(head(either, "POST", JOBS, size, token=either.token))
        if framing == "chunks":
            for _ in range(17):
                connection.sendall(b"10000\r\n" + bytes(0x10000) + b"\r\n")
        elif framing == "one chunk":
            connection.sendall(b"4000000\r\n")
            sent_until_closed(connection, 0x4000000)
        status, headers, body = answer(connection)
    assert (status, body["error"]["code"], headers["connection"]) == (413, "too_large", "close")


def test_the_limit_is_a_setting_and_a_body_of_just_that_size_is_taken(place: Place) -> None:
    server = place.start(program="acai", ACAI_MAX_BODY_KIB="64")
    body = json.dumps({"command": ["true"]}).encode()
    assert server.ask("POST", JOBS, body.ljust(64 * 1024)).status == 201
    refused = server.ask("POST", JOBS, body.ljust(64 * 1024 + 1))
    assert (refused.status, refused.code) == (413, "too_large")
    assert "at most 65536" in refused.error["message"]
    assert server.ask("POST", f"{PROJECT}/uploads", b"{}".ljust(MIB)).status == 201


def test_a_token_that_is_revoked_while_a_large_body_arrives_opens_nothing(place: Place) -> None:
    server = place.start(program="acai")
    secret = server.ask("POST", f"{PROJECT}/tokens", {"name": "leaving"}).json["secret"]
    body = b"{}".ljust(MIB)
    with closing(connected(server)) as connection:
        connection.sendall(head(server, "POST", f"{PROJECT}/uploads", f"Content-Length: {len(body)}", token=secret))
        connection.sendall(body[:-1])
        assert server.ask("DELETE", f"{PROJECT}/tokens/leaving").status == 200
        connection.sendall(body[-1:])
        status, _, said = answer(connection)
    assert (status, said["error"]["code"]) == (401, "not_signed_in")


# -- connections that stay open


REFUSED = [
    ("GET", "/v1/objects/p1/none?signature=0&expires=1", True),
    ("PUT", "/v1/objects/p1/none", False),
    ("GET", "/v1/status", False),
    ("GET", "/v1/nothing", True),
    ("GET", "/v1/nothing", False),
    ("POST", JOBS, False),
    ("POST", JOBS, True),
    ("PATCH", JOBS, True),
    ("DELETE", "/v1/health", False),
    ("POST", "/v1/sign-in", False),
    ("GET", "/v1/metrics", False),
    ("GET", f"{JOBS}/999/log.txt", True),
    ("GET", f"{PROJECT}/provenance/none/closure", True),
    ("GET", f"{PROJECT}/events/stream", True),
    ("HEAD", "/v1/metrics", True),
]


@pytest.mark.parametrize(("method", "path", "has_token"), REFUSED)
@pytest.mark.parametrize("sent", [b"", b"{}", bytes(MIB)], ids=["no body", "a little body", "a body"])
def test_a_refusal_keeps_the_connection_and_says_so(
    either: Server, method: str, path: str, has_token: bool, sent: bytes
) -> None:
    token = either.token if has_token else None
    with closing(connected(either)) as connection:
        for _ in range(3):
            connection.sendall(head(either, method, path, f"Content-Length: {len(sent)}", token=token) + sent)
            if method == "HEAD":
                continue
            status, headers, body = answer(connection)
            assert 400 <= status < 500, body
            assert "connection" not in headers
        if method == "HEAD":
            connection.sendall(head(either, "HEAD", path, "Connection: close", token=token))
            said = b"".join(iter(lambda: connection.recv(65_536), b""))
            assert said.count(b"HTTP/1.1 4") == 4


# -- bodies that stop arriving


def half_sent(server: Server, stack: ExitStack, what: bytes) -> socket.socket:
    connection = stack.enter_context(closing(connected(server)))
    connection.sendall(what)
    return connection


def closed(connections: list[socket.socket], seconds: float) -> list[socket.socket]:
    """Return those on which something came or that were closed, as soon as there are some."""
    return select.select(connections, [], [], seconds)[0]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("program", ["acai", "server"])
def test_half_sent_requests_are_closed_and_slow_ones_are_served(place: Place, program: str) -> None:
    server = place.start(program=program, ACAI_BODY_TIMEOUT_SECONDS="10", ACAI_HEADER_TIMEOUT_SECONDS="10")
    token = server.token
    begun = head(server, "POST", JOBS, "Content-Length: 1000", token=token)
    chunked = head(server, "POST", JOBS, "Transfer-Encoding: chunked", token=token)
    dropped = head(server, "POST", JOBS, "Content-Length: 1000")
    kinds = [begun + b"{", begun, chunked + b"5\r\n{", dropped + b"{"]
    if program == "acai":
        kinds += [begun[:40], b""]
    body = json.dumps({"command": ["true"]}).encode().ljust(10_000)
    with ExitStack() as stack, server.stream() as stream:
        stream.recv()
        slow = half_sent(server, stack, head(server, "POST", JOBS, f"Content-Length: {len(body)}", token=token))
        sent, left = 0, []
        for number in range(300):
            left.append(half_sent(server, stack, kinds[number % len(kinds)]))
            slow.sendall(body[sent : sent + 1])
            sent += 1
        while left:  # the slow one began before them
            assert server.status().status == 200
            slow.sendall(body[sent : sent + 1])
            sent += 1
            gone = closed(left, 0.2)
            left = [one for one in left if one not in gone or not ended(one)]
        assert sent < len(body)
        slow.sendall(body[sent:])
        status, _, made = answer(slow)
        assert status == 201, made
        while "job" not in str(json.loads(stream.recv())):
            pass
    assert server.status().status == 200


def ended(connection: socket.socket) -> bool:
    """Whether the server has hung up; what it said before is a refusal."""
    said = connection.recv(65_536)
    assert said == b"" or b" 400 " in said or b" 401 " in said, said
    return said == b""


# -- through a server that is only attached


@pytest.fixture
def attached(place: Place) -> Iterator[tuple[Server, Server]]:
    """A server with the data, and one that passes requests on to it."""
    far = place.start(program="acai")
    with closing(Place(place.home / "here")) as here:
        near = here.start(ACAI_URL=far.root, ACAI_TOKEN=far.token)
        assert near.status().json["mode"] == "attached"
        yield far, near


def test_large_bodies_go_through_an_attached_server_without_being_held(attached: tuple[Server, Server]) -> None:
    far, near = attached
    upload = near.ask("POST", f"{PROJECT}/uploads", {}).json["id"]
    before = peak_bytes(near)
    files = [{"path": f"/{number}", "sha256": f"{number:064x}", "size_bytes": 1} for number in range(9_000)]
    sent = json.dumps({"files": files}).encode().ljust(62 * MIB)
    staged = near.ask("POST", f"{PROJECT}/uploads/{upload}/files", sent)
    assert staged.status == 200, staged.body[:500]
    assert near.ask("GET", f"{PROJECT}/uploads/{upload}").json == far.ask("GET", f"{PROJECT}/uploads/{upload}").json
    assert peak_bytes(near) - before < ALLOWED_GROWTH
    wrong = near.ask("POST", f"{PROJECT}/uploads/{upload}/files", b"[" + sent[1:])
    assert (wrong.status, wrong.code) == (400, "bad_request")


def test_a_stranger_is_refused_at_the_headers_by_the_server_with_the_data(attached: tuple[Server, Server]) -> None:
    _, near = attached
    with closing(connected(near)) as connection:
        address = f"{PROJECT}/uploads"
        connection.sendall(head(near, "POST", address, f"Content-Length: {60 * MIB}", token="acai_of-no-one"))
        status, headers, body = answer(connection)
    assert (status, body["error"]["code"], headers["connection"]) == (401, "not_signed_in", "close")


def test_a_server_with_the_data_that_dies_is_one_sentence(attached: tuple[Server, Server]) -> None:
    far, near = attached
    with closing(connected(near)) as connection:
        address = f"{PROJECT}/uploads"
        connection.sendall(head(near, "POST", address, f"Content-Length: {60 * MIB}", token=far.token))
        connection.sendall(bytes(MIB))
        far.kill()
        sent_until_closed(connection, 59 * MIB)
        status, _, body = answer(connection)
    assert (status, body["error"]["code"]) == (503, "server_unreachable")
    until(lambda: near.status().code == "server_unreachable", "the other requests being told the same")


def test_a_caller_who_goes_away_leaves_nothing_open(attached: tuple[Server, Server]) -> None:
    far, near = attached
    for _ in range(20):
        with closing(connected(near)) as connection:
            address = f"{PROJECT}/uploads"
            connection.sendall(head(near, "POST", address, f"Content-Length: {60 * MIB}", token=far.token))
            connection.sendall(bytes(MIB))
    folder = Path(f"/proc/{near.process.pid}/fd")
    until(lambda: len(list(folder.iterdir())) < 60, "the connections to the other server being closed")
    assert near.status().status == 200
