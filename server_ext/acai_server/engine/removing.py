"""Deleting jobs that have ended, and undoing it.

The job stays as a tombstone, and what it made and the action that made it stay as they are. What is left of a job that
nobody brought back goes with the garbage: `lake/old_jobs.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import Conflict

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import JobId, ProjectId
    from acai_jupyter.contract.jobs import Job
    from acai_server.db.database import Database
    from acai_server.db.work import Work


def remove(database: Database, project: ProjectId, number: int, *, undo: bool) -> Job:
    """Delete a job that has ended, or bring it back."""
    with database.writing() as work:
        job = work.jobs.find(project, number)
        if undo:
            _bring_back(work, project, job.id, number)
        else:
            _bury(work, project, job.id, number)
        return work.shown_jobs.find(project, number)


def _bury(work: Work, project: ProjectId, job: JobId, number: int) -> None:
    stored = work.jobs.by_id(job)
    if stored.ended_at is None:
        raise Conflict(reason=f"job {number} is {stored.state.value}; end it first with: acai kill {number}")
    if work.jobs.bury(job, work.clock.now()):
        work.events.record(project, "job_removed", f"job {number}")


def _bring_back(work: Work, project: ProjectId, job: JobId, number: int) -> None:
    if work.jobs.by_id(job).deleted_at is None:
        return
    if not work.jobs.bring_back(job):
        raise Conflict(reason=f"job {number} was deleted too long ago; its log is gone")
    work.events.record(project, "job_restored", f"job {number}")
