"""The time that the server records: it never goes back, and does not follow an implausible jump of the machine's clock.

A jump is seen by comparing the machine's clock with the time that has passed since it was last read.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


JUMP = timedelta(days=1)
"""A clock that is set forward by more than this is not followed at once. A virtual machine may be paused for hours."""
ACCEPTED_AFTER = timedelta(days=7)
"""After this much running time a persistent jump is followed: the clock may be right after all."""
_CAUGHT_UP = 0.1
"""The share of each second that is caught up while the recorded time is ahead of the machine's."""


def _now() -> datetime:
    return datetime.now(UTC)


def boot_seconds() -> float:
    """Seconds since the machine was started, those included in which it was asleep."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def _later(told: datetime | None, moment: datetime) -> datetime:
    return moment if told is None else max(told, moment)


class _Forward:
    """Seconds by which a source has moved forward; where it moves back, no time passes."""

    def __init__(self, source: Callable[[], datetime]) -> None:
        self._source = source
        self._last = source()
        self._passed = 0.0

    def __call__(self) -> float:
        now = self._source()
        self._passed += max(0.0, (now - self._last).total_seconds())
        self._last = now
        return self._passed


@dataclass(frozen=True)
class Doubt:
    """A jump that is not followed: since when, by the time recorded, and what the machine's clock shows."""

    since: datetime
    shown: datetime

    @property
    def accepted_at(self) -> datetime:
        """When it is followed, if it stands until then."""
        return self.since + ACCEPTED_AFTER


class Clock:
    """Thread-safe. When the machine's clock is set back, the recorded time goes on from where it was, a little slower.

    It does not stand still: a wait of some seconds would last an hour. When the machine's clock jumps ahead by more
    than `JUMP`, the recorded time goes on as if it had not, so that nothing expires and nothing is deleted early, until
    the clock is right again or the jump was accepted.
    """

    def __init__(self, source: Callable[[], datetime] = _now, ticks: Callable[[], float] | None = None) -> None:
        """Without `ticks`, a source other than the machine's clock is the only measure of the time that passes."""
        self._source = source
        self._offset = timedelta()
        self._ticks = ticks or (boot_seconds if source is _now else _Forward(source))
        self._seen = source()
        self._at = self._ticks()
        self._ahead = timedelta()
        self._last: datetime | None = None
        self._doubt: Doubt | None = None
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """Return the time, never one before the last one told."""
        with self._lock:
            seen, at = self._source() + self._offset, self._ticks()
            passed, elapsed = seen - self._seen, timedelta(seconds=at - self._at)
            self._seen, self._at = seen, at
            expected = None if self._last is None else self._last + elapsed
            if self._doubt is not None and expected is not None:
                self._last = self._in_doubt(seen, expected, self._doubt)
                return self._last
            if passed < timedelta():
                self._ahead += elapsed - passed
            elif self._ahead:
                jumped = max(passed - elapsed, timedelta())
                caught_up = jumped + min(passed, elapsed) * _CAUGHT_UP
                self._ahead = max(self._ahead - caught_up, timedelta())
            told = _later(self._last, seen + self._ahead)
            if expected is not None and told - expected > JUMP:
                self._doubt = Doubt(expected, seen)
                told = expected
            self._last = told
            return told

    @property
    def doubt(self) -> Doubt | None:
        """Return the jump that is not followed, if there is one."""
        self.now()
        with self._lock:
            return self._doubt

    def resume(self, told: datetime, since: datetime) -> None:
        """Go on from a recorded time, in doubt about what the machine's clock shows since another."""
        with self._lock:
            self._doubt = Doubt(since, self._source() + self._offset)
            self._seen, self._at = self._doubt.shown, self._ticks()
            self._last = told

    def _in_doubt(self, seen: datetime, expected: datetime, doubt: Doubt) -> datetime:
        """Go on by the ticks, unless the clock is right again or the jump has stood for long."""
        if seen - expected <= JUMP:
            self._doubt, self._ahead = None, max(expected - seen, timedelta())
            return seen + self._ahead
        if expected >= doubt.accepted_at:
            self._doubt, self._ahead = None, timedelta()
            return seen
        self._doubt = Doubt(doubt.since, seen)
        return expected

    def not_before(self, moment: datetime) -> float:
        """Never tell a time before this one; returns by how many seconds the machine's clock is behind it."""
        with self._lock:
            behind = moment - self._source() - self._offset
            self._ahead = max(self._ahead, behind)
            self._last = _later(self._last, moment)
        return max(0.0, behind.total_seconds())

    def follow(self, moment: datetime, within: timedelta) -> timedelta:
        """Go by another clock that tells this moment now, in place of the machine's, if it is further off than that.

        Returns by how much it was. What was told stays told: from a clock that is behind one goes on as from one that
        is set back.
        """
        with self._lock:
            off, at = moment - self._source() - self._offset, self._ticks()
            if abs(off) <= within:
                return timedelta()
            self._offset += off
            elapsed = timedelta(seconds=at - self._at)
            if self._last is not None and self._doubt is not None:
                self._last += elapsed
            elif self._last is not None:
                # By the ticks: a jump of the machine's clock since then is in `off` already.
                told = self._seen + self._ahead + elapsed
                self._ahead = max(told - moment, timedelta())
                self._last = _later(self._last, told)
            self._seen, self._at = moment, at
            return off
