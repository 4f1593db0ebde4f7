"""What a watched job brings back: said below its line, and put among the variables of the notebook."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acai_jupyter.commands import job_cards, variables
from acai_jupyter.contract.jobs import Job
from acai_jupyter.contract.states import JobState

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client
    from acai_jupyter.commands.results import Result
    from acai_jupyter.commands.views import View


def brought_back(client: Client, shown: Result, arguments: Namespace, view: View) -> Result:
    """Bring back the variables of a job that was shown to its end. What does not come is a failure: others need it."""
    job = shown.value
    if not isinstance(job, Job) or not job.receive or job.state is not JobState.FINISHED:
        return shown
    if view.names is None:
        where = f"{', '.join(job.receive)} can be had in a notebook: %acai attach {job.number}"
        return job_cards.with_notes(shown, job, [where])
    received = variables.receive(client, job, trust=arguments.trust, limit=variables.limit_of(arguments))
    view.names.update(received.values)
    lines = [variables.line("received", received.kept)] if received.kept else []
    lines += [f"not received: {problem}" for problem in received.problems]
    failed = shown.failed or bool(received.problems)
    return job_cards.with_notes(replace(shown, failed=failed), job, lines)
