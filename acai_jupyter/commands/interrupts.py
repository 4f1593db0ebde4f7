"""What interrupts mean to one who watches a job: the first ends the watching, the job goes on; a second ends it."""

from __future__ import annotations

import signal
import threading
import time
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

ActedT = TypeVar("ActedT")

AGAIN_SECONDS = 3.0
"""A second interrupt within this time ends what is watched."""


class Unwatched(KeyboardInterrupt):
    """Somebody ended the watching. It says what goes on and how to see it again, in one line.

    `was_said` says that somebody who looks has read that already.
    """

    def __init__(self, text: str, *, was_said: bool = False) -> None:
        super().__init__(text)
        self.was_said = was_said

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Interrupts:
    """Counts interrupts. Only the first is raised, so that what is said and done because of it comes to its end.

    Where Python does not raise them itself (they are ignored, or somebody else's) this changes nothing.
    """

    def __init__(self) -> None:
        self._is_first = True
        self._others: SimpleQueue[None] = SimpleQueue()  # unlike others, a handler may put into it
        self._is_counting = False
        self._is_held = False
        self._has_come = False
        """While nothing was raised."""

    def __enter__(self) -> Self:
        """Begin."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._take)
            self._is_counting = True
        return self

    def __exit__(self, *error: object) -> None:
        """Leave further ones to Python."""
        if self._is_counting:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def whole(self, act: Callable[[], ActedT]) -> ActedT:
        """Do something that is to be done, or not, but never half: `check` raises an interrupt that comes meanwhile.

        A second one is raised at once: what is done takes too long.
        """
        self._is_held = True
        try:
            return act()
        finally:
            self._is_held = False

    def check(self) -> None:
        """Raise the interrupt that was held back, if there was one."""
        if self._has_come:
            self._has_come = False
            raise KeyboardInterrupt

    def pause(self, seconds: float) -> None:
        """Let time pass between two tries of what is done as a whole; after one, an interrupt ends the trying."""
        time.sleep(seconds)
        self.check()

    def again(self, seconds: float) -> bool:
        """Whether there was another one since the first, or is one within this time."""
        try:
            self._others.get(timeout=seconds)
        except Empty:
            return False
        except KeyboardInterrupt:  # it is not counted here
            return True
        return True

    def _take(self, number: int, frame: Any) -> None:
        is_first, self._is_first = self._is_first, False
        if is_first and self._is_held:
            self._has_come = True
        elif is_first or self._is_held:
            signal.default_int_handler(number, frame)
        else:
            self._others.put(None)


def goes_on(*numbers: int) -> Unwatched:
    """Return what is raised when jobs go on unwatched."""
    some = ", ".join(map(str, numbers))
    return Unwatched(f"jobs {some} go on" if len(numbers) > 1 else f"job {some} goes on", was_said=True)


def has_ended(number: int) -> Unwatched:
    """Return what is raised when only the showing of a log was ended, and the job long before."""
    return Unwatched(f"job {number} has ended", was_said=True)


def again_with(tag: str, prog: str) -> str:
    """Say how to go on with a sweep."""
    return f"Still running as {tag}. Follow again: {prog} attach {tag}. End all: {prog} kill {tag}"


def still_running(number: int, prog: str) -> str:
    """Say how to go on."""
    return f"Still running as job {number}. Follow again: {prog} attach {number}. End it: {prog} kill {number}"
