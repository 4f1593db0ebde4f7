"""What happens to uploads afterwards: they are hashed again, and what nobody needs is dropped."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.errors import BlobQuarantined
from acai_jupyter.contract.states import UploadState
from acai_jupyter.contract.uploads import NewObject
from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.lake.checker import BlobChecker
from acai_server.lake.collector import UploadCollector
from acai_server.lake.direct import DirectPath
from acai_server.objects.filesystem import FilesystemObjectStore
from acai_server.objects.memory import MemoryObjectStore
from acai_server.testing.lakes import SIGNER, LakeUser, claim_store, hash_of, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT = timedelta(days=7)
DELAY = timedelta(minutes=1)


class Days:
    """A clock that is set forward by hand."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment

    def go_on(self, step: timedelta) -> None:
        self.moment += step


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
def database(days: Days) -> Iterator[Database]:
    database = Database("sqlite://", Clock(days.now))
    schema.migrate(database)
    yield database
    database.close()


@pytest.fixture
def user(database: Database) -> LakeUser:
    return LakeUser(database, MemoryObjectStore(SIGNER))


def collect(user: LakeUser) -> None:
    collector = UploadCollector(user.database, user.objects, user.lake.tidying, kept=KEPT)
    while collector.step():
        pass


def check(user: LakeUser) -> None:
    checker = BlobChecker(user.database, user.objects, delay=DELAY, rest=0)
    while checker.step():
        pass


def spoil(user: LakeUser, body: bytes) -> None:
    """Change the first byte of every object that begins with a content."""
    store = user.objects
    assert isinstance(store, MemoryObjectStore)
    for key in list(store.keys("")):
        if store.get(key).startswith(body):
            store._objects[key] = b"?" + store.get(key)[1:]


def test_an_upload_that_nobody_went_on_with_is_given_up(user: LakeUser, days: Days) -> None:
    upload = user.prepare({"/x": b"one", "/y": b"two"})
    days.go_on(KEPT - timedelta(hours=1))
    collect(user)
    assert user.get(upload).state is UploadState.PENDING
    days.go_on(timedelta(hours=2))
    collect(user)
    assert user.get(upload).state is UploadState.ABORTED
    tables = ("file", "file_version", "object", "blob", "upload_object")
    assert ({table: rows(user.database, table) for table in tables}, list(user.objects.keys(""))) == (
        dict.fromkeys(tables, 0),
        [],
    )


def test_an_upload_that_somebody_went_on_with_is_kept(user: LakeUser, days: Days) -> None:
    upload = user.prepare({"/x": b"one"})
    days.go_on(KEPT - timedelta(hours=1))
    user.stage(upload, {"/z": b"three"})
    days.go_on(timedelta(hours=2))
    collect(user)
    user.send(upload, [b"three"])
    assert user.commit(upload).new_files == 2


def test_an_abort_that_was_cut_short_is_finished(user: LakeUser, days: Days) -> None:
    upload = user.prepare({"/x": b"one"})
    with user.database.writing() as work:  # as far as a server came that was killed then
        work.uploads.give_up(work.uploads.get(user.member.project_id, upload).id)
    days.go_on(timedelta(hours=26))
    collect(user)
    assert (rows(user.database, "file_version"), list(user.objects.keys(""))) == (0, [])


def test_what_still_arrives_for_an_aborted_upload_is_dropped_when_its_urls_have_ended(
    user: LakeUser, days: Days
) -> None:
    upload = user.begin({"/x": b"one"}).id
    target = user.targets(upload, NewObject(1, 3, hash_of(b"one")))[0]
    user.abort(upload)
    user.objects.put(target.key, io.BytesIO(b"one"), size_bytes=3)
    days.go_on(timedelta(hours=26))
    collect(user)
    assert list(user.objects.keys("")) == []


def test_what_a_commit_does_not_need_is_dropped_and_the_rest_stays(user: LakeUser, days: Days) -> None:
    user.put({"/x": b"one"})
    upload = user.begin({"/x": b"one", "/y": b"two"}, only_changed=True)
    user.leave(upload.id, [b"was sent and never told"])
    user.send(upload.id, [b"two"])
    user.commit(upload.id)
    assert rows(user.database, "upload_entry") == 1
    collect(user)
    assert len(list(user.objects.keys(""))) == 3, "it is too soon"
    days.go_on(timedelta(hours=1))
    collect(user)
    assert (len(list(user.objects.keys(""))), rows(user.database, "upload_entry")) == (2, 0)
    assert user.read() == {"/x": b"one", "/y": b"two"}


def test_what_a_killed_writer_had_begun_is_dropped_from_the_folder(
    database: Database, tmp_path: Path, days: Days
) -> None:
    folder = tmp_path / "objects"
    direct = DirectPath(folder, tmp_path / "proof", write, allowed=lambda: True)
    user = LakeUser(database, FilesystemObjectStore(folder, SIGNER), direct=direct)
    upload = user.begin({"/x": b"one"}, proof=(tmp_path / "proof").read_text())
    assert upload.folder is not None
    user.send(upload.id, [b"one"])
    begun = Path(upload.folder) / ".acai-0123.part"
    begun.write_bytes(b"beg")
    user.commit(upload.id)
    days.go_on(timedelta(hours=1))
    collect(user)
    assert not begun.exists()
    assert user.read() == {"/x": b"one"}


def test_what_was_uploaded_is_hashed_again_and_then_others_lean_on_it(user: LakeUser, days: Days) -> None:
    user.put({"/x": b"one"})
    her = user.beside("her")
    assert her.begin({"/y": b"one"}).missing == [0]
    check(user)
    assert her.begin({"/y": b"one"}).missing == [0], "it is too soon"
    days.go_on(DELAY * 2)
    check(user)
    assert her.begin({"/y": b"one"}).missing == []


def test_hashing_stands_back_while_somebody_uploads_but_not_for_ever(user: LakeUser, days: Days) -> None:
    user.put({"/x": b"one"})
    her = user.beside("her")
    days.go_on(DELAY * 2)
    user.prepare({"/z": b"going on"})
    check(user)
    assert her.begin({"/y": b"one"}).missing == [0]
    days.go_on(timedelta(minutes=10))
    user.prepare({"/z": b"going on"})
    check(user)
    assert her.begin({"/y": b"one"}).missing == []


def test_a_content_that_is_another_is_not_handed_out_and_heals(user: LakeUser, days: Days) -> None:
    user.put({"/x": b"one", "/y": b"two"})
    spoil(user, b"one")
    days.go_on(DELAY * 2)
    check(user)
    with pytest.raises(BlobQuarantined, match=r"'/x:1', uploaded by you, are damaged"):
        user.fetch("/x")
    assert user.read("/y") == {"/y": b"two"}
    her = user.beside("her")
    assert her.put({"/again": b"one"}).sent_bytes == 3
    assert user.read("/x") == {"/x": b"one"}


def test_an_object_that_is_gone_is_as_good_as_wrong(user: LakeUser, days: Days) -> None:
    user.put({"/x": b"one"})
    user.objects.delete(next(iter(user.objects.keys(""))))
    days.go_on(DELAY * 2)
    check(user)
    assert user.fetch("/x").files, "without its mark the store counts as away"
    claim_store(user)
    check(user)
    with pytest.raises(BlobQuarantined):
        user.fetch("/x")


def test_ranges_of_an_object_are_hashed_each_for_itself(user: LakeUser, days: Days) -> None:
    bodies = {f"/{number:03}": b"%d" % number * 4000 for number in range(300)}
    user.put(bodies)
    days.go_on(DELAY * 2)
    check(user)
    assert user.beside("her").begin(bodies).missing == []


def test_a_pending_upload_is_not_hashed(user: LakeUser, days: Days) -> None:
    user.prepare({"/x": b"one"})
    days.go_on(DELAY * 2)
    check(user)
    with user.database.reading() as work:
        stored = work.blobs.object(1)
        assert stored is not None
        assert stored.blobs
        assert work.blobs.unchecked(days.now(), days.now(), 10) == []


def test_a_loop_can_be_ended_twice(user: LakeUser) -> None:
    for loop in (
        UploadCollector(user.database, user.objects, user.lake.tidying, kept=KEPT),
        BlobChecker(user.database, user.objects, delay=DELAY),
    ):
        loop.start()
        loop.stop()
        loop.stop()


def write(path: Path, text: str) -> None:
    path.write_text(text)
