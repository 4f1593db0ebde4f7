"""Marked lines are cut out of a log exactly, wherever they stand and however the log arrives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from acai_jupyter.contract.loglines import MARK, marked, split, tag_lines, tags

KEY = "0123456789abcdef"
START = MARK + KEY.encode() + b" "
PRINTED = st.lists(
    st.one_of(
        st.binary(max_size=12),
        st.sampled_from([MARK, START[:-1], START[:3], b"\n", b"\x1e", b"ACAI", marked("another key", {"a": 1})]),
    ),
    max_size=6,
).map(b"".join)
WORDS = st.dictionaries(st.text(max_size=8), st.one_of(st.integers(), st.text(max_size=12)), max_size=3)


def read(pieces: list[bytes]) -> tuple[bytes, list[dict[str, Any]]]:
    """Read a log that arrives in pieces, as the monitor does."""
    left, plain = b"", b""
    said: list[dict[str, Any]] = []
    for piece in pieces:
        left += piece
        text, words, used = split(left, KEY)
        plain, said, left = plain + text, said + words, left[used:]
    return plain + left, said


@given(st.lists(st.tuples(PRINTED, WORDS), max_size=5), PRINTED, st.lists(st.integers(1, 40), max_size=30))
def test_what_was_said_and_printed_is_parted_exactly(
    turns: list[tuple[bytes, dict[str, Any]]], last: bytes, cuts: list[int]
) -> None:
    printed = b"".join(text for text, _ in turns) + last
    assume(START not in printed)
    log = b"".join(text + marked(KEY, words) for text, words in turns) + last
    pieces, rest = [], log
    for cut in cuts:
        pieces.append(rest[:cut])
        rest = rest[cut:]
    plain, said = read([*pieces, rest])
    assert (plain, said) == (printed, [words for _, words in turns])


@given(st.binary(max_size=200))
def test_a_log_without_marks_goes_through_at_once(log: bytes) -> None:
    assume(b"\x1e" not in log)
    assert split(log, KEY) == (log, [], len(log))


def test_only_what_may_become_a_mark_is_held_back() -> None:
    assert split(b"abc" + START[:7], KEY) == (b"abc", [], 3)
    assert split(b"abc" + START + b'{"a"', KEY) == (b"abc", [], 3)


def test_a_mark_that_never_ends_is_not_waited_for_for_ever() -> None:
    _, said, used = split(START + b"x" * 100_000, KEY)
    assert (said, used) == ([], len(START) + 100_000)


@pytest.mark.parametrize("words", [b"", b"not json", b"[1]", b'"text"', b"\xff", b"null"])
def test_a_marked_line_that_is_not_an_object_is_dropped(words: bytes) -> None:
    assert split(b"a" + START + words + b"\nb", KEY) == (b"ab", [], len(START + words) + 3)


@given(
    st.from_regex(r"[A-Za-z_][A-Za-z0-9_.-]{0,20}", fullmatch=True),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40).filter(lambda text: not text.endswith("\r")),
)
def test_a_text_comes_back_from_its_tag_lines(key: str, value: str) -> None:
    assert tags(f"before\n{tag_lines(key, value)}after", "model") == {"fileset": {key: value}, "job": {key: value}}


@given(st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_number_comes_back_as_a_number(value: float) -> None:
    assert tags(tag_lines("accuracy", value), "")["job"] == {"accuracy": float(value)}


def test_the_original_form_names_the_output_file_set() -> None:
    log = "[ACAI_TAG] model stage:candidate\n[ACAI_TAG_NUM] model acc:0.5\r\n[ACAI_TAG] other stage:x\n"
    assert tags(log, "model") == {"fileset": {"stage": "candidate", "acc": 0.5}, "job": {}}


def test_an_output_that_is_called_job_leaves_the_word_its_meaning() -> None:
    assert tags(tag_lines("a", 1), "job") == {"fileset": {"a": 1.0}, "job": {"a": 1.0}}


def test_the_last_of_a_key_counts() -> None:
    assert tags(tag_lines("a", 1) + tag_lines("a", "x"), "")["job"] == {"a": "x"}


@pytest.mark.parametrize(
    "line",
    [
        "[ACAI_TAG] job",
        "[ACAI_TAG] job :x",
        "[ACAI_TAG] job 1a:x",
        " [ACAI_TAG] job a:x",
        "[ACAI_TAGS] job a:x",
        "[ACAI_TAG] user a:x",
        "[ACAI_TAG_NUM] job a:many",
        "[ACAI_TAG_NUM] job a:nan",
        "[ACAI_TAG_NUM] job a:inf",
    ],
)
def test_what_is_no_tag_is_just_a_line(line: str) -> None:
    assert tags(line + "\n", "model") == {"fileset": {}, "job": {}}


@pytest.mark.parametrize("key", ["", "1a", "a b", "a:b", "a\n", "-a"])
def test_a_tag_that_could_not_be_read_back_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="a tag's name"):
        tag_lines(key, 1)
