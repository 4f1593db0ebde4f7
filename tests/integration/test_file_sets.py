"""Keeping file sets over HTTP: versions, notes, aliases, deleting, rules, and all of it after a restart."""

from __future__ import annotations

import json
import threading
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.client.follow import wait
from tests.integration.places import until

if TYPE_CHECKING:
    from tests.integration.places import Answer, Place, Server

SETS = "/v1/projects/default/filesets"
RETENTION = "/v1/projects/default/retention"


def put(server: Server, name: str, **files: str) -> str:
    """Put files as the next version of a set, below a folder of its name."""
    for path, body in files.items():
        server.place.write(f"{name}/{path}", body)
    done = server.place.acai("put", name, f"/{name}", "--as", name, "--json")
    assert done.returncode == 0, done.stderr
    return str(json.loads(done.stdout)["file_set"])


def ask(server: Server, method: str, path: str, body: Any = None, status: int = 200) -> Any:
    answer = server.ask(method, f"{SETS}/{path}", body)
    assert answer.status == status, answer.body
    return answer.json


def remove(server: Server, ref: str, **how: bool) -> Any:
    return ask(server, "POST", f"{ref}/remove", how)


def refused(server: Server, method: str, path: str, body: Any = None) -> tuple[int, str]:
    answer = server.ask(method, f"{SETS}/{path}", body)
    return answer.status, answer.error["message"]


def test_versions_are_listed_in_pages_with_notes_and_aliases(server: Server) -> None:
    for body in "123":
        put(server, "listed", a=body)
    assert ask(server, "PATCH", "listed:2", {"note": "*the good one*"})["note"] == "*the good one*"
    assert ask(server, "PUT", "listed:2/aliases/paper")["aliases"] == ["paper"]
    page = ask(server, "GET", "listed/versions?limit=2")
    assert [(one["version"], one["note"], one["aliases"]) for one in page["file_sets"]] == [
        (3, "", []),
        (2, "*the good one*", ["paper"]),
    ]
    rest = ask(server, "GET", f"listed/versions?limit=2&before={page['next']}")
    assert ([one["version"] for one in rest["file_sets"]], rest["next"]) == ([1], None)
    assert ask(server, "GET", "listed:paper")["version"] == 2
    assert ask(server, "GET", "listed:paper/entries")["entries"][0]["version"] == 2
    newest = next(one for one in server.get(SETS)["file_sets"] if one["name"] == "listed")
    assert (newest["version"], newest["aliases"], newest["deleted_at"]) == (3, [], None)


def test_an_alias_moves_and_goes_and_its_history_stays(server: Server) -> None:
    for body in "12":
        put(server, "named", a=body)
    for ref in ("named:1", "named:1", "named:latest"):
        ask(server, "PUT", f"{ref}/aliases/best")
    ask(server, "PUT", "named:best/aliases/paper")
    page = ask(server, "DELETE", "named/aliases/best")
    assert page["aliases"] == {"paper": 2}
    assert [(one["alias"], one["version"]) for one in page["changes"]] == [
        ("best", None),
        ("paper", 2),
        ("best", 2),
        ("best", 1),
    ]
    first = ask(server, "GET", "named/aliases?limit=3")
    assert first["changes"] == page["changes"][:3]
    rest = ask(server, "GET", f"named/aliases?limit=3&before={first['next']}")
    assert (rest["changes"], rest["next"]) == (page["changes"][3:], None)
    events = server.get("/v1/projects/default/events?since=0")["events"]
    assert [one["subject"] for one in events if one["kind"] == "alias_changed"].count("named:best") == 3


def test_a_version_that_is_deleted_comes_back_until_a_moment_that_is_said(server: Server) -> None:
    for body in "123":
        put(server, "gone", a=body, b="b")
    done = remove(server, "gone:3")
    assert (done["file_sets"], done["file_versions"]) == (["gone:3"], 0)
    deleted = ask(server, "GET", "gone/versions?limit=1")["file_sets"][0]["deleted_at"]
    grace = datetime.fromisoformat(done["undo_until"]) - datetime.fromisoformat(deleted)
    assert grace == timedelta(days=7)
    assert ask(server, "GET", "gone")["version"] == 2
    status, said = refused(server, "GET", "gone:3")
    assert (status, said) == (
        404,
        "There is no file set 'gone:3'. It was deleted; bring it back with acai fileset rm --undo gone:3.",
    )
    assert remove(server, "gone", files=True)["file_versions"] == 2
    assert "gone" not in [one["name"] for one in server.get(SETS)["file_sets"]]
    assert server.place.acai("cat", "/gone/a").stdout == "3"
    assert server.place.acai("cat", "/gone/a:1").returncode == 3
    assert remove(server, "gone", undo=True) == {
        "file_sets": ["gone:3", "gone:2", "gone:1"],
        "file_versions": 2,
        "undo_until": None,
    }
    assert [server.place.acai("cat", f"/gone/a@gone:{number}").stdout for number in (1, 2, 3)] == ["1", "2", "3"]


def test_what_is_needed_is_refused_with_the_way_out(server: Server) -> None:
    for body in "12":
        put(server, "needed", a=body)
    ask(server, "PUT", "needed:1/aliases/paper")
    way = "take it away with acai fileset alias needed paper --remove"
    assert refused(server, "POST", "needed:1/remove", {}) == (
        409,
        f"This cannot be done now: 'needed:1' has the alias 'paper'; {way}.",
    )
    assert refused(server, "GET", "needed:nope")[1] == (
        "There is no file set 'needed:nope'. Its aliases are 'paper' (needed:1). The latest is 'needed:2'."
    )
    assert refused(server, "GET", "needd")[1] == (
        "There is no file set 'needd'. Did you mean needed (latest: needed:2)?"
    )
    assert remove(server, "needed:2")["file_sets"] == ["needed:2"]
    done = server.place.acai("rm", "/needed/a:1")
    assert (done.returncode, "in file set needed:1" in done.stderr) == (6, True)
    assert server.place.acai("rm", "/needed/a:2").returncode == 0


def test_the_input_of_a_job_stays_until_the_job_has_ended(place: Place) -> None:
    server = place.start()
    put(server, "data", a="1")
    gate = place.work / "gate"
    place.write("long.py", f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.01)\n")
    submitted = place.acai("submit", "long.py", "--input", "data", "--output", "out", "--json")
    assert submitted.returncode == 0, submitted.stderr
    job = json.loads(submitted.stdout)
    until(lambda: server.get("/v1/projects/default/jobs/1")["state"] == "running", "the job running")
    for ref in ("data", "data:1", job["code"]):
        status, said = refused(server, "POST", f"{ref}/remove", {})
        assert (status, "job 1, which has not ended, uses" in said) == (409, True)
    gate.touch()
    wait(server.client(), 1)
    assert remove(server, "data")["file_sets"] == ["data:1"]
    assert remove(server, job["code"].partition(":")[0])["file_sets"] == [job["code"]]
    shown = server.get("/v1/projects/default/jobs/1")
    assert (shown["inputs"], shown["code"]) == (["data:1"], job["code"])
    graph = server.get("/v1/projects/default/provenance/out:1/back")
    assert {node["file_set"]["name"]: node["file_set"]["deleted_at"] is not None for node in graph["nodes"]} == {
        "data": True,
        "out": False,
    }
    assert {"file_set": job["code"], "role": "code"} in graph["actions"][0]["inputs"]
    again = place.acai("submit", "long.py", "--input", "data:1")
    assert (again.returncode, "bring it back with acai fileset rm --undo data:1" in again.stderr) == (3, True)


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PUT", "bad:1/aliases/latest", None, 400),
        ("PUT", "bad:1/aliases/7", None, 400),
        ("PUT", "bad:1/aliases/%E2%98%83", None, 400),
        ("PUT", "bad:9/aliases/x", None, 404),
        ("DELETE", "bad/aliases/x", None, 404),
        ("DELETE", "bad:1/aliases/x", None, 400),
        ("GET", "bad:1/versions", None, 400),
        ("GET", "nobody/versions", None, 404),
        ("GET", "bad:1/aliases", None, 400),
        ("GET", "bad/versions?before=-1", None, 400),
        ("GET", "bad/versions?limit=0", None, 400),
        ("GET", f"bad/versions?before={10**30}", None, 400),
        ("GET", f"bad/aliases?before={2**53 - 1}", None, 200),
        ("GET", f"bad/aliases?before={2**53}", None, 400),
        ("PATCH", "bad:1", {"note": "x" * 10_001}, 400),
        ("PATCH", "bad:1", {"note": "a\0b"}, 400),
        ("PATCH", "bad:1", {"name": "x"}, 400),
        ("PATCH", "bad:9", {"note": "x"}, 404),
        ("POST", "bad:9/remove", {}, 404),
        ("POST", "nobody/remove", {"undo": True}, 404),
        ("POST", "bad:x/remove", {"files": True}, 404),
        ("POST", "b@d/remove", {}, 400),
        ("POST", "bad/remove", {"force": True}, 400),
    ],
)
def test_what_cannot_be_meant_changes_nothing(server: Server, method: str, path: str, body: Any, status: int) -> None:
    put(server, "bad", a="1")
    answer: Answer = server.ask(method, f"{SETS}/{path}", body)
    assert answer.status == status
    assert status == 200 or answer.error["message"].endswith(".")
    page = ask(server, "GET", "bad/versions")
    assert [(one["note"], one["aliases"], one["deleted_at"]) for one in page["file_sets"]] == [("", [], None)]


def test_rules_are_set_and_read_and_ended(server: Server) -> None:
    nothing = {"keep_last": None, "keep_days": None, "files": False}
    assert server.get(RETENTION) == nothing
    rules = {"keep_last": 3, "keep_days": 30.5, "files": True}
    assert server.ask("PUT", RETENTION, rules).json == rules == server.get(RETENTION)
    mistaken: tuple[Any, ...] = (
        {"files": True},
        {"keep_last": 0},
        {"keep_days": -1},
        {"keep_last": 10**30},
        {"x": 1},
        [],
    )
    for wrong in mistaken:
        assert server.ask("PUT", RETENTION, wrong).status == 400
    assert server.get(RETENTION) == rules
    assert server.ask("PUT", RETENTION, {}).json == nothing == server.get(RETENTION)


def test_names_deletions_and_rules_survive_a_restart_and_the_grace_is_a_setting(place: Place) -> None:
    server = place.start()
    for body in "12":
        put(server, "kept", a=body)
    ask(server, "PUT", "kept:1/aliases/paper")
    remove(server, "kept:2")
    server.ask("PUT", RETENTION, {"keep_last": 2})
    server.end()
    server = place.start(ACAI_GRACE_DAYS="0.5")
    assert ask(server, "GET", "kept")["aliases"] == ["paper"]
    assert server.get(RETENTION)["keep_last"] == 2
    assert remove(server, "kept:2", undo=True)["file_sets"] == ["kept:2"]
    done = remove(server, "kept:2")
    deleted = ask(server, "GET", "kept/versions?limit=1")["file_sets"][0]["deleted_at"]
    assert datetime.fromisoformat(done["undo_until"]) - datetime.fromisoformat(deleted) == timedelta(hours=12)


def test_uploads_go_on_while_a_name_is_deleted_and_brought_back(place: Place) -> None:
    server = place.start()
    put(server, "busy", a="0")
    stop = threading.Event()
    seen: list[int] = []

    def flip() -> None:
        while not stop.is_set():
            seen.append(server.ask("POST", f"{SETS}/busy/remove", {"files": True}).status)
            seen.append(server.ask("POST", f"{SETS}/busy/remove", {"undo": True}).status)

    thread = threading.Thread(target=flip)
    thread.start()
    try:
        made = [put(server, "busy", a=str(number)) for number in range(1, 4)]
    finally:
        stop.set()
        thread.join(120)
    assert set(seen) == {200}
    assert len(set(made)) == 3
    remove(server, "busy", undo=True)
    numbers = [one["version"] for one in ask(server, "GET", "busy/versions")["file_sets"]]
    assert numbers == list(range(len(numbers), 0, -1))
    for number in numbers:
        assert server.place.acai("cat", f"/busy/a@busy:{number}").returncode == 0
