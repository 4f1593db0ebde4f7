"""The steps of a replay: a job is submitted again from what was recorded of it, a set is made again of its sources."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.client.follow import wait
from acai_jupyter.client.submissions import Submitting
from acai_jupyter.commands import job_sentences
from acai_jupyter.commands.programs import OF_THIS_MACHINE
from acai_jupyter.commands.replay_outputs import Outputs, compare_outputs, compare_sets
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import Conflict
from acai_jupyter.contract.filesets import CreateFileSet, Matching, Without
from acai_jupyter.contract.specs import parse_set
from acai_jupyter.contract.states import ActionKind, InputRole, JobState

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable

    from acai_jupyter.client.http import Client
    from acai_jupyter.commands.replay_plan import Instead
    from acai_jupyter.contract.filesets import Source
    from acai_jupyter.contract.jobs import CreateJob, Job, JobRequest
    from acai_jupyter.contract.provenance import Action, Graph

REPLAY_OF = "replay_of"
"""The attribute that a job has which did another one again."""


class Step(msgspec.Struct, frozen=True):
    """What was done again, and what came of it."""

    what: str
    """A job's number, or the set that somebody made."""
    again: str
    """The number of the new job, or the new set; empty while it is only planned."""
    outputs: Outputs | None = None


def sources_of(client: Client, actions: Iterable[Action]) -> dict[str, list[Source]]:
    """Return what the sets are made of that people made. Asked before anything is done, as it may not be known."""
    found = {}
    for action in actions:
        if action.job is not None:
            continue
        (was,) = action.outputs
        sources = client.call(endpoints.GET_SOURCES, ref=was).sources
        if action.kind is not ActionKind.CREATION or sources is None:
            name = parse_set(was).name
            raise Conflict(
                f"What {was} was made of is not kept, so it is not made anew. Make it, and give it: --with {name}:N"
            )
        found[was] = sources
    return found


class Doing:
    """Does actions again, one after the other; what was made anew takes the place of what was."""

    def __init__(
        self,
        client: Client,
        arguments: Namespace,
        instead: Instead,
        graph: Graph,
        sources: dict[str, list[Source]],
        say: Callable[[str], None],
    ) -> None:
        self._client = client
        self._arguments = arguments
        self._instead = instead
        self._sources = sources
        self._say = say
        self._gone = {node.ref for node in graph.nodes if node.file_set.deleted_at is not None}
        self.failed = ""
        """How the job ended that did not finish."""
        self._anew = {
            one.file_set: instead.sets[parse_set(one.file_set).name]
            for action in graph.actions
            for one in action.inputs
            if parse_set(one.file_set).name in instead.sets
        }

    def step(self, action: Action, *, is_last: bool) -> Step:
        """Do one, and wait for it."""
        if action.job is None:
            return self._create(action, is_last=is_last)
        recorded = self._client.call(endpoints.GET_REQUEST, job=action.job.number)
        before = self._client.call(endpoints.GET_JOB, job=recorded.number)
        request = self._request(action, recorded, before, is_last=is_last)
        job = Submitting(self._client, self._say).job(request)
        self._say(f"job {job.number} does job {recorded.number} again · log: acai logs -f {job.number}")
        job = wait(self._client, job.number, self._say)
        if job.state is not JobState.FINISHED:
            self.failed = job_sentences.line(job)
            return Step(str(recorded.number), str(job.number))
        if before.output is not None and job.output is not None:
            self._anew[before.output] = job.output
        elif before.output is not None and not is_last:
            self.failed = f"job {job.number} left no files in place of {before.output}."
            return Step(str(recorded.number), str(job.number))
        if before.state is not JobState.FINISHED:
            self._say(f"job {before.number} was {before.state.value}; what came now has nothing to be compared with")
            return Step(str(before.number), str(job.number))
        places = (before, _root(recorded.request, before)), (job, _root(request, job))
        return Step(
            str(before.number), str(job.number), compare_outputs(self._client, *places, self._arguments.tolerance)
        )

    def _create(self, action: Action, *, is_last: bool) -> Step:
        """Make a set again of what its sources are now."""
        (was,) = action.outputs
        wanted = CreateFileSet(self._name(was, is_last=is_last), [self._source(one) for one in self._sources[was]])
        made = self._client.call(endpoints.CREATE_FILE_SET, wanted).file_set
        self._anew[was] = made.ref
        if was in self._gone:
            return Step(was, made.ref)
        return Step(was, made.ref, compare_sets(self._client, was, made.ref, self._arguments.tolerance))

    def _name(self, was: str, *, is_last: bool) -> str:
        """The name to make a set again under; those of the system get one of their own."""
        if is_last and self._arguments.output is not None:
            return str(self._arguments.output)
        name = parse_set(was).name
        if name.startswith("job-"):
            return f"replay-{name}"
        return name if self._instead else f"{name}-replay"

    def _source(self, source: Source) -> Source:
        if isinstance(source, Without):
            return Without([*map(self._source, source.of)], [*map(self._source, source.without)])
        if isinstance(source, Matching):
            return msgspec.structs.replace(source, of=[*map(self._source, source.of)])
        if not isinstance(source, str):
            return source
        path, at, ref = source.rpartition("@")
        return f"{path}@{self._anew.get(ref, ref)}" if at else source

    def _request(self, action: Action, recorded: JobRequest, before: Job, *, is_last: bool) -> CreateJob:
        was = recorded.request
        data = [one.file_set for one in action.inputs if one.role is InputRole.DATA]
        chosen = {name: value for name, value in self._instead.parameters.items() if name in was.parameters}
        changes: dict[str, Any] = {
            "inputs": [f"@{self._anew.get(ref, ref)}" for ref in data],
            "code": self._now(was.code),
            "variables": self._now(was.variables),
            "parameters": {**was.parameters, **chosen},
            "attributes": {**was.attributes, REPLAY_OF: int(recorded.number)},
            "command": self._command(was.command),
            "cached": self._arguments.cached,
            "output": self._output(was, is_last=is_last),
            # who needs them looks for them where they were
            "output_root": was.output_root if is_last else _root(was, before) or None,
        }
        return msgspec.structs.replace(was, **changes)

    def _now(self, ref: str | None) -> str | None:
        return None if ref is None else self._anew.get(ref, ref)

    def _output(self, was: CreateJob, *, is_last: bool) -> str | None:
        """What only checks what was there does not become the newest version of it."""
        if is_last and self._arguments.output is not None:
            return str(self._arguments.output)
        return was.output if was.output is None or self._instead else f"{was.output}-replay"

    def _command(self, was: str | list[str]) -> str | list[str]:
        """An interpreter of this machine that is not there any more gives way to this one."""
        if isinstance(was, str) or self._client.status.backends.runner not in OF_THIS_MACHINE:
            return was
        is_python = Path(was[0]).name.startswith("python") and os.path.isabs(was[0])  # noqa: PTH117 (a text among texts)
        if not is_python or Path(was[0]).exists():
            return was
        self._say(f"{was[0]} is not there any more; {sys.executable} takes its place")
        return [sys.executable, *was[1:]]


def _root(request: CreateJob, job: Job) -> str:
    """Return the folder below which a job's outputs are kept."""
    return request.output_root or (f"/{parse_set(job.output).name}" if job.output else "")
