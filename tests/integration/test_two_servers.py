"""Two servers of one user: one has the data, the other is attached to it and takes over when it is gone."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest
import websocket

from acai_jupyter.contract.endpoints import ALL, BASE, Access
from tests.integration.places import TOKEN, Place, Server, fetch, until
from tests.integration.routes import route

if TYPE_CHECKING:
    from pathlib import Path

JOBS = "/v1/projects/default/jobs"
WAITING = """
import pathlib, time
print("before", flush=True)
while not pathlib.Path({gate!r}).exists():
    time.sleep(0.02)
print("after")
pathlib.Path("output/done").write_text("done")
"""


def pair(place: Place, **options: str) -> tuple[Server, Server]:
    """Start one server that has the data, and one that is attached."""
    first = place.start()
    assert first.status().json["mode"] == "serving"
    return first, place.start(**options)


def waiting_job(place: Place, server: Server) -> tuple[str, Path]:
    """Submit a job that runs until a file is made; returns its route and the file."""
    gate = place.home / "gate"
    place.write("waiting.py", WAITING.format(gate=str(gate)))
    submitted = place.acai("submit", "waiting.py", "--output", "made", "--json")
    assert submitted.returncode == 0, submitted.stderr
    job = f"{JOBS}/{json.loads(submitted.stdout)['number']}"
    until(lambda: "before" in server.get(f"{job}/log")["text"], "the job beginning to print")
    return job, gate


def events(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.get("/v1/projects/default/events?since=0")["events"]
    return found


def mode_of(server: Server) -> str | None:
    answer = server.status()
    return str(answer.json["mode"]) if answer.status == 200 else None


def test_the_second_server_is_attached_and_passes_everything_on(place: Place) -> None:
    first, second = pair(place)
    assert second.status().json == first.status().json | {"mode": "attached"}
    assert second.get("/openapi.json") == first.get("/openapi.json")
    body = {"command": ["true"], "name": "by the second"}
    made = second.ask("POST", JOBS, body, headers={"X-Request-Id": "passed-on"})
    assert (made.status, made.headers["x-request-id"]) == (201, "passed-on")
    assert first.get(JOBS)["jobs"][0]["name"] == "by the second"
    refused = second.ask("POST", JOBS, {"command": []})
    assert (refused.status, refused.code) == (400, "bad_request")
    assert second.ask("GET", "/v1/projects/other/jobs").code == "project_not_found"


def test_an_attached_server_lets_no_stranger_in(place: Place) -> None:
    _, second = pair(place)
    for endpoint in ALL:
        if endpoint.name == "stream_events" or endpoint.access is Access.NOTHING:
            continue
        body: dict[str, Any] | None = {} if endpoint.body else None
        for headers in ({}, {"Authorization": "Bearer acai_wrong"}, {"Authorization": "token wrong"}):
            answer = second.ask(endpoint.method, route(endpoint), body, token=None, headers=headers)
            if endpoint.access is Access.SIGNATURE:
                assert answer.status in (400, 403)
            else:
                assert answer.status in (401, 403), (endpoint.name, headers)
            assert answer.code
    for token in (None, "wrong", "acai_wrong"):
        with pytest.raises(websocket.WebSocketBadStatusException) as refused, second.stream(token=token):
            pass
        assert refused.value.status_code in (401, 403)
        assert b'"error"' in (refused.value.resp_body or b"")


def test_an_attached_server_opens_nothing_for_a_signed_url(place: Place) -> None:
    _, second = pair(place)
    path = f"{BASE}/v1/objects/p1/objects/ab/cd?expires=99999999999&signature=0"
    assert fetch("GET", f"{second.root}{path}").status == 403
    assert mode_of(second) == "attached"


def test_events_pass_through_the_attached_server(place: Place) -> None:
    first, second = pair(place)
    with second.stream("?since=0") as stream:
        first.ask("POST", JOBS, {"command": ["true"]})
        page = json.loads(stream.recv())
        assert page["events"][0]["kind"] == "job_queued"
    assert second.get(f"/v1/projects/default/events?since={page['last']}&wait_seconds=20")["events"]
    address = f"{second.root.replace('http', 'ws', 1)}{BASE}/v1/projects/other/events/stream"
    with pytest.raises(websocket.WebSocketBadStatusException) as refused:
        websocket.create_connection(address, header=[f"Authorization: token {TOKEN}"], timeout=120)
    assert b'"project_not_found"' in (refused.value.resp_body or b"")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_second_takes_over_when_the_first_is_gone(place: Place, number: signal.Signals) -> None:
    first, second = pair(place)
    job, gate = waiting_job(place, first)
    seen = events(second)
    first.process.send_signal(number)
    first.process.wait(120)
    until(lambda: mode_of(second) == "serving", "the second taking over")
    assert events(second)[: len(seen)] == seen
    gate.touch()
    ended = until(lambda: (found := second.get(job))["state"] == "finished" and found, "the job finishing")
    assert ended["output"] == "made:1"
    assert second.get(f"{job}/log")["text"] == "before\nafter\n"
    numbers = [event["number"] for event in events(second)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert len(numbers) > len(seen)
    assert place.acai("status").returncode == 0


def test_a_stream_ends_when_the_first_is_gone_and_resumes_at_the_second(place: Place) -> None:
    first, second = pair(place)
    first.ask("POST", JOBS, {"command": ["true"]})
    until(lambda: first.get(f"{JOBS}/1")["state"] == "finished", "the job finishing")
    with second.stream("?since=0") as stream:
        seen = json.loads(stream.recv())["events"]
        first.end()
        while stream.recv():  # an empty message is the end
            pass
    until(lambda: mode_of(second) == "serving", "the second taking over")
    second.ask("POST", JOBS, {"command": ["true"]})
    with second.stream(f"?since={seen[-1]['number']}") as stream:
        assert json.loads(stream.recv())["events"][0]["number"] == seen[-1]["number"] + 1


def test_three_servers_hand_the_data_on(place: Place) -> None:
    first, second = pair(place)
    third = place.start()
    first.end()
    until(lambda: "serving" in (mode_of(second), mode_of(third)), "one taking over")
    until(lambda: sorted(map(str, (mode_of(second), mode_of(third)))) == ["attached", "serving"], "the other following")
    holder, other = (second, third) if mode_of(second) == "serving" else (third, second)
    holder.end()
    until(lambda: mode_of(other) == "serving", "the last taking over")


def test_a_stale_note_of_a_killed_server_does_not_mislead_the_next(place: Place) -> None:
    first = place.start()
    first.kill()
    assert (place.data / "server.json").exists()
    second = place.start()
    assert mode_of(second) == "serving"
    assert place.start().status().json["mode"] == "attached"


def test_a_lock_without_a_note_is_said_and_then_followed(place: Place) -> None:
    first = place.start()
    note = place.data / "server.json"
    said = note.read_text()
    note.unlink()
    second = place.start()
    answer = second.status()
    assert (answer.status, answer.code) == (503, "settings_broken")
    assert "try again" in answer.error["message"]
    note.write_text(said)
    assert mode_of(second) == "attached"
    first.end()
    until(lambda: mode_of(second) == "serving", "the second taking over")


def test_jupyter_acai_attaches_too_and_takes_over(place: Place) -> None:
    first = place.start()
    alone = place.start(program="acai")
    assert mode_of(alone) == "attached"
    first.end()
    until(lambda: mode_of(alone) == "serving", "the one alone taking over")


# -- ACAI_URL


def elsewhere(place: Place, folder: str) -> Place:
    return Place(place.home / folder)


def test_with_acai_url_no_database_is_opened_and_nothing_is_lost_on_the_way(place: Place) -> None:
    far = place.start()
    here = elsewhere(place, "here")
    try:
        near = here.start(ACAI_URL=far.root, ACAI_TOKEN=far.token)
        assert near.status().json == far.status().json | {"mode": "attached"}
        assert near.ask("POST", JOBS, {"command": ["true"]}).status == 201
        assert len(far.get(JOBS)["jobs"]) == 1
        assert here.acai("status").returncode == 0
        assert not (here.data / "acai.db").exists()
        assert not (here.data / "lock").exists()
    finally:
        here.close()


def test_an_upstream_that_is_away_is_one_sentence_and_comes_back(place: Place) -> None:
    far = place.start()
    here = elsewhere(place, "here")
    port = far.root.rpartition(":")[2]
    try:
        near = here.start(ACAI_URL=far.root, ACAI_TOKEN=far.token)
        far.end()
        for path in ("/v1/status", JOBS):
            answer = near.ask("GET", path)
            assert (answer.status, answer.code) == (503, "server_unreachable")
            assert far.root in answer.error["message"]
        with pytest.raises(websocket.WebSocketBadStatusException) as refused, near.stream():
            pass
        assert refused.value.status_code == 503
        assert b'"server_unreachable"' in (refused.value.resp_body or b"")
        place.start(f"--ServerApp.port={port}")
        assert mode_of(near) == "attached"
        assert not (here.data / "acai.db").exists()
    finally:
        here.close()


def test_a_wrong_token_for_the_upstream_is_refused_upstream(place: Place) -> None:
    far = place.start()
    here = elsewhere(place, "here")
    try:
        near = here.start(ACAI_URL=far.root, ACAI_TOKEN="acai_wrong")
        answer = near.status()
        assert (answer.status, answer.code) == (401, "not_signed_in")
    finally:
        here.close()
