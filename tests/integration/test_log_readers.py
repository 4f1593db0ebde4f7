"""Readers of a large log: bounded, one at a time for each user, and given up with the connection."""

from __future__ import annotations

import re
import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from acai_jupyter.client.follow import wait
from acai_jupyter.contract.endpoints import BASE
from tests.integration.places import TOKEN, until

if TYPE_CHECKING:
    from tests.integration.places import Server

JOBS = "/v1/projects/default/jobs"
PROGRAM = "import sys\nfor n in range(40): sys.stdout.write('a line of a log\\n' * 50_000)\nprint('needle')"
LINES = 40 * 50_000 + 1
CLIENTS = 40


@pytest.fixture(scope="module")
def log(server: Server) -> str:
    """The route that lists lines of a log of 32 MB."""
    number = server.ask("POST", JOBS, {"command": ["python3", "-c", PROGRAM]}).json["number"]
    assert wait(server.client(), number).state == "finished"
    return f"{JOBS}/{number}/log/lines"


def answered(server: Server) -> dict[int, int]:
    """How many requests for lines of a log were answered, by status."""
    text = server.ask("GET", "/v1/metrics").body.decode()
    found = re.findall(r'acai_requests_total\{route="list_log_lines",status="(\d+)"\} (\d+)', text)
    return {int(status): int(count) for status, count in found}


def test_a_search_is_answered_in_parts_that_add_up(server: Server, log: str) -> None:
    lines: list[int] = []
    query = ""
    while True:
        found = server.get(f"{log}?text=needle{query}")
        lines += [line["number"] for line in found["lines"]]
        if found["next"] is None:
            break
        query = f"&offset={found['next']['offset']}&lines={found['next']['lines']}"
    assert (lines, found["of"], found["is_cut"]) == ([LINES], LINES, False)


def test_lines_by_number_are_there_once_the_log_was_passed(server: Server, log: str) -> None:
    while (found := server.get(f"{log}?first={LINES}"))["next"] is not None:
        assert found["is_cut"]
    assert [line["text"] for line in found["lines"]] == ["needle"]


def test_clients_that_leave_hold_nothing(server: Server, log: str) -> None:
    before = answered(server)
    address = urlsplit(server.root)
    with ExitStack() as opened:
        for _ in range(CLIENTS):
            client = opened.enter_context(socket.create_connection((address.hostname, address.port)))
            path = f"{address.path.rstrip('/')}{BASE}{log}?text=nothing"
            client.sendall(
                f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: token {TOKEN}\r\n\r\n".encode()
            )
        assert server.status().status == 200

    def outcome() -> dict[int, int] | None:
        ended = {status: count - before.get(status, 0) for status, count in answered(server).items()}
        return ended if sum(ended.values()) == CLIENTS else None

    ended = until(outcome, "the searches ending")
    assert set(ended) <= {200, 499}
    assert ended[499] > CLIENTS // 2, "a client that leaves ends its search, or takes it out of the queue"
