"""What a decoder finds wrong with a request is said in words for people."""

from __future__ import annotations

import msgspec
import pytest

from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.metadata import ChangeMetadata
from acai_jupyter.contract.queries import JobQuery
from acai_server.api.wording import said

_NO_TEXT = "expected true or false, a number or a text, got nothing (null)"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('{"command": ""}', "command: expected a text of at least 1 character"),
        ('{"command": 1}', "command: expected a text or a list, got a whole number"),
        ('{"command": "x", "inputs": ["x", 2]}', "inputs[1]: expected a text, got a whole number"),
        ('{"command": "x", "resources": {"vcpu": -1}}', "resources.vcpu: expected a number > 0.0"),
        ('{"command": "x", "environment": {"A": 1}}', "a value in environment: expected a text, got a whole number"),
        (
            '{"command": "x", "parameters": {"lr": null}}',
            f"a value in parameters: {_NO_TEXT}; a number that is not finite cannot be sent",
        ),
        ("{}", "Object missing required field 'command'"),
        ('{"surprise": 1}', "Object contains unknown field 'surprise'"),
        ("[]", "Expected an object, got a list"),
        ("{", "Input data was truncated"),
    ],
)
def test_a_body_that_does_not_fit_is_told_by_field_and_kind(body: str, words: str) -> None:
    with pytest.raises(msgspec.MsgspecError) as wrong:
        msgspec.json.decode(body, type=CreateJob)
    assert said(wrong.value) == words


def test_a_name_of_another_form_is_told_without_the_expression_that_it_does_not_match() -> None:
    with pytest.raises(msgspec.ValidationError) as wrong:
        msgspec.json.decode('{"changes": [{"thing": "7", "set": {"odd key": 1}}]}', type=ChangeMetadata)
    assert said(wrong.value) == "a name in changes[0].set: expected a text of another form"


def test_a_label_that_is_too_long_is_called_a_label() -> None:
    with pytest.raises(msgspec.ValidationError) as wrong:
        msgspec.convert({"changes": [{"thing": "7", "add_labels": ["x" * 129]}]}, ChangeMetadata)
    assert said(wrong.value) == "a label: expected a text of at most 128 characters"


def test_what_stands_after_the_question_mark_is_told_likewise() -> None:
    with pytest.raises(msgspec.ValidationError) as wrong:
        msgspec.convert({"limit": "0"}, JobQuery, strict=False)
    assert said(wrong.value) == "limit: expected a whole number >= 1"
