"""What is submitted on somebody's behalf later is submitted as they may do it then."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.places import Place, Server, until
from tests.servers.no_cluster import no_cluster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.seaweedfs import Seaweedfs

pytestmark = pytest.mark.s3
PROJECT = "/v1/projects/default"


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory, s3_server: Seaweedfs) -> Iterator[Server]:
    """A server of several users, whose jobs stay queued."""
    home = tmp_path_factory.mktemp("home")
    variables = s3_server.environment | {
        "ACAI_OBJECT_STORE": "s3",
        "ACAI_S3_BUCKET": s3_server.make_bucket(),
        "ACAI_S3_ENDPOINT_URL": s3_server.url,
    }
    with closing(Place(home)) as place:
        for name in ("open", "patients"):
            place.write(f"{name}/a.txt", name)
        server = place.start(**variables, **no_cluster(home))
        for name in ("open", "patients"):
            done = place.acai("put", name, f"/{name}", "--as", name)
            assert done.returncode == 0, done.stderr
        yield server


def user(server: Server, name: str) -> dict[str, str]:
    made = server.ask("POST", f"{PROJECT}/users", {"name": name, "quota": 0})
    assert made.status == 201, made.body
    return {"Authorization": f"Bearer {made.json['issued']['secret']}"}


def profiling(server: Server, who: dict[str, str], *inputs: str) -> str:
    """Begin to make runs, of which there is one at a time."""
    job = {"command": ["true"], "template": "t", "inputs": inputs, "resources": {"vcpu": 1, "memory_bytes": 2**30}}
    wanted = {"job": job, "values": {"epoch": [1, 2, 3]}, "vcpus": [1], "memories_bytes": [2**30]}
    made = server.ask("POST", f"{PROJECT}/profilings", wanted, token=None, headers=who)
    assert made.status == 201, made.body
    return str(made.json["tag"])


def jobs(server: Server) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.get(f"{PROJECT}/jobs")["jobs"]
    return found


def end_the_first(server: Server) -> None:
    (first,) = jobs(server)
    assert server.ask("POST", f"{PROJECT}/jobs/{first['number']}/kill").status == 200


def sentence(server: Server) -> str | None:
    rows = server.place.sql("SELECT sentence FROM profiling WHERE ended_at IS NOT NULL")
    return str(rows[0][0]) if rows else None


def test_runs_to_learn_from_go_on_while_their_user_may(server: Server) -> None:
    profiling(server, user(server, "bob"), "open")
    end_the_first(server)
    until(lambda: len(jobs(server)) == 2 or None, "the next run")
    assert {job["user"] for job in jobs(server)} == {"bob"}


def test_what_was_closed_to_somebody_is_given_to_no_further_run_of_theirs(server: Server) -> None:
    profiling(server, user(server, "bob"), "patients")
    assert server.ask("PUT", f"{PROJECT}/restrictions", {"what": "@patients", "readers": []}).status == 200
    end_the_first(server)
    said = until(lambda: sentence(server), "the end of the profiling")
    assert "no further run can be made" in said
    assert len(jobs(server)) == 1


def test_a_sample_that_is_closed_to_somebody_is_given_to_no_run(server: Server) -> None:
    assert server.ask("PUT", f"{PROJECT}/restrictions", {"what": "@patients", "readers": []}).status == 200
    bob = user(server, "bob")
    sample = {"inputs": ["patients"], "size_bytes": 1, "file_count": 1, "of_bytes": 10, "of_files": 10}
    job = {"command": ["true"], "template": "t", "inputs": ["open"], "resources": {"vcpu": 1, "memory_bytes": 2**30}}
    wanted = {"job": job, "values": {"a": [1, 2]}, "vcpus": [1], "memories_bytes": [2**30], "sample": sample}
    refused = server.ask("POST", f"{PROJECT}/profilings", wanted, token=None, headers=bob)
    assert (refused.status, refused.code) == (404, "file_set_not_found")
    assert jobs(server) == []


@pytest.mark.parametrize("change", ["DELETE", "PATCH"])
def test_nothing_is_run_for_somebody_who_may_not_any_more(server: Server, change: str) -> None:
    profiling(server, user(server, "bob"), "open")
    assert server.ask(change, f"{PROJECT}/users/bob", {"role": "viewer"} if change == "PATCH" else None).status == 200
    end_the_first(server)
    said = until(lambda: sentence(server), "the end of the profiling")
    assert "no further run can be made: bob may not" in said
    assert len(jobs(server)) == 1
