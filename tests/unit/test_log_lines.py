"""Lines of a log by their numbers, wherever its pieces were cut and however far it has grown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from acai_server.engine.log_lines import STRETCH_BYTES, WIDEST_BYTES, LineIndex

if TYPE_CHECKING:
    from collections.abc import Iterator


class Log:
    """A log that grows, read in pieces; it counts what was read of it."""

    def __init__(self, data: bytes = b"", piece_bytes: int = 1 << 20) -> None:
        self.data = data
        self.read_bytes = 0
        self._piece_bytes = piece_bytes

    def stream(self, offset: int) -> Iterator[bytes]:
        for at in range(offset, len(self.data), self._piece_bytes):
            piece = self.data[at : at + self._piece_bytes]
            self.read_bytes += len(piece)
            yield piece


@given(
    st.lists(st.sampled_from(["", "a", "bé", "\x1e[ACAI_TAG] job a:1", "[ACAI_TAG_NUM] job b:1", "no [ACAI_TAG]"])),
    st.integers(1, 40),
    st.integers(1, 12),
    st.integers(1, 5),
    st.lists(st.integers(0, 200), max_size=3),
)
def test_a_line_has_its_number_while_the_log_grows_and_what_tags_has_none(
    printed: list[str], piece_bytes: int, first: int, limit: int, growths: list[int]
) -> None:
    data = "\n".join(printed).encode()
    seen = [line for line in printed if not line.startswith(("\x1e[ACAI_TAG", "[ACAI_TAG"))]
    if printed and printed[-1] == "":
        seen.pop()  # what ends with the last line is no line
    log, index = Log(piece_bytes=piece_bytes), LineIndex()
    for length in (*sorted(growths), len(data)):
        log.data = data[: min(length, len(data))]
        found = index.lines(log.stream, first, limit)
    expected = list(enumerate(seen, 1))[first - 1 : first - 1 + limit]
    assert [(one.number, one.text) for one in found.lines] == expected
    assert (found.count, found.of) == (len(expected), len(seen))


def test_a_jump_reads_a_stretch_and_what_was_passed_is_not_passed_again() -> None:
    log = Log(b"".join(b"line %d of a log\n" % number for number in range(1, 500_001)), piece_bytes=4096)
    index = LineIndex()
    assert index.lines(log.stream, 1, 1).of == 500_000
    assert log.read_bytes < len(log.data) + STRETCH_BYTES
    for first in (499_990, 250_000, 1):
        log.read_bytes = 0
        assert index.lines(log.stream, first, 10).lines[0].text == f"line {first} of a log"
        assert log.read_bytes <= 2 * STRETCH_BYTES
    log.data += b"and one more"
    log.read_bytes = 0
    assert index.lines(log.stream, 500_001, 10).lines[0].text == "and one more"
    assert log.read_bytes <= 2 * STRETCH_BYTES


def test_of_a_wide_line_as_much_is_told_as_is_seen() -> None:
    bar = b"".join(b"\r%3d %%" % (number % 101) for number in range(1_000_000)) + b"\r100 %\r\n"
    log = Log(b"first\n" + b"x" * 5_000_000 + b"\n" + bar + b"last\n")
    first, wide, progress, last = LineIndex().lines(log.stream, 1, 10).lines
    assert (first.text, last.text) == ("first", "last")
    assert (wide.text, wide.more) == ("x" * WIDEST_BYTES, 5_000_000 - WIDEST_BYTES)
    assert (first.more, progress.more, last.more) == (0, 0, 0)
    assert len(progress.text) < WIDEST_BYTES
    assert progress.text.endswith("\r100 %")


def test_bytes_that_are_no_text_and_lines_that_are_not_there_do_no_harm() -> None:
    log, index = Log(b"\xff\xfe\0\n\x1b[31mred\x1b[0m"), LineIndex()
    assert [one.text for one in index.lines(log.stream, 1, 5).lines] == ["\ufffd\ufffd\0", "\x1b[31mred\x1b[0m"]
    assert index.lines(log.stream, 3, 5).lines == []
    assert index.lines(log.stream, 2**53 - 1, 1000).of == 2
    assert LineIndex().lines(Log().stream, 1, 5).of == 0
