"""Requests for jobs as nobody means them: one sentence says what is wrong, or the job is what was asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.client.follow import wait
from tests.integration.places import until

if TYPE_CHECKING:
    from tests.integration.places import Server

JOBS = "/v1/projects/default/jobs"
MOST = 500
"""A message is a sentence: it does not give back megabytes."""


def refused(server: Server, body: bytes | dict[str, Any]) -> str:
    answer = server.ask("POST", JOBS, body)
    assert answer.status in (400, 404, 413), answer.json
    message = answer.error["message"]
    assert isinstance(message, str)
    assert 0 < len(message) < MOST
    assert message.isprintable(), message
    return message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("command", ["true", "\0"]),
        ("command", "\ud800"),
        ("command", "x" * 100_001),
        ("command", [["true"]]),
        ("name", "two\nlines"),
        ("name", "right \u202e left"),
        ("name", "\x1b[31mred"),
        ("name", "x" * 201),
        ("description", "x" * 10_001),
        ("template", "a\rb"),
        ("tags", ["a\nb"]),
        ("tags", ["\u202ea"]),
        ("tags", ["x" * 129]),
        ("tags", ["x"] * 101),
        ("tags", [" "]),
        ("attributes", {"a b": 1}),
        ("attributes", {"\u202e": 1}),
        ("attributes", {"a": "x" * 501}),
        ("attributes", {"a": {"deep": 1}}),
        ("parameters", {"a": "x\0"}),
        ("parameters", {"a\n": 1}),
        ("parameters", {"__import__('os')": 1}),
        ("environment", {"LD_PRELOAD\n": "x"}),
        ("environment", {"": "x"}),
        ("environment", {"A": "x\0y"}),
        ("environment", {"ACAI_WORK": "/"}),
        ("secrets", {"A": "../../etc/passwd"}),
        ("secrets", {"A": "x\0"}),
        ("inputs", ["../../etc"]),
        ("inputs", ["/../etc@digits"]),
        ("inputs", ["/a\0b"]),
        ("inputs", ["@" + "x" * 10_000]),
        ("inputs", ["/" + "x" * 100_000]),
        ("inputs", ["/a%00b@x"]),
        ("code", "../x"),
        ("code", "x" * 100_000),
        ("code_root", "/../x"),
        ("code_root", "x"),
        ("output", "../x"),
        ("output", "a\u202eb"),
        ("output", "a/b"),
        ("output_folder", ".."),
        ("output_folder", "a/../../b"),
        ("output_folder", "/etc"),
        ("output_folder", "."),
        ("output_folder", "a\nb"),
        ("output_root", "/a/../../b"),
        ("output_root", "/a\0b"),
        ("output_root", "relative"),
        ("output_root", "/" + "x" * 2000),
        ("output_root", "//"),
        ("image", "x" * 501),
        ("resources", {"vcpu": 1e308}),
        ("resources", {"vcpu": -0.0}),
        ("resources", {"vcpu": 5e-324}),
        ("resources", {"memory_bytes": 2**63}),
        ("resources", {"memory_bytes": 10**400}),
        ("resources", {"gpus": 2**31}),
        ("resources", {"gpus": -1}),
        ("resources", {"max_memory_bytes": 2**62}),
        ("time_limit_seconds", 0),
        ("time_limit_seconds", -0.0),
        ("time_limit_seconds", 1e309),
        ("retries", 2**70),
        ("priority", 10**30),
        ("nodes", 257),
        ("nodes", 0),
    ],
    ids=lambda value: ascii(value)[:40],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(server: Server, field: str, value: object) -> None:
    body = json.dumps({"command": ["true"], field: value}).replace("Infinity", "1e309").encode()
    refused(server, body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"command": ["true"], "time_limit_seconds": NaN}',
        b'{"command": ["true"], "time_limit_seconds": 1e999}',
        b'{"command": ["true"], "attributes": {"a": 1e999}}',
        b'{"command": ["true"], "parameters": {"a": -1e999}}',
        b'{"command": ["true"], "parameters": {"a": 1' + b"0" * 5000 + b"}}",
        b'{"command": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"command": ["true"], "captured": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
        b'{"command": ["true"], "captured": {"a": "' + b"x" * 10_000_000 + b'"}}',
        b'{"command": ["\xff"]}',
        b'{"command": ["true"], "command": 1}',
        b"\xef\xbb\xbf{}",
        b"",
        b"null",
        b"[" * 10,
        b'{"command": ["\\ud800"]}',
    ],
    ids=lambda body: ascii(body[:60]),
)
def test_a_body_that_is_no_request_is_refused_in_a_sentence(server: Server, body: bytes) -> None:
    refused(server, body)


def test_what_is_odd_but_can_be_meant_is_kept_and_shown_as_it_was(server: Server) -> None:
    deep: dict[str, Any] = {}
    for _ in range(400):
        deep = {"a": deep}
    asked: dict[str, Any] = {
        "command": ["echo", '\'; rm -rf "$HOME" `id` $(id) \u202e\n<script>alert(1)</script>'],
        "name": "<b>' \" $(id)",
        "description": "\x1b[31m\u202e\n</script>",
        "environment": {"A": "$(id)\n\u202e", "PATH_": "../.."},
        "parameters": {"x": "`id` \u202e \n", "huge": 1e308, "least": 5e-324, "zero": -0.0, "long": 10**400},
        "attributes": {"odd": "<img src=x onerror=1>"},
        "tags": ["'--", "<b>"],
        "captured": deep,
        "output": "odd",
        "output_root": "/",
    }
    answer = server.ask("POST", JOBS, asked)
    assert answer.status == 201, answer.json
    number = answer.json["number"]
    assert wait(server.client(), number).state == "finished"
    job = server.get(f"{JOBS}/{number}")
    for name in ("command", "name", "description", "parameters", "attributes", "tags"):
        assert job[name] == asked[name]
    assert server.get(f"{JOBS}/{number}/request")["request"]["captured"] == deep
    assert server.get(f"{JOBS}/{number}/log")["text"] == asked["command"][1] + "\n"
    assert job["output"] == "odd:1"


PROGRAM = """
import os, pathlib
out = pathlib.Path("output")
(out / "secret").symlink_to(os.environ["ACAI_WORK"] + "/../../../../../../../../../../../etc/passwd")
(out / "folder").symlink_to("/etc")
(out / "loop").symlink_to("loop")
(out / "up").symlink_to("..")
os.mkfifo(out / "pipe")
(out / "good").write_text("good")
"""


def test_links_and_what_is_no_file_in_the_outputs_lead_nowhere(server: Server) -> None:
    answer = server.ask("POST", JOBS, {"command": ["python3", "-c", PROGRAM], "output": "linked", "retries": 0})
    number = answer.json["number"]
    job = wait(server.client(), number)
    assert job.state == "finished", job.reason
    entries = server.get("/v1/projects/default/filesets/linked/entries")["entries"]
    assert [entry["path"] for entry in entries] == ["/linked/good"]


ODD = """
import os
os.chdir("output")
for name in ("a\\nb", "fine", "a:b@c%25d", "x" * 200 + "/" + "y" * 200):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    open(name, "w").write(name)
os.makedirs("/".join(["d" * 200] * 5))
open("/".join(["d" * 200] * 5 + ["deepest"]), "w").write("")
open("/".join(["d" * 200] * 5 + ["too-deep-by-1"]), "w").close()
open(b"\\xff", "w").close()
"""


def test_outputs_whose_paths_the_project_cannot_have_are_named_and_the_others_kept(server: Server) -> None:
    answer = server.ask("POST", JOBS, {"command": ["python3", "-c", ODD], "output": "odd-names", "retries": 3})
    number = answer.json["number"]
    job = wait(server.client(), number)
    assert (job.state, len(job.attempts)) == ("finished", 1), job.reason
    entries = server.get("/v1/projects/default/filesets/odd-names/entries")["entries"]
    kept = ["a:b@c%25d", "d" * 200 + ("/" + "d" * 200) * 4 + "/deepest", "fine", "x" * 200 + "/" + "y" * 200]
    assert [entry["path"] for entry in entries] == [f"/odd-names/{name}" for name in kept]
    too_long = f"{'d' * 60}...{'d' * 46}/too-deep-by-1"
    reasons = {
        too_long: "its path is too long; below the output folder a path can have 1,013 bytes",
        "a\nb": "its name has a control character",
        "\udcff": "its name is not valid UTF-8",
    }
    warnings = [f"output {name!a} was not kept: {reason}" for name, reason in reasons.items()]
    assert sorted(job.attempts[0].warnings) == sorted(warnings)
    said = server.place.acai("wait", str(number)).stdout + server.place.acai("job", str(number)).stdout
    assert all(said.count(warning) == 2 for warning in warnings), said


NESTED = """
import os
os.chdir("output")
open("fine", "w").close()
for _ in range(3000):
    os.mkdir("nested"); os.chdir("nested")
"""


def test_an_output_folder_of_3000_levels_leaves_nothing_behind_and_keeps_the_rest(server: Server) -> None:
    answer = server.ask("POST", JOBS, {"command": ["python3", "-c", NESTED], "output": "nested"})
    number = answer.json["number"]
    job = wait(server.client(), number)
    assert (job.state, len(job.attempts)) == ("finished", 1), job.reason
    entries = server.get("/v1/projects/default/filesets/nested/entries")["entries"]
    assert [entry["path"] for entry in entries] == ["/nested/fine"]
    assert "its path is too long" in job.attempts[0].warnings[0]
    attempts = server.place.data / "attempts"
    until(lambda: not list(attempts.iterdir()), "the attempt's folder is removed")


def test_the_outputs_of_a_job_cannot_take_the_place_of_folders(server: Server) -> None:
    """What was put before the job stays what it was: an output at the root is a new version beside it."""
    program = "import os; os.makedirs('output/linked'); open('output/linked/good', 'w').write('other')"
    asked = {"command": ["python3", "-c", program], "output": "rooted", "output_root": "/", "retries": 0}
    number = server.ask("POST", JOBS, asked).json["number"]
    assert wait(server.client(), number).state == "finished"
    entries = server.get("/v1/projects/default/filesets/rooted/entries")["entries"]
    assert [(entry["path"], entry["version"]) for entry in entries] == [("/linked/good", 2)]
