"""What the view of a job shows, as plain values: no ipywidgets here, so that it is tested without a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.client.submissions import Submitting
from acai_jupyter.commands import graph_forms, job_cards, job_sentences
from acai_jupyter.contract import decoding, endpoints
from acai_jupyter.contract.drawings import DrawGraph
from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.contract.jobs import Progress, Usage
from acai_jupyter.contract.states import END_STATES
from acai_jupyter.widgets import job_parts
from acai_jupyter.widgets.log_tail import LogTail

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.events import Event
    from acai_jupyter.contract.jobs import Job

MAX_SAMPLES = 300
"""So many samples are drawn: of more each second one goes."""


class JobModel:
    """One job as its view shows it. `on_change` is called when something of it is different."""

    def __init__(self, client: Client, number: int, on_change: Callable[[], None] = lambda: None) -> None:
        self.client = client
        self.on_change = on_change
        self.job: Job = client.call(endpoints.GET_JOB, job=number)
        self.error = ""
        self._tail: LogTail | None = None

    @property
    def is_live(self) -> bool:
        """Whether it may still change."""
        return self.job.state not in END_STATES

    @property
    def line(self) -> str:
        """How it stands, in a line."""
        return job_sentences.line(self.job, "%acai")

    @property
    def html(self) -> str:
        """The card; of a live job how it goes, of one that has ended all that is known."""
        parts = [job_parts.stepper(self.job), job_parts.transfer(self.job), job_parts.spent(self.job)]
        parts.append(job_parts.usage(self.job))
        if not self.is_live:
            return job_cards.html(self.job, "%acai") + job_parts.stepper(self.job) + job_parts.usage(self.job)
        return job_cards.briefly(self.job, self.line) + "".join(parts)

    def hear(self, event: Event) -> None:
        """Take what is told of it; where that is not all, ask."""
        if event.subject != f"job {self.job.number}":
            return
        if event.kind != "job_progressed" or not self._goes_on(event):
            self.refresh()

    def refresh(self) -> None:
        """Ask the server; what cannot be had now is said, and stays as it was."""
        self._do(lambda: self.client.call(endpoints.GET_JOB, job=self.job.number))

    def kill(self) -> None:
        """Ask for its end."""
        self._do(lambda: self.client.call(endpoints.KILL_JOB, job=self.job.number))

    def run_again(self) -> int | None:
        """Submit the same once more; returns the new job's number."""
        try:
            asked = self.client.call(endpoints.GET_REQUEST, job=self.job.number)
            return Submitting(self.client).job(asked.request).number
        except AcaiError as error:
            self.error = error.message
            self.on_change()
            return None

    def provenance(self) -> str | None:
        """Return the graph around it, drawn; nothing when that cannot be had."""
        try:
            wanted = DrawGraph(str(self.job.number), with_svg=True)
            return graph_forms.html(self.client.call(endpoints.DRAW_GRAPH, wanted))
        except AcaiError as error:
            self.error = error.message
            self.on_change()
            return None

    def log(self, words: str = "") -> str:
        """Return the end of its log as HTML, or the lines of it that hold some words. Only what is new is read."""
        if self._tail is None:
            self._tail = LogTail(self.client, self.job)
        try:
            self._tail.read_on(self.job)
        except AcaiError as error:
            self.error = error.message
        return job_parts.log(list(self._tail.lines), self._tail.skipped, words)

    def forget_log(self) -> None:
        """Nobody looks at it any more."""
        self._tail = None

    def _goes_on(self, event: Event) -> bool:
        """Take the progress of the attempt that is known; says whether it was of that one."""
        try:
            told = decoding.convert(event.details, Progress)
        except msgspec.ValidationError:
            return False
        last = self.job.attempts[-1] if self.job.attempts else None
        if last is None or last.number != told.attempt or last.usd_per_hour is None:
            return False
        before = last.usage or Usage()
        newest = before.samples[-1][0] if before.samples else -1.0
        samples = [*before.samples, *(one for one in told.samples if one[0] > newest)]
        usage = msgspec.structs.replace(before, samples=samples[::2] if len(samples) > MAX_SAMPLES else samples)
        last = msgspec.structs.replace(last, usage=usage, transfer=told.transfer, log_bytes=told.log_bytes)
        self.job = msgspec.structs.replace(self.job, attempts=[*self.job.attempts[:-1], last])
        self.on_change()
        return True

    def _do(self, ask: Callable[[], Job]) -> None:
        try:
            self.job, self.error = ask(), ""
        except AcaiError as error:
            self.error = error.message
        self.on_change()
