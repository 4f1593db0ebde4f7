"""`--sweep`: submitting a group of jobs, and watching, showing and ending one by its tag."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from acai_jupyter.client import sweeps as following
from acai_jupyter.client.patience import soon
from acai_jupyter.commands import submitting, sweep_tables
from acai_jupyter.commands.interrupts import AGAIN_SECONDS, Interrupts, Unwatched, again_with
from acai_jupyter.commands.job_checks import called, check_value, once
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.snapshots import project_of
from acai_jupyter.commands.status_lines import StatusLine
from acai_jupyter.commands.views import view_of
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.states import JobState
from acai_jupyter.contract.sweeps import fault

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from acai_jupyter.client.http import Client
    from acai_jupyter.commands.views import View
    from acai_jupyter.contract.sweeps import ParameterValue, Sweep, SweepTable

MOST_SECONDS = 8.0
"""So long the end of killed jobs is waited for; a program is given about ten seconds to follow."""


def values_of(arguments: Namespace) -> dict[str, list[ParameterValue]]:
    """Return what is to be combined, empty where nothing is; wrong words are refused."""
    given = list(arguments.sweep)
    if not given:
        return {}
    values: dict[str, list[ParameterValue]] = once(arguments, "sweep", given)
    for name, ones in values.items():
        for value in ones:
            check_value(called(arguments, "sweep"), "parameters", name, value)
    wrong = fault(values, dict(arguments.p))
    if wrong:
        raise BadRequest(f"{called(arguments, 'sweep')} {wrong}.")
    return values


def told(client: Client, sweep: Sweep, prog: str) -> Result:
    """Say what was submitted, and how to see more."""
    more = f"watch: {prog} attach {sweep.tag} · end all: {prog} kill {sweep.tag}"
    return _seen(client, Result(f"{sweep_tables.line(sweep)} · {more}", sweep, "sweep"), sweep.tag)


def show(client: Client, tag: str) -> Result:
    """Show the jobs of a sweep."""
    return _shown(client, client.call(endpoints.GET_SWEEP, sweep=tag))


def live(
    client: Client,
    given: str | Callable[[Interrupts], Sweep],
    view: View,
    begun: Callable[[Sweep], None] = submitting.nothing,
) -> Result:
    """Show in one line how a sweep stands until its last job has ended, then all of them.

    It is one that has a tag, or that is yet to be submitted; then `begun` is told of it. An interrupt ends the showing;
    a second one soon after it ends the jobs.
    """
    with Interrupts() as interrupts:
        made = None if isinstance(given, str) else submitting.whole(interrupts, given, view.prog)
        tag = made.tag if made is not None else str(given)
        try:
            if made is not None:
                begun(made)
            interrupts.check()
            view.begin(_seen(client, Result(tag, tag, "sweep"), tag))
            with StatusLine() as line:
                for sweep in following.follow(client, tag, view.say):
                    line.show(sweep_tables.line(sweep))
            return _ended(client, sweep)
        except KeyboardInterrupt:
            pass
        over = soon(lambda: client.call(endpoints.GET_SWEEP, sweep=tag))
        if over is not None and over.ended == len(over.jobs):
            view.say(f"{sweep_tables.line(over)}\nShow it again: {view.prog} attach {tag}")
            raise Unwatched(f"{tag} has ended", was_said=True)
        view.say(f"{again_with(tag, view.prog)} (or interrupt again within {AGAIN_SECONDS:g} s).")
        if interrupts.again(AGAIN_SECONDS):
            return replace(_kill(client, [tag]), failed=True)
    raise Unwatched(f"{tag} goes on", was_said=True)


def wait_for(client: Client, arguments: Namespace, tags: Sequence[str]) -> Result:
    """Wait for sweeps to end; they failed unless all jobs finished."""
    view = view_of(arguments)
    if arguments.exit_code:
        raise BadRequest("--exit-code is the exit status of one job's program; name one job.")
    try:
        for tag in tags:  # that all of them are there is said before anything is waited for
            client.call(endpoints.GET_SWEEP, sweep=tag)
        return _several(client, [following.wait(client, tag, view.say) for tag in tags])
    except KeyboardInterrupt:
        view.say(f"The jobs go on. Wait again: {view.prog} wait {' '.join(tags)}")
        raise Unwatched(f"{', '.join(tags)} go on", was_said=True) from None


def kill(client: Client, arguments: Namespace, tags: Sequence[str]) -> Result:
    """End the jobs of sweeps, and wait a moment until that is so."""
    del arguments
    return _kill(client, tags)


def tags_among(words: Sequence[int | str]) -> list[str]:
    """Return tags, without those that are there twice; jobs and sweeps are not to be mixed."""
    tags = list(dict.fromkeys(word for word in words if isinstance(word, str)))
    if tags and any(isinstance(word, int) for word in words):
        raise BadRequest("Name either jobs or sweeps: they are told apart in what is said of them.")
    return tags


def _kill(client: Client, tags: Sequence[str]) -> Result:
    for tag in tags:
        client.call(endpoints.KILL_SWEEP, sweep=tag)
    wait = {"wait_seconds": MOST_SECONDS}
    return replace(
        _several(client, [client.call(endpoints.GET_SWEEP, query=wait, sweep=tag) for tag in tags]), failed=False
    )


def _several(client: Client, sweeps: Sequence[Sweep]) -> Result:
    text = "\n".join(map(sweep_tables.line, sweeps))
    failed = any(_failed(sweep) for sweep in sweeps)
    if len(sweeps) == 1:
        return _seen(client, Result(text, sweeps[0], "sweep", failed=failed), sweeps[0].tag)
    return Result(text, list(sweeps), "sweeps", failed=failed)


def _ended(client: Client, sweep: Sweep) -> Result:
    found = _shown(client, sweep)
    said = f"{found.text}\n{sweep.sentence}" if sweep.sentence else found.text
    return replace(found, text=said, failed=_failed(sweep))


def _failed(sweep: Sweep) -> bool:
    if sweep.has_failed is not None:
        return sweep.has_failed
    return Counter(sweep.states)[JobState.FINISHED] < len(sweep.jobs)


def _shown(client: Client, sweep: Sweep) -> Result:
    table = client.call(endpoints.GET_SWEEP_TABLE, sweep=sweep.tag)
    shown = sweep_tables.shown(table)
    text = "\n".join([shown.headline(), repr(shown)])
    return _seen(client, Result(text, table, "sweep"), sweep.tag, table)


def _seen(client: Client, result: Result, tag: str, table: SweepTable | None = None) -> Result:
    """Let a notebook show the table, live where our view is; a shell, which shows the text, does not ask for it."""
    found = cache(lambda: table or client.call(endpoints.GET_SWEEP_TABLE, sweep=tag))
    return replace(
        result,
        html=lambda: sweep_tables.shown(found())._repr_html_(),
        snapshot=lambda: sweep_tables.snapshot(found(), project_of(client)),
    )
