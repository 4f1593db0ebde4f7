"""The end of a job's log, read on as it grows: no byte twice, and of what is far from the end nothing."""

from __future__ import annotations

import codecs
from collections import deque
from typing import TYPE_CHECKING

from acai_jupyter.commands.screen import Screen
from acai_jupyter.commands.tag_lines import WithoutTags
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.states import END_STATES

if TYPE_CHECKING:
    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.jobs import Job

TAIL_BYTES = 64 * 1024
"""So much of the end is read of what is there when one begins to look, or of what came since."""
TAIL_LINES = 500
WIDEST = 400
"""So many characters of a line are shown."""
PAGES = 4
"""So many pages are read at a look; the next look goes on."""


class LogTail:
    """The log of a job's last attempt; of one that was answered by an earlier job, that job's."""

    def __init__(self, client: Client, job: Job) -> None:
        self._client = client
        self._source = job.number if job.answered_by is None else job.answered_by
        self._is_answered = job.answered_by is not None
        self._begin(0)

    def _begin(self, attempt: int) -> None:
        self._attempt = attempt
        self._offset = 0
        self._has_all = False
        self._restart()

    def _restart(self) -> None:
        """Begin anew with the lines: what was read before is not seen any more, or is far away."""
        self._screen = Screen(widest=WIDEST)
        self._tags = WithoutTags()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.lines: deque[str] = deque(maxlen=TAIL_LINES)
        self.skipped = self._offset

    def read_on(self, job: Job) -> None:
        """Read what is new."""
        if self._is_answered and not self._attempt:
            job = self._client.call(endpoints.GET_JOB, job=self._source)
        if not job.attempts or (self._has_all and (self._is_answered or self._attempt == job.attempts[-1].number)):
            return
        last = job.attempts[-1]
        if last.number != self._attempt and not (self._is_answered and self._attempt):
            self._begin(last.number)
        self._skip_to((last.log_bytes or 0) - TAIL_BYTES)
        for _ in range(PAGES):
            query = {"offset": self._offset, "attempt": self._attempt}
            page = self._client.call(endpoints.GET_LOG, query=query, job=self._source)
            self._offset = page.next_offset
            self._take(page.text)
            if page.ended and job.state in END_STATES:
                self._take(self._tags.close(), is_last=True)
                self._has_all = True
            if page.ended or not page.text:
                return

    def _skip_to(self, offset: int) -> None:
        """Leave out what is farther from the end than is shown."""
        if offset > self._offset + TAIL_BYTES:
            self._offset = offset
            self._restart()

    def _take(self, text: str, *, is_last: bool = False) -> None:
        shown = self._screen.feed(text if is_last else self._tags.feed(text)) + (
            self._screen.close() if is_last else ""
        )
        *lines, rest = shown.split("\n")
        self.lines.extend(lines)
        if rest:
            self.lines.append(rest)
