"""A log on a screen: what a carriage return leaves, and that nothing gets through that a terminal would obey."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.commands.colours import after
from acai_jupyter.commands.screen import WIDEST, Screen, Shows
from acai_jupyter.commands.tag_lines import WithoutTags
from acai_jupyter.contract.loglines import tag_lines

WORDS = (
    *("a", "bc", "é日", " ", "\t", "[", "31m", "m", "?", ";", "7", "\\", "K", "0;title"),
    *("\n", "\r", "\r\n", "\b", "\x07", "\0", "\x1b", "\x9b", "\x9d", "\x9c", "\x7f"),
    *("\x1b[31m", "\x1b[1;44m", "\x1b[0m", "\x1b[m", "\x1b[38;5;9m", "\x1b[48;2;1;2;3m", "\x1b[22m", "\x1b[8m"),
    *("\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[3C", "\x1b[2D", "\x1b[5G", "\x1b[A", "\x1b[2J", "\x1b[H", "\x1b[?25l"),
    *("\x1b]0;title\x07", "\x1b]52;c;aGk=\x1b\\", "\x1bP1$r\x1b\\", "\x1b(B", "\x1bc"),
)
TEXTS = st.lists(st.sampled_from(WORDS), max_size=60).map("".join)
CUTS = st.lists(st.integers(0, 300), max_size=12)
SGR = re.compile(r"\x1b\[([0-9;:]*)m")


def cut(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(min(one, len(text)) for one in cuts)})
    return [text[start:end] for start, end in pairwise(places)]


def seen(pieces: list[str], shows: Shows = Shows.NOTHING, widest: int = WIDEST) -> str:
    screen = Screen(shows, widest=widest)
    return "".join([*map(screen.feed, pieces), screen.close()])


def plain(text: str) -> str:
    return SGR.sub("", text)


def on_glass(sent: str, *, erases: bool) -> list[str]:
    """What a simple terminal shows of what it was sent: it knows carriage returns, colours and, maybe, erasing."""
    lines, at = [""], 0
    for token in re.findall(r"\x1b\[[0-9;:]*[mK]|.", sent, re.DOTALL):
        line = lines[-1]
        if token == "\n":
            lines.append("")
            at = 0
        elif token == "\r":
            at = 0
        elif token.endswith("K") and len(token) > 1:
            assert erases
            lines[-1] = line[:at]
        elif len(token) == 1:
            lines[-1] = line[:at] + token + line[at + 1 :]
            at += 1
    return lines


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("a\nb\n", "a\nb\n"),
        ("no end", "no end\n"),
        ("", ""),
        ("windows\r\nlines\r\n", "windows\nlines\n"),
        ("10%\r20%\r100%\n", "100%\n"),
        ("100%\rok\n", "ok0%\n"),
        ("100%\r\x1b[Kok\n", "ok\n"),
        ("100%\x1b[2K\rok\n", "ok\n"),
        ("abc\b\bX\n", "aXc\n"),
        ("a\x1b[3Cb\n", "a   b\n"),
        ("abc\x1b[1Gx\n", "xbc\n"),
        ("\x1b[31mred\x1b[0m\n", "\x1b[31mred\x1b[0m\n"),
        ("\x1b[31mred\nstill\x1b[39m not\n", "\x1b[31mred\x1b[0m\n\x1b[31mstill\x1b[0m not\n"),
        ("\x1b[31;1mab\r\x1b[32mc\n", "\x1b[32;1mc\x1b[0m\x1b[31;1mb\x1b[0m\n"),
        ("\x1b]0;title\x07text\n", "text\n"),
        ("\x1b]52;c;aGk=\x1b\\text\n", "text\n"),
        ("\x1b]never ended\nnext\n", "\nnext\n"),
        ("up\x1b[A\x1b[2J\x1b[Hthere\n", "upthere\n"),
        ("\x1b[?1049h\x1b[>4;2mtext\x1b(B\x1b[!p\n", "text\n"),
        ("\x9b31mred\x9b0m \x9d0;title\x9ctext\n", "\x1b[31mred\x1b[0m text\n"),
        ("bell\x07\0\x7f\n", "bell\n"),
        ("half a sequence \x1b[3", "half a sequence \n"),
        ("\x1b[3\n1m\n", "\n1m\n"),
        ("\x1b[8mhidden\x1b[0m\n", "hidden\n"),
    ],
)
def test_lines_are_shown_as_a_terminal_leaves_them(printed: str, shown: str) -> None:
    assert seen([printed]) == shown
    assert seen(list(printed)) == shown


@given(TEXTS, CUTS, st.sampled_from([3, 8, WIDEST]))
def test_it_does_not_matter_where_a_log_is_cut(text: str, cuts: list[int], widest: int) -> None:
    assert seen(cut(text, cuts), widest=widest) == seen([text], widest=widest)


@given(TEXTS, CUTS, st.sampled_from(Shows))
def test_nothing_gets_through_but_text_colours_and_ends_of_lines(text: str, cuts: list[int], shows: Shows) -> None:
    allowed = {Shows.NOTHING: "", Shows.ON_TERMINAL: "\r", Shows.IN_CELL: "\r"}[shows]
    sent = plain(seen(cut(text, cuts), shows))
    sent = sent.replace("\x1b[K", "") if shows is Shows.ON_TERMINAL else sent
    assert not set(re.findall(r"[\0-\x1f\x7f-\x9f]", sent)) - {"\n", "\t", *allowed}


@given(TEXTS, CUTS)
def test_no_colour_is_left_switched_on_at_the_end_of_a_line(text: str, cuts: list[int]) -> None:
    for line in seen(cut(text, cuts)).split("\n"):
        assert [*SGR.findall(line), "0"][-1] == "0"


@given(TEXTS, CUTS)
def test_a_terminal_shows_live_what_it_shows_of_the_whole_log(text: str, cuts: list[int]) -> None:
    live = seen(cut(text, cuts), Shows.ON_TERMINAL)
    assert on_glass(live, erases=True) == on_glass(seen([text]), erases=True)


@given(TEXTS, CUTS)
def test_a_cell_shows_live_what_it_shows_of_the_whole_log_but_for_blanks(text: str, cuts: list[int]) -> None:
    live = on_glass(seen(cut(text, cuts), Shows.IN_CELL), erases=False)
    assert [line.rstrip() for line in live] == [line.rstrip() for line in on_glass(seen([text]), erases=False)]


@given(TEXTS)
def test_a_log_without_controls_stays_as_it_is(text: str) -> None:
    clean = re.sub(r"[\0-\x08\x0b-\x1f\x7f-\x9f]", "", text)
    assert seen([clean]) == (clean if clean.endswith("\n") or not clean else f"{clean}\n")


def test_a_line_without_an_end_is_let_go_when_it_is_too_long() -> None:
    screen = Screen(widest=10)
    assert screen.feed("x" * 25) == "x" * 20
    assert screen.feed("\ry\n") == "yxxxx\n"


def test_a_progress_bar_costs_no_more_than_what_it_prints() -> None:
    bar = "".join(f"\r{n:7}/100000 [{'#' * 40}] 12.3 it/s" for n in range(100_000))
    assert seen([bar[at : at + 65536] for at in range(0, len(bar), 65536)]).count("\n") == 1


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_hundred_thousand_lines_are_shown(end: str) -> None:
    text = f"{'x' * 79}{end}" * 100_000
    pieces = [text[at : at + 65536] for at in range(0, len(text), 65536)]
    assert seen(pieces, Shows.ON_TERMINAL).replace("\r", "").count("\n") == 100_000


@pytest.mark.parametrize(
    ("pen", "codes", "left"),
    [
        ("", "1;31", "1;31"),
        ("1;31", "22", "31"),
        ("31;44", "0", ""),
        ("31;44", "", ""),
        ("31", "0;32", "32"),
        ("", "38;5;200;1", "38;5;200;1"),
        ("38;5;200", "39", ""),
        ("", "38;2;1;2;3;4", "38;2;1;2;3;4"),
        ("", "38:2::1:2:3", "38:2::1:2:3"),
        ("4", "4:0", ""),
        ("", "38;5", ""),
        ("", "38;5;x;999;-1", ""),
        ("31", "8;10;73", "31"),
    ],
)
def test_codes_leave_a_pen(pen: str, codes: str, left: str) -> None:
    assert after(pen, codes) == left


def without(pieces: list[str]) -> str:
    tags = WithoutTags()
    return "".join([*map(tags.feed, pieces), tags.close()])


TAGGED = st.lists(
    st.sampled_from(
        ["[ACAI_TAG] job a:b\n", "[ACAI_TAG_NUM] job n:1\n", "[ACAI", "x", "\n", "\r", "[", "_TAG", "\x1e"]
    ),
    max_size=20,
).map("".join)


@given(TAGGED, CUTS)
def test_lines_with_tags_are_left_out_wherever_a_log_is_cut(text: str, cuts: list[int]) -> None:
    lines = [line for line in re.split(r"(?<=\n)", text) if not line.startswith("[ACAI_TAG")]
    assert without(cut(text, cuts)) == "".join(line.partition("\x1e[ACAI_TAG")[0] for line in lines)


def test_a_line_goes_on_after_the_tags_that_a_program_set_within_it() -> None:
    tags = WithoutTags()
    said = ["training ... ", tag_lines("accuracy", 0.5), "done\n", tag_lines("loss", 1), "end\n"]
    assert [tags.feed(piece) for piece in said] == ["training ... ", "", "done\n", "", "end\n"]


def test_a_line_that_cannot_become_a_tag_is_seen_at_once() -> None:
    tags = WithoutTags()
    assert tags.feed("progress [ACAI_TAG") == "progress [ACAI_TAG"
    assert tags.feed("] 1\n[ACAI") == "] 1\n"
    assert tags.feed("\n") == "[ACAI\n"
