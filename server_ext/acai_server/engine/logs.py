"""A job's log: from the runner while it runs, from the object store for good. The bytes are the same."""

from __future__ import annotations

import codecs
import threading
from bisect import bisect_right
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING

from acai_jupyter.contract import loglines
from acai_jupyter.contract.errors import NotFound, ObjectNotFound
from acai_jupyter.contract.jobs import FoundLines, LogPage
from acai_jupyter.contract.states import END_STATES, JobState
from acai_server.engine.attempts import runner_name
from acai_server.engine.kept_logs import KeptLog
from acai_server.engine.log_lines import LineIndex
from acai_server.engine.progress import displays_sent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import ProjectId
    from acai_jupyter.contract.queries import LogLines
    from acai_server.db.database import Database
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.engine.read_limit import ReadLimit
    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Runner

PAGE_BYTES = 256 * 1024
_FOLLOWED = 1000
"""Of so many live logs it is remembered where their bytes are."""
_INDEXED = 100
"""Of so many logs it is remembered where their lines are: 16 bytes for each 64 kB of them."""
_STEP = 1024**2


class Logs:
    """Pages of text, and whole logs; offsets count the program's bytes."""

    def __init__(self, database: Database, objects: ObjectStore, runner: Runner) -> None:
        self._database = database
        self._objects = objects
        self._runner = runner
        self._live: OrderedDict[tuple[str, int], _LiveLog] = OrderedDict()
        self._indexes: OrderedDict[tuple[str, int, bool], LineIndex] = OrderedDict()
        self._lock = threading.Lock()

    def page(self, project: ProjectId, number: int, offset: int, attempt: int | None = None, rank: int = 0) -> LogPage:
        """Return what an attempt (without a number: the last) printed on one of its nodes, from a byte on."""
        job, found = self._find(project, number, attempt, rank)
        if found is None:
            return LogPage("", offset, ended=job.state in END_STATES)
        over = self._is_over(job, found)
        with _told_when_gone(job):
            piece = self._read(job, found, offset, rank, over=over)
        last = over and len(piece) < PAGE_BYTES
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        text = decoder.decode(piece, final=last)
        used = len(piece) - len(decoder.getstate()[0])
        ended = last and (attempt is not None or job.state in END_STATES)
        return LogPage(text, offset + used, ended, found.number, 0 if over else self._displays(job, found))

    def stream(
        self, project: ProjectId, number: int, attempt: int | None = None, offset: int = 0, rank: int = 0
    ) -> Iterator[bytes]:
        """Give the bytes of a log as they were printed, from one on; of a log that is live, those until now."""
        job, found = self._find(project, number, attempt, rank)
        if found is not None:
            yield from self._stream(job, found, offset, rank)

    def lines(self, project: ProjectId, number: int, query: LogLines, reading: ReadLimit | None) -> FoundLines:
        """Return lines of an attempt's log from a number on."""
        rank = query.node
        job, found = self._find(project, number, query.attempt, rank)
        if found is None:
            return FoundLines([], 0, 0)
        # What was kept may be shorter than what was seen of it live.
        name = runner_name(job, found), rank, self._is_over(job, found)
        with self._lock:
            index = self._indexes.setdefault(name, LineIndex())
            self._indexes.move_to_end(name)
            while len(self._indexes) > _INDEXED:
                self._indexes.popitem(last=False)
        return index.lines(
            lambda offset: self._stream(job, found, offset, rank), query.first, query.limit, reading=reading
        )

    def _stream(self, job: StoredJob, found: StoredAttempt, offset: int, rank: int) -> Iterator[bytes]:
        if self._is_over(job, found):
            with _told_when_gone(job):
                yield from KeptLog(self._objects, job, found, rank).stream(offset)
            return
        while piece := self._read(job, found, offset, rank, over=False):
            yield piece
            offset += len(piece)

    def _find(
        self, project: ProjectId, number: int, attempt: int | None, rank: int
    ) -> tuple[StoredJob, StoredAttempt | None]:
        with self._database.reading() as work:
            job = work.jobs.find(project, number)
            if rank >= job.request.nodes:
                raise NotFound(f"Job {number} has no node {rank}; its nodes are 0 to {job.request.nodes - 1}.")
            last = work.attempts.last(job.id)
            return job, last if attempt is None or last is None else work.attempts.find(job.id, attempt)

    def _is_over(self, job: StoredJob, attempt: StoredAttempt) -> bool:
        return attempt.log is not None or job.state in END_STATES or job.state is JobState.QUEUED

    def _displays(self, job: StoredJob, attempt: StoredAttempt) -> int:
        with self._lock:
            live = self._live.get((runner_name(job, attempt), 0))
        return 0 if live is None else live.displays

    def _read(self, job: StoredJob, attempt: StoredAttempt, offset: int, rank: int, *, over: bool) -> bytes:
        name = runner_name(job, attempt), rank
        if over:
            with self._lock:
                self._live.pop(name, None)
            return KeptLog(self._objects, job, attempt, rank).read(offset, PAGE_BYTES)
        with self._lock:
            live = self._live.setdefault(name, _LiveLog(self._runner, name, attempt.key))
            self._live.move_to_end(name)
            while len(self._live) > _FOLLOWED:
                self._live.popitem(last=False)
        return live.read(offset, PAGE_BYTES)


@contextmanager
def _told_when_gone(job: StoredJob) -> Iterator[None]:
    """Say of the log of a job that was deleted long ago where it went."""
    try:
        yield
    except ObjectNotFound as error:
        if job.deleted_at is None:
            raise
        raise NotFound(f"Job {job.number} was deleted, and its log was freed with the garbage.") from error


class _LiveLog:
    """Where the program's bytes are among all that was printed, as far as that was read: nothing is read twice."""

    def __init__(self, runner: Runner, name: tuple[str, int], key: str) -> None:
        self._runner = runner
        self._attempt, self._rank = name
        self._key = key
        self._marks = [(0, 0)]
        """Offsets of the program's bytes, and the positions in what was printed where they are."""
        self._lock = threading.Lock()
        self.displays = 0
        """How often its agent has sent what its cell displays, as far as it was read."""

    def read(self, offset: int, size_bytes: int) -> bytes:
        """Return a stretch of what the program printed, cut at what is there now."""
        with self._lock:
            mark = self._marks[bisect_right(self._marks, (offset, 1 << 62)) - 1]
        plain, position = mark
        found = b""
        while plain < offset + size_bytes and (printed := self._runner.printed(self._attempt, position, self._rank)):
            text, said, used = loglines.split(printed, self._key)
            self.displays = max(self.displays, *map(displays_sent, said), 0)
            if not used:
                break
            if plain + len(text) > offset:
                found += text[max(0, offset - plain) :]
            plain, position = plain + len(text), position + used
            self._remember(plain, position)
        return found[:size_bytes]

    def _remember(self, plain: int, position: int) -> None:
        """Keep the newest place, and of those before one in each step."""
        with self._lock:
            last = self._marks[-1]
            if plain <= last[0]:
                return
            if len(self._marks) > 1 and last[0] - self._marks[-2][0] < _STEP:
                self._marks[-1] = (plain, position)
            else:
                self._marks.append((plain, position))
