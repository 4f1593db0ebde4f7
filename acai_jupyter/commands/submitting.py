"""Submitting with somebody who may interrupt: either nothing was submitted, or they are told what, and how to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from acai_jupyter.client.submissions import Submitting
from acai_jupyter.commands import variables
from acai_jupyter.commands.interrupts import Interrupts, Unwatched, again_with, still_running
from acai_jupyter.contract.sweeps import CreateSweep, Sweep

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.jobs import CreateJob, Job
    from acai_jupyter.contract.sweeps import ParameterValue

GivenT = TypeVar("GivenT", "Job", Sweep)
UNKNOWN = "The server did not answer, so it is not known whether this was submitted; {prog} jobs lists what was."


def nothing(given: object) -> None:
    """Do nothing more with what was submitted."""
    del given


def job(client: Client, request: CreateJob, say: Callable[[str], None]) -> Callable[[Interrupts], Job]:
    """How to submit a job. Its variables are of this process."""

    def give(interrupts: Interrupts) -> Job:
        made = Submitting(client, say, interrupts.pause).job(request)
        variables.submitted(made)
        return made

    return give


def sweep(
    client: Client, request: CreateJob, values: dict[str, list[ParameterValue]], say: Callable[[str], None]
) -> Callable[[Interrupts], Sweep]:
    """How to submit a job for each combination of values, all or none."""
    return lambda interrupts: Submitting(client, say, interrupts.pause).sweep(CreateSweep(request, values))


def whole(interrupts: Interrupts, give: Callable[[Interrupts], GivenT], prog: str) -> GivenT:
    """Submit, and hold an interrupt back until that is done; a second one ends it where the server does not answer."""
    try:
        return interrupts.whole(lambda: give(interrupts))
    except KeyboardInterrupt:
        raise Unwatched(UNKNOWN.format(prog=prog)) from None


def detached(give: Callable[[Interrupts], GivenT], prog: str, then: Callable[[GivenT], None] = nothing) -> GivenT:
    """Submit, and do what comes `then` at once. Who interrupts one of them is told what goes on."""
    with Interrupts() as interrupts:
        given = whole(interrupts, give, prog)
        try:
            then(given)
            interrupts.check()
        except KeyboardInterrupt:
            raise Unwatched(_goes_on(given, prog)) from None
        return given


def _goes_on(given: Job | Sweep, prog: str) -> str:
    said = again_with(given.tag, prog) if isinstance(given, Sweep) else still_running(given.number, prog)
    return f"{said}."
