"""Lines of a log that have some text, wherever its pieces were cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_server.engine.log_search import BEGIN, MOST_COUNTED, MOST_TOLD, WIDEST, LogSearch
from acai_server.engine.read_limit import BLOCK_BYTES, ClientLeft, ReadLimit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_jupyter.contract.jobs import FoundLine, FoundLines, LogPlace


def search(pieces: list[bytes], text: str) -> FoundLines:
    return LogSearch(pieces).lines_with(text)


def search_near(pieces: list[bytes], text: str, after: int | None, before: int | None) -> FoundLines:
    return LogSearch(pieces).nearest(text, after, before)


def first_error(pieces: list[bytes]) -> FoundLines:
    return LogSearch(pieces).first_error()


def in_pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@given(
    st.lists(st.text(st.sampled_from("aAbİßΩ \r\t"), max_size=8), max_size=12),
    st.text(st.sampled_from("abAİß "), min_size=1, max_size=3),
    st.integers(1, 30),
    st.sampled_from(["", "\n"]),
)
def test_what_is_found_is_what_a_look_at_each_line_finds(lines: list[str], text: str, size: int, end: str) -> None:
    data = "\n".join(lines) + end
    wanted = text.replace("İ", "i").lower()
    whole = data.split("\n")[:-1] if data.endswith("\n") else data.split("\n") if data else []
    expected = [(n, line) for n, line in enumerate(whole, 1) if wanted in line.replace("İ", "i").lower()]
    found = search(in_pieces(data.encode(), size), text)
    assert [(one.number, one.text) for one in found.lines] == expected
    assert (found.count, found.of, found.is_cut) == (len(expected), len(whole), False)


def test_what_only_terminals_see_divides_no_words_and_marks_of_tags_are_no_lines() -> None:
    data = b"\x1b[31mer\x1b[1mror\x1b[0m here\n\x1e[ACAI_TAG] job error\n[ACAI_TAG_NUM] job error:1\nan Error\n"
    found = search([data], "error")
    assert [(one.number, one.text) for one in found.lines] == [(1, "error here"), (2, "an Error")]
    assert (found.count, found.of) == (2, 2)


def test_bytes_that_are_no_text_hide_nothing() -> None:
    found = search([b"\xff\xfe begin\nneed", "le \N{GRINNING FACE}\nend".encode()], "needle")
    assert [(one.number, one.text) for one in found.lines] == [(2, "needle \N{GRINNING FACE}")]


@pytest.mark.parametrize("size", [1 << 20, 4 << 20])
def test_of_many_the_first_are_told_and_at_some_number_it_ends(size: int) -> None:
    data = b"".join(b"line %d\n" % number for number in range(2 * MOST_COUNTED))
    found = search(in_pieces(data, size), "LINE")
    assert [found.lines[0].text, found.lines[-1].text] == ["line 0", f"line {MOST_TOLD - 1}"]
    assert (len(found.lines), found.count, found.is_cut) == (MOST_TOLD, MOST_COUNTED, True)
    assert MOST_COUNTED <= found.of <= 2 * MOST_COUNTED


def test_of_a_wide_line_what_is_around_the_text_is_told() -> None:
    wide = b"x" * 3 * WIDEST
    begin, behind = search([b"needle" + wide + b"\n" + wide + b"needle" + wide], "needle").lines
    assert (begin.text[:6], len(begin.text), begin.before, begin.more) == ("needle", WIDEST, 0, 2 * WIDEST + 6)
    assert "needle" in behind.text
    assert (len(behind.text), behind.before + len(behind.text) + behind.more) == (WIDEST, 6 * WIDEST + 6)


@pytest.mark.parametrize("size", [5, 1 << 20])
def test_behind_those_that_are_told_the_next_one_and_the_one_before_are_found(size: int) -> None:
    pieces = in_pieces(b"".join(b"line %d\n" % number for number in range(1, 1201)), size)

    def near(after: int | None = None, before: int | None = None) -> list[int]:
        return [one.number for one in search_near(pieces, "LINE 1", after, before).lines]

    assert [near(after=199), near(after=1000), near(after=1200)] == [[1000], [1001], []]
    assert [near(before=1000), near(before=2000), near(before=1)] == [[199], [1200], []]


@given(
    st.lists(st.text(st.sampled_from("aAb "), max_size=6), max_size=12),
    st.text(st.sampled_from("ab "), min_size=1, max_size=2),
    st.integers(1, 30),
    st.integers(0, 14),
)
def test_the_nearest_is_the_nearest_of_all_that_are_found(lines: list[str], text: str, size: int, place: int) -> None:
    pieces = in_pieces("\n".join(lines).encode(), size)
    every = search(pieces, text).lines
    assert search_near(pieces, text, place, None).lines == [one for one in every if one.number > place][:1]
    assert search_near(pieces, text, None, place).lines == [one for one in every if one.number < place][-1:]


@pytest.mark.parametrize("text", ["\n", "\na", "a\n", "a\nb"])
def test_what_goes_over_the_end_of_a_line_is_in_none(text: str) -> None:
    pieces = [b"a\nb\n"] * 3
    assert search(pieces, text).count == 0
    assert search_near(pieces, text, 1, None).lines == []
    assert search_near(pieces, text, None, 9).lines == []


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):",
        "ValueError: no",
        "2026-01-01 ERROR disk",
        "\x1b[31mError\x1b[0m: no",
        "java.lang.Exception",
        "FATAL",
    ],
)
@pytest.mark.parametrize("size", [7, 1 << 20])
def test_the_first_line_that_tells_of_an_error_is_found(line: str, size: int) -> None:
    calm = "0 Errors, no error, Exceptional, ERRORS=0, Traceback is off\n[ACAI_TAG] job Error:1\n"
    found = first_error(in_pieces(f"{calm}{line}\nlater: KeyError\n".encode(), size))
    assert [one.number for one in found.lines] == [2]
    assert first_error([calm.encode()]).lines == []


class CountedPieces:
    """A log in pieces that counts what was read of it."""

    def __init__(self, data: bytes, size: int = BLOCK_BYTES) -> None:
        self.data = data
        self.size = size
        self.read = 0

    def stream(self, offset: int) -> Iterator[bytes]:
        for piece in in_pieces(self.data[offset:], self.size):
            self.read += 1
            yield piece


def limited(blocks: int) -> ReadLimit:
    return ReadLimit(max_bytes=blocks * BLOCK_BYTES, max_seconds=1e9, rest=lambda _: None)


def continued(log: CountedPieces, ask: Callable[[LogSearch], FoundLines], blocks: int = 3) -> list[FoundLines]:
    """Ask until the question is answered, as a client does."""
    answers: list[FoundLines] = []
    place: LogPlace | None = BEGIN
    while place is not None:
        before = log.read
        answers.append(ask(LogSearch(log.stream(place.offset), limited(blocks), place)))
        assert log.read - before <= blocks + 1
        place = answers[-1].next
    return answers


LONG = b"".join(b"line %d of a long log\n" % number for number in range(1, 60_001))


@pytest.mark.parametrize("wanted", ["line 5", "LINE 59999", "nothing"])
def test_a_search_in_bounded_parts_finds_what_one_pass_finds(wanted: str) -> None:
    log = CountedPieces(LONG)
    answers = continued(log, lambda search: search.lines_with(wanted))
    whole = LogSearch([LONG]).lines_with(wanted)
    assert len(answers) > 1
    assert [line for answer in answers for line in answer.lines][: len(whole.lines)] == whole.lines
    assert sum(answer.count for answer in answers) == whole.count
    assert (answers[-1].of, answers[-1].is_cut) == (60_000, False)
    assert all(answer.is_cut for answer in answers[:-1])


def test_the_nearest_hits_and_the_first_error_are_found_over_several_parts() -> None:
    log = CountedPieces(LONG + b"ValueError: no\n")

    def last_of(ask: Callable[[LogSearch], FoundLines]) -> list[FoundLine]:
        return [line for answer in continued(log, ask) for line in answer.lines][-1:]

    assert [line.number for line in last_of(lambda search: search.nearest("line 5999", 1, None))] == [5999]
    assert [line.number for line in last_of(lambda search: search.nearest("line 1 of", None, 50_000))] == [1]
    assert [line.number for line in last_of(lambda search: search.first_error())] == [60_001]


def test_a_line_longer_than_the_limit_is_searched_in_parts() -> None:
    data = b"x" * (10 * BLOCK_BYTES) + b"needle" + b"x" * BLOCK_BYTES + b"\nneedle\n"
    answers = continued(CountedPieces(data), lambda search: search.lines_with("needle"))
    assert [line.number for answer in answers for line in answer.lines] == [1, 2]
    assert answers[-1].of == 2


def test_the_time_of_a_search_is_bounded_and_it_gets_on_all_the_same() -> None:
    log = CountedPieces(LONG)
    found = LogSearch(log.stream(0), ReadLimit(max_seconds=0.0, rest=lambda _: None)).lines_with("line 1 of")
    assert log.read == 2, "one block was read, and the limit was seen at the next one"
    assert found.next is not None
    assert [line.number for line in found.lines] == [1]


def test_nothing_is_read_for_a_client_that_has_left() -> None:
    log = CountedPieces(LONG)
    limit = ReadLimit(max_seconds=1e9, has_left=lambda: log.read > 2, rest=lambda _: None)
    with pytest.raises(ClientLeft):
        LogSearch(log.stream(0), limit).lines_with("nothing")
    assert log.read == 3


def test_a_search_rests_after_each_block() -> None:
    rests: list[float] = []
    LogSearch(CountedPieces(LONG).stream(0), ReadLimit(rest=rests.append)).lines_with("nothing")
    assert len(rests) >= len(LONG) // BLOCK_BYTES
    assert all(0 <= rest <= 0.01 for rest in rests)
