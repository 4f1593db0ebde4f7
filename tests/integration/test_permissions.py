"""Every route with every role and scope, with none, another project's token, an expired and a revoked one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import websocket

from acai_jupyter.client.follow import wait
from acai_jupyter.contract.endpoints import ALL, BASE, Access, Endpoint
from acai_jupyter.contract.states import Role, Scope
from acai_server.credentials.permissions import ALLOWED, GLOBAL_ADMIN, SCOPES
from tests.integration.places import Answer, Place, Server, until
from tests.integration.routes import route

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUTES = [endpoint for endpoint in ALL if endpoint.access not in (Access.NOTHING, Access.SIGNATURE)]
OF_PROJECTS = [endpoint for endpoint in ROUTES if "{project}" in endpoint.path]
USERS = "/v1/projects/default/users"


@dataclass(frozen=True)
class Team:
    """A server with a user in each role, tokens in each scope, and some that open nothing."""

    server: Server
    roles: dict[str, str]
    scopes: dict[str, str]
    watching: dict[str, str]
    """In each scope, of a global admin for all projects."""
    outside: str
    """Of the admin of another project, of which nothing here is known."""
    dead: dict[str, str]

    def ask(self, token: str, method: str, path: str, body: Any = None) -> Answer:
        return self.server.ask(method, path, body, token=None, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        place.write("secret-plan/a.txt", "the content of which nobody may learn")
        server = place.start()
        assert place.acai("put", "secret-plan", "/secret-plan", "--as", "secret-plan").returncode == 0
        roles = {role.value: secret_of(server.ask("POST", USERS, {"name": role.value, "role": role})) for role in Role}
        admin = f"{USERS}/admin/tokens"
        scopes = {
            scope.value: secret_of(server.ask("POST", admin, {"name": f"to-{scope}", "scope": scope}))
            for scope in Scope
        }
        wide = [{"name": f"wide-{one}", "scope": one, "all_projects": True} for one in Scope]
        watching = [secret_of(server.ask("POST", "/v1/projects/default/tokens", one)) for one in wide]
        made = server.ask("POST", "/v1/projects", {"name": "other", "admin": "eve"})
        dead = {
            name: secret_of(server.ask("POST", admin, {"name": name, "scope": "admin", "expires_in_days": 1}))
            for name in ("expired", "revoked")
        }
        assert server.ask("DELETE", f"{admin}/revoked").status == 200
        place.sql("UPDATE token SET expires_at = '2020-01-01 00:00:00.000000' WHERE name = 'expired'")
        of_all = dict(zip((one.value for one in Scope), watching, strict=True))
        yield Team(server, roles, scopes, of_all, made.json["issued"]["secret"], dead | {"none": "acai_none"})


def secret_of(answer: Answer) -> str:
    assert answer.status == 201, answer.body
    made = answer.json
    return str(made.get("issued", made)["secret"])


def listening(team: Team, token: str) -> closing[websocket.WebSocket]:
    address = f"{team.server.root.replace('http', 'ws', 1)}{BASE}/v1/projects/default/events/stream"
    return closing(websocket.create_connection(address, header=[f"Authorization: Bearer {token}"], timeout=120))


def name(endpoint: Endpoint[Any]) -> str:
    return endpoint.name


def held(answer: Answer, *, is_allowed: bool) -> None:
    """Who may is not refused, whatever else is wrong; who may not is told so and learns nothing else."""
    if is_allowed:
        assert answer.status not in (401, 403), answer.body
    else:
        assert (answer.status, answer.code) == (403, "not_allowed")


@pytest.mark.parametrize("endpoint", ROUTES, ids=name)
def test_each_role_may_do_what_the_table_says_and_nothing_else(team: Team, endpoint: Endpoint[Any]) -> None:
    for role in Role:
        answer = team.ask(team.roles[role.value], endpoint.method, route(endpoint))
        held(answer, is_allowed=endpoint.access in ALLOWED[role])


@pytest.mark.parametrize("endpoint", ROUTES, ids=name)
def test_each_scope_leaves_an_admin_what_the_table_says(team: Team, endpoint: Endpoint[Any]) -> None:
    for scope in Scope:
        answer = team.ask(team.scopes[scope.value], endpoint.method, route(endpoint))
        held(answer, is_allowed=endpoint.access in SCOPES[scope] & ALLOWED[Role.ADMIN])
        answer = team.ask(team.watching[scope.value], endpoint.method, route(endpoint))
        held(answer, is_allowed=endpoint.access in SCOPES[scope] & (ALLOWED[Role.ADMIN] | GLOBAL_ADMIN))


@pytest.mark.parametrize("endpoint", ROUTES, ids=name)
def test_what_opens_nothing_opens_no_route(team: Team, endpoint: Endpoint[Any]) -> None:
    for token in team.dead.values():
        answer = team.ask(token, endpoint.method, route(endpoint))
        assert (answer.status, answer.code) == (401, "not_signed_in")


@pytest.mark.parametrize("endpoint", OF_PROJECTS, ids=name)
def test_to_another_projects_admin_this_one_is_as_good_as_none(team: Team, endpoint: Endpoint[Any]) -> None:
    told = []
    for project in ("default", "never-was"):
        answer = team.ask(team.outside, endpoint.method, route(endpoint, project=project, ref="secret-plan:1"))
        assert (answer.status, answer.code) == (404, "project_not_found")
        told.append(answer.error["message"].replace(project, "PROJECT"))
    assert told[0] == told[1]


@pytest.mark.parametrize("endpoint", OF_PROJECTS, ids=name)
def test_a_global_admin_is_nobody_in_a_project_of_others(team: Team, endpoint: Endpoint[Any]) -> None:
    answer = team.server.ask(endpoint.method, route(endpoint, project="other"))
    assert (answer.status, answer.code) == (404, "project_not_found")


def test_a_global_admin_may_do_what_the_table_says(team: Team) -> None:
    for endpoint in ROUTES:
        answer = team.server.ask(endpoint.method, route(endpoint))
        held(answer, is_allowed=endpoint.access in GLOBAL_ADMIN | ALLOWED[Role.ADMIN])


def test_no_stream_is_opened_by_what_opens_nothing(team: Team) -> None:
    for token, status in [*((dead, 401) for dead in team.dead.values()), (team.outside, 404)]:
        with pytest.raises(websocket.WebSocketBadStatusException) as refused:
            listening(team, token)
        assert refused.value.status_code == status


def test_a_project_begins_with_nothing_of_the_others(team: Team) -> None:
    for path in ("filesets", "folder", "jobs", "uploads", "provenance", "metadata/keys?kind=file"):
        answer = team.ask(team.outside, "GET", f"/v1/projects/other/{path}")
        assert "secret-plan" not in answer.body.decode(), path
        assert answer.status in (200, 404), path
    found = team.ask(team.outside, "POST", "/v1/projects/other/find", {"kind": "file_set", "query": ""})
    assert "secret-plan" not in found.body.decode()


def test_what_is_refused_in_another_project_names_nothing_near_it(team: Team) -> None:
    answer = team.ask(team.outside, "GET", "/v1/projects/other/filesets/secret-plam")
    assert answer.code == "file_set_not_found"
    assert "secret-plan" not in answer.error["message"]


def test_contents_of_another_project_are_not_leant_on(team: Team) -> None:
    here = team.server.get("/v1/projects/default/files?spec=@secret-plan")["entries"][0]
    announced = {"files": [{"path": "/guess", "size_bytes": here["size_bytes"], "sha256": here["sha256"]}]}
    assert team.ask(team.outside, "POST", "/v1/projects/other/uploads", announced).json["missing"] == [0]
    assert team.server.ask("POST", "/v1/projects/default/uploads", announced).json["missing"] == []


def test_users_of_other_projects_are_not_named(team: Team) -> None:
    assert [one["name"] for one in team.ask(team.outside, "GET", "/v1/projects/other/users").json["users"]] == ["eve"]
    for who in ("admin", "never-was"):
        answer = team.ask(team.outside, "GET", f"/v1/projects/other/users/{who}/tokens")
        assert (answer.status, answer.code) == (404, "user_not_found")


def test_somebody_elses_token_is_not_revoked_by_its_name(team: Team) -> None:
    answer = team.ask(team.roles["viewer"], "DELETE", "/v1/projects/default/tokens/to-read")
    assert (answer.status, answer.code) == (404, "token_not_found")


def test_a_revoked_token_ends_streams_and_what_waits_at_once(team: Team) -> None:
    secret = secret_of(team.server.ask("POST", f"{USERS}/member/tokens", {"name": "watching", "scope": "read"}))
    address = f"{team.server.root.replace('http', 'ws', 1)}{BASE}/v1/projects/default/events/stream"
    with closing(
        websocket.create_connection(address, header=[f"Authorization: Bearer {secret}"], timeout=120)
    ) as stream:
        assert '"last"' in str(stream.recv())
        assert team.server.ask("DELETE", f"{USERS}/member/tokens/watching").status == 200
        opcode, said = stream.recv_data()
        stream.shutdown()
    assert opcode == websocket.ABNF.OPCODE_CLOSE
    assert int.from_bytes(said[:2], "big") == 1008
    assert said[2:] == b"not_signed_in"


@pytest.mark.timeout(50, func_only=True)  # less than a stream waits by itself
def test_a_stream_ends_when_its_token_expires(team: Team) -> None:
    wanted = {"name": "brief", "scope": "read", "expires_in_days": 3 / 86_400}
    secret = secret_of(team.server.ask("POST", f"{USERS}/member/tokens", wanted))
    with listening(team, secret) as stream:
        stream.recv()
        opcode, said = stream.recv_data()
        stream.shutdown()
    assert (opcode, said[2:]) == (websocket.ABNF.OPCODE_CLOSE, b"not_signed_in")
    assert team.ask(secret, "GET", "/v1/status").code == "not_signed_in"


@pytest.mark.timeout(28, func_only=True)  # less than the wait
def test_what_waits_is_refused_as_soon_as_its_token_is_revoked(team: Team) -> None:
    secret = secret_of(team.server.ask("POST", f"{USERS}/member/tokens", {"name": "waiting", "scope": "read"}))
    last = team.server.get("/v1/projects/default/events")["last"]

    def was_used() -> bool:
        listed = team.server.get(f"{USERS}/member/tokens")["tokens"]
        return any(one["name"] == "waiting" and one["last_used_at"] for one in listed)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(team.ask, secret, "GET", f"/v1/projects/default/events?since={last}&wait_seconds=30")
        until(was_used, "the token to be used")
        assert team.server.ask("DELETE", f"{USERS}/member/tokens/waiting").status == 200
        answer = waiting.result()
    assert (answer.status, answer.code) == (401, "not_signed_in")


def test_who_is_taken_out_of_a_project_hears_no_more_of_it(team: Team) -> None:
    secret = secret_of(team.server.ask("POST", USERS, {"name": "passing", "role": "viewer"}))
    address = f"{team.server.root.replace('http', 'ws', 1)}{BASE}/v1/projects/default/events/stream"
    with closing(
        websocket.create_connection(address, header=[f"Authorization: Bearer {secret}"], timeout=120)
    ) as stream:
        stream.recv()
        assert team.server.ask("DELETE", f"{USERS}/passing").status == 200
        opcode, _ = stream.recv_data()
        stream.shutdown()
    assert opcode == websocket.ABNF.OPCODE_CLOSE


def test_with_several_users_jobs_as_processes_are_refused_in_one_sentence(team: Team) -> None:
    for path, body in (
        ("jobs", {"command": ["true"]}),
        ("sweeps", {"job": {"command": ["true"]}, "values": {"a": [1, 2]}}),
        ("plans", {"job": {"command": ["true"]}}),
    ):
        answer = team.server.ask("POST", f"/v1/projects/default/{path}", body)
        assert (answer.status, answer.code) == (400, "job_refused"), (path, answer.body)
        assert "this server has several users" in answer.error["message"]
    assert team.server.get("/v1/projects/default/jobs")["jobs"] == []


def test_jobs_that_end_with_the_server_are_refused_likewise(place: Place) -> None:
    server = place.start(ACAI_RUNNER="memory")
    job = server.ask("POST", "/v1/projects/default/jobs", {"command": ["true"]})
    assert wait(server.client(), job.json["number"]).state == "finished"
    assert server.ask("POST", USERS, {"name": "ann"}).status == 201
    answer = server.ask("POST", "/v1/projects/default/jobs", {"command": ["true"]})
    assert (answer.status, answer.code) == (400, "job_refused")
    assert "this server has several users" in answer.error["message"]


def test_where_on_its_disk_a_server_keeps_data_is_told_to_its_own_user_alone(team: Team) -> None:
    assert team.server.status().json["data_folder"] == str(team.server.place.data)
    for token in (team.roles["admin"], team.outside):
        answer = team.ask(token, "GET", "/v1/status")
        assert (answer.status, answer.json["data_folder"]) == (200, None)
        assert str(team.server.place.data) not in answer.body.decode()


def test_of_what_a_server_stands_on_only_who_watches_it_is_told(team: Team) -> None:
    mine, theirs = (
        {check["name"]: check["said"] for check in team.ask(token, "GET", "/v1/checkup").json["checks"]}
        for token in (team.watching["admin"], team.roles["member"])
    )
    assert "SQLite 3." in mine["database"]
    assert str(team.server.place.data) in mine["disk"]
    assert theirs["database"] == theirs["object store"] == "works"
    assert set(mine) - set(theirs) >= {"disk"}
    files = mine.pop("stored files"), theirs.pop("stored files")
    assert files == ("no file is known to be damaged",) * 2
    assert not set(mine.values()) & set(theirs.values())


def test_with_several_users_the_direct_path_is_closed(team: Team) -> None:
    assert team.server.status().json["store"]["proof_file"] is None
    fetched = team.server.ask(
        "POST",
        "/v1/projects/default/files/fetch",
        {"spec": "@secret-plan", "proof": (team.server.place.data / "proof").read_text()},
    )
    assert fetched.status == 200
    assert "file:" not in fetched.body.decode()
