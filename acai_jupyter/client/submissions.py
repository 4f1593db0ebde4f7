"""Giving jobs to a server: each submission once, also when its answer was lost on the way and it is sent again."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from acai_jupyter.client.follow import in_silence
from acai_jupyter.client.patience import Patience, Watch
from acai_jupyter.contract import endpoints

if TYPE_CHECKING:
    from collections.abc import Callable

    import msgspec

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.endpoints import Endpoint
    from acai_jupyter.contract.jobs import CreateJob, Job
    from acai_jupyter.contract.sweeps import CreateSweep, Sweep

MOST_SECONDS = 60.0
"""So long a server that went away in the middle is waited for."""
GivenT = TypeVar("GivenT")


class Submitting:
    """Gives jobs to a server. `pause` passes time, and may raise what ends the trying."""

    def __init__(
        self, client: Client, say: Callable[[str], None] = in_silence, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._client = client
        self._patience = Patience(client, say, Watch(pause=pause), most_seconds=MOST_SECONDS)

    def job(self, request: CreateJob) -> Job:
        """Submit a job."""
        return self._once(endpoints.CREATE_JOB, request)

    def sweep(self, wanted: CreateSweep) -> Sweep:
        """Submit a group of jobs."""
        return self._once(endpoints.CREATE_SWEEP, wanted)

    def _once(self, endpoint: Endpoint[GivenT], body: msgspec.Struct) -> GivenT:
        query = {"submission": uuid4().hex}
        return self._patience.ask(lambda: self._client.call(endpoint, body, query=query))
