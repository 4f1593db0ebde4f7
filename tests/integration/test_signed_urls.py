"""Signed URLs: a valid signature lets exactly one thing be done to one object, and nothing else is let through."""

from __future__ import annotations

import hashlib
import os
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from acai_jupyter.contract.endpoints import BASE
from acai_jupyter.contract.ids import ObjectKey
from acai_server.objects.signing import UrlSigner
from tests.integration.places import Answer, Place, Server, fetch

if TYPE_CHECKING:
    from collections.abc import Callable

UPLOADS = "/v1/projects/default/uploads"
PART_BYTES = 5 * 1024 * 1024


def announced(content: bytes) -> dict[str, Any]:
    return {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def target(server: Server, content: bytes, file_set: str | None = None) -> tuple[str, str]:
    """Ask where to send an object with this content; returns the session and the signed URL."""
    files = [{"path": "/x", **announced(content)}]
    session = server.ask("POST", UPLOADS, {"files": files, "file_set": file_set}).json["id"]
    answer = server.ask("POST", f"{UPLOADS}/{session}/targets", {"objects": [{"number": 1, **announced(content)}]})
    assert answer.status == 201
    return session, answer.json["targets"][0]["url"]


def parted(server: Server, content: bytes) -> tuple[str, list[dict[str, Any]]]:
    """Ask where to send the parts of an object with this content; returns the session and the parts."""
    session = server.ask("POST", UPLOADS, {"files": [{"path": "/x", **announced(content)}]}).json["id"]
    return session, part_targets(server, session, content)


def part_targets(server: Server, session: str, content: bytes) -> list[dict[str, Any]]:
    wanted = {"number": 1, "size_bytes": len(content), "part_bytes": PART_BYTES}
    answer = server.ask("POST", f"{UPLOADS}/{session}/targets", {"objects": [wanted]})
    assert answer.status == 201
    parts: list[dict[str, Any]] = answer.json["targets"][0]["parts"]
    return parts


def send_part(part: dict[str, Any], content: bytes) -> dict[str, Any]:
    """Send a part; returns what a commit wants to know of it."""
    answer = send(part["url"], content[part["offset"] :][: part["size_bytes"]])
    assert answer.status == 200
    return {"number": part["number"], "etag": answer.headers["etag"]}


def told(content: bytes, parts: list[dict[str, Any]] | None = None) -> dict[str, Any]:
    blobs = [{"offset": 0, **announced(content)}]
    return {"objects": [{"number": 1, "blobs": blobs, "parts": parts or [], **announced(content)}]}


def send(url: str, content: bytes, method: str = "PUT", **headers: str) -> Answer:
    return fetch(method, url, content, headers)


def changed(url: str, **values: object) -> str:
    parts = urlsplit(url)
    query = {name: found[0] for name, found in parse_qs(parts.query).items()}
    query |= {name: str(value) for name, value in values.items()}
    return parts._replace(query=urlencode({k: v for k, v in query.items() if v != "None"})).geturl()


def stored(server: Server, url: str) -> bool:
    key = urlsplit(url).path.split("/v1/objects/")[1]
    return (server.place.data / "objects" / key).exists()


def test_a_valid_signature_keeps_the_bytes_without_any_token(server: Server) -> None:
    _, url = target(server, b"content")
    assert url.startswith(f"{server.root}{BASE}/v1/objects/")
    assert send(url, b"content").status == 200
    assert stored(server, url)
    assert send(url, b"content").status == 200  # again is the same as once


ALTERED: dict[str, Callable[[str], str]] = {
    "key": lambda url: url.replace("/objects/p1/objects/", "/objects/p1/objects/a"),
    "another project's key": lambda url: url.replace("/objects/p1/", "/objects/p2/"),
    "a key outside": lambda url: url.replace("/objects/p1/objects/", "/objects/p1/objects/..%2f..%2f"),
    "size": lambda url: changed(url, size=8),
    "no size": lambda url: changed(url, size=None),
    "hash": lambda url: changed(url, sha256="0" * 64),
    "no hash": lambda url: changed(url, sha256=None),
    "expiry": lambda url: changed(url, expires=2**40),
    "signature": lambda url: changed(url, signature="0" * 64),
    "an empty signature": lambda url: changed(url, signature=""),
    "no ASCII": lambda url: changed(url, signature="\u00e9" * 64),
    "no signature": lambda url: changed(url, signature=None),
    "something added": lambda url: changed(url, more=1),
}


@pytest.mark.parametrize("what", ALTERED)
def test_an_altered_url_is_refused(server: Server, what: str) -> None:
    _, url = target(server, b"content")
    answer = send(ALTERED[what](url), b"content")
    assert answer.code in ("not_allowed", "bad_request", "object_not_found")
    assert not stored(server, url)


@pytest.mark.parametrize("method", ["GET", "POST", "DELETE", "PATCH"])
def test_a_signature_is_for_one_method(server: Server, method: str) -> None:
    _, url = target(server, b"content")
    answer = send(url, b"content", method)
    assert answer.status in (401, 403)
    assert answer.code in ("not_signed_in", "not_allowed")


def test_a_jupyter_token_does_not_replace_a_signature(server: Server) -> None:
    _, url = target(server, b"content")
    path = urlsplit(url).path.split(BASE)[1]
    assert server.ask("GET", f"{path}?expires=99999999999&signature=0").status == 403


@pytest.mark.parametrize("sent", [b"", b"conten", b"contemt", b"content!", b"c" * 100_000])
def test_other_bytes_than_announced_are_refused_and_not_kept(server: Server, sent: bytes) -> None:
    _, url = target(server, b"content")
    answer = send(url, sent)
    assert answer.code in ("hash_mismatch", "too_large")
    assert not stored(server, url)
    assert not list((server.place.data / "objects").rglob("*.part"))
    assert send(url, b"content").status == 200


def test_a_large_object_arrives_whole(server: Server) -> None:
    content = os.urandom(20 * 1024 * 1024)
    _, url = target(server, content)
    assert send(url, content).status == 200
    kept = server.place.data / "objects" / urlsplit(url).path.split("/v1/objects/")[1]
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == hashlib.sha256(content).hexdigest()


def test_a_commit_of_bytes_that_were_not_sent_is_refused_and_takes_no_version(server: Server) -> None:
    content = b"never sent"
    session, url = target(server, content, "never")
    answer = server.ask("POST", f"{UPLOADS}/{session}/commit", told(content))
    assert 400 <= answer.status < 500
    assert server.ask("GET", "/v1/projects/default/filesets/never").code == "file_set_not_found"
    assert send(url, content).status == 200
    answer = server.ask("POST", f"{UPLOADS}/{session}/commit", told(content))
    assert answer.json["file_set"] == "never:1"
    again = server.ask("POST", f"{UPLOADS}/{session}/commit", told(content))
    assert again.json == answer.json


def test_parts_are_sent_resumed_and_committed_as_one_object(server: Server) -> None:
    content = os.urandom(2 * PART_BYTES + 5)
    session, parts = parted(server, content)
    assert [part["size_bytes"] for part in parts] == [PART_BYTES, PART_BYTES, 5]
    first = send_part(parts[0], content)
    resumed = part_targets(server, session, content)
    assert [bool(part["etag"]) for part in resumed] == [True, False, False]
    assert resumed[0]["etag"] == first["etag"].strip('"')
    sent = [first, *(send_part(part, content) for part in resumed[1:])]
    commit = server.ask("POST", f"{UPLOADS}/{session}/commit", told(content, sent))
    assert commit.status == 200
    (kept,) = [path for path in (server.place.data / "objects").rglob("*") if path.is_file() and session in str(path)]
    assert hashlib.sha256(kept.read_bytes()).hexdigest() == hashlib.sha256(content).hexdigest()


ALTERED_PARTS: dict[str, Callable[[str], str]] = {
    "number": lambda url: changed(url, part=2),
    "no number": lambda url: changed(url, part=None),
    "object in parts": lambda url: changed(url, parts="0" * 32),
    "no object in parts": lambda url: changed(url, parts=None),
    "neither": lambda url: changed(url, parts=None, part=None),
    "nothing as a word": lambda url: changed(url, parts="None", part=None),
    "size": lambda url: changed(url, size=PART_BYTES + 1),
}


@pytest.mark.parametrize("what", ALTERED_PARTS)
def test_an_altered_url_of_a_part_is_refused(server: Server, what: str) -> None:
    content = os.urandom(PART_BYTES + 1)
    session, parts = parted(server, content)
    answer = send(ALTERED_PARTS[what](parts[0]["url"]), content[:PART_BYTES])
    assert (answer.status, answer.code) == (403, "not_allowed")
    assert all(part["etag"] is None for part in part_targets(server, session, content))


def test_a_whole_object_cannot_be_sent_as_a_part(server: Server) -> None:
    _, url = target(server, b"content")
    for more in ({"parts": "None", "part": 1}, {"parts": "0" * 32}, {"part": 1}):
        assert send(changed(url, **more), b"content").code == "not_allowed"
    assert not stored(server, url)


@pytest.mark.parametrize("change", [b"", b"too much"])
def test_another_size_than_that_of_the_part_is_refused(server: Server, change: bytes) -> None:
    content = os.urandom(PART_BYTES + 1)
    session, parts = parted(server, content)
    assert send(parts[1]["url"], change).code in ("hash_mismatch", "too_large")
    assert all(part["etag"] is None for part in part_targets(server, session, content))


def sent_object(server: Server, content: bytes) -> ObjectKey:
    _, url = target(server, content)
    assert send(url, content).status == 200
    return ObjectKey(urlsplit(url).path.split("/v1/objects/")[1])


def signer(server: Server, *, age_seconds: float = 0) -> UrlSigner:
    """Sign as the server did some time ago."""
    return UrlSigner(server.token.encode(), lambda: server.root, lambda: time.time() - age_seconds)


def test_a_signed_url_fetches_an_object_and_parts_of_it(server: Server) -> None:
    url = signer(server).url("GET", sent_object(server, b"0123456789"))
    assert send(url, b"", "GET").body == b"0123456789"
    part = send(url, b"", "GET", Range="bytes=2-4")
    assert (part.status, part.body, part.headers["content-range"]) == (206, b"234", "bytes 2-4/10")


@pytest.mark.parametrize("wanted", ["bytes=5-2", "bytes=0-10", "bytes=-1", "bytes=a-b", "bytes=0-1,3-4", "lines=1-2"])
def test_a_range_outside_the_object_is_refused(server: Server, wanted: str) -> None:
    url = signer(server).url("GET", sent_object(server, b"0123456789"))
    answer = send(url, b"", "GET", Range=wanted)
    assert (answer.status, answer.code) == (400, "bad_request")


def test_an_old_signature_has_expired(server: Server) -> None:
    key = sent_object(server, b"old")
    fresh, old = signer(server, age_seconds=23 * 3600), signer(server, age_seconds=25 * 3600)
    assert send(fresh.url("GET", key), b"", "GET").status == 200
    answer = send(old.url("GET", key), b"", "GET")
    assert (answer.status, answer.code) == (403, "not_allowed")
    assert "expired" in answer.error["message"]


def test_a_valid_signature_for_nothing_finds_nothing(server: Server) -> None:
    answer = send(signer(server).url("GET", ObjectKey("p1/objects/no/nothing")), b"", "GET")
    assert (answer.status, answer.code) == (404, "object_not_found")


def test_what_is_signed_leads_to_where_people_reach_the_server(place: Place) -> None:
    outside = "https://acai.example.org/lab"
    server = place.start(ACAI_PUBLIC_URL=f"{outside}/")
    _, url = target(server, b"one")
    assert url.startswith(f"{outside}{BASE}/v1/objects/")
    assert fetch("PUT", url.replace(outside, server.root), b"one").status == 200  # as a proxy there would pass it on
