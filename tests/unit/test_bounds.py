"""A long log takes little of a notebook, and its beginning and end are there."""

from __future__ import annotations

import random

from acai_jupyter.commands.bounds import HEAD_CHARACTERS, HEAD_LINES, TAIL_LINES, WIDEST, Bounded

MEGABYTE = 1_000_000


class Notebook:
    def __init__(self) -> None:
        self.seconds = 0.0
        self.head = ""
        self.ends: list[tuple[int, str]] = []
        self.bounded = Bounded(self._write, lambda count, text: self.ends.append((count, text)), lambda: self.seconds)

    def _write(self, text: str) -> None:
        self.head += text


def test_what_is_short_is_written_as_it_comes() -> None:
    notebook = Notebook()
    for piece in ("a", "b\nc", "", "\rd\n"):
        notebook.bounded.send(piece)
    notebook.bounded.close()
    assert notebook.head == "ab\nc\rd\n"
    assert notebook.ends == []


def test_of_a_million_lines_the_beginning_and_the_end_are_shown_and_the_rest_is_counted() -> None:
    notebook, chance = Notebook(), random.Random(1)
    text = "".join(f"line {number} of very many\n" for number in range(1_000_000))
    position = 0
    while position < len(text):
        size = chance.randrange(1, 100_000)
        notebook.bounded.send(text[position : position + size])
        position += size
        notebook.seconds += 0.01
    notebook.bounded.close()
    assert notebook.head.count("\n") == HEAD_LINES
    assert text.startswith(notebook.head)
    left_out, end = notebook.ends[-1]
    assert end.splitlines() == [f"line {number} of very many" for number in range(999_900, 1_000_000)]
    assert HEAD_LINES + left_out + TAIL_LINES == 1_000_000
    assert len(notebook.ends) < 60
    assert len(notebook.head) + len(end) < MEGABYTE


def test_lines_without_end_are_bounded_too() -> None:
    notebook = Notebook()
    for _ in range(100):
        notebook.bounded.send("x" * 50_000)
    notebook.bounded.close()
    assert len(notebook.head) <= HEAD_CHARACTERS
    assert all(len(end) <= WIDEST for _, end in notebook.ends)


def test_a_progress_bar_at_the_end_is_shown_as_it_was_left() -> None:
    notebook = Notebook()
    notebook.bounded.send("x\n" * HEAD_LINES)
    notebook.bounded.send("  1%\r 50%")
    notebook.bounded.send("\r100%\nnext")
    notebook.bounded.close()
    assert notebook.ends[-1] == (0, "100%\nnext")
