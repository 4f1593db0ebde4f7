"""Every route, setting, verb, option and error is documented as it is."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.commands import verbs
from acai_jupyter.contract.endpoints import ALL
from acai_jupyter.contract.errors import BY_CODE, JobFailed
from acai_jupyter.contract.query.builtin import BUILT_IN, PARAMETERS, SubjectKind
from acai_jupyter.contract.states import JobState, Role, Scope
from acai_server.app import AcaiApp
from acai_server.cluster import ClusterSettings
from acai_server.credentials.permissions import ALLOWED, GLOBAL_ADMIN, SCOPES
from acai_server.settings import NAMES
from acai_server.team import TeamSettings
from tests.docs.pages import DOCS, sections, table_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acai_jupyter.contract.endpoints import Endpoint

pytestmark = pytest.mark.timeout(300)  # the first test builds all pages
SETTINGS = {
    name: trait
    for part in (AcaiApp, TeamSettings, ClusterSettings)
    for name, trait in part.class_own_traits(config=True).items()
}
VERBS_PAGE = sections(DOCS / "users" / "verbs.md")
OF_EVERY_VERB = {"--json", "--project", "-h", "--help"}
_OPTION = re.compile(r"^\| `(-[^`]+)`((?:, `-[^`]+`)*)", re.MULTILINE)
_EXITS = re.compile(r"^\| (\d+) \|", re.MULTILINE)


@pytest.fixture(scope="module")
def help_all() -> str:
    """What `jupyter acai --help-all` says, in one line."""
    command = [sys.executable, "-m", "jupyter", "acai", "--help-all"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return " ".join(said.stdout.split())


@pytest.mark.parametrize("endpoint", ALL, ids=lambda endpoint: str(endpoint.name))
def test_every_route_is_in_the_api_page(site: Path, endpoint: Endpoint[object]) -> None:
    rows = dict(row for row in table_rows(site / "developers" / "api.html") if len(row) == 2)
    said = rows[f"{endpoint.method} {endpoint.path}"]
    assert endpoint.summary in said
    assert f"Needs {endpoint.access.value}." in said


def test_who_may_do_what_is_in_the_page_about_people_as_it_is_in_the_code(site: Path) -> None:
    granted: dict[tuple[str, str], set[str]] = {}
    for first, *cells in table_rows(site / "operators" / "people.html"):
        if first.startswith("Need, "):
            columns = [(first.removeprefix("Need, by "), cell) for cell in cells]
            granted |= {column: set() for column in columns}
        else:
            for column, said in zip(columns, cells, strict=True):
                granted[column] |= {first} if said == "yes" else set()
    wanted = {("role", role.value): ALLOWED[role] for role in Role} | {("role", "global admin"): GLOBAL_ADMIN}
    wanted |= {("scope", scope.value): SCOPES[scope] for scope in Scope}
    assert granted == {column: {need.value for need in needs} for column, needs in wanted.items()}


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_is_in_the_settings_page(site: Path, name: str) -> None:
    rows = dict(table_rows(site / "operators" / "settings.html"))
    assert SETTINGS[name].help in rows[name]
    assert f"ACAI_{name.upper()}" in rows[name]
    assert f"Default {SETTINGS[name].default_value!r};" in rows[name]


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_says_what_it_is_and_what_empty_means(name: str) -> None:
    said = SETTINGS[name].help
    assert said.endswith(".")
    assert "Empty:" in said or SETTINGS[name].default_value != ""


@pytest.mark.parametrize("name", SETTINGS)
def test_every_setting_is_in_the_help_of_the_command(help_all: str, name: str) -> None:
    said = help_all.partition(f"--AcaiApp.{name}=")[2].partition("--AcaiApp.")[0]
    assert SETTINGS[name].help in said


def test_every_setting_can_be_set_and_every_trait_is_read() -> None:
    assert set(SETTINGS) == NAMES


def options(arguments: argparse.ArgumentParser) -> set[str]:
    return {option for action in arguments._actions for option in action.option_strings}


def documented(section: str) -> set[str]:
    """The options that a section's table has."""
    cells = (first + rest for first, rest in _OPTION.findall(VERBS_PAGE[section]))
    return {word for cell in cells for word in re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", cell)}


def parser_of(verb: verbs.Verb) -> argparse.ArgumentParser:
    made = verbs.Parser(prog=verb.name, add_help=False)
    verb.arguments(made)
    return made


@pytest.mark.parametrize("name", verbs.VERBS)
def test_every_verb_has_a_section_with_all_its_options(name: str) -> None:
    assert documented(name) == options(parser_of(verbs.VERBS[name]))


@pytest.mark.parametrize("name", verbs.VERBS)
def test_every_section_of_a_verb_names_what_the_verb_takes(name: str) -> None:
    wanted = [action.metavar for action in parser_of(verbs.VERBS[name])._actions if not action.option_strings]
    assert all(re.search(rf"\b{word}\b", VERBS_PAGE[name]) for word in wanted)


def test_options_that_every_verb_has_are_documented_once() -> None:
    assert documented("Options of every verb") == OF_EVERY_VERB
    each = list(of_words(verbs.parser("acai")))
    assert len(each) == len(verbs.VERBS)
    assert all(options(one) >= OF_EVERY_VERB for one in each)


def of_words(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of whole verbs, those of two words too."""
    below = [a.choices for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    for one in (one for choices in below for one in choices.values()):
        yield from of_words(one)
    if not below:
        yield parser


def test_the_cell_magic_has_a_section_with_all_its_options() -> None:
    assert documented("%%acai run") == options(verbs.cell_parser())


def test_no_verb_is_documented_that_does_not_exist() -> None:
    words = {title for title in VERBS_PAGE if title.islower() and title[0].isalpha()}
    assert words == set(verbs.VERBS)


def test_every_error_is_documented_with_its_statuses(site: Path) -> None:
    rows = table_rows(site / "users" / "errors.html")[1:]
    found = {code: (status, exit_status) for code, status, exit_status, *_ in rows}
    over_http = {code: "" if kind is JobFailed else str(kind.status) for code, kind in BY_CODE.items()}
    assert found == {code: (over_http[code], str(kind.exit_status)) for code, kind in BY_CODE.items()}


def test_every_error_says_what_it_means_and_what_to_do(site: Path) -> None:
    rows = table_rows(site / "users" / "errors.html")[1:]
    assert all(means and remedy for *_, means, remedy in rows)


def test_every_exit_status_of_an_error_is_explained() -> None:
    explained = {int(found) for found in _EXITS.findall(VERBS_PAGE["Exit statuses"])}
    assert {kind.exit_status for kind in BY_CODE.values()} <= explained


def test_every_state_of_a_job_is_explained(site: Path) -> None:
    explained = {row[0] for row in table_rows(site / "users" / "jobs.html")}
    assert {state.value for state in JobState} <= explained


def test_every_built_in_key_is_explained_with_the_things_that_have_it(site: Path) -> None:
    kinds = {"files": SubjectKind.FILE, "file sets": SubjectKind.FILE_SET, "jobs": SubjectKind.JOB}
    found: dict[SubjectKind, set[str]] = {kind: set() for kind in kinds.values()}
    for keys, things, *_ in table_rows(site / "users" / "metadata.html"):
        for thing in kinds if things == "all" else kinds.keys() & set(things.split(", ")):
            found[kinds[thing]] |= set(keys.split(", "))
    parameters = {SubjectKind.JOB: {f"{PARAMETERS}NAME"}}
    assert found == {kind: set(keys) | parameters.get(kind, set()) for kind, keys in BUILT_IN.items()}
