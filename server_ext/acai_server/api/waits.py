"""Answers that come as soon as something is so: looked at anew with every event, not in between."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from acai_server.api.events import Waker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acai_server.events.service import Events

AWAKE_SECONDS = 0.01
"""Whoever waits looks no more often: many jobs may be told of at once."""


async def until(is_so: Callable[[], Awaitable[bool]], events: Events, wait_seconds: float) -> None:
    """Return when it is so, or when the time is over."""
    deadline = time.monotonic() + wait_seconds
    waker = Waker(events)
    try:
        while True:
            waker.reset()
            left = deadline - time.monotonic()
            if await is_so() or left <= 0:
                return
            await waker.wait(left)
            await asyncio.sleep(AWAKE_SECONDS)
    finally:
        waker.close()
