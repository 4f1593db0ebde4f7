"""The log of a server, as text and as lines of JSON: one for each request, none with a token or a signature."""

from __future__ import annotations

import hashlib
import json
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import pytest

from acai_jupyter.client.follow import wait
from acai_jupyter.contract.endpoints import BASE
from tests.integration.places import TOKEN, fetch, until

if TYPE_CHECKING:
    from tests.integration.places import Place, Server

PROJECT = "/v1/projects/default"


def lines(server: Server) -> list[dict[str, Any]]:
    """All documents; what Jupyter says before ACAI is loaded is text."""
    return [json.loads(line) for line in server.log.splitlines() if line.startswith("{")]


def test_each_request_has_a_line_with_who_and_what_and_nothing_secret(place: Place) -> None:
    server = place.start(ACAI_LOG_FORMAT="json", ACAI_REQUESTS_PER_SECOND="1000")
    made = server.ask("POST", f"{PROJECT}/users", {"name": "ann", "role": "member"})
    secret = made.json["issued"]["secret"]
    ann = {"Authorization": f"Bearer {secret}"}
    content = b"one"
    begun = server.ask("POST", f"{PROJECT}/uploads", {}, token=None, headers=ann).json["id"]
    announced = {"number": 1, "size_bytes": 3, "sha256": hashlib.sha256(content).hexdigest()}
    asked = f"{PROJECT}/uploads/{begun}/targets"
    url = server.ask("POST", asked, {"objects": [announced]}, token=None, headers=ann).json["targets"][0]["url"]
    signature = parse_qs(urlsplit(url).query)["signature"][0]
    assert fetch("PUT", url, content).status == 200
    assert fetch("PUT", url.replace(signature, signature[::-1]), content).status in (401, 403)
    for path in ("/v1/status", "/v1/nothing", f"{PROJECT}/jobs/0", f"{PROJECT}/audit"):
        server.ask("GET", path, token=None, headers=ann)
    server.ask("GET", "/v1/status", token=None, headers={"Authorization": f"Bearer {secret[:-1]}"})
    fetch("GET", f"{server.root}/api/contents/nothing?token={TOKEN}")
    fetch("GET", f"{server.root}/acai/api/v1/status?token={secret}")
    server.ask("GET", "/v1/status", token=None, headers={**ann, "X-Request-Id": "the-last-one"})
    until(lambda: "the-last-one" in server.log, "the line of the last request")
    for hidden in (secret, secret[:-1], signature, signature[::-1], TOKEN, server.token):
        assert hidden not in server.log
    requests = [line for line in lines(server) if line["logger"] == "acai_server.requests"]
    last = requests[-1]
    assert last.pop("seconds") > 0
    assert {name: last[name] for name in ("request_id", "user", "project", "route", "method", "status", "level")} == {
        "request_id": "the-last-one",
        "user": "ann",
        "project": "default",
        "route": "get_status",
        "method": "GET",
        "status": 200,
        "level": "info",
    }
    told = {(line["route"], line["user"], line["status"], line["level"]) for line in requests}
    assert ("list_audit", "ann", 403, "warning") in told
    assert ("put_object", "", 200, "info") in told
    assert ("", "ann", 404, "warning") in told
    text = [line for line in server.log.splitlines() if not line.startswith("{")]
    assert not [line for line in text if "/acai/api" in line], "of requests nothing is said twice"


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("program", ["acai", "server"])
def test_the_whole_log_of_a_server_that_debugs_has_no_secret(place: Place, program: str, form: str) -> None:
    server = place.start("--debug", program=program, ACAI_LOG_FORMAT=form)
    admin = {"Authorization": f"Bearer {server.token}"}
    job = server.ask("POST", f"{PROJECT}/jobs", {"command": ["true"]}, token=None, headers=admin).json["number"]
    assert wait(server.client(), job).state == "finished"
    ann = {"name": "ann", "role": "member"}
    secret = server.ask("POST", f"{PROJECT}/users", ann, token=None, headers=admin).json["issued"]["secret"]
    signature = signed(server, admin)
    for address in ("/v1/status", f"/v1/projects/{secret}/jobs", f"/v1/{secret}", f"{PROJECT}/jobs/{secret}"):
        for query in (f"?token={secret}", f"?to%6ben={secret}", f"?signature={signature}", f"?sig%6eature={signature}"):
            referrer = {"Referer": f"{server.root}/x{query}"}
            server.ask("GET", address + query, token=None, headers=referrer)
            server.ask("GET", address + query, token=None, headers={**admin, **referrer})
            fetch("GET", f"{server.root}/api/contents/nothing{query}", headers=referrer)
    malformed(server, f"GET {BASE}/v1/status?token={secret} HTTP/1.1\r\nAuthorization : Bearer {secret}\r\n\r\n")
    malformed(server, f"GET {BASE}/v1/status?token={secret} HTTP/9\r\nAuthorization: Bearer {secret}\r\n\r\n")
    place.sql("ALTER TABLE token RENAME TO away")
    failed = server.ask("GET", f"{PROJECT}/jobs", token=None, headers=admin)
    assert (failed.status, failed.code) == (500, "server_fault")
    place.sql("ALTER TABLE away RENAME TO token")
    server.ask("GET", "/v1/nothing", token=None, headers={**admin, "X-Request-Id": "the-last-one"})
    until(lambda: "the-last-one" in server.log, "the line of the last request")
    assert "Traceback" in server.log
    jupyters = [] if program == "acai" else [TOKEN]
    for hidden in (secret, signature, server.token, *jupyters):
        assert hidden not in server.log
        assert hidden[5:30] not in server.log


def signed(server: Server, headers: dict[str, str]) -> str:
    """Send an object by a signed URL, then with a wrong signature; returns the right one."""
    content = b"one"
    begun = server.ask("POST", f"{PROJECT}/uploads", {}, token=None, headers=headers).json["id"]
    announced = {"number": 1, "size_bytes": 3, "sha256": hashlib.sha256(content).hexdigest()}
    asked = f"{PROJECT}/uploads/{begun}/targets"
    url = server.ask("POST", asked, {"objects": [announced]}, token=None, headers=headers).json["targets"][0]["url"]
    signature = parse_qs(urlsplit(url).query)["signature"][0]
    assert fetch("PUT", url, content).status == 200
    assert fetch("PUT", url.replace("expires=", "expires=1"), content).status in (401, 403)
    return str(signature)


def malformed(server: Server, text: str) -> None:
    """Send what is no request, and wait for the server to hang up."""
    parts = urlsplit(server.root)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=60) as connection:
        connection.sendall(text.encode())
        while connection.recv(65_536):
            pass


def test_a_very_long_address_is_shortened_in_its_answer_and_in_the_log(place: Place) -> None:
    server = place.start(program="acai")
    answer = server.ask("GET", f"/v1/x&key{'k' * 50_000}", headers={"X-Request-Id": "long"}, token=None)
    assert (answer.status, answer.code) == (401, "not_signed_in")
    found = server.ask("GET", f"/v1/x&key{'k' * 50_000}", headers={"X-Request-Id": "long-known"})
    assert (found.status, found.code) == (404, "not_found")
    assert len(found.error["message"]) < 1000
    until(lambda: "404 GET /acai/api/v1/x&key" in server.log, "the line of the request")
    assert max(map(len, server.log.splitlines())) < 1000
