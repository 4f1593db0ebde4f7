"""Events over HTTP and WebSocket: a reader that comes back with its last number misses nothing, hears nothing twice."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import websocket

from acai_jupyter.client.follow import wait
from tests.integration.places import Place, Server, until

if TYPE_CHECKING:
    from collections.abc import Iterator

EVENTS = "/v1/projects/default/events"
JOBS = "/v1/projects/default/jobs"
LESS_THAN_A_WAIT = pytest.mark.timeout(28, func_only=True)
"""What is asked for with `wait_seconds=30` is answered before they are over, or the test is ended."""


def submit(server: Server) -> int:
    return int(server.ask("POST", JOBS, {"command": ["true"]}).json["number"])


def run(server: Server) -> None:
    assert wait(server.client(), submit(server)).state == "finished"


def all_of(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.get(f"{EVENTS}?since=0")["events"]
    return found


def pages(stream: websocket.WebSocket) -> Iterator[dict[str, Any]]:
    while message := stream.recv():
        yield json.loads(message)


def read_until(stream: websocket.WebSocket, last: int) -> list[dict[str, Any]]:
    """Read events up to a number."""
    found: list[dict[str, Any]] = []
    for page in pages(stream):
        found += page["events"]
        assert page["last"] == found[-1]["number"]
        if page["last"] >= last:
            return found
    raise AssertionError("the stream ended too early")


@LESS_THAN_A_WAIT
def test_the_first_page_comes_at_once_when_nothing_ever_happened(place: Place) -> None:
    server = place.start()
    assert server.get(EVENTS) == {"events": [], "last": 0, "reload": False}
    assert server.get(f"{EVENTS}?wait_seconds=30")["last"] == 0
    with server.stream() as stream:
        assert next(pages(stream)) == {"events": [], "last": 0, "reload": False}


def test_the_first_page_says_where_the_stream_is(server: Server) -> None:
    run(server)
    last = all_of(server)[-1]["number"]
    assert server.get(EVENTS) == {"events": [], "last": last, "reload": False}
    with server.stream() as stream:
        assert next(pages(stream)) == {"events": [], "last": last, "reload": False}


def test_a_jobs_life_is_told_in_order(server: Server) -> None:
    with server.stream() as stream:
        next(pages(stream))
        number = submit(server)
        found: list[str] = []
        for page in pages(stream):
            found += [event["kind"] for event in page["events"] if event["subject"] == f"job {number}"]
            if "job_finished" in found:
                break
    assert [found[0], found[1], found[-1]] == ["job_queued", "job_launching", "job_finished"]
    assert len(found) == len(set(found))


@LESS_THAN_A_WAIT
def test_a_long_poll_is_woken_by_what_happens(server: Server) -> None:
    last = server.get(EVENTS)["last"]
    found: list[Any] = []
    waiting = threading.Thread(target=lambda: found.append(server.get(f"{EVENTS}?since={last}&wait_seconds=30")))
    waiting.start()
    submit(server)
    waiting.join()
    assert found[0]["events"][0]["number"] == last + 1


def test_a_long_poll_with_no_news_ends_in_time(server: Server) -> None:
    quiet = until(lambda: settled(server), "the events settling")
    page = server.get(f"{EVENTS}?since={quiet}&wait_seconds=0.2")
    assert page == {"events": [], "last": quiet, "reload": False}


def settled(server: Server) -> int | None:
    """The last number, once nothing is under way."""
    jobs = server.get(JOBS)["jobs"]
    return int(server.get(EVENTS)["last"]) if all(job["state"] == "finished" for job in jobs) else None


def test_nothing_is_lost_or_doubled_over_many_reconnects(server: Server) -> None:
    start = server.get(EVENTS)["last"]
    submitting = threading.Thread(target=lambda: [submit(server) for _ in range(12)])
    submitting.start()
    seen: list[int] = []
    since = start
    while submitting.is_alive() or settled(server) != since:
        with server.stream(f"?since={since}") as stream:
            page = next(pages(stream))
        seen += [event["number"] for event in page["events"]]
        since = page["last"]
    submitting.join()
    assert seen == list(range(start + 1, since + 1))


@pytest.mark.parametrize("end", ["end", "kill"])
def test_a_reader_resumes_over_a_restart(place: Place, end: str) -> None:
    first = place.start()
    run(first)
    with first.stream("?since=0") as stream:
        seen = next(pages(stream))["events"]
        getattr(first, end)()
        seen += until_hung_up(stream)
    second = place.start()
    run(second)
    with second.stream(f"?since={seen[-1]['number']}") as stream:
        seen += read_until(stream, all_of(second)[-1]["number"])
    assert seen == all_of(second)
    assert [event["number"] for event in seen] == list(range(1, len(seen) + 1))


def test_who_asks_for_what_is_gone_is_told_to_reload(place: Place) -> None:
    server = place.start()
    for _ in range(2):
        run(server)
    last = all_of(server)[-1]["number"]
    place.sql("DELETE FROM event WHERE number <= 3")
    for since in (0, 2, 10**6):
        assert server.get(f"{EVENTS}?since={since}") == {"events": [], "last": last, "reload": True}
        with server.stream(f"?since={since}") as stream:
            assert next(pages(stream)) == {"events": [], "last": last, "reload": True}
            submit(server)
            assert next(pages(stream))["events"][0]["number"] == last + 1
        last = wait_for_quiet(server)
    assert server.get(f"{EVENTS}?since=3")["events"][0]["number"] == 4


def wait_for_quiet(server: Server) -> int:
    return until(lambda: settled(server), "the jobs finishing")


@LESS_THAN_A_WAIT
def test_a_stream_says_now_and_then_that_nothing_has_happened(place: Place) -> None:
    server = place.start(ACAI_HEARTBEAT_SECONDS="0.2")
    quiet = {"events": [], "last": 0, "reload": False}
    with server.stream("?since=0") as stream:
        found = pages(stream)
        assert [next(found) for _ in range(3)] == [quiet] * 3
        submit(server)
        numbers = [event["number"] for page in (next(found) for _ in range(5)) for event in page["events"]]
    assert numbers == list(range(1, len(numbers) + 1))


def test_many_events_come_in_pages(place: Place) -> None:
    server = place.start()
    assert server.status().status == 200
    add_events(place, 1200)
    with server.stream("?since=0") as stream:
        sizes = []
        for page in pages(stream):
            sizes.append(len(page["events"]))
            if page["last"] == 1200:
                break
    assert sizes == [500, 500, 200]
    assert len(all_of(server)) == 500


def add_events(place: Place, count: int, text: str = "") -> None:
    """Write events as another server of the same database would."""
    same = ("test", "a thing", json.dumps({"text": text}), "2026-01-01 00:00:00.000000")
    columns = "project_id, number, kind, subject, details, created_at"
    rows = [(1, number, *same) for number in range(1, count + 1)]
    place.sql(f"INSERT INTO event ({columns}) VALUES (?, ?, ?, ?, ?, ?)", *rows)


def test_a_reader_that_does_not_read_is_disconnected_and_can_resume(place: Place) -> None:
    server = place.start(ACAI_SLOW_READER_SECONDS="12")  # the quick one must keep up on a busy machine
    assert server.status().status == 200
    add_events(place, 15_000, "x" * 1000)
    small = [(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)]
    with server.stream("?since=0", sockopt=small) as slow:
        with server.stream("?since=0") as quick:  # is not kept waiting by the slow one
            assert len(read_until(quick, 15_000)) == 15_000
        until(lambda: not connections(server, slow), "the server hanging up")
        seen = until_hung_up(slow)
    assert 0 < len(seen) < 15_000
    with server.stream(f"?since={seen[-1]['number']}") as stream:
        seen += read_until(stream, 15_000)
    assert [event["number"] for event in seen] == list(range(1, 15_001))


def until_hung_up(stream: websocket.WebSocket) -> list[dict[str, Any]]:
    """Read what comes until the server ends the connection."""
    seen: list[dict[str, Any]] = []
    with suppress(websocket.WebSocketException, OSError, StopIteration):
        while True:
            seen += next(pages(stream))["events"]
    return seen


def connections(server: Server, stream: websocket.WebSocket) -> bool:
    """Whether the server's end of a connection is still open, as the kernel has it."""
    assert stream.sock is not None
    port = stream.sock.getsockname()[1]
    ours = server.root.rpartition(":")[2].partition("/")[0]
    ends = (f":{int(ours):04X}", f":{port:04X}")
    rows = [row.split() for row in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return any((row[1][-5:], row[2][-5:], row[3]) == (*ends, "01") for row in rows)


def test_a_stream_ends_when_the_table_cannot_be_read(place: Place) -> None:
    server = place.start()
    assert server.status().status == 200
    place.sql("ALTER TABLE event RENAME TO gone")
    with server.stream() as stream:
        assert list(pages(stream)) == []
    place.sql("ALTER TABLE gone RENAME TO event")
    with server.stream() as stream:
        assert next(pages(stream))["last"] == 0
