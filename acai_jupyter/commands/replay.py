"""`replay`: doing again what was recorded, and saying whether the same came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.client import filesets, lineages
from acai_jupyter.commands.replay_outputs import Outputs, Verdict, worst
from acai_jupyter.commands.replay_plan import Instead, makers, plan
from acai_jupyter.commands.replay_steps import Doing, Step, sources_of
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import files_of
from acai_jupyter.commands.views import view_of
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.specs import parse_set

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.provenance import Action, Graph

DEEP = 100
LIMIT = 2000
SHOWN = 10


class Replay(msgspec.Struct, frozen=True):
    """What was done again, in order; the verdict is that of the last, or where that has none the worst there is."""

    thing: str
    steps: list[Step]
    verdict: Verdict | None = None
    failed: str = ""
    """How the job ended that did not finish; what was to come after it was not begun."""


def replay(client: Client, arguments: Namespace) -> Result:
    """Do a job again, or what a file set came from, and compare: exit status 1 when something differs."""
    found = run(client, arguments, view_of(arguments).say)
    failed = bool(found.failed) or found.verdict is Verdict.DIFFERENT
    return Result(text_of(found), found, "replay", failed=failed)


def run(client: Client, arguments: Namespace, say: Callable[[str], None]) -> Replay:
    """Do it, step by step, and return what came of it."""
    if not 0 <= arguments.tolerance < float("inf"):
        raise BadRequest("The tolerance is a number from 0 on, like 1e-6.")
    instead = Instead(_sets(client, arguments.instead), dict(arguments.p))
    graph, target = _lineage(client, arguments.thing)
    chosen = plan(graph, target, instead, whole=arguments.whole)
    sources = sources_of(client, chosen)
    if arguments.plan:
        return Replay(arguments.thing, [Step(_called(action), "") for action in chosen])
    doing = Doing(client, arguments, instead, graph, sources, say)
    steps: list[Step] = []
    for action in chosen:
        steps.append(doing.step(action, is_last=action is chosen[-1]))
        if doing.failed:
            return Replay(arguments.thing, steps, failed=doing.failed)
    compared = [step.outputs.verdict for step in steps if step.outputs is not None]
    last = steps[-1].outputs
    return Replay(arguments.thing, steps, last.verdict if last is not None else worst(compared))


def text_of(found: Replay) -> str:
    """Say of each step what came of it."""
    lines = []
    for step in found.steps:
        what = f"job {step.what}" if step.what.isdecimal() else step.what
        if not step.again:
            lines.append(f"{what} would be done again")
            continue
        again = f"job {step.again}" if step.again.isdecimal() else step.again
        lines.append(f"{what} again: {again}{_said(step.outputs)}")
        if step.outputs is not None:
            lines += _details(step.outputs)
    if found.failed:
        lines.append(f"The replay ends here. {found.failed}")
    return "\n".join(lines)


def _said(outputs: Outputs | None) -> str:
    if outputs is None:
        return ""
    if not outputs.files:
        counted = files_of(outputs.file_count) if outputs.file_count else "no files"
        return f" · {outputs.verdict.value} ({counted})"
    differing = sum(one.verdict is Verdict.DIFFERENT for one in outputs.files)
    if differing:
        return f" · {differing:,} of {files_of(outputs.file_count)} differ{'s' if differing == 1 else ''}"
    return f" · {outputs.verdict.value} ({len(outputs.files):,} of {files_of(outputs.file_count)} not the same bytes)"


def _details(outputs: Outputs) -> list[str]:
    different = [one for one in outputs.files if one.verdict is Verdict.DIFFERENT]
    lines = [f"  {one.path}: {one.how}" for one in different[:SHOWN]]
    if len(different) > SHOWN:
        lines.append(f"  … {len(different) - SHOWN:,} more")
    return lines + [f"  {told}" for told in outputs.attributes]


def _called(action: Action) -> str:
    return str(action.job.number) if action.job is not None else action.outputs[0]


def _sets(client: Client, given: list[str]) -> dict[str, str]:
    """Return the version that takes the place of each name."""
    found: dict[str, str] = {}
    for text in given:
        stored = client.call(endpoints.GET_FILE_SET, ref=filesets.ref_of(text))
        name = parse_set(stored.ref).name
        if found.setdefault(name, stored.ref) != stored.ref:
            raise BadRequest(f"Two versions of {name} are given: {found[name]} and {stored.ref}. Give one.")
    return found


def _lineage(client: Client, thing: str) -> tuple[Graph, Action]:
    """Return what a job or set came from, as far as an answer goes, and the action in question."""
    graph = lineages.neighbourhood(client, thing, back=DEEP, forward=0, limit=LIMIT)
    if graph.focus.isdecimal():
        return graph, next(one for one in graph.actions if one.job is not None and one.job.number == int(thing))
    made_by = makers(graph).get(graph.focus)
    if made_by is None:
        raise BadRequest(f"What made {graph.focus} is not recorded, so it cannot be done again.")
    return graph, made_by
