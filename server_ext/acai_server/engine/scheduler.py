"""Decides which job starts next: fair between users, within their quota, when the runner can hold it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from acai_jupyter.contract.jobs import Resources
from acai_server.db.queue import Share
from acai_server.loops import Loop

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.ids import JobId
    from acai_server.db.database import Database
    from acai_server.db.jobs import StoredJob
    from acai_server.db.queue import Head, Queue, Standing
    from acai_server.engine.protocols import Room

IDLE_SECONDS = 5.0
RESERVE_SECONDS = 60.0
"""So long others may pass a job that does not fit; then what they would need is kept for it."""
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass
class Patience:
    """Remembers since when heads have not fitted, and what was started while room was kept for one of them."""

    refused_at: dict[JobId, datetime] = field(default_factory=dict)
    started: set[JobId] = field(default_factory=set)
    """Since there is a reservation."""

    def reserved(self, standing: Standing, now: datetime, seconds: float) -> Head | None:
        """Return the head that has waited longest for room, if that is long."""
        heads = {queue.head.job: queue.head for queue in standing.queues}
        self.refused_at = {job: at for job, at in self.refused_at.items() if job in heads}
        late = [(at, job) for job, at in self.refused_at.items() if (now - at).total_seconds() >= seconds]
        if not late:
            self.started.clear()
            return None
        self.started &= {holder.job for holder in standing.holders}
        return heads[min(late)[1]]


def in_turn(queues: list[Queue], quota: int) -> list[Queue]:
    """Return the queues that may start a job, the next first: who holds least, then who was served longest ago."""
    within = [queue for queue in queues if queue.held < (quota if queue.quota is None else queue.quota)]
    return sorted(within, key=lambda queue: (queue.held, queue.served_at or _NEVER, queue.key))


def leaves_room(share: Share, reserved: Head, standing: Standing, started: set[JobId], machine: Share) -> bool:
    """Whether starting this cannot hold up the job that room is kept for.

    All that was live before the reservation ends some day; then the reserved job fits, if it fits beside what was
    started since.
    """
    since = sum((holder.share for holder in standing.holders if holder.job in started), Share())
    return (share + reserved.share + since).fits(machine)


class Chooser:
    """Chooses what starts next, and remembers whom it refused for want of room."""

    def __init__(self, room: Room, quota: int, reserve_seconds: float) -> None:
        self._room = room
        self._quota = quota
        self._reserve_seconds = reserve_seconds
        self._patience = Patience()

    def choose(self, standing: Standing, now: datetime) -> Head | None:
        """Return the job to start now."""
        reserved = self._patience.reserved(standing, now, self._reserve_seconds)
        for queue in in_turn(standing.queues, self._quota):
            head = queue.head
            if self._room.fits(resources(head.share)):
                self._patience.refused_at.setdefault(head.job, now)
            elif reserved is None or head.job == reserved.job:
                return head
            elif leaves_room(head.share, reserved, standing, self._patience.started, self._machine()):
                self._patience.started.add(head.job)
                return head
        return None

    def _machine(self) -> Share:
        machine = self._room.machine()
        return Share(machine.cpus, machine.memory_bytes, _ANY)


class Scheduler:
    """Sleeps until something was submitted or ended. What it must not forget is in the database."""

    def __init__(
        self,
        database: Database,
        room: Room,
        launch: Callable[[StoredJob], None],
        *,
        quota: int,
        idle_seconds: float = IDLE_SECONDS,
        reserve_seconds: float = RESERVE_SECONDS,
    ) -> None:
        self._database = database
        self._launch = launch
        self._idle_seconds = idle_seconds
        self._chooser = Chooser(room, quota, reserve_seconds)
        self._pause = idle_seconds
        self._wanted = threading.Event()
        self._loop = Loop("scheduler", self.step, self._wait, self.wake)

    def start(self) -> None:
        """Start the loop."""
        self._loop.start()

    def stop(self) -> None:
        """End the loop. Safe to call twice."""
        self._loop.stop()

    def wake(self) -> None:
        """Look again now."""
        self._wanted.set()

    def step(self) -> bool:
        """Start one job if one may start; says whether it did."""
        self._wanted.clear()
        with self._database.reading() as work:
            now = work.clock.now()
            head = self.choose(work.queue.standing(now), now)
            if head is None:
                later = work.queue.next_try(now)
                self._pause = self._idle_seconds if later is None else (later - now).total_seconds()
                return False
            job = work.jobs.by_id(head.job)
        self._launch(job)
        return True

    def choose(self, standing: Standing, now: datetime) -> Head | None:
        """Return the job to start now."""
        return self._chooser.choose(standing, now)

    def _wait(self) -> None:
        self._wanted.wait(max(0.0, min(self._pause, self._idle_seconds)))


_ANY = 2**31
"""How many GPUs a machine has is for its `fits` to know; no room is kept for them."""


def resources(share: Share) -> Resources:
    """Return a share as a runner is asked about it."""
    return Resources(vcpu=share.vcpu, memory_bytes=share.memory_bytes, gpus=share.gpus)
