"""The keepers of attempts as the server sees them: by descriptors, which mean one process as long as they are open."""

from __future__ import annotations

import os
import select
import signal
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from acai_server.runners.folders import AttemptFolder

if TYPE_CHECKING:
    from pathlib import Path


class Keepers:
    """Finds keepers by their attempts' folders, of earlier servers too. Thread-safe."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._opened: dict[str, int] = {}

    def descriptor(self, attempt: str) -> int | None:
        """Return what becomes readable when a keeper ends, kept until it is forgotten; None when it is gone."""
        with self._lock:
            if attempt not in self._opened:
                descriptor = _open(AttemptFolder(self._folder / attempt))
                if descriptor is None:
                    return None
                self._opened[attempt] = descriptor
            return self._opened[attempt]

    def gone(self, attempt: str, seconds: float = 0.0) -> bool:
        """Whether a keeper has ended, or does within this time."""
        descriptor = self.descriptor(attempt)
        if descriptor is None:
            return True
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def signal(self, attempt: str, number: signal.Signals) -> None:
        """Send a signal to a keeper, if it lives."""
        descriptor = self.descriptor(attempt)
        if descriptor is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, number)

    def forget(self, attempt: str) -> None:
        """Let go of a keeper."""
        with self._lock:
            descriptor = self._opened.pop(attempt, None)
        if descriptor is not None:
            os.close(descriptor)

    def close(self) -> None:
        """Let go of all."""
        for attempt in list(self._opened):
            self.forget(attempt)


def _open(folder: AttemptFolder) -> int | None:
    """Open a keeper, if it lives; its number may be another's by the time that is done."""
    pid = folder.keeper()
    try:
        descriptor = os.pidfd_open(pid) if pid else None
    except ProcessLookupError:
        return None
    if descriptor is not None and folder.keeper() != pid:
        os.close(descriptor)
        return None
    return descriptor
