"""Regular expressions of `~`: what is read means the same to every engine, and none of them can be made to hang."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.query import regex
from acai_server.db.expressions import matches
from acai_server.testing.queries import found
from acai_server.testing.searches import patterns


def by_re2(pattern: str, text: str) -> bool | None:
    return matches(regex.write(regex.read(pattern), regex.RE2), text)


@given(patterns(), st.text(st.sampled_from("aAbBz09_ \n\té😀-]^.\\\x00"), max_size=12))
def test_two_engines_agree_on_every_expression(pattern: str, text: str) -> None:
    text = text.replace("\0", "")
    assert by_re2(pattern, text) is found(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text", "wanted"),
    [
        ("b.rt", "a bert x", True),
        ("^b.rt$", "a bert", False),
        ("^$", "", True),
        ("a$", "a\n", False),
        ("a.b", "a\nb", True),
        ("(?i)bert", "BeRT", True),
        ("(?i)[a-c]x", "BX", True),
        ("(?i)[^a]", "A", False),
        (r"\d", "٣", False),
        (r"\w", "é", False),
        (r"[\w-]+@", "a-b@", True),
        ("a{2,3}b", "aab", True),
        ("a{2}b", "ab", False),
        ("(ab|cd)+$", "xabcd", True),
        ("a|", "z", True),
        (r"\.\*\{\}", ".*{}", True),
        ("[]a]", "]", True),
        ("[a-]", "-", True),
        ("😀+", "😀", True),
        ("x{,2}"[:1], "x", True),
    ],
)
def test_expressions_mean_what_people_expect(pattern: str, text: str, *, wanted: bool) -> None:
    assert (by_re2(pattern, text), found(pattern, text)) == (wanted, wanted)


@pytest.mark.parametrize(
    ("pattern", "position"),
    [
        ("(", 0),
        ("a(b", 1),
        ("a)", 1),
        ("[a", 0),
        ("*a", 0),
        ("a**", 2),
        ("^*", 0),
        ("a{1001}", 1),
        ("a{3,2}", 1),
        ("a{,2}", 1),
        ("{", 0),
        (r"(a)\1", 3),
        (r"\b", 0),
        (r"\p{L}", 0),
        ("(?=a)", 0),
        ("(?P<n>a)", 0),
        ("a(?i)", 1),
        ("[[:alpha:]]", 0),
        ("[z-a]", 1),
        (r"[\d-z]", 1),
        ("\\", 0),
        ("(" * 31 + ")" * 31, 30),
        ("a" * 501, 0),
        ("((a{100}){100}){100}", 0),
        ("(a{100}){19}", 0),
        ("(.{0,100}){15}", 0),
        ("((a{2,}){90}){9}", 0),
    ],
)
def test_what_is_not_of_the_subset_is_refused_with_its_place(pattern: str, position: int) -> None:
    with pytest.raises(regex.BadPattern) as refused:
        regex.read(pattern)
    if not pattern.startswith("[[") and pattern != r"(a)\1":
        assert refused.value.position == position


@given(st.text(max_size=20) | st.text(st.sampled_from(r"()[]{}*+?|^$\.-,12ad"), max_size=12))
def test_whatever_is_read_compiles_everywhere(pattern: str) -> None:
    position = 0
    try:
        node = regex.read(pattern)
    except regex.BadPattern as error:
        node, position = regex.read(""), error.position
    assert 0 <= position <= len(pattern)
    re.compile(regex.write(node, regex.PYTHON))
    matches(regex.write(node, regex.RE2), "")


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|a)*b", "(a+)+$", "(.*){20}b", "(a?){100}a{100}b", "(a|aa)+c"])
def test_what_makes_others_backtrack_for_ever_is_done_at_once(pattern: str) -> None:
    assert by_re2(pattern, "a" * 499 + "!") is False
