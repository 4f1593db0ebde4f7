"""Keeping a token: the one setting that is changed, and the file that only its owner reads."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.client import logins
from acai_jupyter.client.connection import find_connection
from acai_jupyter.contract.errors import NotWritten

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://acai.example.org"


@pytest.fixture(autouse=True)
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("ACAI_URL", "ACAI_TOKEN", "ACAI_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    return tmp_path / "acai" / "config.toml"


@pytest.mark.parametrize(
    "before",
    [
        "",
        'url = "http://old"\nproject="old"\n  token = "acai_old"\nquota = 2\n',
        '# mine\nquota = 2\n\n[other]\nurl = "stays"\n',
        'url_of_mine = 1\nquota = 2\n[a]\n[b]\ntoken = "stays"',
    ],
)
def test_what_is_kept_is_read_and_other_settings_stay(config: Path, before: str) -> None:
    config.parent.mkdir()
    config.write_text(before)
    others = tomllib.loads(before)
    logins.keep(URL, "lab", 'acai_with"quotes')
    ours = {"url": URL, "token": 'acai_with"quotes', "project": "lab"}
    assert tomllib.loads(config.read_text()) == others | ours
    found = find_connection()
    assert (found.url, found.token, found.project) == (URL, 'acai_with"quotes', "lab")


def test_each_project_has_its_token_and_no_other_server_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    logins.keep(URL, "lab", "acai_lab")
    logins.keep(URL, "club", "acai_club")
    logins.keep("https://other.example.org", "lab", "acai_other")
    logins.keep(URL, "club", "acai_club-2")
    assert find_connection().token == "acai_club-2"
    assert find_connection("lab").token == "acai_lab"
    monkeypatch.setenv("ACAI_URL", "https://third.example.org")
    assert find_connection().token == ""
    assert find_connection("lab").token == ""
    monkeypatch.setenv("ACAI_TOKEN", "acai_given")
    assert find_connection("lab").token == "acai_given"


def test_only_its_owner_reads_what_is_kept(config: Path) -> None:
    logins.keep(URL, "lab", "acai_lab")
    kept = list(config.parent.iterdir())
    assert {path.name for path in kept} == {"config.toml", "logins.json"}
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


def test_what_cannot_be_kept_is_said(config: Path) -> None:
    config.parent.write_text("a file where a folder should be")
    with pytest.raises(NotWritten, match="cannot be written"):
        logins.keep(URL, "lab", "acai_lab")


@pytest.mark.parametrize("text", ["", "{", "[]", '["x"]', '[{"url": 1}]', "null"])
def test_a_file_of_tokens_that_is_none_has_none(config: Path, text: str) -> None:
    config.parent.mkdir()
    config.with_name("logins.json").write_text(text)
    assert logins.kept(URL, "lab") is None
