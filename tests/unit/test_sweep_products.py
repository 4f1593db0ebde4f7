"""What a sweep multiplies out to, and what is refused before it is."""

from __future__ import annotations

import argparse
import math
from itertools import islice, pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.commands.job_options import parameter, swept
from acai_jupyter.contract.sweeps import MAX_JOBS, combination, combinations, fault

if TYPE_CHECKING:
    from acai_jupyter.contract.sweeps import ParameterValue

NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
VALUES = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8), st.integers(-9, 9), st.booleans()
)
LISTS = st.lists(VALUES, min_size=1, max_size=5, unique_by=lambda value: (isinstance(value, bool), value))
PRODUCTS = st.dictionaries(NAMES, LISTS, min_size=1, max_size=4)


@given(PRODUCTS, st.integers(0, 1000))
def test_one_combination_is_found_by_its_number(values: dict[str, list[ParameterValue]], number: int) -> None:
    place = number % math.prod(map(len, values.values()))
    assert combination(values, number) == next(islice(combinations(values), place, None))


@given(PRODUCTS)
def test_each_combination_is_made_once_and_the_last_parameter_changes_fastest(
    values: dict[str, list[ParameterValue]],
) -> None:
    count = math.prod(map(len, values.values()))
    if count > MAX_JOBS:
        assert f"{count:,} jobs" in fault(values, {})
        return
    assert fault(values, {}) == ""
    found = list(combinations(values))
    digits = {name: [(type(value), value) for value in ones] for name, ones in values.items()}
    places = [[ones.index((type(one[name]), one[name])) for name, ones in digits.items()] for one in found]
    assert len(found) == count
    assert all(before < after for before, after in pairwise(places))  # as digits of a number: each once, in order


@given(PRODUCTS, st.data())
def test_a_value_given_twice_or_a_fixed_parameter_is_named(
    values: dict[str, list[ParameterValue]], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(values)))
    assert fault(values, {name}) == f"varies {name}, which is a parameter of all jobs too"
    again = {key: [*ones, ones[0]] if key == name else ones for key, ones in values.items()}
    assert "twice" in fault(again, {}) or "is the most" in fault(again, {})
    assert fault({**values, name: []}, {}) == f"has no value for {name}"


def test_a_product_is_counted_before_it_is_made() -> None:
    huge: dict[str, list[ParameterValue]] = {f"p{n}": list(range(1000)) for n in range(10)}
    assert fault(huge, {}) == (
        "makes 1,000,000,000,000,000,000,000,000,000,000 jobs "
        "(1,000 by 1,000 by 1,000 by 1,000 by 1,000 by 1,000 by 1,000 by 1,000 by 1,000 by 1,000); 1,000 is the most"
    )
    assert fault({}, {}) == "has nothing to vary"


def test_true_is_not_one() -> None:
    assert fault({"a": [True, 1]}, {}) == ""
    assert fault({"a": [1, 1.0]}, {}) == "has the value 1.0 of a twice"


@given(NAMES, st.lists(st.text(st.characters(exclude_characters=",'\" ", codec="ascii", min_codepoint=33)), min_size=1))
def test_plain_values_are_read_as_those_of_a_parameter(name: str, texts: list[str]) -> None:
    texts = [text or "x" for text in texts]
    assert swept(f"{name}={','.join(texts)}") == (name, [parameter(f"{name}={text}")[1] for text in texts])


@given(NAMES, st.lists(st.text(st.characters(exclude_characters="'", codec="utf-8")), min_size=1, max_size=5))
def test_what_is_in_quotes_is_a_text_as_it_stands(name: str, texts: list[str]) -> None:
    quoted = ",".join(f"'{text}'" for text in texts)
    assert swept(f"{name}={quoted}") == (name, texts)


@pytest.mark.parametrize("text", ["lr", "lr=", "lr=1,,2", "lr=1,", "=1", "1a=1", "lr='a", "lr='a'b", "lr=a'b'"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        swept(text)


def test_numbers_are_numbers() -> None:
    assert swept("lr=0.1,1e-3, 2 ,adam,'2'") == ("lr", [0.1, 0.001, 2, "adam", "2"])
