"""A list as people read it: aligned columns in a terminal, a table in a notebook, in the same order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acai_jupyter.commands import markup
from acai_jupyter.commands.units import columns

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Listing:
    """Rows of texts. `sides` are '<' or '>' for each column; `rest` says what is not listed."""

    rows: list[list[str]]
    sides: str
    head: Sequence[str] = ()
    """The names of the columns in a notebook."""
    caption: str = ""
    """What a notebook shows above."""
    rest: str = ""
    head_is_shown: bool = False
    """Whether a terminal shows the names of the columns too."""

    @property
    def text(self) -> str:
        """The lines for a terminal."""
        first = [list(self.head)] if self.head_is_shown else []
        return "\n".join(filter(None, [columns([*first, *self.rows], self.sides), self.rest]))

    def html(self) -> str:
        """The table for a notebook."""
        return markup.table(self.caption, self.head, self.rows, self.rest, self.sides)
