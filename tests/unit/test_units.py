"""Sizes, durations and money as people read them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.commands.units import duration, money, parse_size, size
from acai_server.provenance import words

GIB = 1024**3


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (1023, "1023 B"), (1024, "1 KB"), (1.2 * GIB, "1.2 GB"), (24 * GIB, "24 GB"), (1024**2 - 1, "1 MB")],
)
def test_a_size_has_two_digits_that_tell(count: float, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0 s"),
        (3.2, "3.2 s"),
        (12, "12 s"),
        (59.7, "1 min"),
        (200, "3 min 20 s"),
        (3599.9, "1 h"),
        (7500, "2 h 5 min"),
        (86400, "1 d"),
        (2 * 86400 + 3 * 3600, "2 d 3 h"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("usd", "text"),
    [
        (0, "$0.00"),
        (0.03, "$0.03"),
        (1234.5, "$1,234.50"),
        (0.00003, "$0.00003"),
        (0.00001, "$0.00001"),
        (1.2e-6, "under $0.00001"),
    ],
)
def test_money_has_as_many_digits_as_people_read(usd: float, text: str) -> None:
    assert money(usd) == text
    assert words.money(usd) == text  # in drawings, which the server makes


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("512Mi", GIB // 2),
        ("4Gi", 4 * GIB),
        ("2G", 2 * GIB),
        ("1.5 GB", 3 * GIB // 2),
        ("100", 100),
        (" 1kib ", 1024),
    ],
)
def test_a_size_is_read_as_people_write_it(text: str, count: int) -> None:
    assert parse_size(text) == count


@pytest.mark.parametrize("text", ["", "much", "4 Zi", "Gi", "1.2.3M", "nan", "inf", "-1Gi"])
def test_what_is_no_size_is_refused_with_the_way_to_write_one(text: str) -> None:
    with pytest.raises(ValueError, match="512Mi or 4Gi"):
        parse_size(text)


@given(st.integers(0, 1023), st.sampled_from(["", "Ki", "Mi", "Gi"]))
def test_a_whole_size_is_read_back(count: int, unit: str) -> None:
    powers = {"": 0, "Ki": 1, "Mi": 2, "Gi": 3}
    assert parse_size(f"{count}{unit}") == count * 1024 ** powers[unit]


@given(st.floats(0, 1e9))
def test_a_duration_never_has_a_whole_larger_unit_left_in_a_smaller_one(seconds: float) -> None:
    assert not re.search(r"\b(60 s|60 min|24 h)\b", duration(seconds))
