"""The tree of errors: drawn, coded and told in one way."""

from __future__ import annotations

import re
import string

import pytest

from acai_jupyter.contract import errors
from acai_jupyter.contract.errors import BY_CODE, AcaiError, FileSetNotFound, Unavailable, from_body

CLASSES = list(BY_CODE.values())


def details_of(kind: type[AcaiError]) -> dict[str, str]:
    """Something for every word in braces of a class's message."""
    named = (name for _, name, _, _ in string.Formatter().parse(kind.__doc__ or "") if name)
    return {name: f"<{name} {{0}} %s>" for name in named}


def body_of(error: AcaiError) -> dict[str, object]:
    return {"error": {"code": error.code, "message": error.message, "details": error.details}}


def drawn() -> dict[str, str]:
    """The classes in the docstring's drawing, each with what it hangs from."""
    parents: dict[int, str] = {}
    found: dict[str, str] = {}
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"((?:[│ ]   )*(?:[├└]── )?)([A-Z]\w+)(?:  |$)", line)
        if match:
            depth = len(match[1]) // 4
            parents[depth] = match[2]
            found[match[2]] = parents.get(depth - 1, "Exception")
    return found


def test_the_drawing_is_the_tree() -> None:
    assert drawn() == {kind.__name__: kind.__mro__[1].__name__ for kind in CLASSES}


def test_the_statuses_in_the_drawing_are_those_of_the_classes() -> None:
    told = re.findall(r"── (\w+) +([45]\d\d)", errors.__doc__ or "")
    assert {name: int(status) for name, status in told} == {
        kind.__name__: kind.status for kind in CLASSES if kind.__mro__[1] is AcaiError and kind.code != "job_failed"
    }


@pytest.mark.parametrize("kind", CLASSES)
def test_a_class_has_a_code_a_status_and_a_sentence_of_its_own(kind: type[AcaiError]) -> None:
    assert {"code", "__doc__"} <= set(vars(kind))
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.code)
    assert 400 <= kind.status < 600
    assert 1 <= kind.exit_status <= 6
    assert [one.code for one in CLASSES].count(kind.code) == 1


@pytest.mark.parametrize("kind", CLASSES)
def test_a_message_takes_its_details_as_they_are(kind: type[AcaiError]) -> None:
    details = details_of(kind)
    error = kind(**details)
    assert all(value in error.message for value in details.values())
    assert str(error) == error.message
    assert "\n" not in error.message


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_comes_over_http_as_it_was(kind: type[AcaiError]) -> None:
    error = kind(**details_of(kind))
    found = from_body(body_of(error), error.status)
    assert (type(found), found.message, found.details) == (kind, error.message, error.details)


def test_an_error_of_a_newer_server_keeps_its_sentence() -> None:
    found = from_body({"error": {"code": "from_the_future", "message": "It is so.", "details": {"x": 1}}}, 418)
    assert (type(found), found.message, found.details) == (AcaiError, "It is so.", {"x": 1})


@pytest.mark.parametrize(
    "body", [None, [], "text", {}, {"error": None}, {"error": "x"}, {"error": {}}, {"error": {"message": 3}}]
)
def test_what_is_not_our_shape_is_said_to_be_so(body: object) -> None:
    found = from_body(body, 502)
    assert type(found) is Unavailable
    assert "502" in found.message


def test_details_of_any_shape_do_no_harm() -> None:
    found = from_body({"error": {"code": "file_set_not_found", "message": "m", "details": ["x"]}}, 404)
    assert (type(found), found.details) == (FileSetNotFound, {})
