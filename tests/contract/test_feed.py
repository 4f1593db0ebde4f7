"""The feed of events: its cost does not grow with the readers, and each reader gets only what is visible to them."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.accounts import CreateToken, CreateUser
from acai_jupyter.contract.errors import NotSignedIn, Unavailable
from acai_jupyter.contract.states import Role
from acai_server.api.feed import Caller, Feed, Follower, Round, Update
from acai_server.api.waits import until
from acai_server.credentials.service import Credentials
from acai_server.events.memory import MemoryEventBus
from acai_server.events.service import PAGE, Events
from acai_server.testing.accounts import LOCAL
from acai_server.testing.files import queries
from acai_server.testing.restrictions import Lab

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acai_jupyter.contract.events import Event
    from acai_server.db.database import Database

PATIENCE_SECONDS = 60.0


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> Database:
    found: Database = request.getfixturevalue(f"{request.param}_database")
    return found


class Hall:
    """A feed over a real database, and counts of what it does."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.bus = MemoryEventBus()
        self.people = Credentials(database, LOCAL)
        self.me = self.people.identify(LOCAL, None)
        self.rounds = 0
        self.queries: list[int] = []
        self.feed = Feed(Events(database, self.bus, heartbeat_seconds=PATIENCE_SECONDS), self.people, self.read)

    async def read(self, work: Callable[..., Round], *arguments: Any) -> Round:
        with queries(self.database) as asked:
            found = await asyncio.get_running_loop().run_in_executor(None, work, *arguments)
        self.rounds += 1
        self.queries.append(len(asked))
        return found

    def token(self, name: str) -> str:
        wanted = CreateUser(name, Role.VIEWER)
        return str(self.people.users.create(self.me, wanted).issued.secret)

    def follow(self, token: str | None = LOCAL, concerns: Callable[[Event], bool] | None = None) -> Follower:
        found = self.feed.follow(Caller(token, "default"), self.me.project_id, concerns)
        found.caught_up(self.newest())
        return found

    def newest(self) -> int:
        with self.database.reading() as work:
            return work.events.newest(self.me.project_id)

    def write(self, *subjects: str) -> None:
        """Write events, and wake once."""
        with self.database.writing() as work:
            for subject in subjects:
                work.events.record(self.me.project_id, "test", subject)
        self.bus.wake()


def run(database: Database, test: Callable[[Hall], Awaitable[None]]) -> None:
    async def bounded() -> None:
        hall = Hall(database)
        with closing(hall.feed):
            await asyncio.wait_for(test(hall), PATIENCE_SECONDS)

    asyncio.run(bounded())


async def told(follower: Follower, since: int = 0) -> list[str]:
    """The subjects that a reader receives."""
    update = await follower.wait(PATIENCE_SECONDS)
    assert isinstance(update, Update)
    text = update.page.text_after(since)
    return [event["subject"] for event in json.loads(text)["events"]] if text else []


def test_a_write_costs_as_much_with_a_hundred_readers_as_with_one(database: Database) -> None:
    async def test(hall: Hall) -> None:
        tokens = [hall.token(f"user{number}") for number in range(10)]
        first = hall.follow()
        hall.write("one")
        assert await told(first) == ["one"]
        alone = hall.queries[-1]
        readers = [hall.follow(tokens[number % 10]) for number in range(100)]
        hall.write("two")
        assert [await told(reader, 1) for reader in (first, *readers)] == [["two"]] * 101
        assert hall.rounds == 2, "one look for each write"
        assert hall.queries[-1] <= alone + 1, "however many readers and tokens there are"

    run(database, test)


def test_writes_that_come_together_are_read_together_and_in_order(database: Database) -> None:
    async def test(hall: Hall) -> None:
        reader = hall.follow()
        for number in range(20):
            hall.write(f"s{number}")
        found = await told(reader)
        while len(found) < 20:
            found += await told(reader, len(found))
        assert found == [f"s{number}" for number in range(20)]
        assert hall.rounds <= 2

    run(database, test)


def test_more_than_a_page_is_read_in_pages(database: Database) -> None:
    async def test(hall: Hall) -> None:
        reader = hall.follow()
        hall.write(*(f"s{number}" for number in range(PAGE + 1)))
        assert len(await told(reader)) == PAGE
        assert await told(reader, PAGE) == [f"s{PAGE}"]

    run(database, test)


def test_a_slow_reader_keeps_one_update_and_learns_what_it_missed(database: Database) -> None:
    async def test(hall: Hall) -> None:
        slow, quick = hall.follow(), hall.follow()
        for number in range(1, 4):
            hall.write(f"s{number}")
            assert await told(quick, number - 1) == [f"s{number}"]
        update = await slow.wait(0)
        assert update is not None
        assert (update.page.begin, update.page.last) == (2, 3), "what came before has to be read from the table"

    run(database, test)


def test_readers_do_not_receive_what_is_hidden_from_them(database: Database) -> None:
    lab = Lab(database)
    lab.admin.put("patients", patients__one=b"1")
    lab.restrict("@patients", "ann")

    async def test(hall: Hall) -> None:
        tokens = {
            name: hall.people.users.create_token(hall.me, name, CreateToken("feed")).secret for name in ("ann", "bob")
        }
        readers = {name: [hall.follow(token) for _ in range(5)] for name, token in tokens.items()}
        admin, since = hall.follow(), hall.newest()
        lab.admin.put("patients", patients__two=b"2")
        lab.admin.put("open", open__a=b"a")
        hall.bus.wake()
        everything = await told(admin, since)
        assert {"patients:2", "open:1"} <= set(everything)
        for reader in readers["ann"]:
            assert "patients:2" in await told(reader, since)
        for reader in readers["bob"]:
            seen = await told(reader, since)
            assert "open:1" in seen
            assert not [subject for subject in seen if "patients" in subject]
        lab.admin.put("patients", patients__three=b"3")
        hall.bus.wake()
        last = since + len(everything)
        assert "patients:3" in await told(admin, last)
        seen = await told(readers["bob"][0], last)
        assert not [subject for subject in seen if "patients" in subject]

    run(database, test)


def test_a_token_that_was_revoked_ends_its_readers_and_no_others(database: Database) -> None:
    async def test(hall: Hall) -> None:
        token, other = hall.token("ann"), hall.token("bob")
        ending, staying = hall.follow(token), hall.follow(other)
        with hall.database.reading() as work:
            ann = work.users.named("ann")
        assert ann is not None
        name = hall.people.tokens.listed(hall.me.project_id, ann).tokens[0].name
        hall.people.tokens.revoke(hall.me.project_id, ann, name)
        hall.bus.wake()
        with pytest.raises(NotSignedIn):
            await ending.wait(PATIENCE_SECONDS)
        hall.write("next")
        assert await told(staying) == ["next"]

    run(database, test)


def test_what_waits_for_one_job_is_not_woken_by_another(database: Database) -> None:
    async def test(hall: Hall) -> None:
        looks: list[int] = []

        async def is_so() -> bool:
            looks.append(hall.rounds)
            return len(looks) == 2

        everything = hall.follow()
        waiter = hall.follow(concerns=lambda event: event.subject == "job 7")
        waiting = asyncio.ensure_future(until(is_so, waiter, PATIENCE_SECONDS))
        for number in range(5):
            hall.write(f"job {number}")
            assert await told(everything, number) == [f"job {number}"]
        assert len(looks) == 1
        hall.write("job 7")
        await waiting
        assert len(looks) == 2

    run(database, test)


def test_readers_end_with_the_server_and_when_the_table_cannot_be_read(database: Database) -> None:
    async def test(hall: Hall) -> None:
        reader = hall.follow()

        async def broken(*_: Any) -> Round:
            raise ZeroDivisionError

        failing = Feed(Events(database, hall.bus), hall.people, broken)
        with closing(failing):
            follower = failing.follow(Caller(LOCAL, "default"), hall.me.project_id)
            hall.bus.wake()
            with pytest.raises(Unavailable, match="the events cannot be read"):
                await follower.wait(PATIENCE_SECONDS)
        hall.feed.close()
        with pytest.raises(Unavailable, match="the server is stopping"):
            await reader.wait(PATIENCE_SECONDS)

    run(database, test)
