"""What is written for people at a terminal, and what for files."""

from __future__ import annotations

import io

import pytest

from acai_jupyter.commands import terminal
from acai_jupyter.commands.results import Result


class Terminal(io.StringIO):
    """A stream that leads to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\tb\nc\r\n", "a\tb\nc\r\n"),
        ("\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"),
        ("\x1b[38:2::1:2:3mx", "\x1b[38:2::1:2:3mx"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x1b]52;c;aGk=\x1b\\", r"\x1b]52;c;aGk=\x1b" + "\\"),
        ("\x1bP1$r\x1b\\", r"\x1bP1$r\x1b" + "\\"),
        ("\x1b[2J\x1b[H\x1b[6n\x1b[>4;1m\x1bc", r"\x1b[2J\x1b[H\x1b[6n\x1b[>4;1m\x1bc"),
        ("\x9b31m\x9d0;x\x9c", r"\x9b31m\x9d0;x\x9c"),
        ("50%\r100%\b", r"50%\r100%\x08"),
        ("a\u202eb\ud800", r"a\u202eb\ud800"),
        ("\x1b[" + "1;" * 99 + "m", r"\x1b[" + "1;" * 99 + "m"),
        ("naïve ✓ 日本", "naïve ✓ 日本"),
    ],
)
def test_a_terminal_is_sent_text_and_colours(text: str, seen: str) -> None:
    stream, pipe = Terminal(), io.StringIO()
    terminal.write(text, stream)
    terminal.write(text, pipe)
    assert (stream.getvalue(), pipe.getvalue()) == (seen, text)


def test_a_result_is_shown_in_a_terminals_python_as_in_a_shell() -> None:
    assert repr(Result("a\x1b]0;t\x07\n", None, "text")) == r"a\x1b]0;t\x07" + "\n"
