"""Remembers over restarts which time was recorded last, and says when the machine's clock cannot be right.

Without it, a server that was started while the clock was wrong would take a jump of ten years for a long absence.
"""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from acai_server.clock import ACCEPTED_AFTER, JUMP, Doubt
from acai_server.loops import Periodic
from acai_server.records import write_private

if TYPE_CHECKING:
    from pathlib import Path

    from acai_server.clock import Clock
    from acai_server.db.database import Database

INTERVAL_SECONDS = 10.0
WRITTEN_EVERY = timedelta(minutes=10)
ABSENCE = timedelta(days=365)
"""A longer absence is reported, and the clock is followed only after a week of running."""
_LITTLE_SECONDS = 60
_log = logging.getLogger(__name__)


class Mark(NamedTuple):
    """The time that was recorded last, what the machine's clock showed then, and since when that was in doubt."""

    told: datetime
    shown: datetime
    doubted_since: datetime | None = None


class ClockFile:
    """`clock.json` in the data folder. An unreadable file counts as missing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Mark | None:
        """Return what was written last."""
        try:
            said = json.loads(self._path.read_text())
            since = said["doubted_since"]
            return Mark(_moment(said["told"]), _moment(said["shown"]), None if since is None else _moment(since))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, mark: Mark) -> None:
        """Replace it; a disk that is full keeps no server from running."""
        said = {name: None if value is None else value.isoformat() for name, value in mark._asdict().items()}
        with suppress(OSError):
            write_private(self._path, json.dumps(said))

    def reset(self, now: datetime) -> bool:
        """Let the next start believe this time, although records may be dated ahead; says whether it was written.

        A record that is more than a day later than the mark is ignored, so with the mark a day back all later ones are.
        """
        mark = Mark(now - JUMP, now)
        self.write(mark)
        return self.read() == mark


class ClockWatch(Periodic):
    """Compares the machine's clock with the time that passes, and keeps the mark."""

    def __init__(self, clock: Clock, file: ClockFile, *, interval_seconds: float = INTERVAL_SECONDS) -> None:
        super().__init__("clock watch", interval_seconds)
        self._clock = clock
        self._file = file
        self._said: list[str] = []
        self._doubted_since: datetime | None = None
        self._written_at: datetime | None = None

    def open(self, database: Database) -> None:
        """Go on from what is recorded; before anything is written."""
        mark, now = self._file.read(), self._clock.now()
        with database.reading() as work:
            newest, oldest = work.events.newest_time(), work.events.oldest_time()
        if mark is None:
            self._open_without_mark(now, newest, oldest)
        elif (mark.doubted_since is not None and now >= mark.shown - JUMP) or now - mark.told > ABSENCE:
            self._clock.resume(mark.told, mark.doubted_since or mark.told)
        else:
            if mark.doubted_since is not None:
                self._say(f"This machine's clock is right again; it was ahead from {shown(mark.doubted_since)} on.")
            recorded = newest if newest is not None and newest - mark.told <= JUMP else mark.told
            self._continue_from(max(mark.told, recorded))
        self.step()

    def notices(self) -> list[str]:
        """Return the current warnings about the clock."""
        doubt = self._clock.doubt
        return [*self._said, *([] if doubt is None else [sentence(doubt, self._clock.now())])]

    def step(self) -> bool:
        """Look once; log when a doubt begins or ends, and write the mark then, else now and then."""
        doubt, now = self._clock.doubt, self._clock.now()
        since = None if doubt is None else doubt.since
        has_changed = since != self._doubted_since
        if has_changed and doubt is not None:
            _log.warning("%s", sentence(doubt, now))
        elif has_changed:
            _log.warning("The machine's clock is followed again.")
        self._doubted_since = since
        if has_changed or self._written_at is None or now - self._written_at >= WRITTEN_EVERY:
            self._write(now, doubt)
        return False

    def stop(self) -> None:
        """End the loop, and write the mark. Safe to call twice."""
        super().stop()
        self._write(self._clock.now(), self._clock.doubt)

    def _write(self, now: datetime, doubt: Doubt | None) -> None:
        self._written_at = now
        self._file.write(Mark(now, now) if doubt is None else Mark(now, doubt.shown, doubt.since))

    def _open_without_mark(self, now: datetime, newest: datetime | None, oldest: datetime | None) -> None:
        """Decide by the records alone, as at the first start after an upgrade.

        Records from before now together with others far ahead show that the clock had jumped. A clock that is far
        ahead of all records is doubted, as after a long absence.
        """
        if newest is None or oldest is None:
            return
        if now - newest > ABSENCE:
            self._clock.resume(newest, newest)
            return
        if newest - now > JUMP and oldest <= now:
            self._say(f"Some records are dated up to {shown(newest)}: the clock was ahead then. New ones are right.")
            return
        self._continue_from(newest)

    def _continue_from(self, moment: datetime) -> None:
        behind = self._clock.not_before(moment)
        if behind >= _LITTLE_SECONDS:
            late = f"This machine's clock is {behind / 60:.0f} min behind the newest record; set it right."
            self._said.append(f"{late} Times go on from that record.")

    def _say(self, said: str) -> None:
        _log.warning("%s", said)
        self._said.append(said)


def watch_of(clock: Clock, database: Database, path: Path) -> ClockWatch:
    """Return the watch of a server's clock, which goes on from what is recorded."""
    watch = ClockWatch(clock, ClockFile(path))
    watch.open(database)
    return watch


def sentence(doubt: Doubt, now: datetime) -> str:
    """Say what is wrong with the clock, what the server does, and what to do."""
    days = (doubt.shown - now).total_seconds() / 86_400
    left = max(0.0, (doubt.accepted_at - now).total_seconds() / 86_400)
    return (
        f"This machine's clock shows {shown(doubt.shown)}, {days:,.0f} days later than it should; set it right. "
        f"Until then times go on from {shown(doubt.since)}, and nothing expires or is deleted early. If it is right, "
        f"wait: it is followed after {ACCEPTED_AFTER.days} days of running, of which {left:.1f} are left."
    )


def _moment(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(text)
    return found


def shown(moment: datetime) -> str:
    """Write a moment for people."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
