"""A user who asks too often is told when to ask again, and others are served."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import websocket

from tests.integration.places import until

if TYPE_CHECKING:
    from tests.integration.places import Answer, Place, Server

PROJECT = "/v1/projects/default"


def test_no_answer_has_more_rows_than_its_limit_and_one_user_not_all_uploads(place: Place) -> None:
    server = place.start(ACAI_UPLOADS_PER_USER="2")
    for asked in (
        server.ask("GET", f"{PROJECT}/jobs?limit=1001"),
        server.ask("POST", f"{PROJECT}/find", {"kind": "job", "query": "", "limit": 1001}),
    ):
        assert (asked.status, asked.code) == (413, "too_many_rows")
        assert asked.error["message"].startswith("At most 1000 rows are answered at once; ask for so many")
    made = server.ask("POST", f"{PROJECT}/users", {"name": "ann", "role": "member"})
    ann = {"Authorization": f"Bearer {made.json['issued']['secret']}"}

    def begun(who: dict[str, str]) -> Answer:
        return server.ask("POST", f"{PROJECT}/uploads", {}, token=None, headers=who)

    first, second, refused = (begun(ann) for _ in range(3))
    assert (first.status, second.status, refused.status, refused.code) == (201, 201, 429, "too_many_uploads")
    assert refused.error["message"].startswith("ann has 2 uploads under way; more are not taken at once.")
    assert begun({"Authorization": f"Bearer {server.token}"}).status == 201, "others are not held back"
    ended = server.ask("DELETE", f"{PROJECT}/uploads/{first.json['id']}", token=None, headers=ann)
    assert ended.status == 200, ended.body
    assert begun(ann).status == 201


def test_who_asks_too_often_waits_and_nobody_else_does(place: Place) -> None:
    server = place.start(ACAI_REQUESTS_PER_SECOND="1")
    made = server.ask("POST", "/v1/projects/default/users", {"name": "ann", "role": "viewer"})
    ann = {"Authorization": f"Bearer {made.json['issued']['secret']}"}

    def asked() -> Answer:
        return server.ask("GET", "/v1/status", token=None, headers=ann)

    refused = next(answer for answer in (asked() for _ in range(200)) if answer.status != 200)
    assert (refused.status, refused.code, refused.headers["retry-after"]) == (429, "too_many_requests", "1")
    assert refused.error["message"].startswith("ann makes more than 1 requests a second; the next one is taken in ")
    assert server.ask("GET", "/v1/health", token=None, headers=ann).status == 200
    waiting = place.acai("project", "list", ACAI_URL=server.root, ACAI_TOKEN=ann["Authorization"].split()[1])
    assert (waiting.returncode, waiting.stderr) == (0, "")  # it waited as long as it was told to
    assert server.status().status == 200


def test_one_user_has_a_limited_number_of_streams_and_is_told_so(place: Place) -> None:
    server = place.start(ACAI_STREAMS_PER_USER="2")
    made = server.ask("POST", f"{PROJECT}/users", {"name": "ann", "role": "viewer"})
    ann = made.json["issued"]["secret"]
    with server.stream() as first, server.stream() as second:
        assert [json.loads(one.recv())["last"] for one in (first, second)]
        with pytest.raises(websocket.WebSocketBadStatusException) as refused, server.stream(suppress_origin=True):
            pass
        assert refused.value.status_code == 429
        error = json.loads(refused.value.resp_body or b"")["error"]
        assert error["code"] == "too_many_streams"
        assert " has 2 streams of events open, the most for one user." in error["message"]
        with server.stream() as of_a_page:
            opcode, frame = of_a_page.recv_data()
        assert (opcode, frame[:2], frame[2:]) == (0x8, (1013).to_bytes(2), b"too_many_streams")
        with server.stream(token=ann) as other:
            assert json.loads(other.recv())["reload"] is False
    until(lambda: metric(server) == 0, "the streams being closed")
    with server.stream() as again:
        assert json.loads(again.recv())["reload"] is False


def metric(server: Server) -> int:
    """How many streams are open."""
    lines = server.ask("GET", "/v1/metrics").body.decode().splitlines()
    return int(next(line for line in lines if line.startswith("acai_open_streams ")).split()[1])
