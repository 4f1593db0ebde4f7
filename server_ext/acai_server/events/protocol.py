"""The seam that wakes readers of the event table, in this process and in others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


class EventBus(Protocol):
    """Says that there may be new events, never which: the table says that.

    Thread-safe. A wake-up may be spurious and several may arrive as one, but after the last event at least one comes.
    Listeners are called from any thread, must be quick and must not raise.
    """

    name: str

    def start(self) -> None:
        """Begin to hear. Safe to call twice."""
        ...

    def stop(self) -> None:
        """Hear no more; listeners are woken once, so that nobody waits for ever. Safe to call twice."""
        ...

    def wake(self) -> None:
        """Tell that events were committed by this process."""
        ...

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call a listener at each wake-up; returns what ends that."""
        ...
