"""`logs`, `attach` and `wait`: watching a job until it has ended."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from acai_jupyter.client.follow import Following, wait, whole_log
from acai_jupyter.client.patience import soon
from acai_jupyter.commands import job_cards, job_sentences, receiving, submitting, sweeps, terminal
from acai_jupyter.commands.displays import shown_of
from acai_jupyter.commands.ending import end
from acai_jupyter.commands.interrupts import AGAIN_SECONDS, Interrupts, goes_on, has_ended, still_running
from acai_jupyter.commands.job_sentences import misses
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.views import LogOutput, view_of
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest, NotFound
from acai_jupyter.contract.states import END_STATES, JobState

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Sequence
    from typing import TextIO

    from acai_jupyter.client.http import Client
    from acai_jupyter.commands.views import View
    from acai_jupyter.contract.jobs import Job


def logs(client: Client, arguments: Namespace) -> Result:
    """Show a job's log; with `-f` as it comes."""
    view, job = view_of(arguments), client.call(endpoints.GET_JOB, job=arguments.number)
    pieces = _pieces(client, job, arguments, view)
    if arguments.json:
        return Result("", b"".join(pieces).decode("utf-8", "replace"), "log")
    output = LogOutput(view, is_whole=not arguments.follow, raw=arguments.raw)
    if arguments.follow:
        _follow(client, pieces, output, job, view)
    else:
        _write(pieces, output)
    output.close()
    for line in misses(client.call(endpoints.GET_JOB, job=job.number)):
        terminal.write(f"{line}\n", sys.stderr)  # apart from the log, which stays as it was printed
    return Result("", None, "log")


def attach(client: Client, arguments: Namespace) -> Result:
    """Show the live view of a job again, and bring back its variables; or that of a sweep."""
    view = view_of(arguments)
    if isinstance(arguments.number, str):
        return sweeps.live(client, arguments.number, view)
    beside = sys.stderr if arguments.json else None
    job = client.call(endpoints.GET_JOB, job=arguments.number)
    shown = live(client, job, view, beside, raw=arguments.raw)
    return receiving.brought_back(client, shown, arguments, view)


def live(
    client: Client,
    given: Job | Callable[[Interrupts], Job],
    view: View,
    out: TextIO | None = None,
    begun: Callable[[Job], None] = submitting.nothing,
    *,
    raw: bool = False,
) -> Result:
    """Show a job's log and what its cell displays as they come, and return how it ended.

    It is one that is there, or that is yet to be submitted; then `begun` is told of it. The log goes to `out`, else to
    standard output. An interrupt ends the showing; a second one soon after it ends the job.
    """
    output = LogOutput(view, has_tags=False, out=out, raw=raw)
    with Interrupts() as interrupts:
        job = submitting.whole(interrupts, given, view.prog) if callable(given) else given
        try:
            if callable(given):
                begun(job)
            interrupts.check()
            _show(client, job, view, output)
            return _ended(client, job.number, view)
        except KeyboardInterrupt:
            output.pause()
        _leave(client, job.number, view, f" (or interrupt again within {AGAIN_SECONDS:g} s)")
        if interrupts.again(AGAIN_SECONDS):
            return replace(end(client, [job.number], view), failed=True)
    raise goes_on(job.number)


def _show(client: Client, job: Job, view: View, output: LogOutput) -> None:
    """Show what there is of a job, and what comes until it has ended."""
    begun = f"job {job.number} {job.state.value} · watch: {view.prog} attach {job.number}"
    view.begin(job_cards.result(job, begun, client, log_is_below=True))

    def say(text: str) -> None:
        output.pause()
        view.say(text)

    def show_displays() -> None:
        displays = shown_of(client, job, say)
        output.pause()
        view.display(job, displays)

    if job.answered_by is None:
        _write(Following(client, job, say, show_displays if view.shows_displays else None), output)
    else:
        view.say(job_sentences.where_log(job, view.prog))
    output.close()


def wait_for(client: Client, arguments: Namespace) -> Result:
    """Wait for jobs or sweeps to end; they failed unless all of them finished."""
    if tags := sweeps.tags_among(arguments.numbers):
        return sweeps.wait_for(client, arguments, tags)
    numbers, view = list(dict.fromkeys(arguments.numbers)), view_of(arguments)
    if arguments.exit_code and len(numbers) > 1:
        raise BadRequest("--exit-code is the exit status of one job's program; name one job.")
    jobs: list[Job] = []
    with suppress(KeyboardInterrupt):
        for number in numbers:  # that all of them are there is said before anything is waited for
            client.call(endpoints.GET_JOB, job=number)
        jobs += [wait(client, number, view.say) for number in numbers]
    if not jobs:
        view.say(f"The jobs go on. Wait again: {view.prog} wait {' '.join(map(str, numbers))}")
        raise goes_on(*numbers)
    found = told(client, jobs, view)
    if not arguments.exit_code:
        return found
    code = jobs[0].attempts[-1].exit_code if jobs[0].attempts else None
    return replace(found, exit_status=code or None)  # a killed job's program can have ended with 0: that is no success


def told(client: Client, jobs: Sequence[Job], view: View) -> Result:
    """Say how jobs ended; one is its own answer."""
    text = "\n".join(job_sentences.lines(job, view.prog) for job in jobs)
    failed = any(job.state is not JobState.FINISHED for job in jobs)
    if len(jobs) == 1:
        return job_cards.result(jobs[0], text, client, failed=failed)
    return Result(text, list(jobs), "job-list", failed=failed)


def ended(client: Client, job: Job, *, prog: str = "acai") -> Result:
    """Say in one line how a job ended."""
    bad = job.state is not JobState.FINISHED
    return job_cards.result(job, job_sentences.lines(job, prog), client, failed=bad, log_is_below=True)


def _pieces(client: Client, job: Job, arguments: Namespace, view: View) -> Iterable[bytes]:
    number = arguments.attempt
    if arguments.node >= job.nodes:
        raise NotFound(f"Job {job.number} has no node {arguments.node}; its nodes are 0 to {job.nodes - 1}.")
    if number is not None and not 1 <= number <= len(job.attempts):
        raise NotFound(f"Job {job.number} has no attempt {number}; it has had {len(job.attempts)}.")
    if job.answered_by is not None:
        view.say(job_sentences.whose_log(job))
        earlier = client.call(endpoints.GET_JOB, job=job.answered_by)
        return whole_log(client, earlier.number, len(earlier.attempts)) if earlier.attempts else ()
    if arguments.follow:
        following = Following(client, job, view.say, node=arguments.node)
        return following if number is None else following.attempt(number)
    return whole_log(client, job.number, number or len(job.attempts), arguments.node) if job.attempts else ()


def _follow(client: Client, pieces: Iterable[bytes], output: LogOutput, job: Job, view: View) -> None:
    """Show a log as it comes; an interrupt ends the showing."""
    with Interrupts():
        try:
            _write(pieces, output)
        except KeyboardInterrupt:
            output.pause()
        else:
            return
        _leave(client, job.number, view)
    raise goes_on(job.number)


def _leave(client: Client, number: int, view: View, more: str = "") -> None:
    """Say to whom interrupted the watching how to go on; a job that has ended is not to be ended."""
    found = soon(lambda: client.call(endpoints.GET_JOB, job=number))
    if found is None or found.state not in END_STATES:
        view.say(f"{still_running(number, view.prog)}{more}.")
        return
    view.say(f"{job_sentences.line(found, view.prog)}\nShow it again: {view.prog} attach {number}")
    raise has_ended(number)


def _write(pieces: Iterable[bytes], output: LogOutput) -> None:
    for piece in pieces:
        output.write(piece)


def _ended(client: Client, number: int, view: View) -> Result:
    job = wait(client, number, view.say)
    displays = shown_of(client, job, view.say)
    if displays or view.shows_displays:  # none where all were cleared
        view.display(job, displays)
    return ended(client, job, prog=view.prog)
