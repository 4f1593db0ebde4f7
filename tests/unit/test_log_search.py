"""Lines of a log that have some text, wherever its pieces were cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_server.engine.log_search import MOST_COUNTED, MOST_TOLD, WIDEST, first_error, search, search_near


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
