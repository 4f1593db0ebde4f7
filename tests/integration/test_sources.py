"""File sets made of sources over HTTP: a real server, its answers, and what it says to what is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.filesets import CompareSources, CreateFileSet, Matching, ResolveSources, Source, Without

if TYPE_CHECKING:
    from tests.integration.places import Answer, Server

PROJECT = "/v1/projects/default"
ROUTES = {"create": f"{PROJECT}/filesets", "resolve": f"{PROJECT}/resolve", "compare": f"{PROJECT}/compare"}


@pytest.fixture(scope="module")
def stocked(server: Server) -> Server:
    """A server with digits:1 of twenty files, digits:2 of which two are others, and /extra.csv."""
    for number in range(20):
        server.place.write(f"digits/{number:02}.png", str(number))
    server.place.write("extra.csv", "1,2")
    put(server, "put", "digits", "/digits", "--as", "digits")
    for number in (3, 4):
        server.place.write(f"digits/{number:02}.png", f"{number} again")
    put(server, "put", "digits", "/digits", "--as", "digits")
    put(server, "put", "extra.csv", "/")
    return server


def put(server: Server, *words: str) -> None:
    done = server.place.acai(*words)
    assert done.returncode == 0, done.stderr


def sent(server: Server, what: str, body: Any) -> Answer:
    return server.ask("POST", ROUTES[what], body)


def test_a_set_is_made_and_leads_back_to_its_sources(stocked: Server) -> None:
    body = {"name": "train", "sources": ["@digits:1", "/extra.csv", "/digits/03.png@digits:2"], "note": "*three*"}
    answer = sent(stocked, "create", body)
    assert answer.status == 201
    made = answer.json
    assert (made["is_new"], made["made_from"]) == (True, ["digits:1", "digits:2"])
    assert {key: made["file_set"][key] for key in ("name", "version", "file_count", "note", "role")} == {
        "name": "train",
        "version": 1,
        "file_count": 21,
        "note": "*three*",
        "role": "data",
    }
    entries = stocked.get(f"{PROJECT}/filesets/train:1/entries")["entries"]
    assert {entry["path"]: entry["version"] for entry in entries if entry["version"] == 2} == {"/digits/03.png": 2}
    (action,) = stocked.get(f"{PROJECT}/provenance/train:1/back")["actions"]
    assert (action["kind"], action["outputs"]) == ("creation", ["train:1"])
    assert [one["file_set"] for one in action["inputs"]] == ["digits:1", "digits:2"]
    events = stocked.get(f"{PROJECT}/events?since=0")["events"]
    assert [event["subject"] for event in events if event["kind"] == "file_set_created"][-1] == "train:1"


def test_the_same_again_makes_nothing(stocked: Server) -> None:
    request = CreateFileSet("same", ["@digits"], if_changed=True)
    first, again = (stocked.client().call(endpoints.CREATE_FILE_SET, request) for _ in range(2))
    assert (first.is_new, again.is_new) == (True, False)
    assert again.file_set == first.file_set


def test_later_pages_are_of_the_moment_of_the_first(stocked: Server) -> None:
    client = stocked.client()
    sources: list[Source] = [Without([Matching(["/"], "/digits/0*")], ["/digits/03.png"]), "/extra.csv"]
    first = client.call(endpoints.RESOLVE_SOURCES, ResolveSources(sources, limit=4, counted=True))
    assert (first.file_count, first.next, len(first.entries)) == (10, "/digits/04.png", 4)
    stocked.place.write("new.png", "new")
    put(stocked, "put", "new.png", "/digits/05x.png")
    rest = client.call(endpoints.RESOLVE_SOURCES, ResolveSources(first.pinned, after=first.next or ""))
    assert [entry.path for entry in first.entries + rest.entries] == [
        *(f"/digits/{number:02}.png" for number in range(10) if number != 3),
        "/extra.csv",
    ]
    assert rest.pinned == first.pinned


def test_two_versions_are_compared(stocked: Server) -> None:
    found = stocked.client().call(endpoints.COMPARE_SOURCES, CompareSources(["@digits:1"], ["@digits:2", "/extra.csv"]))
    assert (found.added, found.removed, found.changed, found.renamed, found.renumbered) == (1, 0, 2, 0, 0)
    assert [(one.kind, one.after and one.after.path) for one in found.differences] == [
        ("changed", "/digits/03.png"),
        ("changed", "/digits/04.png"),
        ("added", "/extra.csv"),
    ]
    assert found.pinned_after == ["@digits:2", "/extra.csv:1"]


def deep(levels: int) -> bytes:
    opened = b'{"op": "matching", "pattern": "/*", "of": ['
    return b'{"name": "bad", "sources": [' + opened * levels + b'"/extra.csv"' + b"]}" * levels + b"]}"


def body(*sources: Any, name: str = "bad", **more: Any) -> bytes:
    return json.dumps({"name": name, "sources": sources, **more}).encode()


BAD: dict[str, tuple[bytes, int, str, str]] = {
    "no body": (b"", 400, "bad_request", "not understood"),
    "no sources": (body(), 400, "bad_request", "there are no sources"),
    "no list": (b'{"name": "bad", "sources": "/x"}', 400, "bad_request", "sources: expected a list"),
    "a number": (body(7), 400, "bad_request", "sources[0]: expected a text or an object"),
    "an unknown word": (body({"op": "cycle", "of": ["/extra.csv"]}), 400, "bad_request", "cycle"),
    "one field too many": (body({"op": "matching", "of": ["/"], "pattern": "/*", "x": 1}), 400, "bad_request", "'x'"),
    "no such file": (body("/extra.cvs"), 404, "file_not_found", "Did you mean /extra.csv?"),
    "no such set": (body("@digts"), 404, "file_set_not_found", "Did you mean digits"),
    "no such version": (body("@digits:9"), 404, "file_set_not_found", "The latest is 'digits:2'"),
    "two versions": (body("/digits/03.png:1", "/digits/03.png"), 400, "bad_request", "two versions of one file"),
    "a bare name": (body("digits"), 400, "bad_spec", "a file set is written '@digits'"),
    "a name with a colon": (body("/", name="a:b"), 400, "bad_name", "a name starts with a letter"),
    "a reserved name": (body("/", name="latest"), 400, "bad_name", "'latest' is reserved"),
    "a long name": (body("/", name="a" * 10**6), 400, "bad_name", "at most 128 characters"),
    "a long note": (body("/", note="a" * 10_001), 400, "bad_request", "a note has at most 10,000 characters"),
    "a note with a NUL": (body("/", note="a\0"), 400, "bad_request", "NUL"),
    "a million specs": (body(*["/extra.csv"] * 10**6), 400, "bad_request", "more than 100,000 sources"),
    "ten thousand unknown folders": (body(*(f"/f{n}/" for n in range(10_000))), 404, "file_not_found", "/f0"),
    "a long spec": (body("/" + "x" * 10**7), 400, "bad_spec", "it has 10,000,001 characters"),
    "a long pattern": (
        body({"op": "matching", "of": ["/"], "pattern": "/" + "*" * 10**6}),
        400,
        "bad_request",
        "1,024",
    ),
    "21 deep": (deep(21), 400, "bad_request", "more than 20 deep"),
    "ten thousand deep": (deep(10_000), 400, "bad_request", "nested too deeply"),
    "a NUL in a spec": (body("/a\0"), 400, "bad_path", "control character"),
    "half a character": (b'{"name": "bad", "sources": ["/\\ud800"]}', 400, "bad_request", "not understood"),
    "half a character of a pattern": (
        b'{"name": "bad", "sources": [{"op": "matching", "of": ["/"], "pattern": "/\\udc00"}]}',
        400,
        "bad_request",
        "not understood",
    ),
    "nothing left": (body({"op": "without", "of": ["@digits"], "without": ["/"]}), 400, "bad_request", "have no files"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_said_in_a_sentence(stocked: Server, case: str) -> None:
    data, status, code, words = BAD[case]
    newest = stocked.get(f"{PROJECT}/events?since=0")["events"][-1]["number"]
    answer = stocked.ask("POST", ROUTES["create"], data)
    assert (answer.status, answer.code) == (status, code), answer.body
    assert words in answer.error["message"]
    assert "\n" not in answer.error["message"]
    assert len(answer.error["message"]) < 500
    assert stocked.ask("GET", f"{PROJECT}/filesets/bad").status == 404
    assert stocked.get(f"{PROJECT}/events?since=0")["events"][-1]["number"] == newest


@pytest.mark.parametrize("after", ["\0", "/digits/05.png\0", "\x01", "/\U0010ffff", "zzz", "é"])
def test_a_page_may_begin_anywhere(stocked: Server, after: str) -> None:
    answer = sent(stocked, "resolve", {"sources": ["/", "@digits"], "after": after})
    assert answer.status == 200
    assert all(entry["path"] > after.rstrip("\0") for entry in answer.json["entries"])


@pytest.mark.parametrize("changed", [{"limit": -1}, {"start": -1}, {"before": []}])
def test_a_comparison_within_no_bounds_is_refused(stocked: Server, changed: dict[str, Any]) -> None:
    answer = sent(stocked, "compare", {"before": ["@digits"], "after": ["@digits"]} | changed)
    assert (answer.status, answer.code) == (400, "bad_request")


def test_a_comparison_has_no_more_rows_at_once_than_a_page(stocked: Server) -> None:
    answer = sent(stocked, "compare", {"before": ["@digits"], "after": ["@digits"], "limit": 20_001})
    assert (answer.status, answer.code) == (413, "too_many_rows")


def test_a_commit_that_has_not_been_is_the_last_one(stocked: Server) -> None:
    answer = sent(stocked, "resolve", {"sources": [{"op": "as_of", "spec": "/", "commit": 2**53 - 1}], "limit": 1})
    assert answer.status == 200
    assert answer.json["pinned"][0]["commit"] < 100
