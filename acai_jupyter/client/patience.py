"""Asking on while the server is away: it is being started again, or this computer was asleep."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from acai_jupyter.contract.errors import (
    AcaiError,
    DatabaseBusy,
    NotReady,
    ServerUnreachable,
    StoreUnavailable,
    Unavailable,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.endpoints import Endpoint

ResponseT = TypeVar("ResponseT")
AWAY = (ServerUnreachable, NotReady, DatabaseBusy, StoreUnavailable)
"""What passes by itself."""
MOST_SECONDS = 600.0
TOLD_SECONDS = 2.0
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0
LOOK_SECONDS = 2.0
"""So long somebody who interrupted waits for an answer."""
GONE = "The server does not answer. This goes on when it does."


def is_away(error: Unavailable) -> bool:
    """Whether asking again later can help; what lies between may answer for a server that is away."""
    return isinstance(error, AWAY) or type(error) is Unavailable


class Watch(NamedTuple):
    """How time is read and passed."""

    seconds: Callable[[], float] = time.monotonic
    pause: Callable[[float], None] = time.sleep


class Patience:
    """Calls that change nothing when they are made twice. One that fails as the server is away is made again."""

    def __init__(
        self,
        client: Client,
        say: Callable[[str], None],
        watch: Watch | None = None,
        *,
        most_seconds: float = MOST_SECONDS,
    ) -> None:
        self._client = client
        self._most_seconds = most_seconds
        self._say = say
        self._watch = watch or Watch()

    def call(self, endpoint: Endpoint[ResponseT], *, query: Any = None, **params: Any) -> ResponseT:
        """Call an endpoint, as often as it takes."""
        return self.ask(lambda: self._client.call(endpoint, query=query, **params))

    def ask(self, question: Callable[[], ResponseT]) -> ResponseT:
        """Ask, as often as it takes; says once that it takes long."""
        began, pause, is_told = self._watch.seconds(), _FIRST_PAUSE, False
        while True:
            try:
                return question()
            except Unavailable as error:
                away = self._watch.seconds() - began
                if not is_away(error) or away > self._most_seconds:
                    raise
                if away > TOLD_SECONDS and not is_told:
                    self._say(GONE)
                    is_told = True
            self._watch.pause(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
            with suppress(ServerUnreachable):
                self._client.reconnect()


def soon(question: Callable[[], ResponseT]) -> ResponseT | None:
    """Return what is answered within a moment, else nothing: nobody waits for a server that is away."""
    answers: SimpleQueue[ResponseT | None] = SimpleQueue()

    def look() -> None:
        found = None
        with suppress(AcaiError):
            found = question()
        answers.put(found)

    threading.Thread(target=look, daemon=True).start()
    try:
        return answers.get(timeout=LOOK_SECONDS)
    except Empty:
        return None
