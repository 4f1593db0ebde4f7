"""`profile`: runs that are made to learn how long others take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.commands import hints, job_requests, jobs, profiling_options, programs, samples
from acai_jupyter.commands.job_checks import check_value, once
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import duration, files_of, money, size
from acai_jupyter.commands.views import view_of
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.profilings import CreateProfiling, Design

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client
    from acai_jupyter.commands.programs import Program
    from acai_jupyter.contract.profilings import Profiling, ProfilingPlan, Sample
    from acai_jupyter.contract.sweeps import ParameterValue

MOST_USD = 1.0
MOST_RUNS = 30
"""What costs more, or is more without anybody knowing what it costs, wants a bound or a yes."""


def profile(client: Client, arguments: Namespace) -> Result:
    """Begin to make the runs of a command with hints, and return at once; or only say what they would be."""
    command = _command(arguments)
    if not command:
        raise BadRequest(
            'Name the command with its hints: acai profile --name mnist "python train.py --epoch {1,2,3}".'
        )
    if not arguments.name:
        raise BadRequest("A profile has a name: --name NAME.")
    hinted = hints.of_command(command)
    plain, values = split(arguments, hinted.values)
    asked = profiling_options.complete(arguments, command=hinted.command, p=plain)
    return begun(client, arguments, asked, programs.of_line(client, asked), values)


def split(
    arguments: Namespace, found: dict[str, list[ParameterValue]]
) -> tuple[list[tuple[str, ParameterValue]], dict[str, list[ParameterValue]]]:
    """Part the parameters that are hints from those that are the same in all runs."""
    plain: list[tuple[str, ParameterValue]] = []
    values = dict(found)
    for name, value in once(arguments, "parameters", arguments.p).items():
        hint = _hint(name, value)
        if hint is None:
            plain.append((name, value))
        elif name in values:
            raise BadRequest(f"The hint {name} is in the command and in -p; one of them.")
        else:
            values[name] = hint
    for name, ones in values.items():
        for value in ones:
            check_value("A hint", "parameters", name, value)
    return plain, values


def begun(
    client: Client,
    arguments: Namespace,
    asked: Namespace,
    program: Program,
    values: dict[str, list[ParameterValue]],
) -> Result:
    """Ask for the runs of a program."""
    request = job_requests.with_program(job_requests.wanted(asked, client.status.limits), program)
    if not request.template:
        raise BadRequest("A profile has a name: --name NAME.")
    sample = None
    if arguments.sample is not None:
        if arguments.design == Design.FULL:
            raise BadRequest("--sample is for --design adaptive; with --design full all runs are on the whole input.")
        inputs, share = request.inputs, arguments.sample
        sample = samples.taken(client, request.template, inputs, share, is_planned=arguments.plan)
    wanted = CreateProfiling(
        request,
        values,
        Design(arguments.design),
        arguments.cpus,
        arguments.memories,
        arguments.max_time,
        arguments.max_cost,
        sample,
    )
    plan = client.call(endpoints.PLAN_PROFILING, _planned(wanted) if arguments.plan else wanted)
    if arguments.plan:
        return Result("\n".join(filter(None, [text(plan), _of(sample)])), plan, "profiling-plan")
    _agree(arguments, plan)
    made = client.call(endpoints.CREATE_PROFILING, wanted)
    said = "\n".join(
        filter(None, [text(plan), _of(sample), _line(made, view_of(arguments).prog), jobs.left_out(program)])
    )
    return Result(said, made, "profiling")


def text(plan: ProfilingPlan) -> str:
    """Say what it will be, and what it will take and cost as far as that is known."""
    many = f"{plan.candidates:,} run{'s' if plan.candidates != 1 else ''}"
    how = (
        f"all of them, {plan.at_once} at once"
        if plan.design is Design.FULL
        else "one by one, until the interval is narrow"
    )
    if plan.seconds is None or plan.cost_usd is None:
        return f"profile {plan.template}: {many} possible, {how}. No earlier run tells what they take"
    at_most = "" if plan.design is Design.FULL else "all of them "
    told = f"{at_most}about {duration(plan.seconds)} and {money(plan.cost_usd)}, by {plan.known_runs:,} earlier runs"
    return f"profile {plan.template}: {many} possible, {how}; {told}"


def _of(sample: Sample | None) -> str:
    """Say how much of the input a sample is."""
    if sample is None:
        return ""
    some, whole = f"{sample.file_count:,} of {files_of(sample.of_files)}", size(sample.size_bytes)
    return f"each also on a sample, {some}, {whole} of {size(sample.of_bytes)}"


def _planned(wanted: CreateProfiling) -> CreateProfiling:
    """The same without what was not sent: for a plan the code is only looked at."""
    job = msgspec.structs.replace(wanted.job, code=None, as_cell=False, variables=None, receive=[])
    return msgspec.structs.replace(wanted, job=job)


def _agree(arguments: Namespace, plan: ProfilingPlan) -> None:
    """Refuse what is dear or much, unless somebody has said yes or how much it may be."""
    if arguments.yes or arguments.max_cost is not None or arguments.max_time is not None:
        return
    is_dear = plan.cost_usd is not None and plan.cost_usd > MOST_USD
    is_much = plan.cost_usd is None and plan.design is Design.FULL and plan.candidates > MOST_RUNS
    if is_dear or is_much:
        raise BadRequest(f"{text(plan)}. Say how much it may be with --max-cost or --max-time, or --yes to all of it.")


def _line(made: Profiling, prog: str) -> str:
    if made.is_over:
        return f"{made.tag} is over: {made.sentence}"
    shown = f"what it teaches: {prog} profile show {_quoted(made.template)}"
    return f"{made.tag} has begun · watch: {prog} attach {made.tag} · end it: {prog} kill {made.tag} · {shown}"


def _command(arguments: Namespace) -> str | None:
    """Find the command, also behind the inputs of a line like `--input digits "python train.py --epoch {1,2}"`."""
    command: str | None = arguments.command or arguments.command_template
    word = getattr(arguments, "last_word", None)
    if command is None and word is not None:
        at = len(arguments.input) - 1 - arguments.input[::-1].index(word)
        arguments.input = [*arguments.input[:at], *arguments.input[at + 1 :]]
        return str(word)
    return command


def _hint(name: str, value: ParameterValue | list[ParameterValue]) -> list[ParameterValue] | None:
    if isinstance(value, list):
        return value
    return hints.of_value(name, value) if isinstance(value, str) else None


def _quoted(name: str) -> str:
    from shlex import quote

    return quote(name)
