"""The suites of the lake over each database that serves people, and over the stores beside it.

Each test has a project of its own; the database is one for all.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.ids import UploadId
from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.lake.direct import DirectPath
from acai_server.objects.filesystem import FilesystemObjectStore
from acai_server.objects.memory import MemoryObjectStore
from acai_server.records import write_private
from acai_server.testing.collecting import Days
from acai_server.testing.composing import ComposingSuite
from acai_server.testing.damage import DamageSuite
from acai_server.testing.files import FileSuite
from acai_server.testing.garbage import GarbageSuite
from acai_server.testing.garbage_model import check_collections
from acai_server.testing.keeping import NamesSuite
from acai_server.testing.keeping_model import check_keeping
from acai_server.testing.lake_model import check_sessions
from acai_server.testing.lakes import SIGNER, LakeUser, packed, rows
from acai_server.testing.retention import RetentionSuite
from acai_server.testing.tombstones import TombstoneSuite
from acai_server.testing.uploads import SessionSuite
from acai_server.testing.versions import VersionSuite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_server.objects.protocol import ObjectStore
    from tests.servers.postgres import Postgres
    from tests.servers.seaweedfs import Seaweedfs


@pytest.fixture(scope="module")
def sqlite_lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LakeUser]:
    folder = tmp_path_factory.mktemp("lake")
    with closing(Database(f"sqlite:///{folder / 'acai.db'}", Clock())) as database:
        schema.migrate(database)
        yield LakeUser(database, FilesystemObjectStore(folder / "objects", SIGNER))


@pytest.fixture(scope="module")
def postgres_lake(postgres_server: Postgres, postgres_template: str) -> Iterator[LakeUser]:
    url = postgres_server.create_database(postgres_template)
    with closing(Database(url, Clock())) as database:
        yield LakeUser(database, MemoryObjectStore(SIGNER))
    postgres_server.drop_database(url)


class EverySuite(SessionSuite, VersionSuite, FileSuite, ComposingSuite, NamesSuite, TombstoneSuite, RetentionSuite):
    """All that a lake does."""


class TestSqliteAndFolder(EverySuite):
    @pytest.fixture
    def user(self, sqlite_lake: LakeUser) -> LakeUser:
        return sqlite_lake.in_a_new_project()


class TestPostgres(EverySuite):
    @pytest.fixture
    def user(self, postgres_lake: LakeUser) -> LakeUser:
        return postgres_lake.in_a_new_project()


class OfDays:
    """A lake whose clock is set by hand."""

    def __init__(self, url: str, objects: ObjectStore) -> None:
        self.days = Days()
        self.database = Database(url, Clock(self.days.now))
        if self.database.name == "sqlite":
            schema.migrate(self.database)
        self.user = LakeUser(self.database, objects)


@pytest.fixture(scope="module")
def sqlite_of_days(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OfDays]:
    folder = tmp_path_factory.mktemp("days")
    lake = OfDays(f"sqlite:///{folder / 'acai.db'}", FilesystemObjectStore(folder / "objects", SIGNER))
    with closing(lake.database):
        yield lake


@pytest.fixture(scope="module")
def postgres_of_days(postgres_server: Postgres, postgres_template: str) -> Iterator[OfDays]:
    url = postgres_server.create_database(postgres_template)
    lake = OfDays(url, MemoryObjectStore(SIGNER))
    with closing(lake.database):
        yield lake
    postgres_server.drop_database(url)


class TestGarbageOnSqliteAndFolder(GarbageSuite):
    @pytest.fixture
    def user(self, sqlite_of_days: OfDays) -> LakeUser:
        return sqlite_of_days.user.in_a_new_project()

    @pytest.fixture
    def days(self, sqlite_of_days: OfDays) -> Days:
        return sqlite_of_days.days


class TestGarbageOnPostgres(GarbageSuite):
    @pytest.fixture
    def user(self, postgres_of_days: OfDays) -> LakeUser:
        return postgres_of_days.user.in_a_new_project()

    @pytest.fixture
    def days(self, postgres_of_days: OfDays) -> Days:
        return postgres_of_days.days


class TestGarbageOnS3(GarbageSuite):
    moments_apart = 4

    @pytest.fixture
    def user(self, sqlite_database_of_days: Database, s3_server: Seaweedfs, s3_bucket: str) -> LakeUser:
        from acai_server.objects.s3 import S3ObjectStore

        store = S3ObjectStore(s3_bucket, endpoint_url=s3_server.url)
        return LakeUser(sqlite_database_of_days, store).in_a_new_project()

    @pytest.fixture
    def days(self) -> Days:
        return Days()

    @pytest.fixture
    def sqlite_database_of_days(self, days: Days, tmp_path: Path) -> Iterator[Database]:
        with closing(Database(f"sqlite:///{tmp_path / 'acai.db'}", Clock(days.now))) as database:
            schema.migrate(database)
            yield database


class TestDamageOnSqliteAndFolder(DamageSuite):
    @pytest.fixture
    def user(self, sqlite_lake: LakeUser) -> LakeUser:
        return sqlite_lake.in_a_new_project()


class TestDamageOnPostgres(DamageSuite):
    @pytest.fixture
    def user(self, postgres_lake: LakeUser) -> LakeUser:
        return postgres_lake.in_a_new_project()


class TestDamageOnS3(DamageSuite):
    @pytest.fixture
    def user(self, sqlite_database: Database, s3_server: Seaweedfs, s3_bucket: str) -> LakeUser:
        from acai_server.objects.s3 import S3ObjectStore

        return LakeUser(sqlite_database, S3ObjectStore(s3_bucket, endpoint_url=s3_server.url))


def test_collections_among_any_acts_lose_nothing_and_leave_nothing_on_sqlite(sqlite_of_days: OfDays) -> None:
    check_collections(sqlite_of_days.user, sqlite_of_days.days, max_examples=8)


def test_collections_among_any_acts_lose_nothing_and_leave_nothing_on_postgres(postgres_of_days: OfDays) -> None:
    check_collections(postgres_of_days.user, postgres_of_days.days, max_examples=4)


def test_any_acts_of_several_users_do_what_a_simple_model_says_on_sqlite(sqlite_lake: LakeUser) -> None:
    check_sessions(sqlite_lake, max_examples=10)


def test_any_acts_of_several_users_do_what_a_simple_model_says_on_postgres(postgres_lake: LakeUser) -> None:
    check_sessions(postgres_lake, max_examples=4)


def test_any_keeping_of_sets_does_what_a_simple_model_says_on_sqlite(sqlite_lake: LakeUser) -> None:
    check_keeping(sqlite_lake, max_examples=10)


def test_any_keeping_of_sets_does_what_a_simple_model_says_on_postgres(postgres_lake: LakeUser) -> None:
    check_keeping(postgres_lake, max_examples=4)


class DiskOfOnesOwn:
    """A lake whose store shares the disk with its users, while that is allowed."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.is_allowed = True
        self.direct = DirectPath(folder / "objects", folder / "proof", write_private, allowed=lambda: self.is_allowed)
        self.user = LakeUser(database, FilesystemObjectStore(folder / "objects", SIGNER), direct=self.direct)
        self.proof = (folder / "proof").read_text()


@pytest.fixture
def disk(sqlite_database: Database, tmp_path: Path) -> DiskOfOnesOwn:
    return DiskOfOnesOwn(sqlite_database, tmp_path)


def test_who_can_read_the_proof_leaves_objects_in_the_sessions_folder(disk: DiskOfOnesOwn, tmp_path: Path) -> None:
    assert disk.user.lake.uploads.store().proof_file == str(tmp_path / "proof")
    upload = disk.user.begin({"/x": b"content"}, proof=disk.proof)
    sent, pack = packed(1, [b"content"])
    folder = Path(str(upload.folder))
    assert folder.is_relative_to(tmp_path / "objects")
    folder.mkdir(parents=True)
    (folder / "1").write_bytes(pack)
    disk.user.commit(upload.id, sent)
    assert disk.user.read() == {"/x": b"content"}
    assert disk.user.get(upload.id).folder is None
    direct, signed = disk.user.fetch("/x", proof=disk.proof), disk.user.fetch("/x")
    assert [url.partition(":")[0] for page in (direct, signed) for url in page.objects] == ["file", "http"]


@pytest.mark.parametrize("case", ["no proof", "a wrong proof", "not allowed"])
def test_nobody_is_believed_to_share_the_disk(disk: DiskOfOnesOwn, case: str) -> None:
    disk.is_allowed = case != "not allowed"
    proof = {"no proof": "", "a wrong proof": "0" * 64}.get(case, disk.proof)
    assert disk.user.begin({"/x": b"1"}, proof=proof).folder is None
    assert (disk.user.lake.uploads.store().proof_file is None) is (case == "not allowed")


def test_an_abort_empties_the_sessions_folder(disk: DiskOfOnesOwn, tmp_path: Path) -> None:
    upload = disk.user.begin({"/x": b"content"}, proof=disk.proof)
    folder = Path(str(upload.folder))
    assert folder.is_relative_to(tmp_path / "objects")
    folder.mkdir(parents=True)
    (folder / "1").write_bytes(b"content")
    disk.user.abort(upload.id)
    assert [path for path in (tmp_path / "objects").rglob("*") if path.is_file()] == []


def test_the_records_of_one_large_object_are_dropped_in_pages(disk: DiskOfOnesOwn) -> None:
    upload = disk.user.prepare({f"/{number}": b"%d" % number for number in range(10)})
    database = disk.user.database
    left = []
    with database.reading() as work:
        session = work.uploads.get(disk.user.member.project_id, UploadId(upload)).id
    more = True
    while more:
        with database.writing() as work:
            more = work.blobs.forget(session, 4)
        left.append(rows(database, "blob"))
    assert left == [6, 2, 0, 0, 0]
    assert rows(database, "object") == 0
