"""A project's jobs at a glance, counted and ended together, as panels ask for them of a real server."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.places import Place, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.places import Server

PROJECT = "/v1/projects/default"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that lets one job run at a time, with one that has ended, one that runs and two that wait."""
    place = Place(tmp_path_factory.mktemp("place"))
    place.write("quick.py", "print('done')")
    place.write("waits.py", "import time\ntime.sleep(600)")
    server = place.start(ACAI_QUOTA="1")
    assert place.acai("submit", "quick.py", "--tag", "+fast").returncode == 0
    assert place.acai("wait", "1").returncode == 0
    assert place.acai("submit", "waits.py", "--name", "first").returncode == 0
    until(lambda: server.get(f"{PROJECT}/jobs/2")["state"] == "running", "the first job running")
    assert place.acai("submit", "waits.py").returncode == 0
    assert place.acai("submit", "waits.py", "--priority", "5").returncode == 0
    yield server
    place.close()


def numbers(jobs: list[dict[str, Any]]) -> list[int]:
    return [job["number"] for job in jobs]


def test_an_overview_says_what_runs_and_costs_what_waits_and_why_and_what_has_ended(server: Server) -> None:
    found = server.get(f"{PROJECT}/overview")
    assert [numbers(found[kind]) for kind in ("running", "waiting", "recent")] == [[2], [4, 3], [1]]
    assert found["states"] == {"running": 1, "queued": 2}
    (runs,) = found["running"]
    assert runs["name"] == "first"
    assert runs["attempts"][-1]["usd_per_hour"] > 0
    assert "one of its user's jobs to end: job 2 is at work" in found["waiting"][0]["waiting"]["sentence"]
    assert [job["waiting"]["place"] for job in found["waiting"]] == [1, 2]
    assert found["recent"][0]["attempts"][-1]["cost_usd"] > 0
    assert found["recent"][0]["attempts"][-1]["environment"] == {}
    assert numbers(server.get(f"{PROJECT}/overview?limit=1")["waiting"]) == [4]


def test_jobs_are_found_from_any_place_on_in_any_order_and_counted(server: Server) -> None:
    order = [{"key": "number", "descending": False}]
    asked = {"kind": "job", "query": "number > 0 order by state", "order": order, "skip": 2, "limit": 1}
    page = server.ask("POST", f"{PROJECT}/find", asked).json
    assert [row["thing"] for row in page["rows"]] == ["3"]
    counted = server.ask("POST", f"{PROJECT}/find/count", {"kind": "job", "keys": ["state", "tags"]}).json
    assert counted["count"] == 4
    told = {facet["key"]: [(one["value"], one["count"]) for one in facet["values"]] for facet in counted["facets"]}
    assert told == {"state": [("queued", 2), ("finished", 1), ("running", 1)], "tags": [("fast", 1)]}
    wrong = server.ask("POST", f"{PROJECT}/find/count", {"kind": "job", "query": "number >"})
    assert (wrong.status, wrong.code, wrong.error["details"]["column"]) == (400, "bad_query", 9)


def test_many_jobs_are_ended_together_and_nothing_is_wrong_with_those_that_had(server: Server) -> None:
    assert server.ask("POST", f"{PROJECT}/jobs/kill", {"jobs": [99, 2]}).status == 404
    assert server.get(f"{PROJECT}/jobs/2")["state"] == "running"
    answer = server.ask("POST", f"{PROJECT}/jobs/kill", {"jobs": [4, 3, 2, 1, 4]}).json
    assert answer == {"asked": [4, 3, 2], "ended": [1]}
    until(lambda: server.get(f"{PROJECT}/overview")["states"] == {}, "all jobs ended")
    again = json.loads(server.ask("POST", f"{PROJECT}/jobs/kill", {"jobs": [2, 3, 4]}).body)
    assert again == {"asked": [], "ended": [2, 3, 4]}
