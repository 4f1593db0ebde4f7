"""What scheduling looks at: the head of each queue and what is held. Nothing here decodes a request.

A queue is all that a user has waiting in a project. However many jobs wait, only the heads are read, by steps along an
index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.ids import JobId, JobNumber, ProjectId, UserId
from acai_jupyter.contract.states import JobState
from acai_server.db import batches
from acai_server.db.attempts import LIVE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy.orm import Session

_QUEUED = f"ended_at IS NULL AND state = '{JobState.QUEUED.value}'"
_LIVE = "ended_at IS NULL AND state IN ({})".format(", ".join(f"'{state}'" for state in LIVE))
_SHARE = "vcpu * nodes, memory_bytes * nodes, gpus * nodes"


def _ready(name: str) -> str:
    """What is true of the jobs of a queue that may be tried now."""
    return f"""{name}.ended_at IS NULL AND {name}.state = '{JobState.QUEUED.value}'
        AND {name}.project_id = q.project_id AND {name}.user_id = q.user_id AND {name}.kill_asked_at IS NULL
        AND ({name}.not_before IS NULL OR {name}.not_before <= ?)"""


# Steps from queue to queue along the index: as many as there are queues, not jobs; and two within each, as the order of
# the index is not that of the queue, where a higher priority comes first.
_HEADS = f"""
    WITH RECURSIVE step (id) AS (
        SELECT (SELECT f.id FROM job f WHERE f.ended_at IS NULL AND f.state = '{JobState.QUEUED.value}'
            ORDER BY f.project_id, f.user_id LIMIT 1)
        UNION ALL
        SELECT (SELECT n.id FROM job n WHERE n.ended_at IS NULL AND n.state = '{JobState.QUEUED.value}'
            AND (n.project_id, n.user_id) > (p.project_id, p.user_id) ORDER BY n.project_id, n.user_id LIMIT 1)
        FROM step s JOIN job p ON p.id = s.id
    ), head (id) AS (
        SELECT (SELECT h.id FROM job h WHERE {_ready("h")} AND h.priority = (
            SELECT t.priority FROM job t WHERE {_ready("t")} ORDER BY t.priority DESC LIMIT 1)
            ORDER BY h.number LIMIT 1)
        FROM step s JOIN job q ON q.id = s.id
    )
    SELECT j.project_id, j.user_id, j.id, j.number, {_SHARE} FROM head JOIN job j ON j.id = head.id"""
_MEMBERS = "SELECT project_id, user_id, quota, served_at FROM membership WHERE project_id IN"
_HELD = f"SELECT project_id, user_id, number, {_SHARE}, id FROM job WHERE {_LIVE}"
_BEFORE = f"""
    SELECT count(*) FROM job WHERE {_QUEUED} AND project_id = ? AND user_id = ? AND id <> ?
    AND (priority > ? OR (priority = ? AND number < ?))"""
_RUN_SECONDS = """
    SELECT coalesce(a.billed_seconds, a.run_seconds) FROM job j JOIN attempt a ON a.job_id = j.id
    WHERE j.project_id = ? AND j.template = ? AND j.ended_at IS NOT NULL AND j.state = 'finished'
    AND a.billed_seconds IS NOT NULL ORDER BY j.ended_at DESC LIMIT ?"""
_PLAYER = f"j.id, j.project_id, j.user_id, j.number, {_SHARE}, j.template"
_ALL_QUEUED = f"""
    SELECT {_PLAYER}, j.not_before FROM job j WHERE j.{_QUEUED.replace(" AND state", " AND j.state")}
    AND j.kill_asked_at IS NULL ORDER BY j.priority DESC, j.number LIMIT ?"""
_PLAYERS = f"""
    SELECT {_PLAYER}, (SELECT min(t.at) FROM transition t WHERE t.job_id = j.id AND t.attempt_id = (
        SELECT max(a.id) FROM attempt a WHERE a.job_id = j.id))
    FROM job j WHERE j.{_LIVE.replace(" AND state", " AND j.state")}"""
_NEXT_TRY = f"SELECT min(not_before) FROM job WHERE {_QUEUED} AND not_before > ?"

QueueKey = tuple[ProjectId, UserId]


@dataclass(frozen=True)
class Share:
    """So much of machines."""

    vcpu: float = 0.0
    memory_bytes: int = 0
    gpus: int = 0

    def __add__(self, other: Share) -> Share:
        return Share(self.vcpu + other.vcpu, self.memory_bytes + other.memory_bytes, self.gpus + other.gpus)

    def fits(self, room: Share) -> bool:
        """Whether this is no more than there is room for."""
        return self.vcpu <= room.vcpu and self.memory_bytes <= room.memory_bytes and self.gpus <= room.gpus

    def beside(self, held: Share) -> Share:
        """What is left of this beside what is held."""
        return Share(self.vcpu - held.vcpu, self.memory_bytes - held.memory_bytes, self.gpus - held.gpus)


@dataclass(frozen=True)
class Head:
    """The first job of a queue that may be tried now."""

    job: JobId
    number: JobNumber
    share: Share


@dataclass(frozen=True)
class Queue:
    """One user's jobs in one project: the head, what is live, the quota if they have their own, the last turn."""

    key: QueueKey
    head: Head
    held: int
    quota: int | None
    served_at: datetime | None


@dataclass(frozen=True)
class Holder:
    """A live job and what it holds."""

    key: QueueKey
    job: JobId
    number: JobNumber
    share: Share


@dataclass(frozen=True)
class Player:
    """A job that waits or lives, as far as it matters for what starts when."""

    key: QueueKey
    job: JobId
    number: JobNumber
    share: Share
    template: str
    not_before: datetime | None = None
    since: datetime | None = None
    """Since when it lives."""


@dataclass(frozen=True)
class Standing:
    """All that a scheduling decision needs."""

    queues: list[Queue]
    holders: list[Holder]

    @property
    def held(self) -> Share:
        """What all live jobs hold together."""
        return sum((holder.share for holder in self.holders), Share())


class QueueRecords:
    """The queues of all users in all projects."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def standing(self, now: datetime) -> Standing:
        """Return the heads of all queues, and what is live."""
        holders = [
            Holder((ProjectId(project), UserId(user)), JobId(row), JobNumber(number), Share(vcpu, memory, gpus))
            for project, user, number, vcpu, memory, gpus, row in batches.select(self._session, _HELD)
        ]
        heads = self._heads(now)
        members = self.members({project for project, _ in heads})
        held: dict[QueueKey, int] = {}
        for holder in holders:
            held[holder.key] = held.get(holder.key, 0) + 1
        queues = [
            Queue(key, head, held.get(key, 0), *members.get(key, (None, None))) for key, head in sorted(heads.items())
        ]
        return Standing(queues, holders)

    def next_try(self, now: datetime) -> datetime | None:
        """Return when the next job that waits before it is tried again may be."""
        moment = batches.select(self._session, _NEXT_TRY, batches.as_stored(self._session, now))[0][0]
        return None if moment is None else batches.as_time(moment)

    def before(self, key: QueueKey, job: JobId, priority: int, number: int) -> int:
        """Count the jobs of a queue before one of it."""
        rows = batches.select(self._session, _BEFORE, *key, job, priority, priority, number)
        return int(rows[0][0])

    def quota(self, key: QueueKey) -> int | None:
        """Return the quota that a user has of their own in a project."""
        return self.members({key[0]}).get(key, (None, None))[0]

    def run_seconds(self, project: ProjectId, template: str, most: int) -> list[float]:
        """Return how long the last jobs of a template took, the newest first."""
        return [float(row[0]) for row in batches.select(self._session, _RUN_SECONDS, project, template, most)]

    def queued(self, most: int) -> list[Player]:
        """Return the jobs of all queues, in the order of each."""
        rows = batches.select(self._session, _ALL_QUEUED, most)
        return [_player(row, not_before=None if row[8] is None else batches.as_time(row[8])) for row in rows]

    def players(self) -> list[Player]:
        """Return all live jobs, and since when each is."""
        rows = batches.select(self._session, _PLAYERS)
        return [_player(row, since=None if row[8] is None else batches.as_time(row[8])) for row in rows]

    def _heads(self, now: datetime) -> dict[QueueKey, Head]:
        moment = batches.as_stored(self._session, now)
        return {
            (ProjectId(project), UserId(user)): Head(JobId(row), JobNumber(number), Share(vcpu, memory, gpus))
            for project, user, row, number, vcpu, memory, gpus in batches.select(self._session, _HEADS, moment, moment)
        }

    def members(self, projects: set[ProjectId]) -> dict[QueueKey, tuple[int | None, datetime | None]]:
        """Return the quota that each member has of their own, and when they were last served."""
        rows: Iterator[Any] = batches.select_in(self._session, _MEMBERS, sorted(projects))
        return {
            (ProjectId(project), UserId(user)): (quota, None if served is None else batches.as_time(served))
            for project, user, quota, served in rows
        }


def _player(row: Any, **known: datetime | None) -> Player:
    key = ProjectId(row[1]), UserId(row[2])
    return Player(key, JobId(row[0]), JobNumber(row[3]), Share(*row[4:7]), str(row[7]), **known)
