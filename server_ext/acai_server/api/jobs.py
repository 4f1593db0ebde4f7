"""Jobs over HTTP."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.jobs import CreateJob, Job, JobPage, LogPage
from acai_jupyter.contract.queries import JobQuery, LogQuery

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acai_server.api.call import Call, Operations

FOLLOW_SECONDS = 0.1
"""How often a live log is looked at while somebody waits for more of it."""


def create_job(call: Call) -> Job:
    """Submit a job."""
    return call.services.engine.submit(call.project, call.user, call.sent(CreateJob))


def list_jobs(call: Call) -> JobPage:
    """List jobs, the newest first."""
    query = call.queried(JobQuery)
    return call.services.engine.jobs(call.project, query.before, query.limit)


def get_job(call: Call) -> Job:
    """Return one job."""
    return call.services.engine.job(call.project, call.job)


async def get_log(call: Call, in_thread: Callable[..., Awaitable[Any]]) -> LogPage:
    """Return a stretch of a log, waiting for one if asked to."""
    query = call.queried(LogQuery)
    deadline = time.monotonic() + query.wait_seconds
    while True:
        page: LogPage = await in_thread(call.services.engine.log, call.project, call.job, query.offset)
        if page.text or page.ended or time.monotonic() >= deadline:
            return page
        await asyncio.sleep(FOLLOW_SECONDS)


OPERATIONS: Operations = {
    endpoints.CREATE_JOB: create_job,
    endpoints.LIST_JOBS: list_jobs,
    endpoints.GET_JOB: get_job,
    endpoints.GET_LOG: get_log,
}
