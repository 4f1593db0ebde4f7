"""What is tried again, how often, and after how long."""

import random
import time
from typing import Callable, NamedTuple, TypeVar

from acai_jupyter.transfer.errors import Refused, TransferError, Unreachable, WrongBytes

T = TypeVar("T")

_TRIED_AGAIN = {408, 425, 429}
_FINAL = {501, 505, 507}
"""Answers of a server that will say the same next time: it cannot, or it is full."""
_SERVER_ERROR = 500


def may_be_retried(error: TransferError) -> bool:
    """Say whether the same request can have a better end next time."""
    if isinstance(error, Refused):
        return error.status in _TRIED_AGAIN or (error.status >= _SERVER_ERROR and error.status not in _FINAL)
    return isinstance(error, (Unreachable, WrongBytes))


class Retrying(NamedTuple):
    """How often something is tried, and how long to wait in between: twice as long each time, half of it by chance."""

    tries: int = 5
    first_seconds: float = 0.25
    longest_seconds: float = 10.0
    sleep: Callable[[float], object] = time.sleep
    chance: Callable[[], float] = random.random

    def attempts(self) -> "Attempts":
        """Return a counter for one thing that is tried."""
        return Attempts(self)

    def call(self, work: Callable[[], T]) -> T:
        """Do something until it succeeds, or raise its last error."""
        attempts = self.attempts()
        while True:
            try:
                return work()
            except TransferError as error:
                attempts.failed(error)

    def pause(self, failures: int) -> float:
        """Return how long to wait after so many failures in a row."""
        longest: float = min(self.first_seconds * 2 ** (failures - 1), self.longest_seconds)
        return longest * (1 + self.chance()) / 2


class Attempts:
    """Failures in a row of one thing that is tried."""

    def __init__(self, retrying: Retrying) -> None:
        self._retrying = retrying
        self._failures = 0

    def progressed(self) -> None:
        """Count anew: a part of it was done."""
        self._failures = 0

    def failed(self, error: TransferError) -> None:
        """Wait before the next try; raise the error when there is to be none."""
        self._failures += 1
        if self._failures >= self._retrying.tries or not may_be_retried(error):
            raise error
        self._retrying.sleep(self._retrying.pause(self._failures))


DEFAULT = Retrying()
ONCE = Retrying(tries=1)
