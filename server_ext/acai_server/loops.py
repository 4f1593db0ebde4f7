"""Loops that a failing step does not end."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)
REST = 4.0
"""So many times as long as it took to find nothing to do, nothing is looked for again, however often it is woken."""


class BackgroundLoop(Protocol):
    """Work that goes on until it is stopped. Both methods may be called twice."""

    def start(self) -> None:
        """Begin."""
        ...

    def stop(self) -> None:
        """End; returns when nothing of it runs any more."""
        ...


class Loop:
    """A thread that repeats `step` while it has work, then waits. `step` says whether there may be more to do."""

    def __init__(self, name: str, step: Callable[[], bool], wait: Callable[[], None], wake: Callable[[], None]) -> None:
        self._name = name
        self._step = step
        self._wait = wait
        self._wake = wake
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name=f"acai-{self._name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it. Safe to call twice."""
        self._stopped.set()
        self._wake()
        if self._thread is not None:
            self._thread.join(timeout=10)

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                began = time.monotonic()
                while not self._stopped.is_set() and self._step():
                    began = time.monotonic()
                self._stopped.wait(min(1.0, REST * (time.monotonic() - began)))
            except Exception:  # noqa: BLE001 (whatever it was, the loop must go on)
                _log.exception("The %s could not do a step; it will try again.", self._name)
                self._stopped.wait(1.0)
            if not self._stopped.is_set():
                self._wait()


class Periodic:
    """A loop that goes on at its start and then after every interval. What it does is its `step`."""

    def __init__(self, name: str, interval_seconds: float) -> None:
        self._stopped = threading.Event()
        self._loop = Loop(name, self.step, lambda: self._wait(interval_seconds), self._stopped.set)

    def start(self) -> None:
        """Start the loop."""
        self._loop.start()

    def stop(self) -> None:
        """End the loop. Safe to call twice."""
        self._loop.stop()

    def step(self) -> bool:
        """Do some of what there is to do; says whether there may be more."""
        raise NotImplementedError

    def _wait(self, seconds: float) -> None:
        self._stopped.wait(seconds)
