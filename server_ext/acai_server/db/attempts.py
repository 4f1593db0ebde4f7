"""Records of attempts: each one try at running a job, with its machine, price, log and end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import JobNotFound
from acai_jupyter.contract.ids import AttemptId, JobId, ProjectId, UserId
from acai_jupyter.contract.states import LIVE_STATES
from acai_server.db import batches, rows
from acai_server.db.tables import AttemptRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

LIVE = sorted(state.value for state in LIVE_STATES)
_IS_LIVE = "ended_at IS NULL AND state IN ({})".format(", ".join(f"'{state}'" for state in LIVE))
_TURN = "UPDATE membership SET served_at = ? WHERE project_id = ? AND user_id = ? RETURNING quota"
_HELD = f"SELECT count(*) FROM job WHERE {_IS_LIVE} AND project_id = ? AND user_id = ?"
_NEXT = """
    SELECT (SELECT count(*) FROM attempt WHERE job_id = job.id) + 1, vcpu, memory_bytes FROM job WHERE id = ?"""
_LIVE = f"""
    SELECT id, (SELECT max(id) FROM attempt WHERE job_id = job.id), kill_asked_at FROM job WHERE {_IS_LIVE}"""

_BEGAN = "SELECT min(at) FROM transition WHERE attempt_id = ?"
_COUNT = "SELECT count(*) FROM attempt WHERE job_id = ?"
_READ = "SELECT id, number, runner, key, vcpu, memory_bytes, price_book, log, log_bytes, machine FROM attempt WHERE"
_BY_ID = f"{_READ} id = ?"
_OF_JOB = f"{_READ} job_id = ?"
_SEEN = "SELECT seen FROM attempt WHERE id = ?"
_LAST = f"{_OF_JOB} ORDER BY number DESC LIMIT 1"


@dataclass(frozen=True)
class StoredAttempt:
    """An attempt as the engine sees it.

    `runner` names the runner and, behind an @, the place from which it can be seen, if that is not everywhere; `log`
    are the pieces that its log is kept in, once it is over.
    """

    id: AttemptId
    number: int
    runner: str
    key: str
    vcpu: float
    memory_bytes: int
    price_book: int | None = None
    log: list[Any] | None = None
    log_bytes: int | None = None
    machine: str = ""


@dataclass(frozen=True)
class AttemptEnd:
    """What is known about an attempt when it is over. `seen` is what its agent reported of the machine."""

    exit_code: int | None
    run_seconds: float | None
    billed_seconds: float | None
    cost_usd: float | None
    log_bytes: int | None
    log: list[Any] | None = None
    seen: dict[str, Any] = field(default_factory=dict)
    tag_misses: list[str] = field(default_factory=list)


class AttemptRecords:
    """Attempts by job and number."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def may_begin(self, project: ProjectId, user: UserId, quota: int, now: datetime) -> bool:
        """Whether a user may have one more job live, as far as the quota says. Notes that it was their turn.

        The row of the membership is locked until the transaction ends: of two servers that ask at once, the second
        counts what the first has begun.
        """
        at = batches.as_stored(self._session, now)
        own = batches.select(self._session, _TURN, at, project, user)
        most = own[0][0] if own and own[0][0] is not None else quota
        return int(batches.select(self._session, _HELD, project, user)[0][0]) < int(most)

    def add(self, job: JobId, runner: str, key: str, price_book: int | None = None) -> StoredAttempt:
        """Write a job's next attempt, with what the job gets now, and the prices that it runs under."""
        number, vcpu, memory = batches.select(self._session, _NEXT, job)[0]
        row = AttemptRow(job_id=job, number=number, runner=runner, key=key, machine="", seen={})
        row.vcpu, row.memory_bytes, row.price_book = vcpu, memory, price_book
        rows.insert(self._session, row)
        return _stored(row)

    def end(self, attempt: AttemptId, end: AttemptEnd) -> None:
        """Write down how an attempt ended."""
        values: dict[str, Any] = {
            "exit_code": end.exit_code,
            "run_seconds": end.run_seconds,
            "billed_seconds": end.billed_seconds,
            "cost_usd": end.cost_usd,
            "log_bytes": end.log_bytes,
            "log": end.log,
            "tag_misses": end.tag_misses or None,
        }
        if end.seen:  # an agent that left no record has told some of it
            values["seen"] = end.seen
        rows.update(self._session, AttemptRow, attempt, values)

    def set_tag_misses(self, attempt: AttemptId, misses: list[str]) -> None:
        """Write down which lines of an attempt's log look like tags and are none, as far as it is known."""
        rows.update(self._session, AttemptRow, attempt, {"tag_misses": misses})

    def set_seen(self, attempt: AttemptId, seen: dict[str, Any]) -> None:
        """Write down what the agent of a live attempt has told until now."""
        rows.update(self._session, AttemptRow, attempt, {"seen": seen})

    def add_seen(self, attempt: AttemptId, seen: dict[str, Any]) -> None:
        """Write down more that was seen of an attempt."""
        told = rows.as_json(batches.select(self._session, _SEEN, attempt)[0][0]) or {}
        self.set_seen(attempt, {**told, **seen})

    def set_machine(self, attempt: AttemptId, machine: str) -> None:
        """Note where an attempt runs."""
        rows.update(self._session, AttemptRow, attempt, {"machine": machine})

    def last(self, job: JobId) -> StoredAttempt | None:
        """Return the newest attempt of a job."""
        found = batches.select(self._session, _LAST, job)
        return _stored(found[0]) if found else None

    def find(self, job: JobId, number: int) -> StoredAttempt:
        """Return one attempt of a job."""
        found = batches.select(self._session, f"{_OF_JOB} AND number = ?", job, number)
        if not found:
            raise JobNotFound(job=f"attempt {number}")
        return _stored(found[0])

    def count(self, job: JobId) -> int:
        """Count how often a job was tried."""
        return int(batches.select(self._session, _COUNT, job)[0][0])

    def began(self, attempt: AttemptId) -> datetime:
        """Return when an attempt began."""
        return batches.as_time(batches.select(self._session, _BEGAN, attempt)[0][0])

    def live(self) -> list[tuple[JobId, AttemptId, datetime | None]]:
        """Return the live jobs, the newest attempt of each, and since when somebody wants it to end."""
        found = batches.select(self._session, _LIVE)
        return [
            (JobId(job), AttemptId(attempt), None if asked is None else batches.as_time(asked))
            for job, attempt, asked in found
        ]

    def by_id(self, attempt: AttemptId) -> StoredAttempt:
        """Return one attempt."""
        return _stored(batches.select(self._session, _BY_ID, attempt)[0])


def _stored(row: Any) -> StoredAttempt:
    return StoredAttempt(
        id=AttemptId(row.id),
        number=row.number,
        runner=row.runner,
        key=row.key,
        vcpu=row.vcpu,
        memory_bytes=row.memory_bytes,
        price_book=row.price_book,
        log=rows.as_json(row.log),
        log_bytes=row.log_bytes,
        machine=row.machine,
    )
