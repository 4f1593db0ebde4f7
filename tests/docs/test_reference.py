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
from acai_jupyter.contract.states import JobState
from acai_server.app import AcaiApp
from acai_server.settings import Settings
from tests.docs.pages import DOCS, sections, table_rows

if TYPE_CHECKING:
    from pathlib import Path

    from acai_jupyter.contract.endpoints import Endpoint

pytestmark = pytest.mark.timeout(300)  # the first test builds all pages
SETTINGS = AcaiApp.class_own_traits(config=True)
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
    assert set(SETTINGS) == set(Settings.__dataclass_fields__)


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
    choices = next(a.choices for a in verbs.parser("acai")._actions if isinstance(a, argparse._SubParsersAction))
    assert all(options(one) >= OF_EVERY_VERB for one in choices.values())


def test_the_cell_magic_has_a_section_with_all_its_options() -> None:
    assert documented("%%acai run") == options(verbs.cell_parser())


def test_no_verb_is_documented_that_does_not_exist() -> None:
    words = {title for title in VERBS_PAGE if title.islower() and " " not in title}
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
