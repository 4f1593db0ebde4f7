"""Attached by `url`: to nothing, to something else, to itself; and what a server keeps to its user."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.integration.places import Place


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
