"""Each verb is a Python call too, with the same arguments, defaults and help."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest

import acai_jupyter as acai
from acai_jupyter.commands import given, verbs
from acai_jupyter.commands.python_help import CALLS, IN_PYTHON, OF_SCREEN, OTHERWISE, arguments_of, call_of, name_of

if TYPE_CHECKING:
    import argparse

NOTHING: tuple[Any, ...] = (None, (), [], False, "", inspect.Parameter.empty)


def function(verb: str) -> Any:
    return getattr(acai, call_of(verb))


def parameter(verb: str, argument: argparse.Action) -> inspect.Parameter:
    return inspect.signature(function(verb)).parameters[name_of(argument)]


EACH = [(verb, one) for verb in verbs.VERBS for one in arguments_of(verb)]


@pytest.mark.parametrize("verb", verbs.VERBS)
def test_each_verb_is_a_call(verb: str) -> None:
    assert callable(function(verb))
    assert call_of(verb) in acai.__all__


@pytest.mark.parametrize(("verb", "argument"), EACH, ids=[f"{verb} {name_of(one)}" for verb, one in EACH])
def test_what_a_verb_takes_is_taken_by_its_call_with_the_same_name_and_default(
    verb: str, argument: argparse.Action
) -> None:
    found = parameter(verb, argument)
    if argument.default in NOTHING:
        assert found.default in NOTHING
    else:
        assert read(found) == argument.default


def read(found: inspect.Parameter) -> Any:
    """A default as a line has it: sizes in bytes."""
    return given.options({"memory": found.default})["memory"] if found.name == "memory" else found.default


@pytest.mark.parametrize("verb", verbs.VERBS)
def test_a_call_takes_nothing_that_its_verb_does_not(verb: str) -> None:
    known = {name_of(one) for one in arguments_of(verb)} | {"project"} | IN_PYTHON.get(verb, set())
    assert set(inspect.signature(function(verb)).parameters) <= known


@pytest.mark.parametrize("verb", verbs.VERBS)
def test_each_call_takes_a_project(verb: str) -> None:
    assert inspect.signature(function(verb)).parameters["project"].default is None


@pytest.mark.parametrize("verb", verbs.VERBS)
def test_the_help_of_a_call_says_what_the_help_of_its_verb_says(verb: str) -> None:
    said = " ".join((function(verb).__doc__ or "").split())
    for one in arguments_of(verb):
        assert f"{name_of(one)}: {' '.join((one.help or '').split())}" in said


def test_what_is_left_out_is_there_to_be_left_out() -> None:
    assert set(CALLS) <= set(verbs.VERBS)
    for verb, names in [*OF_SCREEN.items(), *OTHERWISE.items()]:
        parser = verbs.Parser(prog=verb)
        verbs.VERBS[verb].arguments(parser)
        assert names <= {one.dest for one in parser._actions}
    for verb, names in IN_PYTHON.items():
        assert names <= set(inspect.signature(function(verb)).parameters)


def test_a_function_takes_the_options_of_every_job() -> None:
    options = set(inspect.signature(acai.submit).parameters) - {"script", "command", "args", "project", "plan"}
    assert options == set(given.JobOptions.__annotations__)
