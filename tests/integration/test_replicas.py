"""Two servers on one PostgreSQL and one bucket: what one is told, the other knows at once."""

from __future__ import annotations

import signal
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import websocket

from acai_jupyter.contract.endpoints import BASE
from acai_server.db import schema
from tests.integration.places import Place, Server, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers.postgres import Postgres
    from tests.servers.seaweedfs import Seaweedfs

pytestmark = [pytest.mark.postgres, pytest.mark.s3]
USERS = "/v1/projects/default/users"
JOBS = "/v1/projects/default/jobs"


@dataclass(frozen=True)
class Replicas:
    """Servers with data folders, and so tokens, of their own."""

    first: Server
    second: Server
    variables: dict[str, str]

    @property
    def servers(self) -> tuple[Server, Server]:
        return self.first, self.second

    def ask(self, server: Server, secret: str, path: str = "/v1/status") -> int:
        return server.ask("GET", path, token=None, headers={"Authorization": f"Bearer {secret}"}).status


@pytest.fixture(scope="module")
def replicas(
    tmp_path_factory: pytest.TempPathFactory,
    s3_server: Seaweedfs,
    postgres_server: Postgres,
    postgres_template: str,
) -> Iterator[Replicas]:
    variables = s3_server.environment | {
        "ACAI_OBJECT_STORE": "s3",
        "ACAI_S3_BUCKET": s3_server.make_bucket(),
        "ACAI_S3_ENDPOINT_URL": s3_server.url,
        "ACAI_DATABASE": postgres_server.create_database(postgres_template),
    }
    one, two = (Place(tmp_path_factory.mktemp(name)) for name in ("one", "two"))
    with closing(one), closing(two):
        servers = [place.spawn(program="acai", **variables) for place in (one, two)]
        for server in servers:
            server.wait_until_it_answers()
        yield Replicas(servers[0], servers[1], variables)


def test_each_has_a_token_of_its_own_for_the_same_user(replicas: Replicas) -> None:
    assert replicas.first.token != replicas.second.token
    for server in (replicas.first, replicas.second):
        for token in (replicas.first.token, replicas.second.token):
            assert replicas.ask(server, token) == 200
    assert len(replicas.second.get(USERS)["users"]) == 1


def test_what_one_revokes_opens_nothing_at_the_other_and_ends_what_is_open_there(replicas: Replicas) -> None:
    made = replicas.first.ask("POST", "/v1/projects/default/tokens", {"name": "watching", "scope": "read"}).json
    assert replicas.ask(replicas.second, made["secret"]) == 200
    address = f"{replicas.second.root.replace('http', 'ws', 1)}{BASE}/v1/projects/default/events/stream"
    header = [f"Authorization: Bearer {made['secret']}"]
    with closing(websocket.create_connection(address, header=header, timeout=120)) as stream:
        stream.recv()
        assert replicas.first.ask("DELETE", "/v1/projects/default/tokens/watching").status == 200
        opcode, said = stream.recv_data()
        stream.shutdown()
    assert (opcode, said[2:]) == (websocket.ABNF.OPCODE_CLOSE, b"not_signed_in")
    assert replicas.ask(replicas.second, made["secret"]) == 401


def test_a_user_who_comes_by_one_has_jobs_refused_by_the_other(replicas: Replicas) -> None:
    jobs, body = "/v1/projects/default/jobs", {"command": ["true"]}
    assert replicas.second.ask("POST", jobs, body).status == 201
    assert replicas.first.ask("POST", USERS, {"name": "ann"}).status == 201
    until(lambda: replicas.second.ask("POST", jobs, body).status == 400, "the other hearing of the user")
    assert replicas.second.ask("DELETE", f"{USERS}/ann").status == 200
    until(lambda: replicas.first.ask("POST", jobs, body).status == 201, "the other hearing of their leaving")


def test_while_one_is_paused_the_other_does_the_work_and_nothing_is_done_twice(replicas: Replicas) -> None:
    first, second, work = replicas.first, replicas.second, replicas.first.place.home / "ran"
    body = {"command": ["sh", "-c", f"echo $ACAI_JOB >> {work}"]}
    numbers = [first.ask("POST", JOBS, body).json["number"] for _ in range(4)]
    first.process.send_signal(signal.SIGSTOP)
    try:
        later = [second.ask("POST", JOBS, body).json["number"] for _ in range(4)]
        ended = [until(partial(has_ended, second, number), "the other doing the work") for number in later]
        assert [job["state"] for job in ended] == ["finished"] * 4
    finally:
        first.process.send_signal(signal.SIGCONT)
    for number in (*numbers, *later):
        job = until(partial(has_ended, first, number), "all coming to their end")
        assert (job["state"], len(job["attempts"])) == ("finished", 1)
    assert sorted(map(int, work.read_text().split())) == [*numbers, *later]


def has_ended(server: Server, number: int) -> dict[str, Any] | None:
    job: dict[str, Any] = server.get(f"{JOBS}/{number}")
    return job if job["ended_at"] else None


def test_servers_that_run_go_on_while_tables_are_brought_further_and_older_ones_do_not_begin(
    replicas: Replicas, tmp_path: Path
) -> None:
    """As in a rolling upgrade: the tables come first, with what a newer version adds; then server after server."""
    import psycopg

    with closing(psycopg.connect(replicas.variables["ACAI_DATABASE"], autocommit=True)) as connection:
        connection.execute("ALTER TABLE job ADD COLUMN of_a_newer_version text")
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        try:
            numbers = [one.ask("POST", JOBS, {"command": ["true"]}).json["number"] for one in replicas.servers]
            for server in reversed(replicas.servers):
                assert server.ask("GET", "/v1/ready", token=None).status == 200
                for number in numbers:
                    assert until(partial(has_ended, server, number), "the end of a job")["state"] == "finished"
            found = {check["name"]: check for check in replicas.first.get("/v1/checkup")["checks"]}
            assert "at revision 9999" in found["database"]["said"]
            with closing(Place(tmp_path / "three")) as third:
                late = third.spawn(program="acai", **replicas.variables)
                assert late.process.wait(120) != 0
                assert "9999" in late.log, late.log
        finally:
            connection.execute("ALTER TABLE job DROP COLUMN of_a_newer_version")
            connection.execute(f"UPDATE alembic_version SET version_num = '{schema.HEAD}'".encode())
    assert replicas.second.ask("GET", JOBS).status == 200


def test_a_server_that_is_killed_takes_nothing_with_it(replicas: Replicas) -> None:
    me = f"{USERS}/{replicas.first.status().json['user']['name']}"
    assert replicas.first.ask("PATCH", me, {"quota": 0}).status == 200
    made = replicas.first.ask("POST", "/v1/projects/default/tokens", {"name": "kept"}).json
    numbers = [replicas.first.ask("POST", JOBS, {"command": ["true"]}).json["number"] for _ in range(3)]
    replicas.first.kill()
    assert replicas.ask(replicas.second, made["secret"]) == 200
    assert replicas.second.ask("PATCH", me, {"quota": 2}).status == 200
    for number in numbers:
        job = until(partial(has_ended, replicas.second, number), "the other starting it")
        assert (job["state"], len(job["attempts"])) == ("finished", 1)
