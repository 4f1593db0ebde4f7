"""What the pages tell people to type, open or read is there."""

from __future__ import annotations

import re
import shlex
import tomllib
from typing import TYPE_CHECKING

import pytest

from acai_jupyter._version import __version__
from acai_jupyter.commands import verbs
from tests.docs.pages import FRONT, ROOT, blocks, inline, links, magic_lines, name, pages, shell_lines

if TYPE_CHECKING:
    from pathlib import Path

TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
SCRIPTS = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"])
TOOLS = {"curl", "export", "jupyter", "kubectl", "make", "pip"}
FOLDERS = ("acai_jupyter/", "server_ext/", "labextension/", "notebooks/", "tests/", "benchmarks/", "docs/", ".ci/")
each_page = pytest.mark.parametrize("page", pages(), ids=name)


@each_page
def test_every_relative_link_leads_to_a_file(page: Path) -> None:
    assert not [target for target in links(page) if not (page.parent / target).is_file()]


@each_page
def test_every_path_of_the_repository_that_is_named_exists(page: Path) -> None:
    named = [text for text in inline(page) if text.startswith(FOLDERS)]
    assert not [path for path in named if not (ROOT / path).exists()]


@each_page
def test_every_make_target_that_is_named_exists(page: Path) -> None:
    lines = [shlex.split(line) for line in [*shell_lines(page), *inline(page)] if line.startswith("make ")]
    named = {word for line in lines for word in line[1:] if "=" not in word}
    assert named <= TARGETS


@each_page
def test_every_command_is_one_that_is_installed_or_common(page: Path) -> None:
    assert {shlex.split(line)[0] for line in shell_lines(page)} <= SCRIPTS | TOOLS


@each_page
def test_every_line_for_a_shell_is_understood(page: Path) -> None:
    for line in shell_lines(page):
        if line.startswith("acai "):
            verbs.parse("acai", shlex.split(line)[1:])


@each_page
def test_every_line_for_a_notebook_is_understood(page: Path) -> None:
    for line in magic_lines(page):
        magic, *words = shlex.split(line)
        if magic == "%acai":
            verbs.parse("%acai", words)
        else:
            assert words.pop(0) == "run"
            verbs.parse_cell(words)


@each_page
def test_every_verb_that_is_named_in_a_sentence_exists(page: Path) -> None:
    named = {
        words[1].rstrip("?")
        for words in map(str.split, inline(page))
        if words[0] in ("acai", "%acai") and len(words) > 1
    }
    assert named <= {*(verb.split()[0] for verb in verbs.VERBS), "VERB", "--help", "--json"}


@each_page
def test_every_piece_of_python_is_python(page: Path) -> None:
    for block in blocks(page):
        cell = block.text.partition("\n")[2] if block.text.startswith("%%acai") else ""
        compile(block.text if block.kind == "python" else cell, name(page), "exec")


def test_the_front_page_shows_what_to_type() -> None:
    assert {"make lab", "make test"} <= set(shell_lines(FRONT[0]))
    assert any(line.startswith("%%acai run ") for line in magic_lines(FRONT[0]))


def test_the_changelog_speaks_of_this_version() -> None:
    newest, *_ = re.findall(r"^## \[(.+?)\].*\n\n(.*)$", FRONT[2].read_text(), re.MULTILINE)
    assert newest[0] == __version__ or newest == ("Unreleased", f"Will be {__version__}.")


def test_the_wheel_that_is_named_has_this_version() -> None:
    named = {found for page in pages() for found in re.findall(r"acai_jupyter-([\d.]+)-py3", page.read_text())}
    assert named == {__version__}


def test_every_decision_is_half_a_page_with_a_number_of_its_own() -> None:
    decisions = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert [path.name[:3] for path in decisions] == [f"{number:03}" for number in range(1, len(decisions) + 1)]
    assert all(path.read_text().startswith(f"# {path.name[:3]} ") for path in decisions)
    assert all(len(path.read_text().splitlines()) <= 40 for path in decisions)
