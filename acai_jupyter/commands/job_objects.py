"""Jobs as Python objects: `job.wait()`, `job.attributes["accuracy"]`, `job.output.get("out/")`.

What may change is asked for when it is looked at; nothing is printed.
"""

from __future__ import annotations

import codecs
from argparse import Namespace
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.client.follow import Following, wait, whole_log
from acai_jupyter.client.http import Client
from acai_jupyter.commands import job_cards, job_sentences, variables, why
from acai_jupyter.commands.displays import shown_of
from acai_jupyter.commands.functions import RETURNED
from acai_jupyter.commands.given import size
from acai_jupyter.commands.markup import bundle
from acai_jupyter.commands.objects import FileSet
from acai_jupyter.commands.snapshots import of_job
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError, JobFailed, NotFound
from acai_jupyter.contract.jobs import RemoveJob
from acai_jupyter.contract.states import END_STATES, JobState

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from datetime import datetime

    from acai_jupyter.contract.jobs import Attempt, MissReport, Resources
    from acai_jupyter.contract.jobs import Job as Snapshot
    from acai_jupyter.contract.metadata import Value


AWAKE_SECONDS = 2.0


@dataclass(frozen=True)
class Display:
    """Something that a job's cell displayed; a notebook shows it."""

    data: dict[str, Any]
    """The same thing in several forms, by their MIME types."""
    metadata: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return str(self.data.get("text/plain", f"Display({', '.join(sorted(self.data))})"))

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        del kwargs
        return self.data, self.metadata


class Job:
    """One job of a project. It can be pickled: what comes back asks the server that is found there."""

    def __init__(self, client: Client, number: int, snapshot: Snapshot | None = None) -> None:
        self._client = client
        self._number = number
        self._last = snapshot

    @property
    def number(self) -> int:
        """What people call it by."""
        return self._number

    @property
    def snapshot(self) -> Snapshot:
        """All of it as it is now, as a value that stays so."""
        self._last = self._client.call(endpoints.GET_JOB, job=self._number)
        return self._last

    @property
    def _known(self) -> Snapshot:
        """What was asked for, which never changes."""
        return self._last or self.snapshot

    @property
    def _now(self) -> Snapshot:
        """How it stands; of one that has ended this is known."""
        return self._last if self._last is not None and self._last.state in END_STATES else self.snapshot

    @property
    def name(self) -> str:
        """What its user calls it."""
        return self._known.name

    @property
    def user(self) -> str:
        """Who submitted it."""
        return self._known.user

    @property
    def command(self) -> str | list[str]:
        """What runs: a text by `sh -c`, a list as it is."""
        return self._known.command

    @property
    def inputs(self) -> list[str]:
        """The file sets that it reads, by their versions."""
        return list(self._known.inputs)

    @property
    def code(self) -> str | None:
        """The file set with its program."""
        return self._known.code

    @property
    def parameters(self) -> dict[str, str | int | float | bool]:
        """The parameters that it was given."""
        return dict(self._known.parameters)

    @property
    def resources(self) -> Resources:
        """What it asked for of a machine."""
        return self._known.resources

    @property
    def created_at(self) -> datetime:
        """When it was submitted."""
        return self._known.created_at

    @property
    def state(self) -> JobState:
        """Where it is in its life; it compares with texts like 'running'."""
        return self._now.state

    @property
    def reason(self) -> str:
        """Why it is in this state, where that is not plain: 'exit 1'."""
        return self._now.reason

    @property
    def has_ended(self) -> bool:
        """Whether it is over, for good or bad."""
        return self._now.state in END_STATES

    @property
    def attempts(self) -> list[Attempt]:
        """How often and how it was tried."""
        return list(self._now.attempts)

    @property
    def exit_code(self) -> int | None:
        """The exit status of its program, when there is one."""
        attempts = self._now.attempts
        return attempts[-1].exit_code if attempts else None

    @property
    def ended_at(self) -> datetime | None:
        """When it was over."""
        return self._now.ended_at

    @property
    def cost_usd(self) -> float | None:
        """What all its attempts cost together, as far as that is known."""
        return job_sentences.cost(self._now)

    @property
    def answered_by(self) -> int | None:
        """The earlier job whose result it was given without running."""
        return self._now.answered_by

    @property
    def attributes(self) -> dict[str, Value]:
        """What its program and people have attached to it until now."""
        return dict(self.snapshot.attributes)

    @property
    def tags(self) -> list[str]:
        """Its labels."""
        return list(self.snapshot.tags)

    @property
    def output(self) -> FileSet | None:
        """The file set that it made; None before it has finished, and when there was nothing."""
        return self._file_set(self._now.output)

    @property
    def partial(self) -> FileSet | None:
        """The file set of what a failed program left, when that was to be kept."""
        return self._file_set(self._now.partial)

    @property
    def displays(self) -> list[Display]:
        """What its cell displayed; of somebody else's job only what runs nothing in a notebook."""
        return [Display(one["data"], one["metadata"]) for one in shown_of(self._client, self._now)]

    def follow(self, attempt: int | None = None, *, node: int = 0) -> Iterator[str]:
        """Yield the lines of its log as they come, until it has ended; or those of one attempt, or of another node."""
        if self._known.answered_by is not None:
            return
        decoder, held = codecs.getincrementaldecoder("utf-8")("replace"), ""
        following = Following(self._client, self._now, node=node)
        for piece in following if attempt is None else following.attempt(attempt):
            *lines, held = (held + decoder.decode(piece)).split("\n")
            yield from lines
        held += decoder.decode(b"", final=True)
        if held:
            yield held

    def logs(self, attempt: int | None = None, *, node: int = 0) -> str:
        """Return what an attempt (without a number: the last) has printed until now, on one of its nodes."""
        count = len(self._now.attempts)
        if attempt is not None and not 1 <= attempt <= count:
            raise NotFound(f"Job {self._number} has no attempt {attempt}; it has had {count}.")
        if not count:
            return ""
        return b"".join(whole_log(self._client, self._number, attempt or count, node)).decode("utf-8", "replace")

    def wait(self, timeout: float | None = None) -> Job:
        """Return it when it has ended, however it did; TimeoutError when that takes longer."""
        self._last = wait(self._client, self._number, timeout=timeout)
        return self

    def result(self, timeout: float | None = None, *, trust: bool = False) -> Any:
        """Wait for it, and return what it made: its output file set, or what its function returned.

        JobFailed when it did not finish. `trust` is about pickles that this process's own job did not write.
        """
        self.wait(timeout)
        if self.state is not JobState.FINISHED:
            raise JobFailed(self._line(self._now))
        return self.received(trust=trust)[RETURNED] if RETURNED in self._known.receive else self.output

    def received(self, *, trust: bool = False, variables_limit: str | int | None = None) -> dict[str, Any]:
        """Wait for it, and return the variables that it was to leave, by their names; JobFailed when it did not finish.

        NotReceived names those that cannot be had; its `values` are the others.
        """
        self.wait()
        if self.state is not JobState.FINISHED:
            raise JobFailed(self._line(self._now))
        limit = variables.limit_of(
            Namespace(variables_limit=None if variables_limit is None else size(variables_limit))
        )
        found = variables.receive(self._client, self._now, trust=trust, limit=limit)
        if found.problems:
            raise variables.NotReceived(found)
        return found.values

    def __await__(self) -> Generator[Any, None, Any]:
        """Wait without blocking the event loop; gives its `result`."""
        return self._awaited().__await__()

    async def _awaited(self) -> Any:
        import asyncio

        while True:
            try:
                return await asyncio.to_thread(self.result, AWAKE_SECONDS)
            except TimeoutError:  # so often somebody who has cancelled this is heard
                continue

    def why(self) -> str:
        """Say why it waits, what it does, or how it ended."""
        return why.sentence(self._now)

    def why_miss(self) -> MissReport:
        """Return in what it differs from the nearest earlier job, so that it could not be answered by its result."""
        return self._client.call(endpoints.EXPLAIN_MISS, job=self._number)

    def kill(self) -> Job:
        """Ask for its end; `wait` tells when that is so."""
        self._last = self._client.call(endpoints.KILL_JOB, job=self._number)
        return self

    def remove(self, *, undo: bool = False) -> Job:
        """Delete it once it has ended, or bring it back."""
        self._last = self._client.call(endpoints.REMOVE_JOB, RemoveJob(undo=undo), job=self._number)
        return self

    def plain(self) -> dict[str, Any]:
        """Return all of it as plain data, for JSON."""
        found: dict[str, Any] = msgspec.to_builtins(self.snapshot)
        return found

    def _file_set(self, ref: str | None) -> FileSet | None:
        return None if ref is None else FileSet(self._client, self._client.call(endpoints.GET_FILE_SET, ref=ref))

    @property
    def _place(self) -> tuple[str, str, int]:
        connection = self._client.connection
        return connection.url, connection.project or self._client.status.project, self._number

    def __eq__(self, other: object) -> bool:
        return self._place == other._place if isinstance(other, Job) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._place)

    def __reduce__(self) -> tuple[Any, ...]:
        """A token is never pickled."""
        return _found_again, (self._number, self._place[1])

    @property
    def _seen(self) -> Snapshot | None:
        """How it stands, or stood when the server could last be asked."""
        with suppress(AcaiError):
            return self._now
        return self._last

    @staticmethod
    def _line(seen: Snapshot) -> str:
        return job_sentences.line(seen)

    def __repr__(self) -> str:
        seen = self._seen
        return f"job {self._number}" if seen is None else self._line(seen)

    def _repr_html_(self) -> str | None:
        seen = self._seen
        return None if seen is None else job_cards.html(seen)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        del kwargs
        seen = self._seen
        if seen is None:
            return {"text/plain": repr(self)}
        return bundle(self, "job", of_job(seen, self._place[1]))


def _found_again(number: int, project: str) -> Job:
    return Job(Client(project=project), number)
