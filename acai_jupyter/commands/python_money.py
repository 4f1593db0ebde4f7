"""The verbs as Python calls: those of money, and of what runs have taught."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from acai_jupyter.client import pages
from acai_jupyter.client.http import Client
from acai_jupyter.commands import budgets, given, job_options, profiling, provisioning, python_help
from acai_jupyter.commands import costs as adding
from acai_jupyter.commands.job_objects import Job
from acai_jupyter.commands.sweep_objects import Sweep
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest, Conflict
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.profilings import Design

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from os import PathLike

    from acai_jupyter.commands.objects import FileSet
    from acai_jupyter.contract.budgets import BudgetList
    from acai_jupyter.contract.prices import Costs
    from acai_jupyter.contract.profiles import ProfileDetails, ProfileList, Provision
    from acai_jupyter.contract.profilings import ProfilingPlan


def costs(
    *,
    by: Literal["user", "notebook", "tag", "job", "day"] = "user",
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    project: str | None = None,
) -> Costs:
    """Return what the project's jobs have cost until now, live ones included."""
    return adding.ask(Client(project=project), by, since, until)


def profile(  # noqa: PLR0913 (the options of the verb)
    command: str,
    *,
    name: str,
    input: str | FileSet | Sequence[str | FileSet] = (),  # noqa: A002 (the same name as on the command line)
    output: str | FileSet | None = None,
    output_folder: str = "output",
    output_root: str | None = None,
    code: str | PathLike[str] | None = None,
    include: Sequence[str] = (),
    parameters: Mapping[str, Any] | None = None,
    env_var: Mapping[str, str] | None = None,
    secret: Mapping[str, str] | Sequence[str] = (),
    tag: Mapping[str, Any] | Sequence[str] = (),
    gpu: int = 0,
    gpu_type: str = "",
    image: str | None = None,
    env: str | PathLike[str] | None = None,
    time_limit: str | float | None = None,
    design: Literal["adaptive", "full"] = "adaptive",
    cpus: Sequence[float] = (),
    memories: Sequence[str | int] = (),
    sample: float | None = None,
    max_time: str | float | None = None,
    max_cost: float | None = None,
    yes: bool = False,
    plan: bool = False,
    project: str | None = None,
) -> Sweep | ProfilingPlan:
    """Begin to make the runs of a command with hints, and return at once; `wait` returns when there are enough.

    `acai.profile("python train.py --epoch {1,2,3}", name="mnist", code=".")`. A parameter that is a list is a hint too.
    """
    if design not in tuple(Design):
        raise BadRequest(f"design is one of {', '.join(Design)}, not {one_line(repr(design))}.")
    given_parameters = {key: value for key, value in (parameters or {}).items() if not isinstance(value, list | tuple)}
    options = {
        "input": input, "output": output, "output_folder": output_folder, "output_root": output_root, "code": code,
        "include": include, "env_var": env_var or {}, "secret": secret, "tag": tag, "image": image, "env": env,
        "gpu": gpu, "gpu_type": gpu_type,
    }  # fmt: skip
    listed = {key: list(value) for key, value in (parameters or {}).items() if isinstance(value, list | tuple)}
    arguments = Namespace(
        in_python=True,
        command=command,
        command_template=None,
        name=name,
        p=[*given.parameters(given_parameters), *(given.swept(listed) if listed else [])],
        time_limit=None if time_limit is None else given.seconds(time_limit),
        design=design,
        cpus=[given.number("cpus", job_options.amount, one) for one in cpus],
        memories=[given.size(one) for one in memories],
        sample=None if sample is None else given.number("sample", job_options.part, sample),
        max_time=None if max_time is None else given.seconds(max_time),
        max_cost=None if max_cost is None else given.number("max_cost", job_options.amount, max_cost),
        yes=yes,
        plan=plan,
        **given.options(options),
    )
    client = Client(project=project)
    made = profiling.profile(client, arguments).value
    return made if plan else Sweep(client, made.tag)


def profiles(*, project: str | None = None) -> ProfileList:
    """Return the templates that have runs to learn from."""
    return pages.whole(Client(project=project), endpoints.LIST_PROFILES, "profiles", "before")


def profile_of(name: str, *, version: str = "", project: str | None = None) -> ProfileDetails:
    """Return the model of a profile, how far off it is, and the runs that it knows; or knew, by its version."""
    query = {"template": name, **({"version": version} if version else {})}
    return Client(project=project).call(endpoints.GET_PROFILE, query=query)


def budget(
    *,
    job: float | None = None,
    month: float | None = None,
    total: float | None = None,
    stop: bool = False,
    report: bool = False,
    project: str | None = None,
) -> BudgetList:
    """Bound what the project may spend, if something is given; return all bounds, and what is left. 0: none."""
    arguments = Namespace(**_caps(job=job, month=month, total=total), stop=stop, report=report)
    return budgets.change(Client(project=project), None, arguments)


def set_budget(
    name: str,
    *,
    job: float | None = None,
    month: float | None = None,
    total: float | None = None,
    stop: bool = False,
    report: bool = False,
    project: str | None = None,
) -> BudgetList:
    """Bound what a user may spend; return all bounds, and what is left. 0 is no bound."""
    arguments = Namespace(**_caps(job=job, month=month, total=total), stop=stop, report=report)
    return budgets.change(Client(project=project), name, arguments)


def _caps(**given_usd: float | None) -> dict[str, float | None]:
    """Return sums as a line has them: 0 is no bound, and nothing leaves it as it is."""
    return {name: usd if usd is None or usd == 0 else given.number(name, _usd, usd) for name, usd in given_usd.items()}


def _usd(text: str) -> float:
    try:
        return job_options.amount(text)
    except ArgumentTypeError as error:
        raise ArgumentTypeError(f"'{text}' is neither a number of dollars above 0, nor 0 for no bound") from error


@overload
def autoprovision(
    profile: str,
    *,
    values: Mapping[str, Any] | Sequence[Any] = (),
    max_time: str | float | None = None,
    max_cost: float | None = None,
    confidence: float | None = None,
    plan: Literal[False] = False,
    project: str | None = None,
) -> Job: ...


@overload
def autoprovision(
    profile: str,
    *,
    values: Mapping[str, Any] | Sequence[Any] = (),
    max_time: str | float | None = None,
    max_cost: float | None = None,
    confidence: float | None = None,
    plan: Literal[True],
    project: str | None = None,
) -> Provision: ...


def autoprovision(
    profile: str,
    *,
    values: Mapping[str, Any] | Sequence[Any] = (),
    max_time: str | float | None = None,
    max_cost: float | None = None,
    confidence: float | None = None,
    plan: bool = False,
    project: str | None = None,
) -> Job | Provision:
    """Choose the machine for a further run and submit that, or with `plan` return the choice."""
    named = given.parameters(values if isinstance(values, Mapping) else {})
    bare = [] if isinstance(values, Mapping) else given.bare(values)
    client = Client(project=project)
    arguments = Namespace(
        in_python=True,
        profile=profile,
        values=[*named, *bare],
        max_time=None if max_time is None else given.seconds(max_time),
        max_cost=None if max_cost is None else given.number("max_cost", job_options.amount, max_cost),
        confidence=None if confidence is None else given.number("confidence", job_options.confidence, confidence),
    )
    found = provisioning.advised(client, arguments)
    if plan:
        return found
    if found.chosen is None:
        raise Conflict(f"{provisioning.sentence(found)} Nothing was submitted.")
    made = provisioning.submitted(client, found)
    return Job(client, made.number, made)


python_help.documented(globals())
