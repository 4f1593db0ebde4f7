"""A long log in a notebook: its beginning as it comes, then only its end, in one place that is renewed.

A page that is sent a million lines freezes, and a notebook that holds them cannot be opened.
"""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

HEAD_LINES = 2_000
HEAD_CHARACTERS = 200_000
TAIL_LINES = 100
WIDEST = 400
"""So many characters of a line at the end are shown."""
HELD = 10_000
"""So many characters of a line that does not end are held."""
EVERY_SECONDS = 0.5


class Bounded:
    """Takes what is to be seen of a log, cut anywhere. `show` renews the end, with how many lines stand before it."""

    def __init__(
        self,
        write: Callable[[str], None],
        show: Callable[[int, str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._write = write
        self._show = show
        self._clock = clock
        self._lines_left = HEAD_LINES
        self._characters_left = HEAD_CHARACTERS
        self._held = ""
        self._tail: deque[str] = deque(maxlen=TAIL_LINES)
        self._count = 0
        self._shown_at: float | None = None
        self._is_new = False

    def send(self, text: str) -> None:
        """Show it, or what will be left of it at the end."""
        if not self._is_full:
            text = self._head(text)
        if not text:
            return
        *lines, self._held = (self._held + text).split("\n")
        self._held = _last_written(self._held)[-HELD:]
        self._count += len(lines)
        self._tail.extend(_last_written(line)[:WIDEST] for line in lines[-TAIL_LINES:])
        self._is_new = True
        now = self._clock()
        if self._shown_at is None or now - self._shown_at >= EVERY_SECONDS:
            self._renew(now)

    def close(self) -> None:
        """Show the end as it is."""
        if self._is_new:
            self._renew(self._clock())

    @property
    def _is_full(self) -> bool:
        return self._lines_left <= 0 or self._characters_left <= 0

    def _head(self, text: str) -> str:
        """Write what still fits, whole lines where that can be; return the rest."""
        end = min(len(text), self._characters_left)
        lines = text.count("\n", 0, end)
        if lines >= self._lines_left:
            end = _end_of_line(text, self._lines_left)
        elif end < len(text):
            end = text.rfind("\n", 0, end) + 1 or end
        self._lines_left -= min(lines, self._lines_left)
        self._characters_left -= end if end == len(text) else self._characters_left
        self._write(text[:end])
        return text[end:]

    def _renew(self, now: float) -> None:
        self._shown_at, self._is_new = now, False
        lines = [*self._tail, *([self._held[:WIDEST]] if self._held else [])]
        self._show(self._count - len(self._tail), "\n".join(lines))


def _end_of_line(text: str, number: int) -> int:
    position = 0
    for _ in range(number):
        position = text.index("\n", position) + 1
    return position


def _last_written(line: str) -> str:
    """What a line shows after all that was written over."""
    return line[line.rfind("\r") + 1 :] if "\r" in line.rstrip("\r") else line
