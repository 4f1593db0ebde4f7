"""`autoprovision`, `--max-time` and `--max-cost`: the machine that earlier runs advise, and a job on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.client.follow import in_silence
from acai_jupyter.client.submissions import Submitting
from acai_jupyter.commands import front_picture, job_cards, job_requests, submitting
from acai_jupyter.commands.job_checks import check_value, once
from acai_jupyter.commands.job_sentences import PREDICTED, PREDICTED_BY
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import columns, duration, money, size
from acai_jupyter.commands.views import view_of
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest, Conflict
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.profiles import ProvisionJob
from acai_jupyter.contract.templates import template_of

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Sequence

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.jobs import CreateJob, Job
    from acai_jupyter.contract.profiles import Prediction, Provision

SHOWN = 8


def autoprovision(client: Client, arguments: Namespace) -> Result:
    """Choose the machine for a further run of a profile, and submit that run; or only show the choice."""
    found = advised(client, arguments)
    only_shown = arguments.plan or (arguments.max_time is None and arguments.max_cost is None)
    said = text(found)
    if only_shown or found.chosen is None:
        failed = not only_shown and found.chosen is None
        return Result(said, found, "provision", failed=failed, html=lambda: front_picture.html(found, said))
    job = submitted(client, found)
    follow = f"job {job.number} {job.state.value} · watch: {view_of(arguments).prog} attach {job.number}"
    return job_cards.result(job, f"{said}\n{follow}", client)


def advised(client: Client, arguments: Namespace) -> Provision:
    """Ask for the choice."""
    values = _values(client, arguments)
    bounds = arguments.max_time, arguments.max_cost, arguments.confidence
    return client.call(endpoints.PROVISION_JOB, ProvisionJob(arguments.profile, values, *bounds, as_latest=True))


def submitted(client: Client, found: Provision) -> Job:
    """Submit the newest run again, with other values and on the machine that was chosen."""
    assert found.chosen is not None
    recorded = client.call(endpoints.GET_REQUEST, job=found.latest)
    request = msgspec.structs.replace(
        recorded.request,
        inputs=[f"@{ref}" for ref in recorded.inputs],
        parameters={**recorded.request.parameters, **found.parameters},
        template=found.template,
        priority=max(0, recorded.request.priority),  # a profile's own runs come last, and may take only so long
        time_limit_seconds=None,
    )
    wanted = on_machine(request, found)
    return submitting.detached(lambda interrupts: Submitting(client, pause=interrupts.pause).job(wanted), "acai")


def chosen_for(
    client: Client, arguments: Namespace, request: CreateJob, say: Callable[[str], None] = in_silence
) -> CreateJob:
    """Return the request with the machine that is wanted by `--max-time` or `--max-cost`, if one is.

    By whose runs is known with the name of a profile before there is a program, else when there is one.
    """
    if arguments.max_time is None and arguments.max_cost is None:
        if arguments.confidence is not None:
            raise BadRequest("--confidence is how sure it is to keep within --max-time or --max-cost; name one.")
        return request
    if arguments.sweep:
        raise BadRequest("--max-time and --max-cost choose the machine of one job, and a sweep has many.")
    if _is_early(request) is not bool(arguments.profile):
        return request
    bounds = arguments.max_time, arguments.max_cost, arguments.confidence
    wanted = ProvisionJob(template_of(request), request.parameters, *bounds, nodes=request.nodes)
    found = client.call(endpoints.PROVISION_JOB, wanted)
    if found.chosen is None:
        raise Conflict(f"{sentence(found)} Nothing was submitted.")
    if found.larger is not None:
        say(sentence(found))
    return on_machine(request, found)


def _is_early(request: CreateJob) -> bool:
    """Whether it has no program yet."""
    return request.command == job_requests.PLACEHOLDER


def on_machine(request: CreateJob, found: Provision) -> CreateJob:
    """Return a request for the share of a machine that was chosen, with what is expected of it, and by which model."""
    chosen = found.chosen
    assert chosen is not None
    share = msgspec.structs.replace(chosen.resources, max_memory_bytes=request.resources.max_memory_bytes)
    if share.max_memory_bytes is not None and share.max_memory_bytes < share.memory_bytes:
        share = msgspec.structs.replace(share, max_memory_bytes=share.memory_bytes)
    expected: dict[str, Any] = dict(zip(PREDICTED, (chosen.seconds, chosen.cost_usd), strict=True))
    expected[PREDICTED_BY] = found.version
    return msgspec.structs.replace(
        request, resources=share, memory_as_used=False, attributes={**request.attributes, **expected}
    )


def text(found: Provision) -> str:
    """Write the choice: why this machine, its neighbours or the front, and what is not sure."""
    lines = [sentence(found)]
    if found.chosen is not None:
        rows = [["take", *_cells(found.chosen)]]
        chosen = found.chosen.seconds
        rows += [["faster" if one.seconds < chosen else "cheaper", *_cells(one)] for one in found.neighbours]
    else:
        rows = [["", *_cells(one)] for one in _some(found.front) if not one.is_vague]
    lines.append(columns(rows, "<<>>"))
    outside = (found.chosen or found.nearest).outside
    if outside:
        lines.append(f"further than any run: {'; '.join(outside)}")
    if found.as_in_latest:
        values = (f"{name} {one_line(str(found.parameters[name]))}" for name in found.as_in_latest)
        lines.append(f"as in job {found.latest}: {', '.join(values)}")
    bound = f": {found.bound}" if found.bound else ""
    lines.append(f"from {found.runs} runs{borrowed(found.borrowed_from)}, among {found.machines} machines{bound}")
    return "\n".join(filter(None, lines))


def borrowed(lender: str) -> str:
    """Say whose experience something leans on, if it does."""
    return f" and the experience of {one_line(lender)}" if lender else ""


def sentence(found: Provision) -> str:
    """Say in a sentence why this machine, or what is missing."""
    return f"{found.sentence[:1].upper()}{found.sentence[1:].removesuffix('.')}."


def _cells(one: Prediction) -> list[str]:
    share = one.resources
    return [
        f"{share.vcpu:g} vCPU, {size(share.memory_bytes)}",
        f"{duration(one.seconds)} ({duration(one.low_seconds)} to {duration(one.high_seconds)})",
        f"{money(one.cost_usd)} ({money(one.low_cost_usd)} to {money(one.high_cost_usd)})",
    ]


def _some(front: Sequence[Prediction]) -> list[Prediction]:
    """Both ends and some between."""
    if len(front) <= SHOWN:
        return list(front)
    return [front[round(place * (len(front) - 1) / (SHOWN - 1))] for place in range(SHOWN)]


def _values(client: Client, arguments: Namespace) -> dict[str, Any]:
    """Return values by name; bare ones stand in the order of the hints."""
    words: Sequence[tuple[str, Any]] = arguments.values
    bare = [value for name, value in words if not name]
    if not bare:
        named = once(arguments, "values", words)
        for name, value in named.items():
            check_value("--values", "parameters", name, value)
        return named
    if len(bare) < len(words):
        raise BadRequest("--values are either all NAME=VALUE, or all bare, in the order of the hints.")
    names = client.call(endpoints.GET_PROFILE, query={"template": arguments.profile}).hints
    if len(bare) != len(names):
        raise BadRequest(f"--values are {len(names)}: {', '.join(map(one_line, names)) or 'there is no hint'}.")
    return dict(zip(names, bare, strict=True))
