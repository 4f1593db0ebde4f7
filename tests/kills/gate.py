"""When lines may begin: all of them wait while it is checked what they have done."""

from __future__ import annotations

import threading


class Gate:
    """Lets lines begin, or waits until none is under way."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._under_way = 0
        self._open = True
        self.over = False

    def enter(self) -> bool:
        """Begin a line as soon as that may be; says whether there is to be another at all."""
        with self._changed:
            self._changed.wait_for(lambda: self._open or self.over)
            self._under_way += not self.over
            return not self.over

    def leave(self) -> None:
        """End a line."""
        with self._changed:
            self._under_way -= 1
            self._changed.notify_all()

    def close(self, seconds: float) -> bool:
        """Let no line begin, and wait for those under way; says whether they came to their end."""
        with self._changed:
            self._open = False
            return self._changed.wait_for(lambda: not self._under_way, seconds)

    def open(self) -> None:
        """Let lines begin."""
        with self._changed:
            self._open = True
            self._changed.notify_all()

    def end(self) -> None:
        """Let no line begin any more."""
        with self._changed:
            self.over = True
            self._changed.notify_all()
