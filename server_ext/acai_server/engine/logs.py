"""A job's log: from the runner while it runs, from the object store for good. The bytes are the same."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from acai_jupyter.contract import loglines
from acai_jupyter.contract.errors import ObjectNotFound
from acai_jupyter.contract.jobs import LogPage
from acai_jupyter.contract.states import END_STATES
from acai_server.engine.attempts import runner_name, slot_key

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.database import Database
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Runner

PAGE_BYTES = 256 * 1024


class Logs:
    """Pages of text; offsets count the program's bytes."""

    def __init__(self, database: Database, objects: ObjectStore, runner: Runner) -> None:
        self._database = database
        self._objects = objects
        self._runner = runner

    def page(self, project: ProjectId, number: int, offset: int) -> LogPage:
        """Return what was printed from a byte on."""
        with self._database.reading() as work:
            job = work.jobs.find(project, number)
            attempt = work.jobs.last_attempt(job.id)
        over = job.state in END_STATES
        if attempt is None:
            return LogPage("", offset, ended=over)
        piece = self._kept(job, attempt, offset) if over else self._live(job, attempt, offset)
        last = over and len(piece) < PAGE_BYTES
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(piece, final=last)
        used = len(piece) - len(decoder.getstate()[0])
        return LogPage(text, offset + used, ended=last)

    def _kept(self, job: StoredJob, attempt: StoredAttempt, offset: int) -> bytes:
        try:
            return self._objects.get(slot_key(job, attempt, "log"), offset, PAGE_BYTES)
        except ObjectNotFound:
            return b""

    def _live(self, job: StoredJob, attempt: StoredAttempt, offset: int) -> bytes:
        name, position, plain = runner_name(job, attempt), 0, b""
        while len(plain) < offset + PAGE_BYTES and (printed := self._runner.printed(name, position)):
            text, _, used = loglines.split(printed, attempt.key)
            if not used:
                break
            plain, position = plain + text, position + used
        return plain[offset : offset + PAGE_BYTES]
