"""How long a server that is away is asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acai_jupyter.client.connection import Connection
from acai_jupyter.client.http import Client
from acai_jupyter.client.patience import GONE, Patience, Watch
from acai_jupyter.contract.errors import NotFound, ServerUnreachable

if TYPE_CHECKING:
    from collections.abc import Callable


class Desk:
    """Somebody who asks, with a clock that goes on only while they pause."""

    def __init__(self) -> None:
        self.seconds, self.asked = 0.0, 0
        self.said: list[tuple[float, str]] = []
        client = Client(Connection("http://127.0.0.1:9", "token"))
        self.patience = Patience(client, self._hear, Watch(lambda: self.seconds, self._pause))

    def ask(self, answer: Callable[[], int]) -> int:
        def question() -> int:
            self.asked += 1
            return answer()

        return self.patience.ask(question)

    def _pause(self, seconds: float) -> None:
        self.seconds += seconds

    def _hear(self, text: str) -> None:
        self.said.append((self.seconds, text))


def away() -> int:
    raise ServerUnreachable(where="")


def test_a_server_that_stays_away_is_given_up_after_ten_minutes_and_that_was_said() -> None:
    desk = Desk()
    with pytest.raises(ServerUnreachable):
        desk.ask(away)
    assert 600 < desk.seconds < 605
    ((when, text),) = desk.said
    assert (2 < when < 5, text) == (True, GONE)
    assert 200 < desk.asked < 400


def test_a_server_that_comes_back_in_time_answers() -> None:
    desk = Desk()
    assert desk.ask(lambda: 7 if desk.seconds > 590 else away()) == 7
    assert desk.ask(lambda: 8) == 8


def test_what_does_not_pass_by_itself_is_not_asked_again() -> None:
    desk = Desk()

    def gone() -> int:
        raise NotFound(path="it is not there")

    with pytest.raises(NotFound):
        desk.ask(gone)
    assert (desk.asked, desk.seconds) == (1, 0)
