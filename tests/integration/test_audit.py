"""The audit log: what counts is in it, with who, what, whereby and from where; nobody changes it."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.endpoints import ALL, Access
from acai_server.api.audit import OF_BODIES
from tests.integration.places import BIN, Place, Server

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = "/v1/projects/default"


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        place.write("a.txt", "a")
        server = place.start()
        assert place.acai("put", "a.txt", "/a.txt", "--as", "digits").returncode == 0
        yield server


def entries(server: Server, query: str = "") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = server.get(f"{PROJECT}/audit{query}")["entries"]
    return found


def test_what_is_uploaded_made_and_submitted_is_written_down_with_what_became_of_it(audited: Server) -> None:
    place = audited.place
    place.write("b.txt", "b")
    for line in (
        "put b.txt /b.txt --as digits",
        "fileset create both @digits",
        "submit --output made -- true",
        "submit --sweep lr=1,2 -- true",
    ):
        done = place.acai(*line.split())
        assert done.returncode == 0, done.stderr
    runs = {"job": {"command": ["true"], "template": "t"}, "vcpus": [1], "memories_bytes": [2**30]}
    assert audited.ask("POST", f"{PROJECT}/profilings", runs).status == 201
    made = {
        action: [one["thing"] for one in entries(audited, f"?action={action}")]
        for action in ("create_file_set", "create_job", "create_sweep", "create_profiling")
    }
    assert made == {
        "create_file_set": ["name both file_set both:1"],
        "create_job": ["output made number 1"],
        "create_sweep": ["tag sweep-2"],
        "create_profiling": ["tag profile-1"],
    }
    uploads = [one["thing"] for one in entries(audited, "?action=commit_upload")]
    assert [thing.partition(" file_set ")[2] for thing in uploads] == ["digits:2 new_files 1", "digits:1 new_files 1"]


def test_what_counts_is_written_down_with_who_what_and_whereby(audited: Server) -> None:
    before = len(entries(audited))
    made = audited.ask("POST", f"{PROJECT}/users", {"name": "ann", "role": "viewer"}, headers={"X-Request-Id": "r-1"})
    mine = {"Authorization": f"Bearer {audited.token}"}
    audited.ask("PUT", f"{PROJECT}/filesets/digits:1/aliases/paper", token=None, headers=mine)
    audited.ask("PATCH", f"{PROJECT}/users/ann", {"role": "member", "quota": 2})
    audited.ask("POST", f"{PROJECT}/files/remove", {"spec": "/nothing"})  # which there is not: nothing was done
    ann = {"Authorization": f"Bearer {made.json['issued']['secret']}"}
    assert audited.ask("DELETE", f"{PROJECT}/users/ann", token=None, headers=ann).status == 403
    found = entries(audited)[: len(entries(audited)) - before][::-1]
    said = [(one["action"], one["thing"], one["token"], one["status"]) for one in found]
    own = next(one["name"] for one in audited.get(f"{PROJECT}/tokens")["tokens"])
    assert said == [
        ("create_user", "name ann role viewer", "", 201),
        ("set_alias", "file set digits:1 alias paper", own, 200),
        ("update_user", "user ann role member quota 2", "", 200),
        ("remove_user", "user ann", "first", 403),
    ]
    assert found[0]["request_id"] == "r-1"
    assert {one["address"] for one in found} == {"127.0.0.1"}
    assert [one["user"] for one in found][-1] == "ann"
    assert made.json["issued"]["secret"] not in json.dumps(found)


def test_it_says_what_was_done_and_to_whom(audited: Server) -> None:
    assert audited.ask("POST", f"{PROJECT}/users", {"name": "pat", "role": "viewer"}).status == 201
    for method, path, body, said in (
        ("PATCH", "budget", {"user": "pat", "month_usd": 20, "stops": False}, "user pat month_usd 20 stops no"),
        ("PATCH", "budget", {"user": "pat", "month_usd": None}, "user pat month_usd none"),
        ("PATCH", "users/pat", {"quota": None}, "user pat quota none"),
        ("PUT", "groups/clinic", {"users": ["pat"]}, "group clinic users pat"),
        (
            "PUT",
            "restrictions",
            {"what": "@x", "readers": ["pat", "group:clinic"]},
            "what @x readers pat, group:clinic",
        ),
        ("POST", "restrictions/end", {"what": "@x"}, "what @x"),
        ("POST", "jobs/kill", {"jobs": [3, 1, 2]}, "jobs 1-3"),
        ("PATCH", "filesets/digits:1", {"note": "as measured"}, "file set digits:1"),
        (
            "POST",
            "metadata",
            {"changes": [{"thing": "digits:1", "set": {"stage": "x"}, "add_labels": ["seen"], "delete": ["old"]}]},
            "changes digits:1 stage -old +seen",
        ),
    ):
        answer = audited.ask(method, f"{PROJECT}/{path}", body)
        assert answer.status in (200, 201), answer.body
        assert entries(audited)[0]["thing"] == said, path
    assert audited.ask("DELETE", f"{PROJECT}/users/pat").status == 200


UNSAID = {
    "sources": "the set itself says what it was made of",
    "if_changed": "says how, not what",
    "note": "a text, which the set shows",
    "expect": "says how, not what",
    "objects": "the commit is of the session, which says what it has",
    "id_token": "secret",
    "hub_token": "secret",
    "project": "the token that is made says it",
}
OF_JOBS = {"create_job", "create_sweep", "create_profiling"}
"""All that was asked for is kept with the job."""


def test_what_a_body_says_is_in_the_log_or_known_not_to_be() -> None:
    bodies = {one.name: one.body for one in ALL if one.is_audited and one.body is not None}
    for name in bodies.keys() - OF_JOBS:
        assert set(bodies[name].__struct_fields__) <= {*OF_BODIES, *UNSAID}, name
    assert not {"id_token", "hub_token"} & set(OF_BODIES)


def test_entries_are_found_by_user_and_action_and_come_in_pages(audited: Server) -> None:
    for number in range(3):
        audited.ask("POST", f"{PROJECT}/tokens", {"name": f"t{number}"})
    of_tokens = entries(audited, "?action=create_token")
    assert [one["thing"] for one in of_tokens] == [f"name t{number} scope write" for number in (2, 1, 0)]
    page = audited.get(f"{PROJECT}/audit?action=create_token&limit=2")
    assert (page["entries"], page["next"]) == (of_tokens[:2], of_tokens[1]["number"])
    assert entries(audited, f"?action=create_token&before={page['next']}") == of_tokens[2:]
    assert entries(audited, "?user=nobody") == []


def test_the_log_of_a_project_is_its_own_and_its_admins(audited: Server) -> None:
    made = audited.ask("POST", "/v1/projects", {"name": "other", "admin": "eve"}).json
    eve = {"Authorization": f"Bearer {made['issued']['secret']}"}
    answer = audited.ask("GET", "/v1/projects/other/audit", token=None, headers=eve)
    assert (answer.status, answer.json) == (200, {"entries": [], "next": None})
    assert audited.ask("GET", f"{PROJECT}/audit", token=None, headers=eve).status == 404
    audited.ask("POST", "/v1/projects/other/users", {"name": "hers"}, token=None, headers=eve)
    hers = audited.ask("GET", "/v1/projects/other/audit", token=None, headers=eve).json["entries"]
    assert [one["number"] for one in hers] == [1], "it tells nothing of how much is done elsewhere"
    viewer = audited.ask("POST", f"{PROJECT}/users", {"name": "looks", "role": "viewer"}).json
    looks = {"Authorization": f"Bearer {viewer['issued']['secret']}"}
    assert audited.ask("GET", f"{PROJECT}/audit", token=None, headers=looks).status == 403


def test_an_operator_exports_all_of_it_as_lines(audited: Server) -> None:
    command = [str(BIN / "acai-server"), "audit"]
    said = subprocess.run(
        command, env=audited.place.environment, capture_output=True, text=True, check=True, timeout=60
    ).stdout
    lines = [json.loads(line) for line in said.splitlines()]
    for project in {one["project"] for one in lines}:
        numbers = [one["number"] for one in lines if one["project"] == project]
        assert numbers == list(range(1, len(numbers) + 1))
    assert [one for one in lines if one["project"] == "default"] == entries(audited)[::-1]
    assert [one["thing"] for one in lines if one["action"] == "create_project"] == ["name other admin eve"]


def test_all_that_changes_who_may_what_or_takes_something_away_is_written_down() -> None:
    rules = {e.name for e in ALL if e.access in (Access.ADMIN, Access.OWN, Access.GLOBAL_ADMIN) and e.method != "GET"}
    takes = {e.name for e in ALL if e.method == "DELETE" or e.name.startswith(("remove_", "kill_", "revoke_"))}
    assert rules | takes - {"abort_upload"} <= {endpoint.name for endpoint in ALL if endpoint.is_audited}
    writes = {e.name for e in ALL if e.access is Access.WRITE and e.method != "GET" and not e.is_audited}
    of_sessions = {"create_upload", "stage_files", "create_targets", "add_objects", "abort_upload"}
    assert writes == of_sessions | {"plan_job", "plan_profiling"}, "which change nothing that others see"


def test_no_route_changes_the_log() -> None:
    assert {e.method for e in ALL if "audit" in e.path} == {"GET"}
