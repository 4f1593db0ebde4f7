"""The OpenAPI document that the server tells of itself, and whether its answers are as told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from acai_jupyter.contract.endpoints import ALL, Access
from tests.integration.places import until

if TYPE_CHECKING:
    from tests.integration.places import Server


def described(server: Server) -> Any:
    return server.get("/openapi.json")


def test_the_document_is_valid(server: Server) -> None:
    document = described(server)
    assert document["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(document).validate()


def test_every_route_is_in_it_and_no_other(server: Server) -> None:
    paths = described(server)["paths"]
    told = {(verb.upper(), path, one["operationId"]) for path, verbs in paths.items() for verb, one in verbs.items()}
    assert told == {(endpoint.method, endpoint.path, endpoint.name) for endpoint in ALL}


def test_every_route_says_what_it_takes_to_be_let_in(server: Server) -> None:
    paths = described(server)["paths"]
    for endpoint in ALL:
        is_open = endpoint.access in (Access.NOTHING, Access.SIGNATURE)
        wanted: list[dict[str, list[str]]] = [] if is_open else [{"token": []}]
        assert paths[endpoint.path][endpoint.method.lower()]["security"] == wanted


def check(document: Any, name: str, status: int, value: Any) -> None:
    """Hold an answer against the schema that the document has for it."""
    operation = next(o for verbs in document["paths"].values() for o in verbs.values() if o["operationId"] == name)
    response = operation["responses"][str(status)] if status < 400 else operation["responses"]["default"]
    schema = response["content"]["application/json"]["schema"]
    jsonschema.Draft202012Validator({**schema, "components": document["components"]}).validate(value)


@pytest.fixture(scope="module")
def lived_in(server: Server) -> Server:
    """A server with a set, a job, its output and its log."""
    place = server.place
    place.write("digits/1.txt", "one")
    place.write("program.py", "open('output/model', 'w').write('m'); print('[ACAI_TAG_NUM] job accuracy:0.5')")
    assert place.acai("put", "digits", "/digits", "--as", "digits").returncode == 0
    submitted = place.acai("submit", "program.py", "--input", "digits", "--output", "model", "-p", "lr=0.1")
    assert submitted.returncode == 0, submitted.stderr
    until(lambda: server.get("/v1/projects/default/jobs/1")["state"] == "finished", "the job finishing")
    return server


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("get_status", "/v1/status"),
        ("list_events", "/v1/projects/default/events"),
        ("list_events", "/v1/projects/default/events?since=0"),
        ("list_file_sets", "/v1/projects/default/filesets"),
        ("get_file_set", "/v1/projects/default/filesets/model"),
        ("list_entries", "/v1/projects/default/filesets/digits:1/entries"),
        ("list_folder", "/v1/projects/default/folder?path=/digits"),
        ("list_files", "/v1/projects/default/files?spec=/digits"),
        ("list_versions", "/v1/projects/default/versions?path=/digits/1.txt"),
        ("list_jobs", "/v1/projects/default/jobs"),
        ("get_job", "/v1/projects/default/jobs/1"),
        ("get_log", "/v1/projects/default/jobs/1/log"),
        ("list_log_lines", "/v1/projects/default/jobs/1/log/lines?text=a"),
        ("list_log_lines", "/v1/projects/default/jobs/1/log/lines?first=2&limit=3"),
        ("get_neighbourhood", "/v1/projects/default/provenance/model:1?back=3"),
        ("get_neighbourhood", "/v1/projects/default/provenance/1"),
        ("get_origin", "/v1/projects/default/provenance/model:1/back"),
        ("list_uses", "/v1/projects/default/provenance/digits:1/forward"),
        ("get_project_graph", "/v1/projects/default/provenance"),
        ("get_paths", "/v1/projects/default/provenance/digits:1/paths?to=model:1"),
        ("get_affected", "/v1/projects/default/provenance/digits:1/affected"),
        ("get_file_origin", "/v1/projects/default/origin?spec=/digits/1.txt"),
        ("explain_difference", "/v1/projects/default/difference?before=digits:1&after=model:1"),
    ],
)
def test_an_answer_is_as_told(lived_in: Server, name: str, path: str) -> None:
    value = lived_in.get(path)
    check(described(lived_in), name, 200, value)
    assert value


@pytest.mark.parametrize("name", [e.name for e in ALL if e.access is not Access.SIGNATURE])
def test_an_error_is_as_told(lived_in: Server, name: str) -> None:
    endpoint = next(endpoint for endpoint in ALL if endpoint.name == name)
    path = re.sub(r"\{\w+\}", "no-such-thing", endpoint.path)
    answer = lived_in.ask(endpoint.method, f"{path}?surprise=1", {} if endpoint.body else None)
    assert answer.status >= 400
    check(described(lived_in), name, answer.status, answer.json)


def test_what_a_session_answers_is_as_told(lived_in: Server) -> None:
    document, uploads = described(lived_in), "/v1/projects/default/uploads"
    announced = {
        "size_bytes": 3,
        "sha256": "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
    }  # b"one"
    made = lived_in.ask("POST", uploads, {"files": [{"path": "/copy", **announced}], "file_set": "copy"})
    assert made.status == 201
    check(document, "create_upload", made.status, made.json)
    session = f"{uploads}/{made.json['id']}"
    targets = lived_in.ask("POST", f"{session}/targets", {"objects": [{"number": 1, **announced}]})
    assert targets.status == 201
    check(document, "create_targets", targets.status, targets.json)
    staged = lived_in.ask("POST", f"{session}/files", {"files": [{"path": "/again", **announced}]})
    assert staged.status == 200
    check(document, "stage_files", staged.status, staged.json)
    check(document, "list_uploads", 200, lived_in.get(uploads))
    check(document, "get_upload", 200, lived_in.get(session))
    done = lived_in.ask("POST", f"{session}/commit", {})
    assert done.status == 200
    check(document, "commit_upload", done.status, done.json)
    job = lived_in.ask("POST", "/v1/projects/default/jobs", {"command": ["true"], "inputs": ["copy"]})
    check(document, "create_job", job.status, job.json)
