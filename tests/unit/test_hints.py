"""Hints of a command become parameters, and each run's command is the same text."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.commands import hints
from acai_jupyter.contract.errors import BadRequest

WORDS = st.text(st.characters(codec="ascii", min_codepoint=33, exclude_characters="{},'\"=\\"), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("command", "values"),
    [
        (
            "python train.py --epoch {1,2,3} --batch-size {256,1024} --lr 0.001",
            {"epoch": [1, 2, 3], "batch_size": [256, 1024]},
        ),
        ("train --lr={0.1, 0.01} -n {3}", {"lr": [0.1, 0.01], "n": [3]}),
        ("train {depth=1,2} --kind {linear,'a, b'}", {"depth": [1, 2], "kind": ["linear", "a, b"]}),
        ("SIZE={1,2} make", {"SIZE": [1, 2]}),
        ("awk '{{print $1}}' ${HOME}/x", {}),
    ],
)
def test_hints_have_the_names_of_their_options(command: str, values: dict[str, list[Any]]) -> None:
    assert hints.of_command(command).values == values


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("train --epoch {1,2", "The hint '{1,2' is not closed"),
        ("train --epoch {1,{2}", "is not closed"),
        ("train --epoch {}", "The hint '{}' is empty"),
        ("train --epoch {epoch=}", "is empty"),
        ("train --epoch {1,,2}", "its values are parted by commas"),
        ("train {1,2}", "has no name, as no option stands before it: {name=1,2}"),
        ("train --n {1,2} {n=3,4}", "Two hints are called n; give one another name"),
    ],
)
def test_what_is_no_hint_is_one_sentence(command: str, said: str) -> None:
    with pytest.raises(BadRequest) as refused:
        hints.of_command(command)
    assert said in refused.value.message


@given(WORDS, st.sampled_from(["{}", '"a {} b"', "'a {} b'", "a{}b"]))
def test_a_shell_takes_the_value_where_the_hint_stood(value: str, form: str) -> None:
    found = hints.of_command("printf '%s' " + form.format("{name=one,two}"))
    environment = {**os.environ, "ACAI_PARAM_NAME": value}
    done = subprocess.run(["sh", "-c", found.command], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == form.strip("'\"").format(value)


def test_a_parameter_may_be_a_hint() -> None:
    assert hints.of_value("epoch", "{1,2,3}") == [1, 2, 3]
    assert hints.of_value("kind", "plain") is None
    with pytest.raises(BadRequest, match="is not closed"):
        hints.of_value("epoch", "{1,2")
