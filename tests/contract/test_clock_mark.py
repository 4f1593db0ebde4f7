"""What a server makes at its start of its clock, its last mark and its records, and that nothing expires by a jump."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.accounts import CreateToken
from acai_server.clock import Clock
from acai_server.clock_mark import ClockFile, ClockWatch, Mark
from acai_server.credentials.service import Credentials
from acai_server.db.database import Database
from acai_server.events.pruner import EventPruner
from acai_server.testing.accounts import LOCAL
from acai_server.testing.databases import enter, tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
YEARS = timedelta(days=3650)


class Machine:
    """A machine whose clock is set by hand, with servers one after the other over one database."""

    def __init__(self, url: str, folder: Path) -> None:
        self.url = url
        self.file = ClockFile(folder / "clock.json")
        self.shown, self.ticks = NOW, 0.0
        self.opened: list[Database] = []

    def start(self) -> tuple[Clock, Database, ClockWatch]:
        """Start a server."""
        clock = Clock(lambda: self.shown, lambda: self.ticks)
        database = Database(self.url, clock)
        self.opened.append(database)
        watch = ClockWatch(clock, self.file)
        watch.open(database)
        return clock, database, watch

    def go_on(self, time: timedelta, *, set_by: timedelta = timedelta()) -> None:
        """Let time pass, and set the clock."""
        self.ticks += time.total_seconds()
        self.shown += time + set_by


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    database: Database = request.getfixturevalue(f"{request.param}_database")
    found = Machine(database.url.render_as_string(hide_password=False), tmp_path)
    yield found
    for one in found.opened:
        one.close()


def test_records_made_during_a_jump_have_right_times_and_nothing_expires_or_goes(machine: Machine) -> None:
    clock, database, watch = machine.start()
    people = Credentials(database, LOCAL)
    me = people.identify(LOCAL, None)
    token = people.tokens.create(me, CreateToken("week", expires_in_days=7)).secret
    tell(database, me, "before")
    assert watch.notices() == []
    machine.go_on(timedelta(hours=1), set_by=YEARS)
    tell(database, me, "during")
    (said,) = watch.notices()
    assert said.startswith("This machine's clock shows 2036-11-17 13:00 UTC, 3,650 days later than it should; set it")
    assert people.identify(token, None).name == me.name
    EventPruner(database).step()
    machine.go_on(timedelta(hours=1), set_by=-YEARS)
    tell(database, me, "after")
    assert watch.notices() == []
    with database.reading() as work:
        events = [one for one in work.events.after(me.project_id, 0, 100).events if one.kind == "told"]
    assert [one.subject for one in events] == ["before", "during", "after"]
    assert [one.created_at - NOW for one in events] == [timedelta(hours=hours) for hours in (0, 1, 2)]
    machine.go_on(timedelta(days=8))
    assert clock.now() == machine.shown, "it is followed as before"


def test_a_server_that_is_started_while_the_clock_is_wrong_does_not_believe_it(machine: Machine) -> None:
    _, database, watch = machine.start()
    machine.go_on(timedelta(hours=1), set_by=YEARS)
    watch.step()
    watch.stop()
    machine.go_on(timedelta(minutes=5))
    clock, database, watch = machine.start()
    assert len(watch.notices()) == 1
    tell(database, enter(database), "during")
    assert clock.now() == NOW + timedelta(hours=1), "how long it was away is not known"
    watch.stop()
    machine.go_on(timedelta(minutes=5), set_by=-YEARS)
    clock, _, watch = machine.start()
    assert clock.now() == machine.shown
    assert watch.notices() == ["This machine's clock is right again; it was ahead from 2026-11-20 13:00 UTC on."]


def test_a_jump_before_the_first_start_with_a_mark_is_noticed_by_the_records(machine: Machine) -> None:
    _, database, watch = machine.start()
    me = enter(database)
    people = Credentials(database, LOCAL)
    token = people.tokens.create(people.identify(LOCAL, None), CreateToken("week", expires_in_days=7)).secret
    tell(database, me, "before")
    machine.file = ClockFile(machine.file._path.with_name("none.json"))
    machine.go_on(timedelta(hours=1), set_by=YEARS)
    clock, database, watch = machine.start()
    assert clock.now() == NOW
    assert watch.notices()[0].startswith("This machine's clock shows 2036-11-17 13:00 UTC, 3,650 days later than it")
    tell(database, me, "during")
    assert Credentials(database, LOCAL).identify(token, None).name == me.name
    machine.go_on(timedelta(hours=1), set_by=-YEARS)
    assert clock.now() == machine.shown
    assert watch.notices() == []


def test_records_that_an_older_version_dated_ahead_hold_nothing_back(machine: Machine) -> None:
    clock, database, watch = machine.start()
    me = enter(database)
    tell(database, me, "before")
    future = Database(machine.url, Clock(lambda: NOW + YEARS))
    machine.opened.append(future)
    tell(future, me, "in 2036")
    machine.file.write(Mark(NOW, NOW))
    machine.go_on(timedelta(hours=1))
    for has_mark in (True, False):
        if not has_mark:
            machine.file = ClockFile(machine.file._path.with_name("none.json"))
        clock, database, watch = machine.start()
        assert clock.now() == machine.shown
        assert (watch.notices() == []) is has_mark
    tell(database, me, "after")
    with database.reading() as work:
        found = [one.subject for one in work.events.after(me.project_id, 0, 100).events]
    assert found == ["before", "in 2036", "after"], "the order of events is that of their numbers"


def test_a_clock_that_is_behind_its_records_goes_on_from_them(machine: Machine) -> None:
    _, database, watch = machine.start()
    tell(database, enter(database), "before")
    watch.stop()
    machine.go_on(timedelta(hours=1), set_by=-timedelta(hours=3))
    clock, _, watch = machine.start()
    assert clock.now() == NOW
    assert watch.notices()[0].startswith("This machine's clock is 120 min behind the newest record; set it right.")


def test_a_month_away_is_an_absence_and_two_years_are_told_of(machine: Machine) -> None:
    for away, is_doubted in ((timedelta(days=31), False), (timedelta(days=731), True)):
        _, _, watch = machine.start()
        watch.stop()
        told = machine.shown
        machine.go_on(away)
        machine.ticks = 0.0
        clock, _, watch = machine.start()
        assert clock.now() == (told if is_doubted else machine.shown)
        assert len(watch.notices()) == is_doubted


def test_after_a_reset_the_clock_is_followed_although_all_records_are_ahead(machine: Machine) -> None:
    machine.shown += YEARS
    _, database, watch = machine.start()
    tell(database, enter(database), "in 2036")
    watch.stop()
    for ahead in (YEARS, timedelta(hours=2)):
        machine.shown = NOW + YEARS - ahead
        clock, _, watch = machine.start()
        assert clock.now() > machine.shown, "it stays ahead"
        watch.stop()
        assert machine.file.reset(machine.shown)
        machine.go_on(timedelta(minutes=5))
        clock, _, watch = machine.start()
        assert clock.now() == machine.shown
        assert watch.notices() == []
        machine.file.write(Mark(NOW + YEARS, NOW + YEARS))


@pytest.mark.parametrize(
    "said", ["", "[]", "{", '{"told": 1, "shown": 2, "doubted_since": 3}', '{"told": "2026-01-01"}']
)
def test_a_mark_that_cannot_be_read_is_none(tmp_path: Path, said: Any) -> None:
    path = tmp_path / "clock.json"
    path.write_text(said)
    assert ClockFile(path).read() is None
    mark = Mark(NOW, NOW + YEARS, NOW)
    ClockFile(path).write(mark)
    assert ClockFile(path).read() == mark
