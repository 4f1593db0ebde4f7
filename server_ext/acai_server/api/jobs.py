"""Jobs over HTTP."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.jobs import (
    CreateJob,
    Displays,
    FoundLines,
    Job,
    JobPage,
    JobRequest,
    KilledJobs,
    KillJobs,
    LogPage,
    MissReport,
    RemoveJob,
)
from acai_jupyter.contract.plans import Plan, PlanJob
from acai_jupyter.contract.queries import JobQuery, LogLines, LogQuery, OverviewQuery, SubmissionQuery, WaitQuery
from acai_server.api.waits import until
from acai_server.engine.read_limit import ReadLimit

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acai_jupyter.contract.events import Event
    from acai_jupyter.contract.overviews import Overview
    from acai_server.api.call import Call, Operations

FOLLOW_SECONDS = 0.1
"""How often a live log is looked at while somebody waits for more of it."""


def create_job(call: Call) -> Job:
    """Submit a job."""
    submission = call.queried(SubmissionQuery).submission
    return call.services.engine.submit(call.project, call.user, call.sent(CreateJob), submission)


def plan_job(call: Call) -> Plan:
    """Say what would happen if a job was submitted."""
    found = call.services.engine.planner.plan(call.project, call.user, call.sent(PlanJob))
    return msgspec.structs.replace(found, left=call.services.budgets.listed(call.member).left)


def list_jobs(call: Call) -> JobPage:
    """List jobs, the newest first."""
    query = call.queried(JobQuery)
    return call.services.engine.jobs(call.project, query.before, query.limit)


def get_overview(call: Call) -> Overview:
    """Return a project's jobs at a glance."""
    return call.services.engine.overview(call.project, call.queried(OverviewQuery).limit)


async def get_job(call: Call, in_thread: Callable[..., Awaitable[Any]]) -> Job:
    """Return one job, waiting for its end if asked to."""
    query = call.queried(WaitQuery)
    engine = call.services.engine
    if query.wait_seconds:
        over = partial(in_thread, engine.has_ended, call.project, call.job)
        await until(over, call.following(partial(_is_of_job, call.job)), query.wait_seconds)
    job: Job = await in_thread(engine.job, call.project, call.job)
    return job


def _is_of_job(number: int, event: Event) -> bool:
    """Whether an event can mean that a job has ended; one of another job cannot."""
    return event.subject == f"job {number}" or not event.subject.startswith("job ")


async def get_log(call: Call, in_thread: Callable[..., Awaitable[Any]]) -> LogPage:
    """Return a stretch of a log, waiting for one if asked to."""
    query = call.queried(LogQuery)
    wanted = call.project, call.job, query.offset, query.attempt, query.node
    deadline = time.monotonic() + query.wait_seconds
    while True:
        page: LogPage = await in_thread(call.services.engine.log, *wanted)
        shows_more = query.displays is not None and page.displays > query.displays
        if page.text or page.ended or shows_more or time.monotonic() >= deadline:
            return page
        await asyncio.sleep(FOLLOW_SECONDS)


def get_request(call: Call) -> JobRequest:
    """Return all that is needed to run a job again."""
    return call.services.engine.request(call.project, call.job)


def get_displays(call: Call) -> Displays:
    """Return what a job's cell displayed."""
    return call.services.engine.displays(call.project, call.job)


def explain_miss(call: Call) -> MissReport:
    """Say why no earlier result answered a job."""
    return call.services.engine.explain_miss(call.project, call.job)


def list_log_lines(call: Call) -> FoundLines:
    """List or find lines of a log."""
    query = call.queried(LogLines)
    limit = ReadLimit(has_left=lambda: call.departure.has_left)
    return call.services.engine.log_lines(call.project, call.job, query, limit)


def kill_job(call: Call) -> Job:
    """End a job."""
    return call.services.engine.kill(call.project, call.user, call.job)


def kill_jobs(call: Call) -> KilledJobs:
    """End many jobs."""
    return call.services.engine.kill_jobs(call.project, call.user, call.sent(KillJobs).jobs)


def remove_job(call: Call) -> Job:
    """Delete a job that has ended, or take that back."""
    return call.services.engine.remove(call.project, call.job, undo=call.sent(RemoveJob).undo)


OPERATIONS: Operations = {
    endpoints.CREATE_JOB: create_job,
    endpoints.PLAN_JOB: plan_job,
    endpoints.LIST_JOBS: list_jobs,
    endpoints.GET_OVERVIEW: get_overview,
    endpoints.GET_JOB: get_job,
    endpoints.GET_LOG: get_log,
    endpoints.LIST_LOG_LINES: list_log_lines,
    endpoints.GET_REQUEST: get_request,
    endpoints.GET_DISPLAYS: get_displays,
    endpoints.EXPLAIN_MISS: explain_miss,
    endpoints.KILL_JOB: kill_job,
    endpoints.KILL_JOBS: kill_jobs,
    endpoints.REMOVE_JOB: remove_job,
}
