"""Why a job waits, in one sentence, and when it will probably start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from acai_jupyter.contract.jobs import Waiting
from acai_server.engine.rehearsal import Rehearsal
from acai_server.engine.scheduler import in_turn, resources

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from acai_jupyter.contract.projects import Machine
    from acai_server.db.jobs import StoredJob
    from acai_server.db.queue import Queue, QueueKey, Standing
    from acai_server.db.work import Work
    from acai_server.engine.protocols import Room

NAMED = 3
AT_ONCE = "It is about to start."
_AT_ONCE = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Look:
    """What there is to see around a queued job."""

    job: StoredJob
    key: QueueKey
    place: int
    """How many of its own user's jobs are before it, and one more."""
    quota: int
    """Its user's."""
    default_quota: int
    standing: Standing
    no_room: str
    now: datetime

    @property
    def own(self) -> list[int]:
        """The numbers of its user's live jobs."""
        return sorted(holder.number for holder in self.standing.holders if holder.key == self.key)


def explain(work: Work, job: StoredJob, room: Room, quota: int, *, is_planned: bool = False) -> Waiting:
    """Say why a queued job waits, or one would that is only planned."""
    key, now = (job.project_id, job.user_id), work.clock.now()
    own_quota = work.queue.quota(key)
    look = Look(
        job=job,
        key=key,
        place=work.queue.before(key, job.id, job.request.priority, job.number) + 1,
        quota=quota if own_quota is None else own_quota,
        default_quota=quota,
        standing=work.queue.standing(now),
        no_room=room.fits(resources(job.share)),
        now=now,
    )
    return Waiting(_sentence(look), look.place, _starts_at(work, look, room.machine(), is_planned=is_planned))


def _sentence(look: Look) -> str:
    """The first cause that holds."""
    causes = (cause(look) for cause in (_pause, _quota, _turn, _room, _others))
    return next(filter(None, causes), AT_ONCE)


def _pause(look: Look) -> str:
    job = look.job
    if job.not_before is None or job.not_before <= look.now:
        return ""
    seconds = round((job.not_before - look.now).total_seconds())
    return f"It is tried again in {max(1, seconds)} s: {job.reason}."


def _quota(look: Look) -> str:
    if look.quota < 1:
        return "Its user may have no jobs at work in this project: the quota is 0."
    if len(look.own) < look.quota:
        return ""
    some = f"{_numbered(look.own)} {_are(len(look.own))} at work, and {look.quota} at once is the quota of their user"
    return f"It waits for one of its user's jobs to end: {some}.{_before(look)}"


def _turn(look: Look) -> str:
    return f"It waits for its turn.{_before(look)}" if look.place > 1 else ""


def _before(look: Look) -> str:
    count = look.place - 1
    return f" {_jobs(count)} of the same user {_are(count)} before it." if count else ""


def _room(look: Look) -> str:
    if not look.no_room:
        return ""
    here = sorted(holder.number for holder in look.standing.holders if holder.key[0] == look.key[0])
    elsewhere = len(look.standing.holders) - len(here)
    held = [_numbered(here)] if here else []
    held += ["jobs of other projects"] if elsewhere else []  # how many is theirs to know
    holding = f" What holds it: {' and '.join(held)}." if held else ""
    return f"It waits for room: {look.no_room}.{holding}"


def _others(look: Look) -> str:
    return "It waits for its turn: others are served first." if _users_before(look) else ""


def _users_before(look: Look) -> int:
    turns: list[Queue] = in_turn(look.standing.queues, look.quota)
    return next((place for place, queue in enumerate(turns) if queue.key == look.key), 0)


def _starts_at(work: Work, look: Look, machine: Machine, *, is_planned: bool) -> datetime | None:
    """When it will probably start; None where that is not known, or the runner sees less room than there should be."""
    rehearsal = Rehearsal(work, machine, look.default_quota, look.now)
    if is_planned:
        rehearsal.join(look.job, look.place - 1)
    start = rehearsal.start_of(look.job)
    is_at_once = start is not None and start - look.now < _AT_ONCE
    return None if is_at_once and look.no_room else start


def _jobs(count: int) -> str:
    return "1 job" if count == 1 else f"{count} jobs"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _numbered(numbers: Sequence[int]) -> str:
    shown = ", ".join(map(str, numbers[:NAMED]))
    more = f" and {len(numbers) - NAMED} more" if len(numbers) > NAMED else ""
    return f"job{'s' if len(numbers) > 1 else ''} {shown}{more}"
