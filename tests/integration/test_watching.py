"""Health, readiness and numbers for Prometheus, of a server that works and of one whose database is away."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acai_jupyter.client.follow import wait

if TYPE_CHECKING:
    from tests.integration.places import Place, Server

_LINE = re.compile(r"(?P<name>[a-z_]+)(?:\{(?P<labels>[^}]*)\})? (?P<value>\S+)")


def numbers(server: Server) -> dict[tuple[str, str], float]:
    answer = server.ask("GET", "/v1/metrics")
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    lines = answer.body.decode().splitlines()
    told = [line.split()[2] for line in lines if line.startswith("# TYPE ")]
    assert len(told) == len(set(told))
    found = [_LINE.fullmatch(line) for line in lines if not line.startswith("#")]
    assert all(one is not None and one["name"] in told for one in found)
    return {(one["name"], one["labels"] or ""): float(one["value"]) for one in found if one is not None}


def test_what_jobs_and_bytes_come_to_is_told_by_project_and_user(place: Place) -> None:
    server = place.start(ACAI_USER="ann")
    place.write("a.txt", "12345")
    assert place.acai("put", "a.txt", "/a.txt").returncode == 0
    before = numbers(server)
    job = server.ask("POST", "/v1/projects/default/jobs", {"command": ["true"]}).json["number"]
    assert wait(server.client(), job).state == "finished"
    found = numbers(server)
    ann = 'project="default",user="ann"'
    assert found["acai_jobs", f'{ann},state="finished"'] == 1
    assert found["acai_cost_usd_total", ann] > 0
    assert found["acai_billed_seconds_total", ann] > 0
    assert 0 <= found["acai_waited_seconds_total", ann] < 60
    assert found["acai_stored_bytes", ann] >= before["acai_stored_bytes", ann] == 5
    created = 'route="create_job",status="201"'
    assert (before.get(("acai_requests_total", created), 0), found["acai_requests_total", created]) == (0, 1)
    with server.stream() as stream:
        stream.recv()
        assert numbers(server)["acai_open_streams", ""] == 1


def test_a_server_whose_database_is_away_lives_and_is_not_ready(place: Place) -> None:
    server = place.start()
    assert server.ask("GET", "/v1/ready", token=None).status == 200
    place.sql("ALTER TABLE user_account RENAME TO away")
    answer = server.ask("GET", "/v1/ready", token=None)
    assert (answer.status, answer.code) == (500, "server_fault")
    assert server.ask("GET", "/v1/health", token=None).status == 200
    place.sql("ALTER TABLE away RENAME TO user_account")
    assert server.ask("GET", "/v1/ready", token=None).status == 200
