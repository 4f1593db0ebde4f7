"""All verbs from a shell: `--json` is JSON, plain text has no colours, and each exit status is as documented."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.commands.verbs import VERBS
from tests.integration.places import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

LINES = {
    "status": "",
    "doctor": "",
    "completion": "bash",
    "put": "digits /digits",
    "get": "@digits:1 out",
    "ls": "/digits",
    "cat": "/digits/0.txt",
    "versions": "/digits/0.txt",
    "rm": "/spare.txt:1",
    "uploads": "",
    "fileset create": "some @digits:1",
    "fileset list": "",
    "fileset show": "digits",
    "fileset alias": "digits:1 first",
    "fileset note": "digits:1 text",
    "fileset rm": "spare",
    "fileset retention": "",
    "diff": "digits:1 digits:2",
    "gc": "--dry-run",
    "costs": "",
    "profile run": "--name made --cpus 0.5 --memories 512Mi --plan 'true {n=1,2}'",
    "profile list": "",
    "profile show": "taught",
    "autoprovision": "taught --values n=1 --plan",
    "submit": "p.py",
    "jobs": "",
    "job": "1",
    "logs": "1",
    "attach": "1",
    "wait": "1",
    "why": "1",
    "kill": "3",
    "rm-job": "2",
    "tag": "model:1 stage=draft",
    "find": "jobs",
    "provenance": "model:1",
    "export": "@model:1 new.zip",
    "verify": "model.zip",
    "replay": "1",
    "login": "--file ../share/acai/token",
    "trust": "--yes",
    "project create": "lab",
    "project list": "",
    "project budget": "",
    "user create": "ann",
    "user list": "",
    "user role": "ann viewer",
    "user quota": "ann 2",
    "user budget": "ann --month 1000",
    "user rm": "ann",  # jobs of this machine are for one user alone
    "token create": "ci",
    "token list": "",
    "token rotate": "ci",
    "token revoke": "ci",
    "access limit": "@model --read you",
    "access list": "",
    "access lift": "model --reason sums",
    "access lifts": "",
    "access open": "@model",
    "group set": "clinic you",
    "group list": "",
    "group rm": "clinic",
    "audit": "",
}
FAILED = {"diff": 1}
COLOURED = "import pathlib; print('\\033[31mred\\033[0m'); pathlib.Path('output/model').write_text('1')"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Two versions of digits, a job that has made model:1, one to be deleted and one to be ended."""
    place = Place(tmp_path_factory.mktemp("home"))
    place.start(ACAI_USER="you")
    for name, text in {"digits/0.txt": "0", "p.py": COLOURED, "waits.py": "import time; time.sleep(600)"}.items():
        place.write(name, text)
    for line in (
        "put digits /digits --as digits",
        "put digits/0.txt /spare.txt",
        "submit p.py --input digits --output model",
        "submit p.py",
        "wait 1 2",
        "submit waits.py",
        "export @model:1 model.zip",
        *(f"submit p.py --profile taught -p n={n}" for n in range(4)),
        "wait 4 5 6 7",
        "fileset create spare @digits:1",
    ):
        done(place, line)
    place.write("digits/0.txt", "zero")
    place.write("acai.toml", "quota = 2\n")
    done(place, "put digits /digits --as digits")
    yield place
    place.close()


def done(place: Place, line: str, status: int = 0, **variables: str) -> str:
    """Do a line, hold its exit status, and return what it answered."""
    found = place.acai(*shlex.split(line), **variables)
    assert found.returncode == status, (line, found.stdout, found.stderr)
    return found.stdout


def test_each_verb_has_its_line() -> None:
    assert set(LINES) == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_answers_in_json_when_asked(place: Place, verb: str) -> None:
    found = json.loads(done(place, f"{verb} --json {LINES[verb]}", FAILED.get(verb, 0)))
    assert found is not None


def test_a_sweep_that_is_watched_answers_in_json_too(place: Place) -> None:
    tag = json.loads(done(place, "submit --json --sweep n=1,2 p.py"))["tag"]
    assert len(json.loads(done(place, f"attach --json {tag}"))["rows"]) == 2


READING = ["status", "ls", "versions", "fileset show", "diff", "jobs", "job", "find", "provenance", "verify"]


@pytest.mark.parametrize("verb", READING)
def test_what_is_no_terminal_is_sent_no_colours(place: Place, verb: str) -> None:
    said = done(place, f"{verb} {LINES[verb]}", FAILED.get(verb, 0))
    assert said.strip()
    assert "\x1b" not in said


@pytest.mark.parametrize(
    ("status", "line", "variables"),
    [
        (0, "status", {}),
        (1, "diff digits:1 digits:2", {}),
        (2, "diff digits:1", {}),
        (3, "job 999", {}),
        (4, "status", {"ACAI_TOKEN": "acai_wrong"}),
        (5, "status", {"ACAI_URL": "http://127.0.0.1:9"}),
        (6, "kill 1", {}),
    ],
)
def test_exit_statuses_are_as_documented(place: Place, status: int, line: str, variables: dict[str, str]) -> None:
    if "ACAI_TOKEN" in variables:
        variables = {**variables, "ACAI_URL": place.servers[0].root}
    done(place, line, status, **variables)
