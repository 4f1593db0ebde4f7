"""Marked lines are cut out of a log exactly, wherever they stand and however the log arrives."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from acai_jupyter.contract.loglines import (
    MARK,
    MAX_KEYS,
    MAX_MISSES,
    TAG_MARK,
    TagReader,
    marked,
    split,
    tag_lines,
    tags,
)

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
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40),
)
def test_a_text_comes_back_from_its_tag_lines(key: str, value: str) -> None:
    assert tags(f"before\n{tag_lines(key, value)}after", "model") == {"fileset": {key: value}, "job": {key: value}}


@given(st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_number_comes_back_as_a_number(value: float) -> None:
    assert tags(tag_lines("accuracy", value), "")["job"] == {"accuracy": float(value)}


class Tensor:
    """As of torch: a number that is none until it is asked for."""

    def __init__(self, *values: float) -> None:
        self._values = values

    def item(self) -> float:
        (value,) = self._values
        return value

    def __str__(self) -> str:
        return f"tensor({self._values})"


def test_numbers_of_numpy_and_tensors_are_numbers() -> None:
    numpy = pytest.importorskip("numpy")
    for value in (numpy.float32(0.1), numpy.float64(0.1), numpy.array(0.1), Tensor(0.1)):
        assert tags(tag_lines("a", value), "")["job"] == {"a": 0.1}
    assert tags(tag_lines("a", numpy.int64(3)), "")["job"] == {"a": 3.0}
    assert tags(tag_lines("a", numpy.bool_(True)), "")["job"] == {"a": "True"}  # noqa: FBT003 (numpy's own)
    assert tags(tag_lines("a", Tensor(1, 2)), "")["job"] == {"a": "tensor((1, 2))"}


@given(st.lists(st.sampled_from([TAG_MARK, "[ACAI_TAG", "] job b:1", "\\", ":", "x", "\n"]), max_size=8).map("".join))
def test_a_value_that_holds_a_marked_tag_is_a_value(value: str) -> None:
    assert tags(tag_lines("a", value), "") == {"fileset": {"a": value}, "job": {"a": value}}


@pytest.mark.parametrize(
    "before", ["training ... ", "\r 50%|#####     |", "[", TAG_MARK, "x" * 200_000, "[ACAI_TAG] job b:1"]
)
def test_tags_that_a_program_sets_within_a_line_count_for_job_and_output(before: str) -> None:
    log = before + tag_lines("accuracy", 0.5) + "done\n[ACAI_TAG] job plain:1\n"
    for size in (1_000_000, 9_000, 211):
        reader = TagReader()
        for start in range(0, len(log), size):
            reader.feed(log[start : start + size])
        assert reader.found["fileset"] == {"accuracy": 0.5}
        assert reader.found["job"].items() >= {"accuracy": 0.5, "plain": "1"}.items()
        assert reader.misses == []


def test_lines_are_counted_by_their_ends_where_tags_are_set_within_them() -> None:
    reader = TagReader()
    reader.feed("first\ntraining ... " + tag_lines("a", 1) + "x" + TAG_MARK + "[ACAI_TAG] job b\n")
    assert [miss.partition(" looks")[0] for miss in reader.misses] == ["line 4"]


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


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[ACAI_TAG] job", "it is not followed by fileset or job, a space, a key and a colon"),
        ("[ACAI_TAG]job a:x", "it is not followed by fileset or job, a space, a key and a colon"),
        ("[ACAI_TAG] job a", "there is no colon between key and value"),
        ("[ACAI_TAG] job :x", "there is no key before the colon"),
        ("[ACAI_TAG] job 1a:x", "'1a' is no key"),
        ("INFO [ACAI_TAG] job a:x", "something stands before it"),
        ("[ACAI_TAGS] job a:x", "it begins with neither"),
        ("[acai_tag] job a:x", "it begins with neither"),
        ("ACAI_TAG job a:x", "it does not begin with a bracket"),
        ("  [ACAI_TAG] job a:x", "something stands before it"),
        ("[ACAI_TAG] other a:x", "'other' is neither fileset, job nor the name of the output set"),
        ("[ACAI_TAG_NUM] job a:many", "'many' is no number"),
        ("[ACAI_TAG_NUM] job a:nan", "'nan' is no number"),
        (f"[ACAI_TAG] job a:{'x' * 501}", "its value has more than 500 characters"),
        ("[ACAI_TAG] job state:x", "the system gives 'state' itself"),
    ],
)
def test_a_line_that_looks_like_a_tag_is_named_with_the_reason(line: str, reason: str) -> None:
    reader = TagReader("model", lambda place, key: (place, key) == ("job", "state"))
    reader.feed(f"first\n{line}\r\n[ACAI_TAG] job a:good\n")
    assert reader.found["job"] == {"a": "good"}
    assert len(reader.misses) == 1
    assert reader.misses[0].startswith(f"line 2 looks like a tag but {reason}")
    assert reader.misses[0].endswith(line.strip()[-20:] if len(line) < 100 else "x")


def test_a_miss_is_one_line_that_can_be_printed() -> None:
    reader = TagReader()
    reader.feed("[ACAI_TAG] job \x1b[2J\x00 a\n" + "[ACAI_TAG]\n" * 200)
    assert len(reader.misses) == MAX_MISSES
    assert all(miss.isprintable() for miss in reader.misses)


def test_a_runaway_gives_no_more_than_so_many_attributes_and_the_rest_are_misses() -> None:
    reader = TagReader()
    for number in range(MAX_KEYS + 50):
        reader.feed(f"[ACAI_TAG] job k{number}:v\n")
        reader.found["job"] = {}  # as who writes them down at once does
    reader.feed("[ACAI_TAG] job k0:again\n[ACAI_TAG] fileset other:v\n")
    assert reader.found == {"job": {"k0": "again"}, "fileset": {"other": "v"}}
    assert len(reader.misses) == 50
    assert reader.misses[0] == (
        "line 1001 looks like a tag but a job is given 1000 attributes only: [ACAI_TAG] job k1000:v"
    )


def test_spaces_and_colons_of_a_value_count() -> None:
    line = "[ACAI_TAG] job url: http://host:1/a b \n"
    assert tags(line, "")["job"] == {"url": " http://host:1/a b "}


def test_a_backslash_makes_the_next_character_itself_except_n_and_r() -> None:
    assert tags(r"[ACAI_TAG] job a:1\\2\n3\r4\:5\x", "")["job"] == {"a": "1\\2\n3\r4:5x"}


@given(st.lists(st.integers(1, 30), max_size=20))
def test_tags_are_read_however_the_log_arrives(cuts: list[int]) -> None:
    log = "".join(f"a line\n{tag_lines(f'k{n}', 'é: ' * n)}" for n in range(4))
    reader, rest = TagReader(), log
    for cut in cuts:
        reader.feed(rest[:cut])
        rest = rest[cut:]
    reader.feed(rest)
    assert reader.found == tags(log, "")
    assert reader.misses == []


def test_a_line_without_end_is_not_held_for_ever() -> None:
    reader = TagReader()
    for _ in range(100):
        reader.feed("[ACAI_TAG] job a:" + "x" * 10_000)
    reader.feed("\n[ACAI_TAG] job b:1\n")
    assert reader.found["job"] == {"b": "1"}
    assert len(reader.misses[0]) < 300


@pytest.mark.parametrize("key", ["", "1a", "a b", "a:b", "a\n", "-a"])
def test_a_tag_that_could_not_be_read_back_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="a tag's name"):
        tag_lines(key, 1)
