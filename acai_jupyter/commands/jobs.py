"""`submit`: giving jobs to the server."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from acai_jupyter.client.code import told, told_much
from acai_jupyter.client.follow import in_silence
from acai_jupyter.commands import (
    job_cards,
    job_requests,
    job_sentences,
    plans,
    programs,
    provisioning,
    submitting,
    sweeps,
)
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.views import view_of
from acai_jupyter.contract.states import END_STATES

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client
    from acai_jupyter.commands.programs import Program
    from acai_jupyter.commands.results import Result
    from acai_jupyter.contract.jobs import Job


def submit(client: Client, arguments: Namespace) -> Result:
    """Submit a script, a notebook or a command as a job, and return at once."""
    request, swept = job_requests.wanted(arguments, client.status.limits), sweeps.values_of(arguments)
    view = view_of(arguments)
    say = in_silence if getattr(arguments, "in_python", False) else view.say
    request = provisioning.chosen_for(client, arguments, request, say)
    program, prog = programs.of_line(client, arguments), view.prog
    wanted = provisioning.chosen_for(client, arguments, job_requests.with_program(request, program), say)
    if arguments.plan:
        return plans.plan(client, wanted, swept, plans.Told.of(arguments, program))
    if swept:
        told = sweeps.told(client, submitting.detached(submitting.sweep(client, wanted, swept, say), prog), prog)
        return replace(told, text="\n".join(filter(None, [told.text, left_out(program)])))
    job = submitting.detached(submitting.job(client, wanted, say), prog)
    return job_cards.result(job, "\n".join(filter(None, [_line(job, prog), left_out(program)])), client)


def _line(job: Job, prog: str) -> str:
    """Say what became of it, and how to see more."""
    if job.state in END_STATES:  # an earlier result answered it
        return job_sentences.line(job, prog)
    number, state = job.number, job.state.value
    return f"job {number} {state} · why: {prog} why {number} · log: {prog} logs -f {number}"


def left_out(program: Program) -> str:
    """Say what of the code stayed behind, and what is most of it where it is much; else nothing."""
    code = program.code
    return "" if code is None else "\n".join(filter(None, [told(code.left_out), told_much(code.contents)]))
