"""Following a job: its log as it comes, byte for byte, until it has ended.

A server that goes away for a while leaves no gap and no repetition; a job that is tried again is followed on.
"""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

from acai_jupyter.client.patience import Patience
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.states import END_STATES, JobState

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.jobs import Attempt, Job, LogPage

WAIT_SECONDS = 20
MOMENT_SECONDS = 1
"""What begins within this time was not waited for."""
MUCH = 100_000
"""Where so many characters wait there may be more than a page, which comes faster as a whole."""
_REPLACED = "\ufffd"
_WAITS = (JobState.QUEUED, JobState.LAUNCHING)


def in_silence(text: str) -> None:
    """Say nothing."""
    del text


def follow_log(client: Client, number: int) -> Iterator[str]:
    """Yield the log of the last attempt as text; ends when the job has ended and all of it was given."""
    offset = 0
    while True:
        query = {"offset": offset, "wait_seconds": WAIT_SECONDS}
        page = client.call(endpoints.GET_LOG, query=query, job=number)
        if page.text:
            yield page.text
        if page.ended:
            return
        offset = page.next_offset


def wait(client: Client, number: int, say: Callable[[str], None] = in_silence, *, timeout: float | None = None) -> Job:
    """Return the job when it has ended; TimeoutError when that takes longer than `timeout` seconds."""
    patience, deadline = Patience(client, say), None if timeout is None else time.monotonic() + timeout
    while True:
        left = WAIT_SECONDS if deadline is None else min(WAIT_SECONDS, max(0.0, deadline - time.monotonic()))
        job = patience.call(endpoints.GET_JOB, query={"wait_seconds": left}, job=number)
        if job.state in END_STATES:
            return job
        if deadline is not None and time.monotonic() >= deadline:
            raise TimeoutError(f"job {number} is {job.state.value} after {timeout:g} s")


def whole_log(client: Client, number: int, attempt: int, node: int = 0) -> Generator[bytes]:
    """Yield what an attempt has printed until now, on one of its nodes."""
    patience = Patience(client, in_silence)
    with closing(_Bytes(client, number, {"attempt": attempt, "node": node}, 0)) as log:
        while piece := patience.ask(log.read):
            yield piece


class Following:
    """The log of a job from now on: of the attempt that is its last one now, and of those that come after.

    `say` is told in a sentence what this waits for, and why the job is and was tried again; `on_displays` is called
    when what its cell displays was kept anew, between the bytes that were printed before and after. Of a job on several
    nodes it is the log of one.
    """

    def __init__(
        self,
        client: Client,
        job: Job,
        say: Callable[[str], None] = in_silence,
        on_displays: Callable[[], None] | None = None,
        *,
        node: int = 0,
    ) -> None:
        self._client = client
        self._job = job
        self._say = say
        self._on_displays = on_displays
        self._node = node
        self._patience = Patience(client, say)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the bytes as they come, until the job has ended."""
        job = self._job
        number = job.attempts[-1].number if job.attempts else 1
        for before in job.attempts[:-1]:
            self._say(why_again(job, before))
        if job.state in _WAITS:
            self._wait_for_beginning(number)
        while True:
            yield from self.attempt(number)
            if not self._goes_on(number):
                return
            number += 1

    def attempt(self, number: int) -> Iterator[bytes]:
        """Yield the bytes of one attempt as they come, until it has ended."""
        offset, displays = 0, 0
        while True:
            query = {"offset": offset, "wait_seconds": WAIT_SECONDS, **self._of(number)}
            if self._on_displays is not None:
                query["displays"] = displays
            page = self._patience.call(endpoints.GET_LOG, query=query, job=self._job.number)
            if len(page.text) >= MUCH:
                for piece in self._until_now(number, offset):
                    yield piece
                    offset += len(piece)
                continue
            yield from self._bytes(page, number, offset)
            if page.displays > displays and self._on_displays is not None:
                self._on_displays()
            if page.ended:
                return
            offset, displays = page.next_offset, max(displays, page.displays)

    def _of(self, attempt: int) -> dict[str, int]:
        return {"attempt": attempt, "node": self._node}

    def _until_now(self, number: int, offset: int) -> Iterator[bytes]:
        """Yield what there is by now in one go, as it is more than a page."""
        with closing(_Bytes(self._client, self._job.number, self._of(number), offset)) as log:
            while piece := self._patience.ask(log.read):
                yield piece

    def _wait_for_beginning(self, number: int) -> None:
        """Give it a moment to begin; if it has not then, say what it waits for."""
        query = {"wait_seconds": MOMENT_SECONDS, **self._of(number)}
        page = self._patience.call(endpoints.GET_LOG, query=query, job=self._job.number)
        if page.text or page.ended:
            return
        job = self._patience.call(endpoints.GET_JOB, job=self._job.number)
        if job.state is JobState.QUEUED or (job.state is JobState.LAUNCHING and job.waiting):
            self._say(what_it_waits_for(job))

    def _bytes(self, page: LogPage, attempt: int, offset: int) -> Iterator[bytes]:
        """Yield the bytes of a page. Where its text may not tell what they were, they are asked for."""
        if _REPLACED not in page.text:
            if page.text:
                yield page.text.encode()
            return
        with closing(_Bytes(self._client, self._job.number, self._of(attempt), offset)) as log:
            while offset < page.next_offset and (piece := self._patience.ask(log.read)):
                yield piece[: page.next_offset - offset]
                offset += len(piece)

    def _goes_on(self, number: int) -> bool:
        """Wait until a job has ended for good, or a further attempt of it has begun."""
        last = self._patience.call(endpoints.LIST_EVENTS).last
        is_told = False
        while True:
            job = self._patience.call(endpoints.GET_JOB, job=self._job.number)
            has_next = len(job.attempts) > number
            if not has_next and job.state in END_STATES:
                return False
            if not is_told and (has_next or job.state is JobState.QUEUED):
                self._say(why_again(job, job.attempts[number - 1]))
                is_told = True
            if has_next:
                return True
            query = {"since": last, "wait_seconds": WAIT_SECONDS}
            last = self._patience.call(endpoints.LIST_EVENTS, query=query).last


def what_it_waits_for(job: Job) -> str:
    """Say that a job has not begun, and why."""
    why = f" {one_line(job.waiting.sentence)}" if job.waiting else ""
    return f"job {job.number} is {job.state.value}.{why}"


def why_again(job: Job, attempt: Attempt) -> str:
    """Say how an attempt ended that was not the last one."""
    end = attempt.transitions[-1]
    if "tried again" in end.reason:
        return f"job {job.number} {one_line(end.reason)}"
    why = f" ({one_line(end.reason)})" if end.reason else ""
    return f"job {job.number} {end.state.value}{why}; it is being tried again"


class _Bytes:
    """The bytes of a log from one on. When they stop in the middle, the next reading goes on there."""

    def __init__(self, client: Client, number: int, of: dict[str, int], offset: int) -> None:
        self._client = client
        self._number = number
        self._of = of
        self._position = offset
        self._stream: Generator[bytes] | None = None

    def read(self) -> bytes:
        """Return the next of them; none at their end."""
        if self._stream is None:
            query = {"offset": self._position, **self._of}
            self._stream = self._client.stream(endpoints.DOWNLOAD_LOG, query=query, job=self._number)
        try:
            piece = next(self._stream, b"")
        except AcaiError:
            self._stream = None
            raise
        self._position += len(piece)
        return piece

    def close(self) -> None:
        """Hang up."""
        if self._stream is not None:
            self._stream.close()
