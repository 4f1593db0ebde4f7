"""What a database owes to those who write records in it, one at a time and all at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

import pytest

from acai_jupyter.contract.errors import Conflict, JobNotFound
from acai_jupyter.contract.ids import UserId
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.states import END_STATES, JOB_TRANSITIONS, JobState

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.events import Event
    from acai_server.db.database import Database
    from acai_server.db.jobs import StoredJob
    from acai_server.db.projects import Member

T = TypeVar("T")
THREADS = 20
JOB = CreateJob(command=["true"])


def at_once(count: int, act: Callable[[int], T]) -> list[T]:
    """Do something in many threads that begin together."""
    gate = threading.Barrier(count)

    def begin(number: int) -> T:
        gate.wait()
        return act(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


def enter(database: Database, project: str = "default", user: str = "you") -> Member:
    """Make a project with a user in it."""
    with database.writing() as work:
        return work.projects.ensure_local(project, user, f"{project}/{user}".encode(), work.clock.now())


def submit(database: Database, member: Member) -> StoredJob:
    """Write a queued job."""
    with database.writing() as work:
        return work.jobs.create(member.project_id, member.user_id, JOB, [], work.clock.now())


def tell(database: Database, member: Member, subject: str) -> None:
    """Commit one event."""
    with database.writing() as work:
        work.events.record(member.project_id, "told", subject)


class DatabaseSuite:
    """Derive from this with a fixture `database` that gives an empty one with all tables."""

    @pytest.fixture
    def database(self) -> Database:
        raise NotImplementedError

    def test_what_is_written_is_read(self, database: Database) -> None:
        member = enter(database)
        job = submit(database, member)
        with database.reading() as work:
            assert work.jobs.find(member.project_id, 1) == job
            assert work.shown_jobs.find(member.project_id, 1).command == ["true"]

    def test_an_error_takes_everything_back(self, database: Database) -> None:
        member = enter(database)

        def fail() -> None:
            with database.writing() as work:
                work.jobs.create(member.project_id, member.user_id, JOB, [], work.clock.now())
                work.events.record(member.project_id, "told", "of what never was")
                raise RuntimeError("in the middle")

        with pytest.raises(RuntimeError, match="in the middle"):
            fail()
        with database.reading() as work:
            assert work.jobs.open() == []
            assert work.events.after(member.project_id, 0, 10).events == []
        assert submit(database, member).number == 1

    def test_what_is_done_while_reading_does_not_stay(self, database: Database) -> None:
        member = enter(database)
        with suppress(Exception), database.reading() as work:  # PostgreSQL refuses it at once
            work.jobs.create(member.project_id, member.user_id, JOB, [], work.clock.now())
        with database.reading() as work, pytest.raises(JobNotFound):
            work.jobs.find(member.project_id, 1)

    def test_a_record_cannot_refer_to_nothing(self, database: Database) -> None:
        member = enter(database)
        with pytest.raises(Conflict), database.writing() as work:
            work.jobs.create(member.project_id, UserId(99), JOB, [], work.clock.now())

    def test_times_come_back_in_utc_to_the_microsecond(self, database: Database) -> None:
        member = enter(database)
        with database.writing() as work:
            now = work.clock.now()
            work.jobs.create(member.project_id, member.user_id, JOB, [], now)
        with database.reading() as work:
            found = work.shown_jobs.find(member.project_id, 1).created_at
        assert (found, found.utcoffset()) == (now, timedelta(0))

    def test_projects_do_not_see_each_other(self, database: Database) -> None:
        ours, theirs = enter(database), enter(database, "other", "her")
        submit(database, ours)
        tell(database, ours, "ours")
        assert submit(database, theirs).number == 1
        with database.reading() as work:
            assert len(work.shown_jobs.page(theirs.project_id, None, 10)) == 1
            page = work.events.after(theirs.project_id, 0, 10)
            assert (page.events, page.last, work.events.newest(theirs.project_id)) == ([], 0, 0)
        tell(database, theirs, "theirs")
        tell(database, ours, "ours again")
        with database.reading() as work:
            told = work.events.after(theirs.project_id, 0, 10).events
            assert [(event.number, event.subject) for event in told] == [(1, "theirs")], "others move no number"
            assert work.events.after(theirs.project_id, 2, 10).reload
        with database.writing() as work:
            work.events.prune(work.clock.now() + timedelta(hours=1))
            assert work.events.newest(theirs.project_id) == 1, "the count of each goes on"

    def test_events_are_told_only_when_they_are_there(self, database: Database) -> None:
        member = enter(database)
        tell(database, member, "first")
        with database.writing() as work:
            work.events.record(member.project_id, "told", "second", size=3)
            assert [event.subject for event in work.events.after(member.project_id, 0, 10).events] == ["first"]
        with database.reading() as work:
            page = work.events.after(member.project_id, 0, 10)
            assert [(event.subject, event.details) for event in page.events] == [("first", {}), ("second", {"size": 3})]
            assert (page.last, page.reload, work.events.newest(member.project_id)) == (
                page.events[-1].number,
                False,
                page.last,
            )

    def test_events_come_in_pages(self, database: Database) -> None:
        member = enter(database)
        for number in range(5):
            tell(database, member, str(number))
        with database.reading() as work:
            first = work.events.after(member.project_id, 0, 3)
            rest = work.events.after(member.project_id, first.last, 3)
        assert [event.subject for event in first.events + rest.events] == ["0", "1", "2", "3", "4"]

    def test_who_asks_for_pruned_events_is_told_to_reload(self, database: Database) -> None:
        member = enter(database)
        for number in range(4):
            tell(database, member, str(number))
        with database.writing() as work:
            before = work.events.newest(member.project_id)
            assert work.events.prune(work.clock.now() + timedelta(hours=1)) == 3
        with database.reading() as work:
            assert work.events.after(member.project_id, 0, 10).reload
            assert work.events.after(member.project_id, before + 1, 10).reload
            page = work.events.after(member.project_id, before, 10)
        assert (page.events, page.last, page.reload) == ([], before, False)
        tell(database, member, "later")
        with database.reading() as work:
            page = work.events.after(member.project_id, before, 10)
        assert ([event.subject for event in page.events], page.last > before) == (["later"], True)

    def test_a_reader_never_misses_an_event_of_many_writers(self, database: Database) -> None:
        member, each = enter(database), 10
        done = threading.Event()

        def read() -> list[Event]:
            seen: list[Event] = []
            last = 0
            while True:
                over = done.is_set()
                with database.reading() as work:
                    page = work.events.after(member.project_id, last, 100)
                seen += page.events
                last = page.last
                if over and not page.events:
                    return seen

        def write(number: int) -> None:
            for turn in range(each):
                tell(database, member, f"{number}/{turn}")

        with ThreadPoolExecutor(1) as reader:
            reading = reader.submit(read)
            try:
                at_once(8, write)
            finally:
                done.set()
            seen = reading.result()
        assert sorted(event.subject for event in seen) == sorted(f"{n}/{t}" for n in range(8) for t in range(each))
        assert [event.number for event in seen] == sorted({event.number for event in seen})

    @pytest.mark.parametrize("state", JobState)
    def test_a_job_moves_only_where_the_table_allows(self, database: Database, state: JobState) -> None:
        member = enter(database)
        for target in JobState:
            job = submit(database, member)
            with database.writing() as work:
                for step in _way_to(state):
                    assert work.jobs.advance(job.id, step, "", work.clock.now())
                assert work.jobs.by_id(job.id).state is state
                moved = work.jobs.advance(job.id, target, "", work.clock.now())
            assert moved is (target in JOB_TRANSITIONS[state])
            with database.reading() as work:
                now = target if moved else state
                assert work.jobs.by_id(job.id).state is now
                assert (job.id in [one.id for one in work.jobs.open()]) is (now not in END_STATES)

    def test_of_many_that_move_a_job_at_once_one_does(self, database: Database) -> None:
        member = enter(database)
        job = submit(database, member)

        def begin(number: int) -> bool:
            with database.writing() as work:
                return work.jobs.begin_attempt(job, "memory", f"key {number}", work.clock.now()) is not None

        assert at_once(8, begin).count(True) == 1
        with database.reading() as work:
            attempts = work.shown_jobs.find(member.project_id, 1).attempts
        assert [[step.state for step in attempt.transitions] for attempt in attempts] == [[JobState.LAUNCHING]]

    def test_job_numbers_have_no_gaps(self, database: Database) -> None:
        member = enter(database)
        jobs = at_once(THREADS, lambda _: submit(database, member))
        assert sorted(job.number for job in jobs) == list(range(1, THREADS + 1))

    def test_the_same_user_may_enter_many_times_at_once(self, database: Database) -> None:
        assert len({member.user_id for member in at_once(8, lambda _: enter(database))}) == 1


def _way_to(state: JobState) -> list[JobState]:
    """Return the steps by which a queued job gets to a state."""
    ways: dict[JobState, list[JobState]] = {JobState.QUEUED: []}
    open_ends = [JobState.QUEUED]
    while state not in ways:
        here = open_ends.pop(0)
        for target in sorted(JOB_TRANSITIONS[here]):
            if target not in ways:
                ways[target] = [*ways[here], target]
                open_ends.append(target)
    return ways[state]
