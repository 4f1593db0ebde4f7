"""What somebody hostile sends to the API: none of it gets further than a refusal, and nobody else waits for it."""

from __future__ import annotations

import gzip
import json
import socket
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import pytest

from acai_jupyter.contract.endpoints import BASE
from tests.integration.places import TOKEN, Server, fetch

if TYPE_CHECKING:
    from collections.abc import Iterator

JOBS = "/v1/projects/default/jobs"
CRLF = "%0d%0aSet-Cookie:%20evil=1"


def connected(server: Server) -> socket.socket:
    parts = urlsplit(server.root)
    return socket.create_connection((parts.hostname or "", parts.port or 0), timeout=120)


def head(server: Server, method: str, path: str, *lines: str) -> bytes:
    """The beginning of a request, as it goes over the wire."""
    parts = urlsplit(server.root)
    said = [f"{method} {parts.path}{BASE}{path} HTTP/1.1", f"Host: {parts.netloc}", f"Authorization: token {TOKEN}"]
    return "\r\n".join([*said, *lines, "", ""]).encode()


def answered(server: Server, sent: bytes) -> bytes:
    """All that comes back for bytes, until the server hangs up."""
    with closing(connected(server)) as connection:
        connection.sendall(sent)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


@pytest.mark.parametrize(
    ("method", "path", "token"),
    [("GET", "/v1/status", TOKEN), ("GET", "/v1/status", None), ("GET", "/v1/nothing", TOKEN), ("POST", JOBS, TOKEN)],
)
def test_no_answer_can_be_framed_guessed_at_or_kept(server: Server, method: str, path: str, token: str | None) -> None:
    headers = server.ask(method, path, token=token).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert "frame-ancestors 'self'" in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert headers["content-type"].startswith("application/json")
    assert headers.get("access-control-allow-origin", "") == ""


@pytest.mark.parametrize(
    "path", [f"/v1/projects/{CRLF}/jobs", f"/v1/status?{CRLF}", f"/v1/projects/default/jobs/{CRLF}"]
)
def test_nothing_in_an_address_becomes_a_header(server: Server, path: str) -> None:
    answer = server.ask("GET", path)
    assert answer.status in (400, 404)
    assert "evil" not in answer.headers.get("set-cookie", "")


def test_a_request_id_with_a_line_of_its_own_is_not_repeated(server: Server) -> None:
    said = answered(
        server, head(server, "GET", "/v1/status", "X-Request-Id: a\x0bSet-Cookie: evil=1", "Connection: close")
    )
    assert b"evil" not in said.partition(b"\r\n\r\n")[0]


@pytest.mark.parametrize("where", ["//evil.example", "/\\evil.example", "/%2f%2fevil.example", "/v1//evil.example/.."])
def test_no_route_leads_to_another_host(server: Server, where: str) -> None:
    for path in (
        f"{BASE}{where}",
        f"{BASE}/v1/status?next=https://evil.example",
        f"/login?next={quote('//evil.example')}",
    ):
        answer = fetch("GET", f"{server.root}{path}", headers={"Authorization": f"token {TOKEN}"})
        assert "evil.example" not in urlsplit(answer.headers.get("location", "")).netloc


@pytest.mark.parametrize(
    "path",
    [
        "/v1/objects/..%2f..%2facai.db",
        "/v1/objects/p1%2f..%2f..%2ftoken",
        "/v1/objects//etc/passwd",
        "/v1/projects/..%2f..%2f/jobs",
        "/v1/projects/default/filesets/..%2f..%2f",
        "/v1/projects/default/jobs/1%2f..%2f..%2flog.txt",
        "/../../acai.db",
    ],
)
def test_no_path_leads_out_of_what_there_is(server: Server, path: str) -> None:
    said = answered(server, head(server, "GET", path, "Connection: close"))
    assert said.split(b" ", 2)[1] in (b"400", b"403", b"404")
    assert server.token.encode() not in said
    assert b"SQLite" not in said


INJECTED = ["' OR 1=1 --", "digits'; DROP TABLE job; --", '" OR ""="', "%' UNION SELECT hash FROM token --"]


@pytest.mark.parametrize("text", INJECTED)
def test_no_text_is_taken_for_sql(server: Server, text: str) -> None:
    for path in (f"/v1/projects/{quote(text)}/jobs", f"/v1/projects/default/filesets/{quote(text)}"):
        assert server.ask("GET", path).status in (400, 404)
    for query in (f"name = {json.dumps(text)}", text):
        found = server.ask("POST", "/v1/projects/default/find", {"kind": "file_set", "query": query})
        assert found.status == 400 or found.json["rows"] == []
    assert server.get(JOBS)["jobs"] == []


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "(.*)*" * 20 + "x", "a{1000}{1000}"])
def test_no_expression_takes_longer_than_a_query_may(server: Server, pattern: str) -> None:
    wanted = {"kind": "file_set", "query": f"name ~ {json.dumps(pattern)}"}
    assert server.ask("POST", "/v1/projects/default/find", wanted).status in (200, 400, 422)


def nested(depth: int) -> bytes:
    return b'{"command": ' + b"[" * depth + b"]" * depth + b"}"


@pytest.mark.parametrize(
    "body",
    [
        nested(100_000),
        b'{"command": ["' + b"\\u0041" * 100_000 + b'"], "x": 1}',
        b'{"command": ["true"], "priority": ' + b"9" * 100_000 + b"}",
        b'{"command": ["true"], "priority": 1e999999}',
        b"{" + b",".join(b'"k%d": 1' % number for number in range(50_000)) + b"}",
        b"\xff\xfe" + b"\0" * 1000,
    ],
    ids=["deep", "escaped", "digits", "exponent", "keys", "utf-16"],
)
def test_json_that_is_hostile_is_refused_in_one_sentence(server: Server, body: bytes) -> None:
    answer = server.ask("POST", JOBS, body)
    assert (answer.status, answer.code) == (400, "bad_request")
    assert len(answer.error["message"]) < 1000


def test_what_is_compressed_is_not_unpacked(server: Server) -> None:
    bomb = gzip.compress(b'{"command": ["' + b"a" * 50_000_000 + b'"]}')
    answer = server.ask("POST", JOBS, bomb, headers={"Content-Encoding": "gzip"})
    assert (answer.status, answer.code) == (400, "bad_request")


def test_a_body_above_its_limit_is_refused_before_it_has_come(server: Server) -> None:
    with closing(connected(server)) as connection:
        connection.sendall(head(server, "POST", JOBS, f"Content-Length: {2**40}"))
        connection.sendall(b"{")
        said = connection.recv(65_536)
    assert said.split(b" ", 2)[1] in (b"400", b"413")


@pytest.fixture
def slow(server: Server) -> Iterator[list[socket.socket]]:
    """Many who send a byte of a body, and then nothing."""
    with ExitStack() as stack:
        found = []
        for _ in range(100):
            found.append(stack.enter_context(closing(connected(server))))
            found[-1].sendall(head(server, "POST", JOBS, "Content-Length: 1000", "Content-Type: application/json"))
            found[-1].sendall(b"{")
        yield found


def test_who_sends_slowly_keeps_nobody_waiting(server: Server, slow: list[socket.socket]) -> None:
    assert len(slow) == 100
    for _ in range(10):
        assert server.status().status == 200


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: -1",),
        ("Transfer-Encoding: identity, chunked, identity",),
    ],
)
def test_a_request_whose_end_is_not_clear_is_refused(server: Server, lines: tuple[str, ...]) -> None:
    smuggled = head(server, "DELETE", "/v1/projects/default/jobs/1", "Connection: close")
    said = answered(server, head(server, "POST", JOBS, *lines) + b"0\r\n\r\n" + smuggled)
    assert said.count(b"HTTP/1.1 ") == 1
    assert said.split(b" ", 2)[1] in (b"400", b"501")
