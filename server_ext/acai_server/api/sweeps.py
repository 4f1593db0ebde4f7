"""Sweeps over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.queries import SubmissionQuery, SweepQuery
from acai_jupyter.contract.sweeps import CreateSweep, Sweep, SweepTable
from acai_server.api.waits import until

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acai_server.api.call import Call, Operations


def create_sweep(call: Call) -> Sweep:
    """Submit a job for each combination of values."""
    submission = call.queried(SubmissionQuery).submission
    return call.services.engine.submit_sweep(call.project, call.user, call.sent(CreateSweep), submission)


async def get_sweep(call: Call, in_thread: Callable[..., Awaitable[Any]]) -> Sweep:
    """Return how the jobs of a sweep stand, waiting for more of them to end if asked to."""
    query, sweeps, tag = call.queried(SweepQuery), call.services.engine.sweeps, call.params["sweep"]

    async def has_changed() -> bool:
        count, ended = await in_thread(sweeps.counts, call.project, tag)
        return bool(ended == count or (query.ended is not None and ended > query.ended))

    if query.wait_seconds:
        await until(has_changed, call.following(), query.wait_seconds)
    found: Sweep = await in_thread(sweeps.find, call.project, tag)
    return found


def get_sweep_table(call: Call) -> SweepTable:
    """Return the jobs of a sweep with what they differ in."""
    return call.services.engine.sweeps.table(call.project, call.params["sweep"])


def kill_sweep(call: Call) -> Sweep:
    """End all jobs of a sweep."""
    return call.services.engine.kill_sweep(call.project, call.user, call.params["sweep"])


OPERATIONS: Operations = {
    endpoints.CREATE_SWEEP: create_sweep,
    endpoints.GET_SWEEP: get_sweep,
    endpoints.GET_SWEEP_TABLE: get_sweep_table,
    endpoints.KILL_SWEEP: kill_sweep,
}
