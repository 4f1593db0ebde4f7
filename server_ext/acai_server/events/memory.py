"""Wakes readers in this process: enough for one server, and the local half of every other bus."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.events.protocol import EventBus


class MemoryEventBus:
    """A list of listeners with a lock."""

    name = "memory"

    def __init__(self) -> None:
        self._listeners: dict[int, Callable[[], None]] = {}
        self._next = 0
        self._lock = threading.Lock()

    def start(self) -> None:
        """See the protocol."""

    def stop(self) -> None:
        """See the protocol."""
        self.wake()

    def wake(self) -> None:
        """See the protocol."""
        with self._lock:
            listeners = list(self._listeners.values())
        for listener in listeners:
            listener()

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """See the protocol."""
        with self._lock:
            self._next += 1
            number = self._next
            self._listeners[number] = listener

        def end() -> None:
            with self._lock:
                self._listeners.pop(number, None)

        return end


if TYPE_CHECKING:
    _proof: type[EventBus] = MemoryEventBus
