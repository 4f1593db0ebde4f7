"""`kill` and `rm-job`: ending jobs, and deleting what is left of them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acai_jupyter.commands import job_cards, job_sentences, sweeps
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.views import view_of
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.contract.jobs import RemoveJob
from acai_jupyter.contract.states import END_STATES

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from acai_jupyter.client.http import Client
    from acai_jupyter.commands.views import View
    from acai_jupyter.contract.jobs import Job

MOST_SECONDS = 8.0
"""So long an end is waited for; a program is given about ten seconds to follow."""


def kill(client: Client, arguments: Namespace) -> Result:
    """End jobs or sweeps, and wait a moment until that is so."""
    if tags := sweeps.tags_among(arguments.numbers):
        return sweeps.kill(client, arguments, tags)
    return end(client, arguments.numbers, view_of(arguments))


def end(client: Client, numbers: Sequence[int], view: View) -> Result:
    """End jobs; says of each whether it has ended."""
    asked = _each(numbers, lambda number: client.call(endpoints.KILL_JOB, job=number))
    deadline = time.monotonic() + MOST_SECONDS
    now = {number: _soon(client, job, deadline) for number, job in asked.jobs.items()}
    return asked.told(client, {number: _ending(job, view) for number, job in now.items()}, now)


def remove(client: Client, arguments: Namespace) -> Result:
    """Delete jobs that have ended, or bring them back."""
    wanted, prog = RemoveJob(undo=arguments.undo), view_of(arguments).prog
    done = _each(arguments.numbers, lambda number: client.call(endpoints.REMOVE_JOB, wanted, job=number))
    lines = {number: _removed(job, prog) for number, job in done.jobs.items()}
    return done.told(client, lines, done.jobs)


@dataclass
class _Done:
    """What was done to each of several jobs, or why it was not."""

    jobs: dict[int, Job]
    errors: dict[int, AcaiError]

    def told(self, client: Client, lines: dict[int, str], jobs: dict[int, Job]) -> Result:
        """Say it of each. What went wrong with all of them is an error; with some, a failure."""
        if self.errors and not jobs:
            raise _joined(list(self.errors.values()))
        refused = {number: error.message for number, error in self.errors.items()}
        text = "\n".join(text for _, text in sorted((lines | refused).items()))
        found = list(jobs.values())
        if len(found) == 1 and not refused:
            return job_cards.result(found[0], text, client)
        return Result(text, found, "job-list", failed=bool(refused))


def _each(numbers: Sequence[int], act: Callable[[int], Job]) -> _Done:
    done = _Done({}, {})
    for number in dict.fromkeys(numbers):
        try:
            done.jobs[number] = act(number)
        except AcaiError as error:
            done.errors[number] = error
    return done


def _joined(errors: list[AcaiError]) -> AcaiError:
    first = errors[0]
    return first if len(errors) == 1 else type(first)(" ".join(error.message for error in errors))


def _soon(client: Client, job: Job, deadline: float) -> Job:
    left = max(0.0, deadline - time.monotonic())
    if job.state in END_STATES:
        return job
    return client.call(endpoints.GET_JOB, query={"wait_seconds": left}, job=job.number)


def _ending(job: Job, view: View) -> str:
    if job.state in END_STATES:
        return job_sentences.line(job, view.prog)
    return f"job {job.number} is being ended: its program was asked to, and has a moment to follow."


def _removed(job: Job, prog: str) -> str:
    if job.deleted_at is None:
        return f"job {job.number} is back."
    return f"job {job.number} was deleted. Bring it back: {prog} rm-job --undo {job.number}"
