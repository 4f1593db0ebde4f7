"""`why`: why a job waits, what it does now, how it ended; and why no earlier result answered it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from acai_jupyter.commands import job_sentences
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import columns, duration
from acai_jupyter.commands.views import view_of
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.states import END_STATES, JobState

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.jobs import Job, MissReport, Waiting

SHOWN = 60
"""So many characters of a value are shown."""


def why(client: Client, arguments: Namespace) -> Result:
    """Say in a sentence why a job is where it is; with `--miss`, or where that was asked for, why it had to run."""
    job = client.call(endpoints.GET_JOB, job=arguments.number)
    if arguments.miss:
        asked = client.call(endpoints.EXPLAIN_MISS, job=job.number)
        return Result(missed(asked), asked, "miss")
    text = sentence(job, view_of(arguments).prog)
    report = None if job.answered_by is not None else _unasked(client, job)
    value = {"number": job.number, "state": job.state, "sentence": text, "waiting": job.waiting, "miss": report}
    return Result(f"{text}\n{missed(report)}" if report else text, value, "why")


def sentence(job: Job, prog: str = "acai", now: datetime | None = None) -> str:
    """Say why a job is where it is."""
    if job.state is JobState.QUEUED:
        found = f"job {job.number} is queued. {_waits(job.waiting, now)}" if job.waiting else f"job {job.number} waits."
        return one_line(found)
    return job_sentences.line(job, prog) if job.state in END_STATES else job_sentences.does(job, now)


def missed(report: MissReport) -> str:
    """Say what differs from the nearest earlier job, each on its line."""
    head = ["what differs", f"job {report.nearest}", "now"]
    rows = [[miss.what, miss.earlier[:SHOWN], miss.now[:SHOWN]] for miss in report.differences]
    listed = [columns([head, *rows], "<<<")] if rows else []
    return "\n".join([one_line(report.sentence), *listed])


def _unasked(client: Client, job: Job) -> MissReport | None:
    """A job that an earlier result could have answered says by itself why none did."""
    if not client.call(endpoints.GET_REQUEST, job=job.number).request.cached:
        return None
    return client.call(endpoints.EXPLAIN_MISS, job=job.number)


def _waits(waiting: Waiting, now: datetime | None) -> str:
    parts = [waiting.sentence, f"It is number {waiting.place} in its queue"]
    if waiting.starts_at is None:
        return f"{' '.join(parts)}."
    seconds = (waiting.starts_at - (now or datetime.now(UTC))).total_seconds()
    soon = f"in about {duration(seconds)}" if seconds >= 1 else "at any moment"
    return f"{' '.join(parts)} and will probably start {soon}."
