"""When a queued job will start: all queues are played ahead by the scheduler's own rules.

Each job is taken to last as long as most of its template did. Where that is not known and matters, nothing is said.
"""

from __future__ import annotations

import statistics
from collections import Counter
from datetime import datetime, timedelta
from itertools import islice
from typing import TYPE_CHECKING

from acai_server.db.queue import Head, Holder, Player, Queue, Share, Standing
from acai_server.engine.scheduler import RESERVE_SECONDS, Chooser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import JobId, ProjectId
    from acai_jupyter.contract.jobs import Resources
    from acai_jupyter.contract.projects import Machine
    from acai_server.db.jobs import StoredJob
    from acai_server.db.queue import QueueKey
    from acai_server.db.work import Work

RUNS = 20
"""So many earlier runs tell how long one takes."""
MOST = 200
"""When more jobs are queued, nobody knows; and to play them ahead takes a tenth of a second."""
_TICK = timedelta(microseconds=1)


class Lengths:
    """How long jobs take, from the last runs of their templates."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._known: dict[tuple[ProjectId, str], list[float]] = {}

    def left(self, player: Player, now: datetime) -> float | None:
        """Return for how many more seconds a job will probably live: as most did that took longer than it has."""
        runs = self._runs(player)
        since = 0.0 if player.since is None else (now - player.since).total_seconds()
        longer = [seconds for seconds in runs if seconds >= since]
        return statistics.median(longer) - since if longer else None

    def _runs(self, player: Player) -> list[float]:
        key = player.key[0], player.template
        if key not in self._known:
            self._known[key] = self._work.queue.run_seconds(*key, RUNS)
        return self._known[key]


class Stage:
    """The machine in the play: what lives there, and until when."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._room = Share(machine.cpus, machine.memory_bytes, machine.gpus)
        self.live: dict[JobId, tuple[Holder, datetime | None]] = {}
        """With when it ends, unless that is unknown."""
        self.counts: Counter[QueueKey] = Counter()
        """How many of each user live."""
        self._held = Share()
        self.was_full = False
        """Whether anything has waited for room."""

    def machine(self) -> Machine:
        """Return what can be held at once."""
        return self._machine

    def fits(self, resources: Resources) -> str:
        """Return why one more such job cannot be held now; empty when it can."""
        share = Share(resources.vcpu, resources.memory_bytes, resources.gpus)
        if share.fits(self._room.beside(self._held)):
            return ""
        self.was_full = True
        return "the machine is full"

    def put(self, player: Player, end: datetime | None) -> None:
        """Let a job live until then."""
        self.live[player.job] = Holder(player.key, player.job, player.number, player.share), end
        self.counts[player.key] += 1
        self._held += player.share

    def clear(self, now: datetime) -> None:
        """Let go what has ended."""
        for job in [job for job, (_, end) in self.live.items() if end is not None and end <= now]:
            holder, _ = self.live.pop(job)
            self.counts[holder.key] -= 1
            self._held = self._held.beside(holder.share) if self.live else Share()


class Rehearsal:
    """One play, up to the start of one job."""

    def __init__(self, work: Work, machine: Machine, quota: int, now: datetime) -> None:
        self._work = work
        self._lengths = Lengths(work)
        self._stage = Stage(machine)
        self._chooser = Chooser(self._stage, quota, RESERVE_SECONDS)
        self._now = now
        queued = work.queue.queued(MOST + 1)
        self._are_too_many = len(queued) > MOST
        self._lines: dict[QueueKey, list[Player]] = {}
        for player in queued:
            self._lines.setdefault(player.key, []).append(player)
        self._members = work.queue.members({project for project, _ in self._lines})
        self._served: dict[QueueKey, datetime] = {}
        self._unknown: set[QueueKey] = set()
        """Whose jobs live or were started of which it is not known how long they take."""
        for player in work.queue.players():
            self._put(player, now)

    def join(self, job: StoredJob, place: int) -> None:
        """Let a job wait that is only planned, behind so many of its user."""
        key, share = (job.project_id, job.user_id), job.share
        line = self._lines.setdefault(key, [])
        line.insert(place, Player(key, job.id, job.number, share, job.template))
        self._members = self._work.queue.members({project for project, _ in self._lines})

    def start_of(self, job: StoredJob) -> datetime | None:
        """Return when a job starts in the play; None when what is known does not tell."""
        key = job.project_id, job.user_id
        if self._are_too_many:
            return None
        while True:
            head = self._chooser.choose(self._standing(), self._now)
            if head is None and not self._wait():
                return None
            if head is not None and head.job == job.id:
                return None if key in self._unknown or (self._unknown and self._stage.was_full) else self._now
            if head is not None:
                self._start(head)

    def _start(self, head: Head) -> None:
        player = next(one for one in self._ready() if one.job == head.job)
        self._lines[player.key].remove(player)
        self._now += _TICK
        self._served[player.key] = self._now
        self._put(player, self._now)

    def _put(self, player: Player, now: datetime) -> None:
        seconds = self._lengths.left(player, now)
        end = None if seconds is None else now + timedelta(seconds=max(0.0, seconds))
        if end is None:
            self._unknown.add(player.key)
        self._stage.put(player, end)

    def _wait(self) -> bool:
        """Go on to when something ends or may be tried again; False when nothing will."""
        ends = (end for _, end in self._stage.live.values() if end is not None)
        queued = (player for line in self._lines.values() for player in line)
        tries = (player.not_before for player in queued if player.not_before is not None)
        later = [moment for moment in (*ends, *tries) if moment > self._now]
        if later:
            self._now = min(later)
            self._stage.clear(self._now)
        return bool(later)

    def _ready(self) -> Iterator[Player]:
        """The head of each queue."""
        for line in self._lines.values():
            yield from islice((one for one in line if one.not_before is None or one.not_before <= self._now), 1)

    def _standing(self) -> Standing:
        holders = [holder for holder, _ in self._stage.live.values()]
        queues = []
        for player in self._ready():
            key, head = player.key, Head(player.job, player.number, player.share)
            quota, served = self._members.get(key, (None, None))
            queues.append(Queue(key, head, self._stage.counts[key], quota, self._served.get(key, served)))
        return Standing(queues, holders)
