"""`%%acai run`: a cell as a job, from its line to what comes back."""

from __future__ import annotations

import keyword
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from acai_jupyter.client import variables as moving
from acai_jupyter.client.follow import in_silence
from acai_jupyter.commands import (
    cells,
    job_cards,
    job_requests,
    jobs,
    names,
    plans,
    profiling,
    profiling_options,
    programs,
    provisioning,
    receiving,
    submitting,
    sweeps,
    variables,
)
from acai_jupyter.commands.following import live
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.plans import PlannedVariable

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Mapping
    from typing import Any

    from acai_jupyter.client.http import Client
    from acai_jupyter.commands.functions import Call
    from acai_jupyter.commands.programs import Program
    from acai_jupyter.commands.results import Result
    from acai_jupyter.commands.views import View
    from acai_jupyter.contract.jobs import Job
    from acai_jupyter.contract.sweeps import Sweep


def run_cell(
    client: Client, arguments: Namespace, cell: str, view: View, begun: Callable[[Job | Sweep], None] = lambda _: None
) -> Result:
    """Run a cell as a job, showing its log as it comes; `begun` is told of the job before that."""
    check_line(arguments, cell)
    request, swept = job_requests.wanted(arguments, client.status.limits), sweeps.values_of(arguments)
    request = provisioning.chosen_for(client, arguments, request, view.say)
    program = _program(client, arguments, cell, view)
    wanted = provisioning.chosen_for(client, arguments, job_requests.with_program(request, program), view.say)
    if arguments.plan:
        return plans.plan(client, wanted, swept, plans.Told.of(arguments, program))

    def then(given: Job | Sweep) -> None:
        begun(given)
        left_out = jobs.left_out(program)
        if left_out:
            view.say(left_out)

    if swept:
        give_all = submitting.sweep(client, wanted, swept, view.say)
        if arguments.detach:
            return sweeps.told(client, submitting.detached(give_all, view.prog, then), view.prog)
        return sweeps.live(client, give_all, view, then)
    give = submitting.job(client, wanted, view.say)
    if arguments.detach:
        job = submitting.detached(give, view.prog, then)
        said = f"job {job.number} {job.state.value} · watch: {view.prog} attach {job.number}"
        return job_cards.result(job, said, client)
    return receiving.brought_back(client, live(client, give, view, begun=then), arguments, view)


def profile_cell(client: Client, arguments: Namespace, cell: str, view: View) -> Result:
    """Begin to make runs of a cell, in which parameters are variables."""
    if not cell.strip():
        raise BadRequest("The cell is empty. Write the program below the line.")
    plain, values = profiling.split(arguments, {})
    asked = profiling_options.complete(arguments, p=plain, sweep=list(values.items()))
    program = _program(client, asked, cell, view)
    return profiling.begun(client, arguments, asked, program, values)


def submit_function(client: Client, arguments: Namespace, call: Call) -> Job:
    """Submit the call of a function, which brings back what it returns."""
    request = provisioning.chosen_for(client, arguments, job_requests.wanted(arguments, client.status.limits))
    program = _with_variables(client, arguments, call.text, call.values)
    wanted = provisioning.chosen_for(client, arguments, job_requests.with_program(request, program))
    give = submitting.job(client, wanted, in_silence)
    return submitting.detached(give, "acai")


def check_line(arguments: Namespace, cell: str) -> None:
    """Refuse what does not go together."""
    handle = arguments.handle
    if handle is not None and (not handle.isidentifier() or keyword.iskeyword(handle)):
        raise BadRequest(f"--handle '{one_line(handle[:60])}' cannot be the name of a variable.")
    if arguments.script and arguments.shell:
        raise BadRequest("--script names a program, and --shell says that the cell is one: one of them.")
    if arguments.script and cell.strip():
        raise BadRequest("With --script the cell is empty: the script is the program.")
    if not arguments.script and not cell.strip():
        raise BadRequest("The cell is empty. Write the program below the line, or name one with --script FILE.")
    if arguments.receive and arguments.sweep:
        raise BadRequest("--receive brings back the variables of one job, and a sweep has many; tag results.")
    if (arguments.send or arguments.receive) and (arguments.script or arguments.shell):
        raise BadRequest("--send and --receive are for cells in Python: a script and a shell have no variables of it.")


def _program(client: Client, arguments: Namespace, cell: str, view: View) -> Program:
    if arguments.script:
        return programs.of_line(client, arguments)
    cell = f"\n{cell}"  # so that lines count as in the notebook, where the first is `%%acai run`
    if arguments.shell:
        return programs.of_shell(client, arguments, cell)
    cells.check(cell)
    known = {} if view.names is None else view.names
    sent, received = variables.names(arguments.send), variables.names(arguments.receive)
    given = [name for name, _ in (*arguments.p, *arguments.sweep)]
    for said in _names(cell, known, [*sent, *given], received):
        view.say(said)
    return _with_variables(
        client, arguments, cell, {name: known[name] for name in variables.there(sent, known)}, view.say
    )


def _with_variables(
    client: Client,
    arguments: Namespace,
    cell: str,
    values: Mapping[str, Any],
    say: Callable[[str], None] = lambda _: None,
) -> Program:
    """Keep a cell and what it is sent; values that cannot travel are refused before anything is kept."""
    with ExitStack() as until_kept:
        if not values:
            return programs.of_cell(client, arguments, cell)
        folder, kept = until_kept.enter_context(variables.packed(values, variables.limit_of(arguments)))
        owner = programs.notebook_name()
        if arguments.plan:
            stored = moving.look(folder, owner)
        else:
            say(variables.line("sending", kept))
            stored = moving.keep(client, folder, owner)
        planned = [PlannedVariable(one.name, one.type, one.size_bytes) for one in kept]
        return replace(programs.of_cell(client, arguments, cell), variables=stored, sent=planned)


def _names(cell: str, known: Mapping[str, Any], sent: list[str], received: list[str]) -> list[str]:
    """Say which names the job will not have; what is sure to fail for want of one is refused."""
    seen = names.look(cell, sent)
    unmade = next((name for name in received if name not in seen.bound and name not in sent), None)
    if seen.is_sure and unmade is not None:
        raise BadRequest(f"The cell makes no variable {unmade} that could be received.")
    told = []
    for missing in seen.missing:
        remedy = names.remedy(missing.name, known)
        if missing.line and (remedy or missing.name not in known):
            raise BadRequest(names.refusal(missing, remedy, seen.bound))
        if remedy:
            told.append(f"The cell uses {missing.name}, which the job will not have; {remedy}")
    return told
