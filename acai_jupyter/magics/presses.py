"""Two people who run a cell of one notebook at the same moment, before either hears of the other, mean one job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

SAME_MOMENT = timedelta(seconds=3)
"""It takes a second until others see that a cell runs, and two clocks may differ by another."""


@dataclass(frozen=True)
class Press:
    """A run of a cell, as the front end asked for it."""

    cell: str
    text: str
    page: str
    """Whose connection to the kernel it came over: each page has its own."""
    at: datetime

    def repeats(self, other: Press) -> bool:
        """Say whether this is the same, pressed by somebody else at the same moment."""
        is_same = (self.cell, self.text) == (other.cell, other.text)
        return is_same and self.page != other.page and abs(self.at - other.at) < SAME_MOMENT


def press_of(asked: Any, text: str) -> Press | None:
    """Read what a kernel was asked; without a cell, a page or a time nothing is known of it."""
    asked = asked if isinstance(asked, dict) else {}
    header, metadata = (found if isinstance(found := asked.get(key), dict) else {} for key in ("header", "metadata"))
    cell, page, at = metadata.get("cellId"), header.get("session"), _time(header.get("date"))
    if not (isinstance(cell, str) and cell and isinstance(page, str) and page and at is not None):
        return None
    return Press(cell, text, page, at)


def _time(said: Any) -> datetime | None:
    if isinstance(said, str):
        try:
            said = datetime.fromisoformat(said)
        except ValueError:
            return None
    return said if isinstance(said, datetime) and said.tzinfo is not None else None


class Presses:
    """What the last run of each cell began."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[Press, int | str]] = {}

    def begun(self, press: Press | None, number: int | str) -> None:
        """Keep which job, or sweep, it began."""
        if press is not None:
            self._last[press.cell] = press, number

    def repeated(self, press: Press | None) -> int | str | None:
        """Return what was begun already by somebody who pressed at the same moment."""
        if press is None or press.cell not in self._last:
            return None
        other, number = self._last[press.cell]
        return number if press.repeats(other) else None
