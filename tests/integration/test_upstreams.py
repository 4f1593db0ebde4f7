"""Attached by `url`: to nothing, to something else, to itself; and what a server keeps to its user."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from urllib3.exceptions import ProtocolError

from acai_jupyter.contract.endpoints import BASE
from tests.integration.places import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.places import Place, Server


class SomethingElse(BaseHTTPRequestHandler):
    """A web server that has never heard of ACAI."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>welcome</html>")

    def log_message(self, *arguments: object) -> None:
        del arguments


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1/x", "http://"])
def test_an_address_that_is_none_is_a_bad_setting(place: Place, url: str) -> None:
    answer = place.start(ACAI_URL=url).status()
    assert (answer.status, answer.code) == (400, "bad_setting")
    assert "url" in answer.error["message"]


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("event_bus", {"ACAI_EVENT_BUS": "postgres"}),
        ("database", {"ACAI_DATABASE": "sqlite:///x"}),
        ("s3_endpoint_url", {"ACAI_OBJECT_STORE": "s3", "ACAI_S3_BUCKET": "b", "ACAI_S3_ENDPOINT_URL": "foo"}),
    ],
)
def test_settings_that_cannot_be_meant_are_named(place: Place, name: str, given: dict[str, str]) -> None:
    answer = place.start(**given).status()
    assert (answer.status, answer.code) == (400, "bad_setting")
    assert name in answer.error["message"]


def test_an_upstream_that_is_something_else_is_said(place: Place) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), SomethingElse) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        try:
            answer = place.start(ACAI_URL=f"http://127.0.0.1:{other.server_port}").status()
        finally:
            other.shutdown()
            thread.join()
    assert (answer.status, answer.code) == (503, "server_unreachable")
    assert "something else" in answer.error["message"]


def test_a_refusal_has_its_request_id_in_the_log(place: Place) -> None:
    server = place.start()
    answer = server.ask("GET", "/v1/projects/default/jobs/999")
    assert answer.status == 404
    assert answer.error["details"]["request_id"] in server.log


def test_what_a_server_writes_is_its_users_alone(place: Place) -> None:
    server = place.start()
    assert server.status().status == 200
    names = ["token", "server.json", "acai.db", "acai.db-wal"]
    written = [place.data / name for name in names] + list(place.data.glob("servers/*.json"))
    assert len(written) == len(names) + 1
    for path in written:
        assert path.stat().st_mode & 0o077 == 0, path.name


class CutShort(BaseHTTPRequestHandler):
    """A server whose connections break in the middle of a log."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(b"5\r\nbegin\r\n")
        self.close_connection = True

    def log_message(self, *arguments: object) -> None:
        del arguments


class Silent(BaseHTTPRequestHandler):
    """A server that takes a body and never answers."""

    protocol_version = "HTTP/1.1"
    arrived = threading.Event()
    left = threading.Event()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.arrived.set()
        assert self.rfile.read(1) == b""
        self.left.set()

    def log_message(self, *arguments: object) -> None:
        del arguments


@contextmanager
def attached(place: Place, upstream: type[BaseHTTPRequestHandler]) -> Iterator[Server]:
    """Start a server that is attached to another one, which a handler stands for."""
    with ThreadingHTTPServer(("127.0.0.1", 0), upstream) as other:
        thread = threading.Thread(target=other.serve_forever)
        thread.start()
        try:
            yield place.start(ACAI_URL=f"http://127.0.0.1:{other.server_port}", ACAI_TOKEN="acai_x")
        finally:
            other.shutdown()
            thread.join()


def test_a_caller_who_leaves_after_a_large_body_frees_both_connections(place: Place) -> None:
    with attached(place, Silent) as server:
        address = urlsplit(f"{server.root}{BASE}/v1/projects/default/uploads")
        caller = HTTPConnection(address.hostname or "", address.port, timeout=60)
        caller.request("POST", address.path, b"{}".ljust(1024**2), {"Authorization": "Bearer acai_x"})
        assert Silent.arrived.wait(60)
        caller.close()
        assert Silent.left.wait(50), "the connection to the other server is closed, before any timeout"


def test_a_stream_that_breaks_off_does_not_look_whole(place: Place) -> None:
    with attached(place, CutShort) as server:
        with pytest.raises(ProtocolError):
            server.ask("GET", "/v1/projects/default/jobs/1/log.txt")
        until(lambda: "503 GET /acai/api/v1/projects/default/jobs/1/log.txt" in server.log, "its line in the log")
