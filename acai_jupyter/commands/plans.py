"""`--plan`: what would happen if this was submitted now, on a card. Nothing is sent but names and hashes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.commands import budgets, markup
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import columns, duration, files_of, money, size
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.plans import LeftOut, PlanJob, PlannedCode, PlannedEnvironment, PlannedPart

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.client.walking import Excluded
    from acai_jupyter.commands.programs import Program
    from acai_jupyter.contract.jobs import CreateJob
    from acai_jupyter.contract.plans import CodeFile, Expected, OtherMachine, PlannedInput, PlannedVariable
    from acai_jupyter.contract.plans import Plan as Snapshot
    from acai_jupyter.contract.sweeps import ParameterValue

_PLACES = {"process": "this machine", "memory": "this machine", "kubernetes": "the cluster"}
SHOWN = 5
"""So many things that are left out are named."""
MOST_LEFT_OUT = 100
"""So many of them are in the answer."""


@dataclass(frozen=True)
class Told:
    """What only the side that submits knows."""

    code: PlannedCode | None
    environment: PlannedEnvironment
    files: list[CodeFile]
    variables: list[PlannedVariable]
    variable_files: list[CodeFile]

    @classmethod
    def of(cls, arguments: Namespace, program: Program) -> Told:
        """Read it off a program that was looked at."""
        return cls(
            _code(arguments, program),
            _environment(arguments, program),
            program.code.files if program.code else [],
            program.sent,
            program.variables.files if program.variables else [],
        )


class Plan:
    """A plan that shows itself; `snapshot` is the value."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def __repr__(self) -> str:
        return text(self.snapshot)

    def _repr_html_(self) -> str:
        return html(self.snapshot)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        del kwargs
        plain = msgspec.to_builtins(self.snapshot)
        return {"text/plain": repr(self), "text/html": self._repr_html_(), "application/vnd.acai.plan+json": plain}


def plan(client: Client, request: CreateJob, values: dict[str, list[ParameterValue]], told: Told) -> Result:
    """Ask what would happen; what would be refused is refused in the same words."""
    wanted = PlanJob(msgspec.structs.replace(request, code=None), told.files, told.variable_files, values)
    found = client.call(endpoints.PLAN_JOB, wanted)
    environment = found.environment or told.environment
    found = msgspec.structs.replace(found, code=told.code, environment=environment, variables=told.variables)
    return Result(text(found), found, "plan", html=lambda: html(found))


def text(found: Snapshot) -> str:
    """Write the card."""
    return "\n".join([_head(found), columns([[f"  {name}", said] for name, said in _rows(found)], "<<")])


def html(found: Snapshot) -> str:
    """Write the card for a notebook."""
    return markup.block("plan", markup.title(_head(found)), markup.facts(_rows(found)))


def _head(found: Snapshot) -> str:
    jobs = "1 job" if found.jobs == 1 else f"{found.jobs:,} jobs, {found.at_once:,} at once"
    return f"plan for {jobs}; nothing was submitted"


def _rows(found: Snapshot) -> Iterator[tuple[str, str]]:
    yield from (("input", _input(one)) for one in found.inputs)
    if not found.inputs:
        yield "input", "none"
    yield "output", found.output or "job-N-output, if there is any"
    if found.code is not None:
        yield "code", _program(found.code)
        yield from _notes(found.code)
    if found.variables:
        sent = (f"{one.name} ({', '.join(filter(None, [one.type, size(one.size_bytes)]))})" for one in found.variables)
        yield "variables", f"sent: {', '.join(sent)}"
    if found.environment is not None:
        yield "environment", _packages(found.environment)
    yield "machine", _machine(found)
    yield "expected", _expected(found)
    one = found.expected
    if one is not None and one.faster is not None:
        yield "faster", _other(one.faster)
    if one is not None and one.cheaper is not None:
        yield "cheaper", _other(one.cheaper)
    yield from (("", said) for said in budgets.lines(found.left))
    yield "start", _start(found)


def _input(one: PlannedInput) -> str:
    there = "already there" if one.is_there else "to be fetched"
    return f"{one.file_set or 'several laid together'} ({files_of(one.file_count)}, {size(one.size_bytes)}, {there})"


def _program(code: PlannedCode) -> str:
    modules = _modules(code.modules)
    if not modules:
        return f"{code.program} ({files_of(code.file_count)}, {size(code.size_bytes)})"
    return f"{code.program} and {', '.join(modules)} ({size(code.size_bytes)})"


def _modules(paths: list[str]) -> list[str]:
    """Those of a folder are counted, others named."""
    folders = Counter(path.partition("/")[0] for path in paths if "/" in path)
    named = [path for path in paths if "/" not in path]
    counted = [f"{count} module{'s' if count > 1 else ''} of ./{folder}" for folder, count in folders.items()]
    more = len(named) - SHOWN
    return [*counted, *named[:SHOWN], *([f"{more} more"] if more > 0 else [])]


def _notes(code: PlannedCode) -> Iterator[tuple[str, str]]:
    if code.largest:
        yield (
            "",
            "largest: "
            + ", ".join(f"{one.name} ({files_of(one.file_count)}, {size(one.size_bytes)})" for one in code.largest),
        )
    yield from (("", f"left out: {one.name} ({one.reason})") for one in code.left_out[:SHOWN])
    more = len(code.left_out) - SHOWN + code.more_left_out
    if more > 0:
        yield "", f"left out: {more:,} more"


def _packages(one: PlannedEnvironment) -> str:
    if one.image is not None:
        return f"image {one.image}"
    plural = "" if one.package_count == 1 else "s"
    count = "" if one.package_count is None else f", {one.package_count} package{plural}"
    return f"Python {one.python}{count}, {'cached' if one.is_cached else 'to be built'}"


def _machine(found: Snapshot) -> str:
    share = found.resources
    of_type = f" ({share.gpu_type})" if share.gpu_type else ""
    gpus = f", {share.gpus} GPU{'s' if share.gpus > 1 else ''}{of_type}" if share.gpus else ""
    where = _PLACES.get(found.runner, found.runner)
    return f"{share.vcpu:g} vCPU, {size(share.memory_bytes)}{gpus} on {where}, {money(found.usd_per_hour)} per hour"


def _expected(found: Snapshot) -> str:
    answered = len(found.answered_by)
    if answered and answered == found.jobs:
        return f"nothing runs: {'it is' if answered == 1 else 'all are'} answered by earlier results"
    one = found.expected
    if one is None:
        return "not known: no such job has finished yet"
    if one.is_vague:
        return _not_known(one)
    parts = [_span(one), f"from {one.runs} earlier run{'s' if one.runs > 1 else ''}"]
    if one.borrowed_from:
        parts.append(f"with the experience of {one_line(one.borrowed_from)}")
    if one.outside:
        parts.append(f"further than any of them: {'; '.join(one.outside)}")
    if found.jobs > 1:
        left = found.jobs - answered
        rounds = -(-left // max(1, found.at_once))
        parts.append(f"all together about {duration(one.seconds * rounds)}, {money(one.cost_usd * left)}")
    return ", ".join(parts)


def _not_known(one: Expected) -> str:
    """Abstain, and say what would help."""
    why = one_line(f"{one.advice[:1].lower()}{one.advice[1:]}".removesuffix(".")) or "it is too uncertain to decide by"
    return f"not known: {'; '.join([why, *one.outside])} (from {one.runs} earlier run{'s' if one.runs > 1 else ''})"


def _other(one: OtherMachine) -> str:
    share = one.resources
    return f"{share.vcpu:g} vCPU, {size(share.memory_bytes)}: {duration(one.seconds)}, {money(one.cost_usd)}"


def _span(one: Expected) -> str:
    """The middle, and from where to where when that is not the same."""
    middle = f"{duration(one.seconds)}, {money(one.cost_usd)}"
    low, high = duration(one.min_seconds), duration(one.max_seconds)
    return (
        middle if low == high else f"{middle} ({low} to {high}, {money(one.min_cost_usd)} to {money(one.max_cost_usd)})"
    )


def _start(found: Snapshot) -> str:
    if found.waiting is None:
        return "at once"
    when = found.waiting.starts_at
    if when is None:
        return found.waiting.sentence
    return f"in about {duration(max(0.0, (when - datetime.now(UTC)).total_seconds()))}. {found.waiting.sentence}"


def _code(arguments: Namespace, program: Program) -> PlannedCode | None:
    if program.code is None:
        return None
    seen = program.code.contents
    return PlannedCode(
        _called(arguments, program),
        seen.file_count,
        seen.size_bytes,
        seen.modules,
        seen.modules_bytes,
        [PlannedPart(one.name, one.file_count, one.size_bytes) for one in seen.largest],
        [_left_out(one) for one in [*seen.left_out, *seen.ignored][:MOST_LEFT_OUT]],
        max(0, len(seen.left_out) + len(seen.ignored) - MOST_LEFT_OUT),
    )


def _left_out(one: Excluded) -> LeftOut:
    return LeftOut(f"{one.source}/" if one.is_folder and not one.source.endswith("/") else one.source, one.reason)


def _called(arguments: Namespace, program: Program) -> str:
    if arguments.script is not None:
        return str(arguments.script)
    if arguments.args or arguments.command is not None:
        return PurePath(program.captured["code"]["source"]).name
    return "this cell"


def _environment(arguments: Namespace, program: Program) -> PlannedEnvironment:
    captured = program.captured
    packages = captured.get("packages")
    python = str(captured.get("python") or captured.get("submitted_from", {}).get("python", ""))
    return PlannedEnvironment(python, None if packages is None else len(packages), arguments.image)
