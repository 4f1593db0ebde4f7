"""Watches live attempts: what their agents say moves the job, their end hands it to the recorder.

The list of what lives is read from the database when something begins, when it is woken, and now and then; between
that, a job that prints nothing costs a look at its channel every two seconds.
"""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract import loglines
from acai_jupyter.contract.errors import StoreFull
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.states import LIVE_STATES, JobState
from acai_server.engine.attempts import runner_name
from acai_server.engine.progress import Progressing
from acai_server.engine.tags import JobTags, attach
from acai_server.loops import Loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.ids import AttemptId, JobId
    from acai_server.db.database import Database
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.db.work import Work
    from acai_server.runners.protocol import Ended, Runner

_log = logging.getLogger(__name__)
LOUD_SECONDS = 0.25
"""How often the words of agents are read while any says something; their end is noticed at once."""
QUIET_SECONDS = 2.0
CALM_AFTER_SECONDS = 3.0
IDLE_SECONDS = 60.0
RENEW_SECONDS = 3600.0
"""How often launch documents are written anew, so that what they refer to never expires."""
PIECES = 16
"""So many pieces of what one agent printed are read before it is the next one's turn."""
LONGEST_REST_SECONDS = 60.0
ABANDONED_SECONDS = 300.0
"""So long after its end was asked for, an attempt whose own servers do not end it is taken for lost by any server."""


@dataclass(frozen=True)
class Interface:
    """What the monitor asks of others: to record an end, to renew a document, and whether a start is under way."""

    record: Callable[[StoredJob, StoredAttempt, Ended, Callable[[Work], None]], None]
    """The last writes down, in the same transaction, what the agent said before its end."""
    renew: Callable[[StoredJob, StoredAttempt], None]
    is_starting: Callable[[JobId], bool]
    is_ours: Callable[[StoredAttempt], bool]
    """Whether this server's runner knows the attempt."""


@dataclass
class Heard:
    """What an agent and its program have said, and is not written down yet."""

    states: list[JobState] = field(default_factory=list)
    said: dict[str, Any] = field(default_factory=dict)
    has_misses: bool = False
    machine: str = ""

    def __bool__(self) -> bool:
        return bool(self.states or self.said or self.has_misses or self.machine)


@dataclass
class Watched:
    """An attempt under watch, with how far its words were read. Times are of the monotonic clock."""

    job: StoredJob
    attempt: StoredAttempt
    name: str
    since: float
    heard_at: float
    renew_at: float
    rests_until: float = 0.0
    faults: int = 0
    read: int = 0
    kill_asked: bool = False
    stopper: threading.Thread | None = None
    machine: str = ""
    tags: JobTags = field(init=False)
    progress: Progressing = field(init=False)
    ended: Ended | None = None
    """How it ended, if that was seen and could not be recorded yet: the runner may know it no more."""
    heard: Heard = field(default_factory=Heard)

    def __post_init__(self) -> None:
        self.tags = JobTags(self.job)
        self.progress = Progressing(self.since)


class Monitor:
    """After a restart it adopts what still runs: all it needs is in the database and with the runner.

    `patience_seconds` is how long another server may take from writing an attempt down to starting it.
    """

    def __init__(
        self,
        database: Database,
        runner: Runner,
        interface: Interface,
        *,
        patience_seconds: float = 0.0,
        loud_seconds: float = LOUD_SECONDS,
        idle_seconds: float = IDLE_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._runner = runner
        self._with = interface
        self._patience_seconds = patience_seconds
        self._loud_seconds = loud_seconds
        self._idle_seconds = idle_seconds
        self._now = now
        self._watched: dict[AttemptId, Watched] = {}
        self._stale = threading.Event()
        self._stale.set()
        self._read_at = 0.0
        self._has_swept = False
        self._loop = Loop("monitor", self.step, self._wait, runner.wake)

    def start(self) -> None:
        """Start the loop."""
        self._loop.start()

    def stop(self) -> None:
        """End the loop. Safe to call twice."""
        self._loop.stop()

    def wake(self) -> None:
        """Read the list of what lives again, now."""
        self._stale.set()
        self._runner.wake()

    def step(self) -> bool:
        """Look at every live attempt once; says whether one ended, after which another may have begun."""
        if not self._has_swept:
            self._sweep()
        if self._stale.is_set() or self._now() - self._read_at >= self._idle_seconds:
            self._stale.clear()
            self._read_list()
        ended = False
        for one in list(self._watched.values()):
            if one.rests_until > self._now():
                continue
            try:
                ended = self._look(one) or ended
                one.faults = 0
            except Exception as error:  # noqa: BLE001 (whatever it was, the others must go on)
                self._rest(one, error)
        return ended

    def _sweep(self) -> None:
        """Remove what is left of attempts that were recorded by a server that was killed before it cleaned up."""
        known = self._runner.known()  # before the list is read: what is known is written down before it is started
        with self._database.reading() as work:
            live = {
                runner_name(work.jobs.by_id(job), work.attempts.by_id(attempt))
                for job, attempt, _ in work.attempts.live()
            }
        self._has_swept = True
        for name in sorted(set(known) - live):
            try:
                self._runner.clean(name)
            except Exception:  # noqa: BLE001 (it is garbage, and the jobs that live are not to wait for it)
                _log.exception("What is left of %s cannot be removed.", name)

    def _read_list(self) -> None:
        now = self._now()
        with self._database.reading() as work:
            found = work.attempts.live()
            for job, attempt, asked in found:
                if attempt in self._watched:
                    continue
                stored = work.attempts.by_id(attempt)
                given_up = asked is not None and (work.clock.now() - asked).total_seconds() > ABANDONED_SECONDS
                if given_up or self._with.is_ours(stored):
                    of = work.jobs.by_id(job)
                    name = runner_name(of, stored)
                    self._watched[attempt] = Watched(of, stored, name, now, now, now + RENEW_SECONDS)
        live = {attempt: asked for _, attempt, asked in found}
        self._watched = {attempt: one for attempt, one in self._watched.items() if attempt in live}
        for attempt, one in self._watched.items():
            one.kill_asked = live[attempt] is not None
        self._read_at = now

    def _look(self, one: Watched) -> bool:
        """Look at one attempt; says whether it ended."""
        if self._with.is_starting(one.job.id):  # asked first: it may be started between two questions
            return False
        ended = one.ended or self._runner.ended(one.name)
        if ended is None:
            self._listen(one)
            self._keep(one)
            self._stop_if_asked(one)
            if self._now() >= one.renew_at:
                one.renew_at = self._now() + RENEW_SECONDS
                self._with.renew(one.job, one.attempt)
            return False
        if ended.exit_code is None and self._now() - one.since < self._patience_seconds and not one.read:
            return False
        self._end(one, ended)
        return True

    def _end(self, one: Watched, ended: Ended) -> None:
        try:
            one.ended = ended
            self._listen(one)
            self._with.record(one.job, one.attempt, ended, partial(self._write, one))
        except StoreFull:  # what the attempt left may be what fills the disk; what counts is in the object store
            self._runner.clean(one.name)
            raise
        self._watched.pop(one.attempt.id, None)
        self._runner.clean(one.name)

    def _rest(self, one: Watched, error: Exception) -> None:
        """Let an attempt that makes trouble alone for a while, longer each time."""
        one.faults += 1
        seconds = min(LONGEST_REST_SECONDS, 0.5 * 2.0**one.faults)
        one.rests_until = self._now() + seconds
        _log.error("Job %s makes trouble; looked at again in %g s.", one.job.number, seconds, exc_info=error)

    def _stop_if_asked(self, one: Watched) -> None:
        """Stopping takes as long as the program's grace, so it is done aside."""
        if one.kill_asked and (one.stopper is None or not one.stopper.is_alive()):
            one.stopper = threading.Thread(target=self._stop, args=(one.name,), name=f"acai-stop-{one.name}")
            one.stopper.daemon = True
            one.stopper.start()

    def _stop(self, name: str) -> None:
        try:
            self._runner.stop(name)
        except Exception:  # noqa: BLE001 (whatever it was, it is tried again at the next look)
            _log.exception("%s could not be ended; it will be tried again.", name)

    def _wait(self) -> None:
        now = self._now()
        awake = [one for one in self._watched.values() if one.rests_until <= now]
        pauses = [self._idle_seconds, *(one.rests_until - now for one in self._watched.values() if one.faults)]
        if awake:
            quiet = now - max(max(one.heard_at, one.since) for one in awake) > CALM_AFTER_SECONDS
            pauses.append(QUIET_SECONDS if quiet else self._loud_seconds)
        names = [one.name for one in awake if not self._is_unknown_yet(one)]
        self._runner.wait(names, max(0.01, min(pause for pause in pauses if pause > 0)))

    def _is_unknown_yet(self, one: Watched) -> bool:
        """Whether the runner may not have heard of it: it would be taken for one that ended."""
        return self._with.is_starting(one.job.id) or self._now() - one.since < self._patience_seconds

    def _listen(self, one: Watched) -> None:
        """Read what the agent said since the last time. Hearing it again after a restart changes nothing."""
        states: list[JobState] = []
        text = b""
        for _ in range(PIECES):
            printed = self._runner.printed(one.name, one.read)
            if not printed:
                break
            piece, said, used = loglines.split(printed, one.attempt.key)
            text += piece
            states += [JobState(words["state"]) for words in said if words.get("state") in LIVE_STATES]
            for words in said:
                one.progress.hear(words)
                if "displays" in words:
                    one.heard_at = self._now()
            if not used:
                break
            one.read += used
        if text or states:
            one.heard_at = self._now()
            one.tags.feed(text)
            heard = one.heard
            heard.states += states
            heard.said |= one.tags.fresh()
            heard.has_misses = one.tags.fresh_misses() or heard.has_misses
            heard.machine = "" if one.machine else self._runner.machine_name(one.name)

    def _keep(self, one: Watched) -> None:
        """Write down what was heard, if anything; what cannot be written now is kept for the next time."""
        if one.heard or one.progress.is_due(one.tags.read_bytes, self._now()):
            with self._database.writing() as work:
                self._write(one, work)
            one.machine = one.machine or one.heard.machine
            one.heard = Heard()

    def _write(self, one: Watched, work: Work) -> None:
        """Follow what an agent says of its state, and its program of the job; an end only the recorder believes."""
        job, heard = one.job, one.heard
        if heard.machine:
            work.attempts.set_machine(one.attempt.id, heard.machine)
        for state in heard.states:
            if work.jobs.advance(job.id, state, "", work.clock.now(), one.attempt.id):
                told = {"state": state.value}
                work.events.record(job.project_id, f"job_{state.value}", f"job {job.number}", **told)
        printed, now = one.tags.read_bytes, self._now()
        if one.ended is None and one.progress.is_due(printed, now):
            one.progress.tell(work, job, one.attempt, printed, now)
        if heard.has_misses:
            work.attempts.set_tag_misses(one.attempt.id, one.tags.misses)
        changed = bool(heard.said) and attach(work, job, SubjectKind.JOB, job.id, heard.said)
        if changed or heard.has_misses:
            work.events.record(job.project_id, "metadata_changed", f"job {job.number}")
