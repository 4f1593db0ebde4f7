"""What is restricted, over HTTP: in no answer to who is not let through, and in the audit log when it is read."""

from __future__ import annotations

import csv
import json
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import websocket

from acai_jupyter.contract.endpoints import ALL, BASE, Endpoint
from acai_jupyter.contract.states import Role
from acai_server.credentials.permissions import ALLOWED
from tests.integration.places import Answer, Place, Server
from tests.integration.routes import route

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = "/v1/projects/default"
WORDS = (b"patients", b"northern", b"raw-model", b"job 1 ")
"""Of what is hidden: the set and its folder, an attribute, what a job made of it."""
HERS = [one for one in ALL if one.access in ALLOWED[Role.MEMBER] and "{project}" in one.path]
BODIES: dict[str, Any] = {
    "find_things": {"kind": "file_set", "query": ""},
    "draw_graph": {"focus": ""},
    "fetch_files": {"spec": "/"},
    "resolve_sources": {"sources": ["/"], "counted": True},
    "compare_sources": {"before": ["/"], "after": ["@open"]},
    "plan_job": {"job": {"command": ["true"], "inputs": ["patients"]}},
}
QUERIES = {
    "list_log_lines": "?text=a",
    "list_folder": "?path=/",
    "list_files": "?spec=/",
    "list_versions": "?path=/patients/one.txt",
    "list_keys": "?kind=file_set",
    "get_metadata": "?thing=patients:1",
    "list_changes": "?thing=patients:1",
    "get_paths": "?to=raw-model:1",
    "explain_difference": "?before=open:1&after=patients:1",
    "get_file_origin": "?spec=/patients/one.txt",
    "list_events": "?since=0",
    "get_costs": "?by=job",
    "get_profile": "?template=p.py",
}


@dataclass(frozen=True)
class Team:
    server: Server
    ann: str
    bob: str

    def ask(self, token: str, method: str, path: str, body: Any = None) -> Answer:
        return self.server.ask(method, path, body, token=None, headers={"Authorization": f"Bearer {token}"})


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    """A restricted set, and what a job made of it before there were several users."""
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        for path in ("patients/one.txt", "patients/two.txt", "open/a.txt"):
            place.write(path, path)
        place.write("p.py", "import pathlib; pathlib.Path('output/made.txt').write_text('made')")
        server = place.start()
        for line in (
            "put patients /patients --as patients",
            "put open /open --as open",
            "tag patients:1 ward=northern",
            "submit p.py --input patients --output raw-model",
            "wait 1",
            "access limit @patients --read ann",
            "access limit /patients/ --read ann",
        ):
            if line.startswith("access limit @"):
                users = [server.ask("POST", f"{PROJECT}/users", {"name": name}) for name in ("ann", "bob")]
            found = place.acai(*line.split())
            assert found.returncode == 0, (line, found.stderr)
        ann, bob = (answer.json["issued"]["secret"] for answer in users)
        yield Team(server, ann, bob)


@pytest.mark.parametrize("endpoint", HERS, ids=lambda one: one.name)
def test_no_route_names_what_is_hidden(team: Team, endpoint: Endpoint[Any]) -> None:
    if endpoint.name == "stream_events":
        return  # below
    for ref in ("open:1", "patients:1"):
        path, body = route(endpoint, ref=ref) + QUERIES.get(endpoint.name, ""), BODIES.get(endpoint.name)
        answer = team.ask(team.bob, endpoint.method, path, body)
        asked = f"{path}{body}".encode()  # what was asked for may be said back
        assert not [word for word in WORDS if word in answer.body and word not in asked], answer.body[:500]


def test_what_is_asked_for_by_name_is_answered_as_if_it_never_was(team: Team) -> None:
    asked = [one for one in HERS if "{ref}" in one.path and one.method == "GET"]
    for endpoint in asked:
        told = []
        for name in ("patients", "never-was"):
            query = QUERIES.get(endpoint.name, "").replace("raw-model:1", f"{name}:1")
            answer = team.ask(team.bob, "GET", route(endpoint, ref=f"{name}:1") + query)
            told.append((answer.status, answer.code, answer.error["message"].replace(name, "it")))
        assert told[0] == told[1], endpoint.name
        assert told[0][0] in (400, 404), endpoint.name
    for path in (
        "jobs/1",
        "jobs/1/log",
        "jobs/1/log/lines?text=a",
        "jobs/1/log/lines?first=1",
        "jobs/1/log/lines?error=true",
        "jobs/1/log.txt",
        "jobs/1/request",
        "jobs/1/miss",
        "provenance/1",
    ):
        answer = team.ask(team.bob, "GET", f"{PROJECT}/{path}")
        assert (answer.status, answer.code) == (404, "job_not_found"), path


def test_a_stream_of_events_tells_nothing_of_it(team: Team) -> None:
    address = f"{team.server.root.replace('http', 'ws', 1)}{BASE}{PROJECT}/events/stream?since=0"
    bearer = [f"Authorization: Bearer {team.bob}"]
    with closing(websocket.create_connection(address, header=bearer, timeout=120)) as stream:
        page = json.loads(stream.recv())
        assert "open:1" in [event["subject"] for event in page["events"]]
        assert not [word for word in WORDS if word.decode() in json.dumps(page)]
        made = {"name": "later", "sources": ["/patients/one.txt"]}
        assert team.server.ask("POST", f"{PROJECT}/filesets", made).status == 201
        mine = {"name": "mine", "sources": ["/open/a.txt"]}
        assert team.ask(team.bob, "POST", f"{PROJECT}/filesets", mine).status == 201
        heard = ""
        while "mine:1" not in heard:
            heard += str(stream.recv())
    assert "later" not in heard


def test_who_is_let_through_sees_it_and_that_is_written_down(team: Team) -> None:
    before = len(team.server.get(f"{PROJECT}/audit?limit=1000")["entries"])
    assert team.ask(team.ann, "POST", f"{PROJECT}/files/fetch", {"spec": "@patients"}).status == 200
    assert team.ask(team.ann, "GET", f"{PROJECT}/jobs/1/log").status == 200
    for path in ("files?spec=@open", "folder?path=/open", "versions?path=/open/a.txt", "folder?path=/"):
        assert team.ask(team.ann, "GET", f"{PROJECT}/{path}").status == 200
    for path in ("files?spec=/patients/", "folder?path=/patients", "versions?path=/patients/one.txt"):
        assert team.ask(team.ann, "GET", f"{PROJECT}/{path}").status == 200
    sources = {"sources": ["/patients/"]}
    assert team.ask(team.ann, "POST", f"{PROJECT}/resolve", sources).status == 200
    assert (
        team.ask(team.ann, "POST", f"{PROJECT}/compare", {"before": ["@open"], "after": ["/patients/"]}).status == 200
    )
    assert team.server.ask("GET", f"{PROJECT}/filesets/raw-model:1/entries").status == 200
    found = team.server.get(f"{PROJECT}/audit?limit=1000")["entries"]
    me = team.server.status().json["user"]["name"]
    files = "file /patients/one.txt, file /patients/two.txt"
    said = [(one["user"], one["action"], one["thing"]) for one in found[: len(found) - before][::-1]]
    assert said == [
        ("ann", "fetch_files", "file set patients:1, file /patients/one.txt, file /patients/two.txt"),
        ("ann", "get_log", "job 1"),
        *(("ann", action, files) for action in ("list_files", "list_folder")),
        ("ann", "list_versions", "file /patients/one.txt"),
        *(("ann", action, files) for action in ("resolve_sources", "compare_sources")),
        (me, "list_entries", "file set raw-model:1"),
    ]


def test_what_changes_counts_from_the_next_request_on(team: Team) -> None:
    place = team.server.place
    for line, seen in (
        ("group set clinic bob", False),
        (
            "access limit @patients --read ann group:clinic",
            False,
        ),  # the folder is still closed
        ("access limit /patients/ --read ann group:clinic", True),
        ("group set clinic", False),
    ):
        assert place.acai(*line.split()).returncode == 0
        listed = team.ask(team.bob, "GET", f"{PROJECT}/filesets").json["file_sets"]
        assert ("patients" in {one["name"] for one in listed}) == seen, line


def test_the_log_is_listed_and_exported_from_a_shell(team: Team) -> None:
    place = team.server.place
    listed = place.acai("audit", "--action", "set_restriction")
    assert "what @patients" in listed.stdout
    assert place.acai("audit", "--file", "log.csv").returncode == 0
    assert place.acai("audit", "--file", "log.jsonl", "--since", "2020-01-01").returncode == 0
    lines = [json.loads(line) for line in (place.work / "log.jsonl").read_text().splitlines()]
    with (place.work / "log.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    assert [row["number"] for row in rows] == [str(line["number"]) for line in lines]
    assert rows[-1]["action"] == lines[-1]["action"]
    assert place.acai("audit", "--file", "log.txt").returncode == 2


def test_what_is_opened_by_an_alias_is_closed_by_it(team: Team) -> None:
    place = team.server.place
    for line, said in (
        ("fileset alias raw-model:1 paper", "paper"),
        ("access lift raw-model:paper --reason sums", "raw-model:1 is open: sums"),
        ("access lift raw-model:paper --undo", "raw-model:1 is behind what it was made of again"),
    ):
        done = place.acai(*line.split())
        assert done.returncode == 0, done.stderr
        assert said in done.stdout
    assert place.acai("access", "lift", "raw-model:paper", "--undo").returncode == 6
