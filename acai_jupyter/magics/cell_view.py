"""Somebody at a notebook. What a job displays is shown as if the cell had."""

from __future__ import annotations

import hashlib
import sys
from typing import TYPE_CHECKING, Any

import msgspec
from IPython.display import display

from acai_jupyter.magics.live_widget import LiveWidget, is_wanted

if TYPE_CHECKING:
    from collections.abc import MutableMapping, Sequence

    from IPython.core.display_functions import DisplayHandle

    from acai_jupyter.commands.results import Result
    from acai_jupyter.contract.jobs import Job

_NOTHING = {"text/plain": ""}


class CellView:
    """One cell that watches. See `commands/views.py` for what its methods are to do."""

    prog = "%acai"
    shows_displays = True

    def __init__(self, names: MutableMapping[str, Any]) -> None:
        self.names = names
        self._begun: DisplayHandle | None = None
        self._widget: LiveWidget | None = None
        self._tail: DisplayHandle | None = None
        self._places: list[_Place] = []

    def say(self, text: str) -> None:
        """Show a sentence between the lines of the log."""
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def display(self, job: Job, displays: Sequence[dict[str, Any]]) -> None:
        """Show what is new, and what is other than it was in its own place; what was cleared goes."""
        del job
        for place, one in enumerate(displays):
            if place == len(self._places):
                self._places.append(_Place())
            self._places[place].show(one["data"], one["metadata"])
        for old in self._places[len(displays) :]:
            old.show(_NOTHING, {})

    def begin(self, result: Result) -> None:
        """Show which job it is from the first moment, so that the notebook knows it also when the kernel ends."""
        if "ipykernel" not in sys.modules:
            return
        self._begun = display(result._repr_mimebundle_(), raw=True, display_id=True)
        if self._begun is not None and is_wanted():
            self._widget = LiveWidget(result, self._begun.update)
            self._widget.start()

    def finish(self, result: Result) -> None:
        """Show how it ended, in place of what was shown at the beginning."""
        shown = result if self._widget is None else self._widget.end(result)
        if self._begun is not None:
            self._begun.update(shown)
        else:
            display(shown)

    def show_end_of_log(self, left_out: int, text: str) -> None:
        """Show the end of a long log, always in the same place."""
        told = f"… {left_out:,} more lines, which acai logs shows in a shell\n{text}"
        if self._tail is None:
            self._tail = display({"text/plain": told}, raw=True, display_id=True)
        else:
            self._tail.update({"text/plain": told}, raw=True)


class _Place:
    """Where one display stands. What it shows is known by its hash: all displays of a job may have 32 MB."""

    def __init__(self) -> None:
        self._handle: DisplayHandle | None = None
        self._shown = b""

    def show(self, data: dict[str, Any], metadata: dict[str, Any]) -> None:
        """Show this, if it is not there already."""
        digest = hashlib.sha256(msgspec.json.encode([data, metadata])).digest()
        if digest == self._shown:
            return
        self._shown = digest
        if self._handle is None:
            self._handle = display(data, metadata=metadata, raw=True, display_id=True)
        else:
            self._handle.update(data, metadata=metadata, raw=True)
