"""Which database a store belongs to, over each kind of store: its mark, its lease, and stores of version 0.1."""

from __future__ import annotations

import errno
import io
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.errors import DeletionPaused, StoreMismatch, StoreUnavailable, StoreUnclaimed
from acai_jupyter.contract.garbage import CollectGarbage, CollectionState, GarbageKind
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.states import UploadState
from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.lake.collector import UploadCollector
from acai_server.lake.service import Lake
from acai_server.objects.filesystem import FilesystemObjectStore
from acai_server.objects.keys import owner_of
from acai_server.objects.memory import MemoryObjectStore
from acai_server.objects.s3 import S3ObjectStore
from acai_server.store_owner import lease, mark
from acai_server.store_owner.lease import EXPIRY_INTERVALS, Lease
from acai_server.testing.collecting import Days
from acai_server.testing.damage import Away
from acai_server.testing.lakes import SIGNER, LakeUser, check_lake, engine_of
from acai_server.testing.stages import HandClock, JobUser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_server.objects.protocol import ObjectStore
    from tests.servers.postgres import Postgres
    from tests.servers.seaweedfs import Seaweedfs

INTERVAL = 100.0


@pytest.fixture(params=["memory", "folder", pytest.param("s3", marks=pytest.mark.s3)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    if request.param == "memory":
        return MemoryObjectStore(SIGNER)
    if request.param == "folder":
        return FilesystemObjectStore(tmp_path / "objects", SIGNER)
    server: Seaweedfs = request.getfixturevalue("s3_server")
    return S3ObjectStore(request.getfixturevalue("s3_bucket"), endpoint_url=server.url)


@dataclass
class Databases:
    """New databases, and copies of them, with a clock that is set by hand."""

    folder: Path
    opened: ExitStack
    days: Days = field(default_factory=Days)
    ticks: float = 0.0
    count: int = 0

    def new(self) -> Database:
        """Return a database with a new identity."""
        made = self._opened(self._path())
        schema.migrate(made)
        return made

    def copy(self, database: Database) -> Database:
        """Return a copy of a database, as of a file that was copied."""
        return self._opened(copy_file(Path(str(database.url.database)), self._path()))

    def lease(self, database: Database, store: ObjectStore, place: str) -> Lease:
        """Return the lease as a server at a place has it."""
        return Lease(database, store, place, interval_seconds=INTERVAL, monotonic=lambda: self.ticks)

    def _path(self) -> Path:
        self.count += 1
        return self.folder / f"{self.count}.db"

    def _opened(self, path: Path) -> Database:
        return self.opened.enter_context(closing(Database(f"sqlite:///{path}", Clock(self.days.now))))


def copy_file(path: Path, to: Path) -> Path:
    """Copy a SQLite database that may be open."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM INTO ?", (str(to),))
    return to


@pytest.fixture
def databases(tmp_path: Path) -> Iterator[Databases]:
    with ExitStack() as opened:
        yield Databases(tmp_path, opened)


def identity_of(database: Database) -> str:
    with database.reading() as work:
        return work.identity.get().name


def everything(store: ObjectStore) -> dict[str, bytes]:
    """All content, without mark and lease."""
    return {key: store.get(key) for key in mark.content(store)}


# -- the mark


def test_an_empty_store_belongs_to_the_first_database_that_uses_it(store: ObjectStore, databases: Databases) -> None:
    first, second = databases.new(), databases.new()
    mark.claim(first, store)
    mark.claim(first, store)
    with pytest.raises(StoreMismatch, match=r"belongs to another database.*adopt-store") as refused:
        mark.claim(second, store)
    assert refused.value.details == {"owner": identity_of(first), "identity": identity_of(second)}
    found = mark.read(store)
    assert found is not None
    assert found.identity == identity_of(first)


def test_of_databases_that_race_for_an_empty_store_one_gets_it(store: ObjectStore, databases: Databases) -> None:
    racing = [databases.new() for _ in range(6)]

    def wins(database: Database) -> bool:
        try:
            mark.claim(database, store)
        except StoreMismatch:
            return False
        return True

    with ThreadPoolExecutor(len(racing)) as pool:
        won = list(pool.map(wins, racing))
    assert won.count(True) == 1
    found = mark.read(store)
    assert found is not None
    assert found.identity == identity_of(racing[won.index(True)])


def test_what_other_programs_keep_in_a_bucket_does_not_make_it_used(store: ObjectStore, databases: Databases) -> None:
    for key in ("photos/1", "p1/other", "p/objects/1", "checkup/probe"):
        store.put(ObjectKey(key), io.BytesIO(b"x"), size_bytes=1)
    mark.claim(databases.new(), store)


def test_an_empty_store_is_refused_by_a_database_whose_content_is_elsewhere(
    store: ObjectStore, databases: Databases
) -> None:
    database = databases.new()
    LakeUser(database, MemoryObjectStore(SIGNER)).put({"/x": b"content"})
    if store.name == "memory":  # which every server begins with
        mark.claim(database, store)
        return
    with pytest.raises(StoreUnclaimed, match=r"is empty, and nothing that this database names is in it.*adopt-store"):
        mark.claim(database, store)
    assert list(store.keys("")) == []
    mark.adopt(database, store)
    mark.claim(database, store)


def test_a_mark_that_cannot_be_read_is_no_reason_to_make_another(store: ObjectStore, databases: Databases) -> None:
    store.put(mark.KEY, io.BytesIO(b"{"), size_bytes=1)
    with pytest.raises(StoreUnavailable, match="its mark 'store/mark' is not readable"):
        mark.claim(databases.new(), store)
    assert store.get(mark.KEY) == b"{"


@pytest.mark.parametrize("body", [b"{", b"\xff" * 5000], ids=["short", "long"])
def test_adopting_replaces_a_mark_and_a_lease_that_cannot_be_decoded(
    store: ObjectStore, databases: Databases, body: bytes
) -> None:
    database = databases.new()
    mark.claim(database, store)
    for key in (mark.KEY, lease.KEY):
        store.put(key, io.BytesIO(body), size_bytes=len(body))
    with pytest.raises(StoreUnavailable, match=r"'store/mark' is not readable .* run 'acai-server adopt-store'"):
        mark.claim(database, store)
    assert mark.adopt(database, store)
    mark.claim(database, store)
    guard = databases.lease(database, store, "here")
    with pytest.raises(StoreUnavailable, match=r"'store/lease' is not readable .* run 'acai-server adopt-store'"):
        guard.check()
    lease.hand_over(database, store)
    guard.check()


def test_adopting_replaces_nothing_that_the_store_cannot_read(store: ObjectStore, databases: Databases) -> None:
    database = databases.new()
    mark.claim(database, store)
    databases.lease(database, store, "here").check()
    before = {key: store.get(key) for key in (mark.KEY, lease.KEY)}
    away: Any = Away(store, errno.EACCES)
    for adopt in (mark.adopt, lease.hand_over):
        with pytest.raises(StoreUnavailable, match="Permission denied"):
            adopt(databases.new(), away)
    assert {key: store.get(key) for key in before} == before


def test_an_adopted_store_says_whom_it_belonged_to(store: ObjectStore, databases: Databases) -> None:
    first, second = databases.new(), databases.new()
    mark.claim(first, store)
    assert mark.adopt(second, store)
    assert not mark.adopt(second, store)
    mark.claim(second, store)
    found = mark.read(store)
    assert found is not None
    assert found.before == [identity_of(first)]
    with pytest.raises(StoreMismatch):
        mark.claim(first, store)


# -- version 0.1


def as_of_version_0_1(database: Database, store: ObjectStore) -> None:
    """Bring a database and its store to what version 0.1 made: keys without an identity, no mark, tables of 0017."""
    with engine_of(database).begin() as connection:
        for key in list(mark.content(store)):
            owner = owner_of(key)
            assert owner is not None
            project, (kind, _, *names) = key.partition("/")[0], owner.folder.split("/")
            folder = f"jobs/{names[0].partition('_')[0]}" if kind == "jobs" else f"objects/{'/'.join(names)}"
            old = f"{project}/{key.partition('/')[2].replace(owner.folder, folder)}"
            body = store.get(key)
            store.put(ObjectKey(old), io.BytesIO(body), size_bytes=len(body))
            store.delete(key)
            connection.exec_driver_sql(f"UPDATE object SET key = '{old}' WHERE key = '{key}'")
        connection.exec_driver_sql("ALTER TABLE upload_session DROP COLUMN object_folder")
        connection.exec_driver_sql("ALTER TABLE job DROP COLUMN object_folder")
        connection.exec_driver_sql("DROP TABLE database_identity")
        connection.exec_driver_sql("DROP INDEX ix_object_suspected")
        connection.exec_driver_sql("ALTER TABLE object DROP COLUMN suspected_at")
        connection.exec_driver_sql("DROP TABLE scrub_pass")
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0017'")
    for key in (mark.KEY, lease.KEY):
        store.delete(key)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def old(request: pytest.FixtureRequest, store: ObjectStore, tmp_path: Path) -> Iterator[JobUser]:
    """A job user whose database and store are of version 0.1."""
    server: Postgres | None = request.getfixturevalue("postgres_server") if request.param == "postgresql" else None
    url = server.create_database() if server else f"sqlite:///{tmp_path / 'old.db'}"
    time = HandClock()
    with closing(Database(url, time.clock)) as database:
        schema.migrate(database)
        user = JobUser(database, time, objects=store)
        user.lake.put({"/x": b"content", "/y": b"more"}, file_set="data")
        number = user.run(user.submit()).number
        user.objects.put(user.key(number, 1, "displays"), io.BytesIO(b"[]"), size_bytes=2)
        pending = user.lake.begin({"/late": b"late"}).id
        user.lake.leave(pending, [b"late"])
        as_of_version_0_1(database, store)
        yield user
    if server:
        server.drop_database(url)


def test_a_store_of_version_0_1_is_adopted_by_its_own_database_alone(
    old: JobUser, store: ObjectStore, databases: Databases
) -> None:
    before = everything(store)
    with pytest.raises(StoreUnclaimed, match="holds other content, and nothing that this database names is in it"):
        mark.claim(databases.new(), store)
    assert mark.read(store) is None
    schema.migrate(old.database)
    mark.claim(old.database, store)
    assert everything(store) == before
    with pytest.raises(StoreMismatch):
        mark.claim(databases.new(), store)


def test_a_store_of_version_0_1_with_nothing_but_a_pending_upload_is_adopted(
    store: ObjectStore, databases: Databases
) -> None:
    database = databases.new()
    user = LakeUser(database, store)
    pending = user.begin({"/late": b"late"}).id
    user.leave(pending, [b"late"])
    as_of_version_0_1(database, store)
    with pytest.raises(StoreUnclaimed):
        mark.claim(databases.new(), store)
    schema.migrate(database)
    mark.claim(database, store)
    assert list(everything(store).values()) == [b"late"]


def test_what_version_0_1_made_is_found_and_goes_on(old: JobUser, store: ObjectStore) -> None:
    schema.migrate(old.database)
    mark.claim(old.database, store)
    user = JobUser(old.database, old.time, objects=store)
    assert user.lake.read("@data") == {"/x": b"content", "/y": b"more"}
    assert user.objects.get(user.key(1, 1, "displays")) == b"[]"
    before = set(everything(store))
    (pending,) = user.lake.listed(UploadState.PENDING)
    sent = user.lake.leave(pending, [b"late"])
    assert set(everything(store)) - before, "the object that arrived before the migration is under an old key too"
    user.lake.commit(pending, sent)
    user.lake.put({"/new": b"new"})
    check_lake(user.lake)
    again = user.run(user.submit()).number
    user.objects.put(user.key(again, 1, "log"), io.BytesIO(b"x"), size_bytes=1)
    assert "/jobs/i" in user.key(again, 1, "log")
    assert user.key(1, 1, "log") == f"p{user.project}/jobs/1/1/log"


# -- keys


def test_databases_never_share_a_key(databases: Databases) -> None:
    found: list[set[str]] = []
    first = databases.new()
    for database in (first, databases.copy(first), databases.new()):
        time = HandClock()
        with closing(Database(str(database.url), time.clock)) as opened:
            user = JobUser(opened, time, objects=MemoryObjectStore(SIGNER))
            user.lake.put({"/x": b"content"})
            number = user.submit()
            assert number == 1
            found.append({user.key(number, 1, "log"), *user.objects.keys("")})
    assert len(set.union(*found)) == sum(map(len, found))


# -- unknown objects


def test_unknown_objects_are_listed_and_deleted_only_when_their_number_is_confirmed(
    store: ObjectStore, databases: Databases
) -> None:
    first, second = databases.new(), databases.new()
    theirs, user = LakeUser(first, store), LakeUser(second, store)
    theirs.put({"/x": b"content"})
    theirs.in_a_new_project().put({"/y": b"more"})
    before = everything(store)
    user.put({"/z": b"own"})
    collections, (project, me) = user.lake.collections, (user.member.project_id, user.member.user_id)
    listed = collections.collect(project, me, CollectGarbage(unknown=True))
    assert (listed.is_dry_run, [(one.key, one.size_bytes) for one in listed.unknown]) == (
        True,
        [(key, len(body)) for key, body in sorted(before.items())],
    )
    assert [(one.kind, one.count, one.size_bytes) for one in listed.garbage] == [(GarbageKind.UNKNOWN, 2, 11)]
    for wrong in (CollectGarbage(unknown=True, confirmed_count=1), CollectGarbage(unknown=True, confirmed_count=0)):
        refused = collections.collect(project, me, wrong)
        assert (refused.state, "2 objects are unknown now" in refused.reason) == (CollectionState.FAILED, True)
    dry = collections.collect(project, me, CollectGarbage(dry_run=True, unknown=True, confirmed_count=2))
    assert dry.is_dry_run
    assert everything(store).items() >= before.items()
    done = collections.collect(project, me, CollectGarbage(unknown=True, confirmed_count=2))
    assert (done.state, done.garbage[0].count) == (CollectionState.FINISHED, 2)
    assert sorted(everything(store).values()) == [b"own"]
    assert user.read() == {"/z": b"own"}


# -- the lease


def test_one_server_holds_the_lease_and_its_successor_at_the_same_place(
    store: ObjectStore, databases: Databases
) -> None:
    database = databases.new()
    mark.claim(database, store)
    first = databases.lease(database, store, "here")
    first.check()
    databases.lease(database, store, "here").check()
    assert (first.notices, lease.read(store)[1] is not None) == ([], True)


def test_a_copy_of_a_database_never_deletes_while_the_other_one_renews(
    store: ObjectStore, databases: Databases
) -> None:
    database = databases.new()
    mark.claim(database, store)
    first = databases.lease(database, store, "here")
    first.check()
    copy = databases.copy(database)
    mark.claim(copy, store)
    second = databases.lease(copy, store, "there")
    with pytest.raises(DeletionPaused, match="it is not known yet"):
        second.check()
    for _ in range(3 * EXPIRY_INTERVALS):
        databases.ticks += INTERVAL
        first.step()
        first.check()
        with pytest.raises(DeletionPaused, match="another copy of this database used the object store last"):
            second.check()
    assert "deletes no objects" in second.notices[0]


def test_a_copy_takes_over_when_the_lease_was_not_renewed_for_long_enough(
    store: ObjectStore, databases: Databases
) -> None:
    database = databases.new()
    mark.claim(database, store)
    first = databases.lease(database, store, "here")
    first.check()
    second = databases.lease(databases.copy(database), store, "standby")
    second.step()
    databases.ticks += EXPIRY_INTERVALS * INTERVAL - 1
    with pytest.raises(DeletionPaused):
        second.check()
    databases.ticks += 1
    second.check()
    with pytest.raises(DeletionPaused, match="another copy"):
        first.check()
    with pytest.raises(DeletionPaused, match="another copy"):
        databases.lease(database, store, "here").check()


def test_a_server_that_stops_gives_the_lease_to_the_next_one(store: ObjectStore, databases: Databases) -> None:
    database = databases.new()
    mark.claim(database, store)
    first = databases.lease(database, store, "here")
    first.check()
    first.stop()
    databases.lease(databases.copy(database), store, "moved").check()
    with pytest.raises(DeletionPaused, match="another copy"):
        databases.lease(database, store, "here").check()


def test_an_older_copy_of_a_database_deletes_nothing_until_an_operator_decides(
    store: ObjectStore, databases: Databases
) -> None:
    """The copy has an upload as pending that the original committed after it was copied."""
    database = databases.new()
    mark.claim(database, store)
    first = databases.lease(database, store, "here")
    first.check()
    user = LakeUser(database, store)
    upload = user.begin({"/x": b"content"}).id
    sent = user.leave(upload, [b"content"])
    copied = databases.copy(database)
    user.commit(upload, sent)
    first.stop()
    guard = databases.lease(copied, store, "there")
    copy = Lake(copied, store, guard=guard)
    collector = UploadCollector(copied, store, copy.tidying, kept=timedelta(days=1), guard=guard)
    databases.days.go_on(timedelta(days=9))
    for _ in range(3 * EXPIRY_INTERVALS):
        databases.ticks += INTERVAL
        assert not collector.step()
        with pytest.raises(DeletionPaused, match="run 'acai-server adopt-store'"):
            guard.check()
    assert user.read() == {"/x": b"content"}
    databases.lease(database, store, "here").check()
    lease.hand_over(copied, store)
    guard.check()
    with pytest.raises(DeletionPaused, match="another copy"):
        databases.lease(database, store, "here").check()


def test_a_server_that_is_stopping_takes_the_lease_for_no_more_deletions(
    store: ObjectStore, databases: Databases
) -> None:
    database = databases.new()
    mark.claim(database, store)
    first = databases.lease(database, store, "here")
    first.check()
    first.stop()
    with pytest.raises(DeletionPaused, match="the server is stopping"):
        first.check()
    _, note = lease.read(store)
    assert note is not None
    assert note.is_released


def test_servers_of_one_database_share_the_lease(store: ObjectStore, databases: Databases) -> None:
    database = databases.new()
    mark.claim(database, store)
    first, second = (databases.lease(database, store, place) for place in ("one", "two"))
    first.check()
    with pytest.raises(DeletionPaused, match="not known yet"):
        second.check()
    databases.ticks += INTERVAL
    first.step()
    second.check()
    databases.ticks += INTERVAL
    second.step()
    first.check()
    first.stop()
    second.check()


def test_a_renewal_that_is_cut_off_loses_nothing(store: ObjectStore, databases: Databases) -> None:
    database = databases.new()
    mark.claim(database, store)
    databases.lease(database, store, "here").check()
    body, note = lease.read(store)
    assert body is not None
    assert note is not None
    with database.writing() as work:
        nonce = work.identity.begin_renewal()
    databases.lease(database, store, "here").check()
    with database.reading() as work:
        assert work.identity.get().nonce == nonce
    with database.writing() as work:
        work.identity.begin_renewal()
    with database.reading() as work:
        half_way = work.identity.get()
    _, note = lease.read(store)
    assert note is not None
    assert half_way.has(note.nonce)


def test_a_database_whose_store_was_adopted_by_another_one_deletes_nothing(
    store: ObjectStore, databases: Databases
) -> None:
    first, second = databases.new(), databases.new()
    mark.claim(first, store)
    of_first = databases.lease(first, store, "here")
    of_first.check()
    mark.adopt(second, store)
    lease.hand_over(second, store)
    databases.lease(second, store, "there").check()
    databases.ticks += INTERVAL
    with pytest.raises(DeletionPaused, match="belongs to another database now"):
        of_first.check()


def test_without_the_lease_content_is_read_and_written_and_never_deleted(
    store: ObjectStore, databases: Databases
) -> None:
    database = databases.new()
    mark.claim(database, store)
    user = LakeUser(database, store)
    user.put({"/x": b"content"})
    user.put({"/gone": b"gone"})
    user.remove("/gone")
    pending = user.begin({"/y": b"pending"}).id
    sent = user.leave(pending, [b"pending"])
    holder = databases.lease(database, store, "here")
    holder.check()
    copied = databases.copy(database)
    guard = databases.lease(copied, store, "there")
    copy = LakeUser(copied, store)
    copy.lake = Lake(copied, store, guard=guard)
    before = everything(store)
    databases.days.go_on(timedelta(days=400))
    done = copy.lake.collections.collect(copy.member.project_id, copy.member.user_id)
    assert (done.state, "No object was deleted" in done.reason) == (CollectionState.FAILED, True)
    copy.abort(pending)
    kept = timedelta(days=1)
    assert not UploadCollector(copied, store, copy.lake.tidying, kept=kept, guard=guard).step()
    assert everything(store) == before
    copy.put({"/new": b"new"})
    assert copy.read() == {"/x": b"content", "/new": b"new"}
    dry = copy.lake.collections.collect(copy.member.project_id, copy.member.user_id, CollectGarbage(dry_run=True))
    assert (dry.state, GarbageKind.DELETED_FILES in {one.kind for one in dry.garbage}) == (
        CollectionState.FINISHED,
        True,
    )
    user.commit(pending, sent)
    assert user.read() == {"/x": b"content", "/y": b"pending"}


def test_a_restored_folder_of_a_database_is_a_copy(store: ObjectStore, tmp_path: Path) -> None:
    """What was put back from last week knows neither what came since nor the nonce: it may delete nothing."""
    path, week_ago = tmp_path / "acai.db", tmp_path / "week-ago.db"
    days = Days()
    with closing(Database(f"sqlite:///{path}", Clock(days.now))) as database:
        schema.migrate(database)
        mark.claim(database, store)
        user = LakeUser(database, store)
        user.put({"/old": b"old"})
        Lease(database, store, "here").check()
        copy_file(path, week_ago)
        Lease(database, store, "here").check()
        user.put({"/new": b"new"})
    shutil.copyfile(week_ago, path)
    days.go_on(timedelta(days=400))
    with closing(Database(f"sqlite:///{path}", Clock(days.now))) as database:
        mark.claim(database, store)
        with pytest.raises(DeletionPaused, match="another copy"):
            Lease(database, store, "here").check()
        user = LakeUser(database, store)
        done = user.lake.collections.collect(user.member.project_id)
        assert {one.kind: one.count for one in done.garbage}[GarbageKind.UNKNOWN] == 1
        assert sorted(everything(store).values()) == [b"new", b"old"]
