"""Asking for the end of jobs: one that waits ends at once, one that lives as soon as its program has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.jobs import KilledJobs
from acai_jupyter.contract.states import JobState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_jupyter.contract.ids import JobNumber, ProjectId, UserId
    from acai_server.db.jobs import StoredJob
    from acai_server.db.work import Work


def ask(work: Work, job: StoredJob, user: UserId, why: str | None = None) -> bool:
    """Note that a job is to end, as somebody wants or because of something; False when it has ended already."""
    now = work.clock.now()
    if not work.jobs.ask_to_kill(job.id, user, now, why) and work.jobs.by_id(job.id).ended_at is not None:
        return False
    reason, _ = work.jobs.why_killed(job.id)
    if job.state is JobState.QUEUED and work.jobs.advance(job.id, JobState.KILLED, reason, now):
        work.events.record(job.project_id, "job_killed", f"job {job.number}", state=JobState.KILLED.value)
    return True


def ask_tagged(work: Work, project: ProjectId, user: UserId, tag: str) -> int:
    """Note that all jobs with a tag are to end that have not; returns how many these are."""
    found = work.sweeps.jobs(project, tag, open_only=True)
    for job in found:
        ask(work, work.jobs.by_id(job), user)
    return len(found)


def ask_all(work: Work, project: ProjectId, numbers: Sequence[int], user: UserId) -> KilledJobs:
    """Note that jobs are to end; those that have ended stay as they are."""
    asked: list[JobNumber] = []
    ended: list[JobNumber] = []
    for number in dict.fromkeys(numbers):
        job = work.jobs.find(project, number)
        (asked if ask(work, job, user) else ended).append(job.number)
    return KilledJobs(asked, ended)
