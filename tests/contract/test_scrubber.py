"""The scrubber over each database and store: everything is looked at within a period, once, and damage is found."""

from __future__ import annotations

import errno
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event

from acai_jupyter.contract.errors import BlobQuarantined
from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.lake.checker import BlobChecker
from acai_server.lake.integrity.scrubber import AGAIN, LEASE, UNREADABLE_RETRY, Scrubber
from acai_server.objects.filesystem import FilesystemObjectStore
from acai_server.testing.collecting import Days
from acai_server.testing.damage import Away, Counting, delete, flip, objects_of, replace, report
from acai_server.testing.lakes import SIGNER, LakeUser, claim_store, engine_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.objects.protocol import ObjectStore
    from tests.servers.postgres import Postgres
    from tests.servers.seaweedfs import Seaweedfs

PERIOD = timedelta(days=30)
BODIES = [b"%d" % number * 1000 for number in range(10)]


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest, days: Days, tmp_path: Path) -> Iterator[Database]:
    server: Postgres | None = request.getfixturevalue("postgres_server") if request.param == "postgres" else None
    template = request.getfixturevalue("postgres_template") if server else ""
    url = server.create_database(template) if server else f"sqlite:///{tmp_path / 'acai.db'}"
    with closing(Database(url, Clock(days.now))) as made:
        if not server:
            schema.migrate(made)
        yield made
    if server:
        server.drop_database(url)


@pytest.fixture
def user(database: Database, tmp_path: Path) -> LakeUser:
    user = LakeUser(database, FilesystemObjectStore(tmp_path / "objects", SIGNER))
    claim_store(user)
    return user


def scrubber(user: LakeUser, objects: ObjectStore | None = None, **how: Any) -> Scrubber:
    settings: dict[str, Any] = {"period": PERIOD, "reads_content": True, "rest": 0.0} | how
    return Scrubber(user.database, objects or user.objects, **settings)


def run(one: Scrubber) -> None:
    while one.step():
        pass


def put(user: LakeUser) -> None:
    for number, body in enumerate(BODIES):
        user.put({f"/{number}": body})


def test_all_contents_are_read_once_within_the_period_and_evenly(user: LakeUser, days: Days) -> None:
    put(user)
    counting = Counting(user.objects)
    one = scrubber(user, counting)
    run(one)
    read = []
    for _ in range(10):
        days.go_on(PERIOD / 10)
        run(one)
        read.append(counting.reads)
    assert read[0] in (1, 2)
    assert read[4] in (5, 6)
    assert read[9] == 10
    for _ in range(10):
        days.go_on(PERIOD / 10)
        run(one)
    assert 19 <= counting.reads <= 20, "the next pass"


def test_a_pass_that_was_begun_by_a_clock_years_ahead_does_not_stop_scrubbing(user: LakeUser, days: Days) -> None:
    put(user)
    ahead = timedelta(days=3650)
    days.go_on(ahead)
    with closing(Database(user.database.url.render_as_string(hide_password=False), Clock(days.now))) as database:
        killed = Scrubber(database, user.objects, period=PERIOD, reads_content=True, rest=0.0)
        run(killed)
    days.go_on(-ahead)
    counting = Counting(user.objects)
    one = scrubber(user, counting)
    for _ in range(3):
        run(one)
        days.go_on(PERIOD)
    assert counting.reads >= 10


def test_rotten_contents_are_found_and_the_others_stay_readable(user: LakeUser, days: Days) -> None:
    user.put({"/a": b"alpha", "/b": b"beta"})
    one = scrubber(user)
    run(one)
    flip(user, 6)
    days.go_on(PERIOD)
    run(one)
    with pytest.raises(BlobQuarantined):
        user.fetch("/b")
    assert user.read("/a") == {"/a": b"alpha"}


def test_a_content_that_was_restored_is_readable_again(user: LakeUser, days: Days) -> None:
    user.put({"/a": b"alpha"})
    (key,) = objects_of(user)
    delete(user)
    one = scrubber(user, period=None)
    assert report(user, "/a:1").damaged == ["/a:1"]
    run(one)
    replace(user, key, b"alpha")
    run(one)
    assert user.lake.damages.count() == 1, "it is not due yet"
    days.go_on(AGAIN)
    run(one)
    assert user.lake.damages.count() == 0
    assert user.read() == {"/a": b"alpha"}


def test_another_server_continues_where_the_first_stopped(user: LakeUser, days: Days) -> None:
    put(user)
    counting = Counting(user.objects)
    first = scrubber(user, counting)
    run(first)
    days.go_on(PERIOD / 2)
    run(first)
    half = counting.reads
    first.stop()
    days.go_on(PERIOD / 2)
    run(scrubber(user, counting))
    assert (half in (5, 6), counting.reads) == (True, 10)


def test_two_servers_do_not_scrub_the_same_object_twice(user: LakeUser, days: Days) -> None:
    put(user)
    counting = Counting(user.objects)
    servers = [scrubber(user, counting), scrubber(user, counting)]
    for one in servers:
        run(one)
    days.go_on(PERIOD)
    for one in servers:
        run(one)
    assert counting.reads == len(BODIES)
    days.go_on(LEASE)
    flip_first(user)
    suspect_first(user, days)
    run(servers[1])
    with pytest.raises(BlobQuarantined):  # the second takes over when the first has not been seen for a while
        user.fetch("/0")


def test_without_a_period_only_what_is_suspected_is_read(user: LakeUser, days: Days) -> None:
    put(user)
    counting = Counting(user.objects)
    one = scrubber(user, counting, period=None)
    flip_first(user)
    suspect_first(user, days)
    days.go_on(PERIOD)
    run(one)
    assert counting.reads == 1
    with pytest.raises(BlobQuarantined):
        user.fetch("/0")


@pytest.mark.parametrize("fault", [errno.ENOENT, errno.EIO, errno.EACCES])
def test_a_store_that_is_away_is_tried_again_later(user: LakeUser, days: Days, fault: int) -> None:
    away: Any = Away(user.objects, fault)
    put(user)
    flip_first(user)
    one = scrubber(user)
    run(one)
    days.go_on(PERIOD)
    run(scrubber(user, away))
    assert user.fetch("/0").files
    days.go_on(LEASE)
    run(one)
    with pytest.raises(BlobQuarantined):
        user.fetch("/0")


def test_a_folder_that_is_not_mounted_has_lost_nothing(user: LakeUser, days: Days, tmp_path: Path) -> None:
    put(user)
    one = scrubber(user)
    run(one)
    days.go_on(PERIOD)
    (tmp_path / "objects").rename(tmp_path / "away")
    (tmp_path / "objects").mkdir()
    run(one)
    check_uploads(user)
    (tmp_path / "objects").rmdir()
    (tmp_path / "away").rename(tmp_path / "objects")
    assert user.lake.damages.count() == 0
    assert len(user.read()) == len(BODIES)


def put_unreadable(user: LakeUser, tmp_path: Path) -> dict[ObjectKey, bytes]:
    """Put 24 files whose objects cannot be read, and /24, which is damaged; returns what the 24 objects held."""
    for number in range(25):
        user.put({f"/{number:02}": b"%d" % number * 1000})
    *unreadable, damaged = objects_of(user)
    bodies = {key: user.objects.get(key) for key in unreadable}
    for path in (tmp_path / "objects" / key for key in unreadable):
        path.unlink()
        path.symlink_to(path.name)  # opening it is an error of this file alone
    replace(user, damaged, b"x" * 2000)
    return bodies


def test_objects_that_cannot_be_read_keep_no_other_from_being_looked_at(
    user: LakeUser, days: Days, tmp_path: Path
) -> None:
    bodies = put_unreadable(user, tmp_path)
    one = scrubber(user)
    run(one)
    days.go_on(PERIOD)
    run(one)
    with pytest.raises(BlobQuarantined):
        user.fetch("/24")
    assert user.lake.damages.count() == 1
    for key, body in bodies.items():
        (tmp_path / "objects" / key).unlink()
        replace(user, key, body)
    counting = Counting(user.objects)
    later = scrubber(user, counting, period=None)
    one.stop()
    run(later)
    assert counting.reads == 0
    days.go_on(UNREADABLE_RETRY)
    run(later)
    assert counting.reads == 24


def test_suspected_objects_that_cannot_be_read_do_not_hide_the_next_ones(
    user: LakeUser, days: Days, tmp_path: Path
) -> None:
    put_unreadable(user, tmp_path)
    with user.database.writing() as work:
        every = [one.id for one in work.damage.every(user.member.project_id)]
        work.damage.suspect(every, days.now(), days.now())
    run(scrubber(user, period=None))
    with pytest.raises(BlobQuarantined):
        user.fetch("/24")


def test_uploads_that_cannot_be_read_keep_no_later_one_from_being_verified(
    user: LakeUser, days: Days, tmp_path: Path
) -> None:
    bodies = put_unreadable(user, tmp_path)
    days.go_on(timedelta(seconds=1))
    check_uploads(user)
    with pytest.raises(BlobQuarantined):
        user.fetch("/24")
    assert user.lake.damages.count() == 1, "what cannot be read is not damaged"
    for key, body in bodies.items():
        (tmp_path / "objects" / key).unlink()
        replace(user, key, body)
    counting = Counting(user.objects)
    check_uploads(user, counting)
    assert counting.reads == 0
    days.go_on(UNREADABLE_RETRY)
    check_uploads(user, counting)
    assert counting.reads == 24
    assert user.begin({"/copy": next(iter(bodies.values()))}).missing == []


def test_an_upload_is_not_put_off_while_the_store_is_away(user: LakeUser, days: Days) -> None:
    put(user)
    days.go_on(timedelta(seconds=1))
    check_uploads(user, Away(user.objects, errno.EACCES))
    counting = Counting(user.objects)
    check_uploads(user, counting)
    assert counting.reads == len(BODIES)


def test_the_pass_goes_on_after_an_object_that_takes_longer_than_the_lease(user: LakeUser, days: Days) -> None:
    class Slow(Counting):
        def stream(self, *arguments: Any, **more: Any) -> Any:
            days.go_on(LEASE)
            with user.database.writing() as work:
                assert work.damage.claim("another server", days.now(), days.now() + LEASE)
            return super().stream(*arguments, **more)

    put(user)
    run(scrubber(user))
    days.go_on(LEASE)
    days.go_on(PERIOD)
    one = scrubber(user, Slow(user.objects))
    for number in range(len(BODIES)):
        one.step()
        with user.database.reading() as work:
            assert work.damage.scrub_pass().position == sorted(work.damage.every(user.member.project_id))[number].id
        days.go_on(LEASE)


def check_uploads(user: LakeUser, objects: Any = None) -> None:
    checker = BlobChecker(user.database, objects or user.objects, delay=timedelta(), rest=0)
    while checker.step():
        pass


def test_a_loop_can_be_ended_twice(user: LakeUser) -> None:
    one = scrubber(user)
    one.start()
    one.stop()
    one.stop()


def suspect_first(user: LakeUser, days: Days) -> None:
    with user.database.writing() as work:
        first = min(work.damage.every(user.member.project_id))
        work.damage.suspect([first.id], days.now(), days.now())


def flip_first(user: LakeUser) -> None:
    key = objects_of(user)[0]
    replace(user, key, b"x" * len(BODIES[0]))


@pytest.mark.parametrize("how", ["lost", "report"])
def test_marking_locks_objects_by_number_before_contents(user: LakeUser, how: str) -> None:
    put(user)
    if how == "lost":
        delete(user)
    else:
        for key in objects_of(user):
            replace(user, key, b"x" * 1000)
    statements: list[str] = []

    def note(*call: Any) -> None:
        statements.append(str(call[2]))

    engine = engine_of(user.database)
    event.listen(engine, "before_cursor_execute", note)
    with user.database.reading() as work:
        every = work.damage.every(user.member.project_id)
    if how == "lost":
        assert user.lake.damages.lost(user.member.project_id, reversed(every))
    else:
        report(user, *(f"/{number}:1" for number in reversed(range(len(BODIES)))))
    event.remove(engine, "before_cursor_execute", note)
    changes = [sql for sql in statements if sql.startswith(("UPDATE", "SELECT object.id"))]
    tables = [sql.split()[1] for sql in changes if sql.startswith("UPDATE")]
    assert tables == sorted(tables, reverse=True), "objects before contents"
    assert tables.count("blob") == len(BODIES)
    assert "ORDER BY object.id" in changes[0], "all objects are locked first, by number"
    assert ("FOR UPDATE" in changes[0]) == (user.database.name == "postgresql")


@pytest.mark.s3
def test_in_a_bucket_sizes_are_compared_and_only_suspected_contents_are_read(
    days: Days, tmp_path: Path, s3_server: Seaweedfs, s3_bucket: str
) -> None:
    from acai_server.objects.s3 import S3ObjectStore

    with closing(Database(f"sqlite:///{tmp_path / 'acai.db'}", Clock(days.now))) as database:
        schema.migrate(database)
        user = LakeUser(database, S3ObjectStore(s3_bucket, endpoint_url=s3_server.url))
        claim_store(user)
        put(user)
        first, second, third, *_ = objects_of(user)
        user.objects.delete(first)
        replace(user, second, BODIES[1][:500])
        replace(user, third, b"x" * len(BODIES[2]))
        counting = Counting(user.objects)
        one = scrubber(user, counting, reads_content=False)
        run(one)
        days.go_on(PERIOD)
        run(one)
        run(one)
        assert counting.sizes == len(BODIES)
        assert counting.reads == 2
        for path in ("/0", "/1"):
            with pytest.raises(BlobQuarantined):
                user.fetch(path)
        assert user.fetch("/2").files, "its size is right"
        every = scrubber(user, counting, reads_content=True)
        one.stop()
        days.go_on(PERIOD)
        run(every)
        with pytest.raises(BlobQuarantined):
            user.fetch("/2")
