"""What a database owes to upload sessions: versions without gaps, whoever commits at the same moment."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.errors import Conflict
from acai_jupyter.contract.ids import Sha256
from acai_jupyter.contract.uploads import (
    CommitUpload,
    CreateUpload,
    NewFile,
    NewObject,
    PackedBlob,
    SentObject,
    UploadResult,
)
from acai_server.lake.service import Lake
from acai_server.objects.memory import MemoryObjectStore
from acai_server.objects.signing import UrlSigner
from acai_server.testing.databases import THREADS, at_once, enter

if TYPE_CHECKING:
    from acai_jupyter.contract.filesets import Entry
    from acai_server.db.database import Database
    from acai_server.db.projects import Member


class Uploader:
    """A user who uploads, in any number of threads."""

    def __init__(self, database: Database) -> None:
        self.objects = MemoryObjectStore(UrlSigner(b"secret", lambda: "http://127.0.0.1", lambda: 0.0))
        self.lake = Lake(database, self.objects)
        self.member: Member = enter(database)

    def put(self, files: dict[str, bytes], file_set: str | None = None, *, only_changed: bool = False) -> UploadResult:
        """Upload files in a session of their own."""
        upload, commit = self.prepare(files, file_set, only_changed=only_changed)
        return self.commit(upload, commit)

    def prepare(
        self, files: dict[str, bytes], file_set: str | None = None, *, only_changed: bool = False
    ) -> tuple[str, CommitUpload]:
        """Do all but the commit."""
        news = [NewFile(path, len(body), _hash(body)) for path, body in files.items()]
        upload = self.lake.uploads.create(self.member.project_id, self.member.user_id, CreateUpload(news))
        bodies = {_hash(body): body for body in files.values()}
        sent = [self._send(upload.id, bodies[sha256]) for sha256 in upload.missing]
        return upload.id, CommitUpload(sent, file_set=file_set, only_changed=only_changed)

    def commit(self, upload: str, commit: CommitUpload) -> UploadResult:
        """Commit what was prepared."""
        return self.lake.uploads.commit(self.member.project_id, upload, commit)

    def entries(self, ref: str) -> list[Entry]:
        """Return what is in a file set."""
        return self.lake.file_sets.entries(self.member.project_id, ref, "", 1000).entries

    def _send(self, upload: str, body: bytes) -> SentObject:
        new = NewObject(len(body), _hash(body))
        target = self.lake.uploads.targets(self.member.project_id, upload, [new])[0]
        self.objects.put(target.key, io.BytesIO(body), size_bytes=len(body))
        return SentObject(target.key, len(body), new.sha256, [PackedBlob(new.sha256, 0, len(body))])


def _hash(body: bytes) -> Sha256:
    return Sha256(hashlib.sha256(body).hexdigest())


class UploadSuite:
    """Derive from this with a fixture `database` that gives an empty one with all tables."""

    @pytest.fixture
    def database(self) -> Database:
        raise NotImplementedError

    @pytest.fixture
    def uploader(self, database: Database) -> Uploader:
        return Uploader(database)

    def test_versions_of_a_path_count_from_one(self, uploader: Uploader) -> None:
        refs = [uploader.put({"/x": body}, "s").file_set for body in (b"one", b"two", b"one")]
        assert refs == ["s:1", "s:2", "s:3"]
        assert [uploader.entries(f"s:{n}")[0].version for n in (1, 2, 3)] == [1, 2, 3]

    def test_with_only_changed_what_is_the_same_keeps_its_version(self, uploader: Uploader) -> None:
        uploader.put({"/x": b"one", "/y": b"two"}, "s")
        again = uploader.put({"/x": b"one", "/y": b"two"}, "s", only_changed=True)
        assert (again.new_files, again.unchanged_files, again.file_set) == (0, 2, "s:1")
        changed = uploader.put({"/x": b"one", "/y": b"three"}, "s", only_changed=True)
        assert (changed.new_files, changed.unchanged_files, changed.file_set) == (1, 1, "s:2")
        assert [(entry.path, entry.version) for entry in uploader.entries("s:2")] == [("/x", 1), ("/y", 2)]

    def test_many_that_upload_to_one_new_path_get_versions_without_gaps(self, uploader: Uploader) -> None:
        results = at_once(THREADS, lambda number: uploader.put({"/x": b"%d" % number}, "s"))
        refs = [f"s:{number}" for number in range(1, THREADS + 1)]
        assert sorted(str(result.file_set) for result in results) == sorted(refs)
        assert sorted(uploader.entries(ref)[0].version for ref in refs) == list(range(1, THREADS + 1))

    def test_many_that_upload_the_same_make_one_version(self, uploader: Uploader) -> None:
        files = {f"/{number}": b"same %d" % (number % 3) for number in range(9)}
        results = at_once(8, lambda _: uploader.put(files, "s", only_changed=True))
        assert {result.file_set for result in results} == {"s:1"}
        assert sorted(result.new_files for result in results) == [0] * 7 + [9]

    def test_many_that_upload_overlapping_paths_do_not_block_each_other(self, uploader: Uploader) -> None:
        paths = [f"/{number}" for number in range(12)]

        def put(number: int) -> None:
            turned = paths[number:] + paths[:number] if number % 2 else paths[number::-1]
            uploader.put({path: f"{path} {number}".encode() for path in turned}, f"s{number}")

        at_once(8, put)
        last = uploader.put(dict.fromkeys(paths, b"last"), "all")
        counts = [sum(path in _of(paths, number) for number in range(8)) + 1 for path in sorted(paths)]
        assert [entry.version for entry in uploader.entries(str(last.file_set))] == counts

    def test_committing_twice_is_committing_once(self, uploader: Uploader) -> None:
        upload, commit = uploader.prepare({"/x": b"one"}, "s")
        first = uploader.commit(upload, commit)
        assert uploader.commit(upload, commit) == first
        assert uploader.put({"/x": b"two"}, "s").file_set == "s:2"

    def test_committing_many_times_at_once_is_committing_once(self, uploader: Uploader) -> None:
        upload, commit = uploader.prepare({"/x": b"one"}, "s")
        assert {result.file_set for result in at_once(8, lambda _: uploader.commit(upload, commit))} == {"s:1"}
        assert uploader.put({"/x": b"two"}, "s").file_set == "s:2"

    def test_a_session_that_fails_takes_no_version(self, uploader: Uploader) -> None:
        upload, commit = uploader.prepare({"/x": b"one", "/y": b"two"}, "s")
        with pytest.raises(Conflict, match="have not been sent"):
            uploader.commit(upload, CommitUpload(commit.objects[:1], file_set="s"))
        assert uploader.commit(upload, commit).file_set == "s:1"
        assert [entry.version for entry in uploader.entries("s")] == [1, 1]


def _of(paths: list[str], number: int) -> list[str]:
    return paths if number % 2 else paths[number::-1]
