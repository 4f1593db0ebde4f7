"""What `put` says and refuses before anything goes to a server."""

from __future__ import annotations

import re
from contextlib import chdir
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.client.connection import Connection
from acai_jupyter.client.http import Client
from acai_jupyter.commands import verbs
from acai_jupyter.contract.errors import AcaiError, BadPath, BadRequest, BadSpec, NotFound

if TYPE_CHECKING:
    from pathlib import Path

    from acai_jupyter.commands.results import Result


def typed(folder: Path, *words: str) -> Result:
    """Type a line of `put` where no server is: what needs one fails, and nothing here may."""
    with chdir(folder):
        return verbs.run(verbs.parse("acai", ["put", *words]), Client(Connection("http://127.0.0.1:9", "acai_none")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("digits/1.txt", "digits/sub/2.txt", "other/1.txt", "other/.git/config", "one.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x" * len(name))
    return tmp_path


def test_a_dry_run_needs_no_server(folder: Path) -> None:
    lines = typed(folder, "digits", "/d", "--dry-run").text.splitlines()
    assert lines == ["12 B  /d/1.txt", "16 B  /d/sub/2.txt", "would put 2 files, 28 B · 0 left out"]


def test_a_dry_run_has_its_parts_as_data(folder: Path) -> None:
    plan = typed(folder, "other", "/o", "--dry-run").plain()
    assert [file["path"] for file in plan["files"]] == ["/o/1.txt"]
    assert plan["excluded"] == [
        {"source": "other/.git", "reason": "default: .git", "is_folder": True, "path": "/o/.git"}
    ]
    assert plan["size_bytes"] == 11


@pytest.mark.parametrize(("dest", "path"), [("/to/", "/to/one.txt"), ("/to", "/to"), ("/", "/one.txt")])
def test_one_file_goes_below_a_folder_or_to_its_path(folder: Path, dest: str, path: str) -> None:
    assert typed(folder, "one.txt", dest, "--dry-run").text.splitlines()[0] == f"7 B  {path}"


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        (("digit", "/d"), NotFound, "No folder ./digit. Did you mean ./digits?"),
        (("nothing-like-it", "/d"), NotFound, "No folder ./nothing-like-it."),
        (("sub/nothing", "/d"), NotFound, "No folder ./sub/nothing."),
        (("digits", "d"), BadRequest, "starts with '/'"),
        (("digits", "/../d"), BadPath, "'.' and '..'"),
        (("digits", "/d", "--as", "no spaces"), BadSpec, "a name starts with a letter"),
        (("digits", "/d", "--as", "latest"), BadSpec, "reserved"),
        (("digits", "/d", "--storage", "tape"), BadRequest, "--storage"),
        (("digits",), BadRequest, "DEST"),
        (("", "/d"), BadRequest, "SRC is empty"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_put_is_said_before_a_server_is_asked(
    folder: Path, words: tuple[str, ...], kind: type[AcaiError], said: str
) -> None:
    with pytest.raises(kind, match=re.escape(said)):
        typed(folder, *words)


def test_a_missing_source_among_others_stops_all(folder: Path) -> None:
    with pytest.raises(NotFound, match=r"No folder \./othr\. Did you mean \./other\?"):
        typed(folder, "digits", "othr", "/d", "--dry-run")


def test_possible_secrets_stay_behind_and_are_named(folder: Path) -> None:
    for name in (".env", ".ssh/config", "sub/a.pem"):
        (folder / "digits" / name).parent.mkdir(exist_ok=True)
        (folder / "digits" / name).write_text("secret")
    lines = typed(folder, "digits", "/d", "--dry-run").text.splitlines()
    assert lines[2:5] == [f"left out  digits/{name}  (it may hold a secret)" for name in (".env", ".ssh/", "sub/a.pem")]
    more = typed(folder, "digits", "/d", "--dry-run", "--include", ".env", "--include", ".ssh/").plain()
    assert {file["path"] for file in more["files"]} == {"/d/.env", "/d/.ssh/config", "/d/1.txt", "/d/sub/2.txt"}


def test_a_file_that_is_named_itself_is_sent_whatever_it_is_called(folder: Path) -> None:
    (folder / ".env").write_text("secret")
    assert typed(folder, ".env", "/x/", "--dry-run").plain()["files"][0]["path"] == "/x/.env"
