"""`job`: all that people want to know of one job, on a card."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.commands import job_sentences, markup, sweeps
from acai_jupyter.commands.metadata import shown
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.snapshots import THINGS, WIDEST, of_job, project_of
from acai_jupyter.commands.units import ago, columns, duration, money, size
from acai_jupyter.commands.views import view_of
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.states import END_STATES

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.jobs import Attempt, Job


def job(client: Client, arguments: Namespace) -> Result:
    """Show one job, or the table of a sweep."""
    if isinstance(arguments.number, str):
        return sweeps.show(client, arguments.number)
    found = client.call(endpoints.GET_JOB, job=arguments.number)
    said = text(found, view_of(arguments).prog)
    if not arguments.json:
        return result(found, said, client, html=lambda: html(found, view_of(arguments).prog))
    asked = client.call(endpoints.GET_REQUEST, job=arguments.number).request
    return Result(said, {**msgspec.to_builtins(found), "captured": asked.captured}, "job")


def result(
    job: Job,
    said: str,
    client: Client,
    *,
    html: Callable[[], str] | None = None,
    failed: bool = False,
    log_is_below: bool = False,
) -> Result:
    """Answer with a job, whose live view a notebook shows where it can. A cell may show the log itself, below."""
    shown = html or (lambda: briefly(job, said))
    return Result(
        said,
        job,
        "job",
        failed,
        html=shown,
        snapshot=lambda: of_job(job, project_of(client), log_is_below=log_is_below),
    )


def with_notes(shown: Result, job: Job, notes: list[str]) -> Result:
    """Say more below what was said of a job."""
    said = "\n".join([shown.text, *notes])
    before = shown.snapshot or (dict)
    return replace(
        shown, text=said, html=lambda: briefly(job, said), snapshot=lambda: before() | {"notes": notes[:THINGS]}
    )


def briefly(job: Job, said: str) -> str:
    """Write lines about a job for a notebook; the first says how it stands."""
    first, *others = said.split("\n")
    return markup.block("job", markup.title(first, markup.mark(job.state)), *map(markup.below, others))


def text(job: Job, prog: str = "acai") -> str:
    """Write the card of a job: how it stands, and below that what belongs to it."""
    return "\n".join([job_sentences.line(job, prog), columns([[f"  {name}", said] for name, said in _rows(job)], "<<")])


def html(job: Job, prog: str = "acai") -> str:
    """Write the card of a job for a notebook."""
    return markup.block("job", heading(job, prog), markup.facts(_rows(job)))


def heading(job: Job, prog: str = "acai") -> str:
    """Write how a job stands for a notebook."""
    return markup.title(job_sentences.line(job, prog), markup.mark(job.state))


def _rows(job: Job) -> Iterator[tuple[str, str]]:
    """What there is to say, and only that."""
    cost = job_sentences.cost(job)
    last = job.attempts[-1] if job.attempts else None
    found = [
        ("name", job.name),
        ("description", _short(job.description)),
        ("submitted", f"{ago(job.created_at)} by {job.user}"),
        ("command", _short(job_sentences.command(job))),
        ("code", job.code or ""),
        ("variables", _variables(job)),
        ("files", job_sentences.flow(job) if job.inputs or job.output else ""),
        ("partial outputs", job.partial or ""),
        ("answered by", f"job {job.answered_by}" if job.answered_by else ""),
        ("parameters", ", ".join(f"{key}={shown('', value)}" for key, value in job.parameters.items())),
        ("tags", ", ".join(job.tags)),
        ("asked for", _asked(job)),
        ("machine", last.machine if last else ""),
        ("limits held", ", ".join(last.held) if last else ""),
        ("used", _used(last)),
        ("cost", money(cost) if cost is not None else ""),
        ("expected", job_sentences.expected(job)),
        ("spare memory", job_sentences.spared(job)),
        ("deleted", ago(job.deleted_at) if job.deleted_at else ""),
    ]
    yield from ((name, said) for name, said in found if said)
    if len(job.attempts) > 1 or job.state not in END_STATES:
        yield from ((f"attempt {one.number}", _attempt(one)) for one in job.attempts)
    yield from (("warning", said) for said in (last.warnings if last else ()))
    yield from (("no tag", said) for said in job_sentences.misses(job))


def _variables(job: Job) -> str:
    received = f"received {', '.join(job.receive)}" if job.receive else ""
    return ", ".join(filter(None, [job.variables, received]))


def _short(said: str) -> str:
    return said if len(said) <= WIDEST else f"{said[:WIDEST]}…"


def _asked(job: Job) -> str:
    asked = job.resources
    most = f" (at most {size(asked.max_memory_bytes)})" if asked.max_memory_bytes else ""
    of_type = f" ({asked.gpu_type})" if asked.gpu_type else ""
    gpus = f", {asked.gpus} GPU{'s' if asked.gpus > 1 else ''}{of_type}" if asked.gpus else ""
    priority = f", priority {job.priority}" if job.priority else ""
    return f"{asked.vcpu:g} vCPU, {size(asked.memory_bytes)}{most}{gpus}{priority}"


def _used(attempt: Attempt | None) -> str:
    """What the last attempt used of what it had."""
    used = attempt.usage if attempt else None
    if attempt is None or used is None:
        return ""
    parts = [f"{duration(used.cpu_seconds)} of CPU"] if used.cpu_seconds is not None else []
    if used.max_memory_bytes is not None:
        parts.append(f"at most {size(used.max_memory_bytes)} of {size(attempt.memory_bytes)} memory")
    parts += [f"{size(used.max_disk_bytes)} of disk"] if used.max_disk_bytes else []
    parts += [f"program {duration(attempt.run_seconds)}"] if attempt.run_seconds is not None else []
    return ", ".join(parts)


def _attempt(attempt: Attempt) -> str:
    """Its states, and how long it was in each."""
    steps = attempt.transitions
    parts = [
        f"{step.state.value} {duration(max(0.0, (then.at - step.at).total_seconds()))}"
        for step, then in pairwise(steps)
    ]
    if steps:
        last = steps[-1]
        parts.append(
            last.state.value + (f" ({last.reason})" if last.reason else f" since {last.at.astimezone():%H:%M:%S}")
        )
    return f"{size(attempt.memory_bytes)} · {', '.join(parts)}"
