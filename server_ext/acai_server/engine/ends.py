"""How attempts end, and what becomes of their jobs: for good, or once more.

Whoever finds out that an attempt is over (the recorder, the launcher, the monitor) says what was seen; here, inside the
same transaction, it is decided what that means.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from acai_jupyter.contract.states import JobState

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import AttemptId, JobId
    from acai_server.db.jobs import StoredJob
    from acai_server.db.work import Work

LONGEST_PAUSE_SECONDS = 300.0
MIB = 1024**2


@dataclass(frozen=True)
class End:
    """What was seen of an attempt's end: FINISHED, FAILED (the program's fault) or CRASHED (the machine's)."""

    state: JobState
    reason: str = ""
    ran_out_of_memory: bool = False
    run_seconds: float = 0.0
    output: str | None = None
    """The file set it made, for those who wait."""


def conclude(work: Work, job: JobId, attempt: AttemptId, end: End) -> JobState | None:
    """Move a job to its end, and from there back into the queue if it is to be tried again; tells of each step.

    Returns where it is now, or None when the attempt had been concluded before: then nothing is changed. What a failed
    program left is worth keeping only when it stays FAILED.
    """
    now, stored = work.clock.now(), work.jobs.by_id(job)
    last = work.attempts.last(job)
    if last is None or last.id != attempt:
        return None
    state, reason, memory = _meaning(work, stored, last.memory_bytes, end)
    if state is JobState.FINISHED:  # its agent's last words may not have been read; the record says that it got so far
        work.jobs.advance(job, JobState.UPLOADING, "", now, attempt)
    if not work.jobs.advance(job, state, reason, now, attempt):
        return None
    told = {"state": state.value, "output": end.output, "attempt": last.number}
    work.events.record(stored.project_id, f"job_{state.value}", f"job {stored.number}", **told)
    if not _again(stored, state, last.number, end, memory):
        return state
    wait = _pause_seconds(last.number) if memory is None else 0.0
    again = now + timedelta(seconds=wait)
    work.jobs.retry(job, reason, now, not_before=again, memory_bytes=memory or stored.memory_bytes)
    work.events.record(stored.project_id, "job_queued", f"job {stored.number}", state=JobState.QUEUED.value)
    return JobState.QUEUED


def size(amount: int) -> str:
    """Return an amount of memory for people."""
    mib = amount / MIB
    return f"{mib / 1024:.4g} GB" if mib >= 1024 else f"{mib:.4g} MB"  # noqa: PLR2004 (MB in a GB)


def _meaning(work: Work, job: StoredJob, had: int, end: End) -> tuple[JobState, str, int | None]:
    """The state, the reason, and how much memory a further attempt may have, if more of it is what is missing."""
    if end.state is not JobState.FINISHED and job.kill_asked_at is not None:
        return JobState.KILLED, work.jobs.why_killed(job.id)[0], None
    if end.state is not JobState.FAILED or not end.ran_out_of_memory:
        return end.state, end.reason, None
    most = job.request.resources.max_memory_bytes
    more = None if most is None or most <= had else min(2 * had, most)
    reason = f"ran out of memory at {size(had)} after {_seconds(end.run_seconds)}"
    tries = job.request.retries
    if more is not None and most is not None and work.attempts.count(job.id) <= tries:
        return end.state, f"{reason}; it is being tried again with {size(more)} (your limit is {size(most)})", more
    return end.state, f"{reason}; give it more with --memory, or let it have more with --max-memory", None


def _again(job: StoredJob, state: JobState, tries: int, end: End, memory: int | None) -> bool:
    if tries > job.request.retries:
        return False
    if state is JobState.CRASHED or memory is not None:
        return True
    wanted = job.request.retry_failed or job.request.nodes > 1
    return state is JobState.FAILED and wanted and not end.ran_out_of_memory


def _pause_seconds(tries: int) -> float:
    """A second before the second attempt, then four times as long each: a machine that is broken is left alone."""
    return min(LONGEST_PAUSE_SECONDS, 4.0 ** (tries - 1))


def _seconds(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
