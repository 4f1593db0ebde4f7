"""Following a sweep until all its jobs have ended."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from acai_jupyter.client.follow import WAIT_SECONDS, in_silence
from acai_jupyter.client.patience import Patience
from acai_jupyter.contract import endpoints

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.sweeps import Sweep

FRESH_SECONDS = 2.0
"""After so long it is told anew how the jobs stand, although none has ended."""
REST_SECONDS = 0.2
"""So often it is told at most, however fast jobs end."""


def follow(client: Client, tag: str, say: Callable[[str], None] = in_silence) -> Iterator[Sweep]:
    """Yield how a sweep stands, again and again, last when all its jobs have ended."""
    patience = Patience(client, say)
    sweep = patience.call(endpoints.GET_SWEEP, sweep=tag)
    while True:
        yield sweep
        if sweep.is_over:
            return
        time.sleep(REST_SECONDS)
        query = {"ended": sweep.ended, "wait_seconds": FRESH_SECONDS}
        sweep = patience.call(endpoints.GET_SWEEP, query=query, sweep=tag)


def wait(client: Client, tag: str, say: Callable[[str], None] = in_silence, *, timeout: float | None = None) -> Sweep:
    """Return the sweep when all its jobs have ended; TimeoutError when that takes longer than `timeout` seconds."""
    patience, deadline = Patience(client, say), None if timeout is None else time.monotonic() + timeout
    while True:
        left = WAIT_SECONDS if deadline is None else min(WAIT_SECONDS, max(0.0, deadline - time.monotonic()))
        sweep = patience.call(endpoints.GET_SWEEP, query={"wait_seconds": left}, sweep=tag)
        if sweep.is_over:
            return sweep
        if deadline is not None and time.monotonic() >= deadline:
            raise TimeoutError(f"{sweep.ended} of the {len(sweep.jobs)} jobs of {tag} have ended after {timeout:g} s")
