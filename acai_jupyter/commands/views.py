"""Where a job is watched: a terminal, a pipe, or the cell of a notebook."""

from __future__ import annotations

import codecs
import sys
from typing import TYPE_CHECKING, Any, Protocol

from acai_jupyter.commands import terminal
from acai_jupyter.commands.bounds import Bounded
from acai_jupyter.commands.screen import Screen, Shows
from acai_jupyter.commands.tag_lines import WithoutTags

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import MutableMapping, Sequence
    from typing import TextIO

    from acai_jupyter.commands.results import Result
    from acai_jupyter.contract.jobs import Job


class View(Protocol):
    """Somebody who watches."""

    prog: str
    """How commands begin where they look."""

    @property
    def names(self) -> MutableMapping[str, Any] | None:
        """The variables that they have there; None where there are none."""

    def say(self, text: str) -> None:
        """Show a sentence beside the log."""

    shows_displays: bool
    """Whether displays are seen there, so that they are worth fetching while a job goes on."""

    def display(self, job: Job, displays: Sequence[dict[str, Any]]) -> None:
        """Show all that a cell has displayed until now, in the place of what was shown of it before."""

    def begin(self, result: Result) -> None:
        """Show at once which job is watched; how it ends takes its place."""

    def show_end_of_log(self, left_out: int, text: str) -> None:
        """Show the last lines of a long log, in place of those before; so many lines are not shown."""


class ShellView:
    """Somebody at a shell. Sentences are apart from the log, which may go into a file."""

    prog = "acai"
    names = None
    shows_displays = False

    def say(self, text: str) -> None:
        """See the protocol."""
        sys.stdout.flush()
        terminal.write(f"{text}\n", sys.stderr)

    def display(self, job: Job, displays: Sequence[dict[str, Any]]) -> None:
        """See the protocol."""
        count = f"{len(displays)} displays" if len(displays) > 1 else "1 display"
        self.say(f"job {job.number} has {count}; a notebook shows them: %acai attach {job.number}")

    def begin(self, result: Result) -> None:
        """See the protocol: a shell shows how it ends."""

    def show_end_of_log(self, left_out: int, text: str) -> None:
        """See the protocol: a shell shows all of it."""


def view_of(arguments: Namespace) -> View:
    """Return the view that a front end gave with its line."""
    view: View = getattr(arguments, "view", None) or ShellView()
    return view


class LogOutput:
    """Writes a log to standard output, or `out`, as it comes.

    A terminal and a cell show it as a screen does; elsewhere, and with `raw`, it stays as it was printed. `is_whole`
    says that nothing more will come of the lines that are written, and `has_tags` that lines with tags are to be seen.
    """

    def __init__(
        self,
        view: View,
        *,
        is_whole: bool = False,
        has_tags: bool = True,
        out: TextIO | None = None,
        raw: bool = False,
    ) -> None:
        self._out: Any = out or sys.stdout
        self._raw = None if self._out.isatty() and not raw else getattr(self._out, "buffer", None)
        self._is_filtered = self._raw is None and not raw
        shows = Shows.ON_TERMINAL if self._out.isatty() else Shows.IN_CELL
        self._screen = Screen(Shows.NOTHING if is_whole else shows)
        self._tags = None if has_tags else WithoutTags()
        is_cell = self._raw is None and not self._out.isatty()
        self._bounded = Bounded(self._pass_on, view.show_end_of_log) if is_cell else None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def write(self, piece: bytes) -> None:
        """Show a piece, cut anywhere."""
        if self._raw is not None and self._tags is None:
            self._out.flush()
            self._raw.write(piece)
            self._raw.flush()
        else:
            self._show(self._decoder.decode(piece))

    def pause(self) -> None:
        """End the line, as something else is to be seen below."""
        if self._is_filtered:
            self._send(self._screen.close())

    def close(self) -> None:
        """Show the rest."""
        self._show(self._decoder.decode(b"", final=True), is_last=True)
        self.pause()
        if self._bounded is not None:
            self._bounded.close()

    def _show(self, text: str, *, is_last: bool = False) -> None:
        if self._tags is not None:
            text = self._tags.feed(text) + (self._tags.close() if is_last else "")
        self._send(self._screen.feed(text) if self._is_filtered else text)

    def _send(self, text: str) -> None:
        if self._bounded is not None:
            self._bounded.send(text)
        else:
            self._pass_on(text)

    def _pass_on(self, text: str) -> None:
        if text:
            self._out.write(text)
            self._out.flush()
