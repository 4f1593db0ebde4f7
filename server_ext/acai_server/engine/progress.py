"""What is told of a live attempt while it goes on: how much it has printed, what it uses, how far a transfer is.

Its agent's words are advisory, so they are read with care. They are written down now and then, never at each word.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.jobs import Progress, Transfer

if TYPE_CHECKING:
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.db.work import Work

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 5.0
_GROWTH = 60
"""The pause is a sixtieth of the time so far: a minute in which nobody waits longer than a second, then less often."""
MAX_SAMPLES = 500
TOLD_SAMPLES = 60
"""So many of the newest are in one event; who wants more asks for the job."""
_MOST = 2**60

Sample = tuple[float, float, int, int, float]


class Progressing:
    """The progress of one attempt, as far as it was heard. Times are of the monotonic clock."""

    def __init__(self, since: float) -> None:
        self._since = since
        self._told_at = since
        self._told_bytes = 0
        self._samples: list[Sample] = []
        self._fresh: list[Sample] = []
        self._transfer: Transfer | None = None
        self._displays_bytes = 0
        self._is_new = False

    def hear(self, said: dict[str, Any]) -> None:
        """Take what an agent said; what is neither a sample nor a transfer is not for this."""
        if "sample" in said and (sample := _sample(said["sample"])) is not None:
            self._samples.append(sample)
            self._fresh.append(sample)
            self._is_new = True
            if len(self._samples) >= MAX_SAMPLES:
                del self._samples[1::2]
        if "transfer" in said and (transfer := _transfer(said["transfer"])) is not None:
            self._transfer = transfer
            self._is_new = True
        if "displays" in said and (size_bytes := _displays(said["displays"])[1]):
            self._displays_bytes = size_bytes
            self._is_new = True

    def is_due(self, log_bytes: int, now: float) -> bool:
        """Whether there is something new, and the last telling was long enough ago."""
        pause = min(LONGEST_SECONDS, max(FIRST_SECONDS, (now - self._since) / _GROWTH))
        return (self._is_new or log_bytes > self._told_bytes) and now - self._told_at >= pause

    def tell(self, work: Work, job: StoredJob, attempt: StoredAttempt, log_bytes: int, now: float) -> None:
        """Write it down, and tell what is new."""
        transfer = msgspec.to_builtins(self._transfer)
        seen = {"usage": {"samples": self._samples}, "transfer": transfer, "log_bytes": log_bytes}
        seen["displays_bytes"] = self._displays_bytes
        work.attempts.set_seen(attempt.id, seen)
        told = Progress(attempt.number, log_bytes, self._fresh[-TOLD_SAMPLES:], self._transfer)
        work.events.record(job.project_id, "job_progressed", f"job {job.number}", **msgspec.to_builtins(told))
        self._told_at, self._told_bytes, self._fresh, self._is_new = now, log_bytes, [], False


def displays_sent(said: dict[str, Any]) -> int:
    """How often an agent has sent what its cell displays, as far as these words tell."""
    return _displays(said["displays"])[0] if "displays" in said else 0


def _displays(said: Any) -> tuple[int, int]:
    try:
        times, size_bytes = decoding.convert(said, tuple[int, int])
    except msgspec.ValidationError:
        return 0, 0
    return (times, size_bytes) if 0 <= times < _MOST and 0 <= size_bytes < _MOST else (0, 0)


def _sample(said: Any) -> Sample | None:
    try:
        found = decoding.convert(said, Sample)
    except msgspec.ValidationError:
        return None
    return found if all(math.isfinite(number) and 0 <= number < _MOST for number in found) else None


def _transfer(said: Any) -> Transfer | None:
    try:
        state, done, total = decoding.convert(said, tuple[str, int, int])
        found = decoding.convert({"state": state, "done_bytes": done, "total_bytes": total}, Transfer)
    except msgspec.ValidationError:
        return None
    return found if max(abs(done), abs(total)) < _MOST else None
