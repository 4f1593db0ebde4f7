"""Answers that come as soon as something is true: checked after events that concern it, not in between."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acai_server.api.feed import Follower

AWAKE_SECONDS = 0.01
"""Pause between two checks: many jobs may end at once."""


async def until(is_so: Callable[[], Awaitable[bool]], follower: Follower, wait_seconds: float) -> None:
    """Return when it is true, or when the time is over; the follower is closed then."""
    deadline = time.monotonic() + wait_seconds
    try:
        while True:
            left = deadline - time.monotonic()
            if await is_so() or left <= 0:
                return
            await follower.wait(left)
            await asyncio.sleep(AWAKE_SECONDS)
    finally:
        follower.close()
