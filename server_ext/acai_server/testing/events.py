"""What an event bus owes."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.events.protocol import EventBus

PATIENCE_SECONDS = 20.0


class Listener:
    """Counts its wake-ups."""

    def __init__(self) -> None:
        self.count = 0
        self._changed = threading.Condition()

    def __call__(self) -> None:
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def heard_more_than(self, count: int) -> bool:
        """Wait for a wake-up beyond so many; says whether it came."""
        with self._changed:
            return self._changed.wait_for(lambda: self.count > count, PATIENCE_SECONDS)


class EventBusSuite:
    """Derive from this with two fixtures: `bus`, started, and `tell`, which has an event committed somewhere."""

    @pytest.fixture
    def bus(self) -> EventBus:
        raise NotImplementedError

    @pytest.fixture
    def tell(self) -> Callable[[], None]:
        raise NotImplementedError

    def test_a_listener_is_woken_by_an_event(self, bus: EventBus, tell: Callable[[], None]) -> None:
        listener = Listener()
        bus.listen(listener)
        tell()
        assert listener.heard_more_than(0)

    def test_every_listener_is_woken(self, bus: EventBus, tell: Callable[[], None]) -> None:
        listeners = [Listener() for _ in range(20)]
        for listener in listeners:
            bus.listen(listener)
        tell()
        assert all(listener.heard_more_than(0) for listener in listeners)

    def test_after_the_last_event_there_comes_a_wake_up(self, bus: EventBus, tell: Callable[[], None]) -> None:
        listener = Listener()
        bus.listen(listener)
        for _ in range(10):
            before = listener.count
            tell()
            assert listener.heard_more_than(before)

    def test_this_process_is_woken_by_itself_too(self, bus: EventBus) -> None:
        listener = Listener()
        bus.listen(listener)
        bus.wake()
        assert listener.heard_more_than(0)

    def test_a_listener_that_ended_hears_no_more(self, bus: EventBus) -> None:
        ended, stays = Listener(), Listener()
        end = bus.listen(ended)
        bus.listen(stays)
        end()
        end()
        bus.wake()
        assert stays.heard_more_than(0)
        assert ended.count == 0

    def test_a_listener_may_end_itself_while_it_is_woken(self, bus: EventBus) -> None:
        ends: list[Callable[[], None]] = []
        heard = threading.Event()

        def listener() -> None:
            ends[0]()
            heard.set()

        ends.append(bus.listen(listener))
        bus.wake()
        assert heard.wait(PATIENCE_SECONDS)

    def test_stopping_wakes_who_still_waits(self, bus: EventBus) -> None:
        listener = Listener()
        bus.listen(listener)
        bus.stop()
        assert listener.heard_more_than(0)

    def test_it_can_be_started_and_stopped_twice(self, bus: EventBus) -> None:
        bus.start()
        bus.stop()
        bus.stop()

    def test_many_threads_may_listen_and_wake(self, bus: EventBus) -> None:
        def use(_: int) -> bool:
            listener = Listener()
            end = bus.listen(listener)
            bus.wake()
            heard = listener.heard_more_than(0)
            end()
            return heard

        with ThreadPoolExecutor(16) as pool:
            assert all(pool.map(use, range(100)))
