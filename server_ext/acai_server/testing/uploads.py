"""What the lake owes to upload sessions: names in pages, bytes as announced, one end, and nobody else's business."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from acai_jupyter.contract.errors import BadPath, BadRequest, Conflict, HashMismatch, ObjectNotFound, UploadNotFound
from acai_jupyter.contract.states import StorageClass, UploadState
from acai_jupyter.contract.uploads import NewFile, NewObject, PackedBlob, SentObject, SentPart
from acai_server.testing.databases import at_once
from acai_server.testing.lakes import check_lake, hash_of, meanwhile, packed, rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.db.database import Database
    from acai_server.objects.protocol import ObjectStore
    from acai_server.testing.lakes import LakeUser

MIB = 1024 * 1024
OF_SESSIONS = ("file", "file_version", "object", "blob", "upload_entry", "upload_object")
FILES = {"/a": b"one", "/b/c": b"two", "/b/d": b"three"}


class LakeSuite:
    """Derive from one of these with a fixture `user`: one in an empty lake."""

    @pytest.fixture
    def user(self) -> LakeUser:
        raise NotImplementedError

    @pytest.fixture
    def database(self, user: LakeUser) -> Database:
        return user.database

    @pytest.fixture
    def objects(self, user: LakeUser) -> ObjectStore:
        return user.objects


class StagingSuite(LakeSuite):
    """Names."""

    def test_names_come_in_pages(self, user: LakeUser) -> None:
        upload = user.begin({"/z": b"first"}, label="holiday")
        assert upload.missing == [0]
        assert user.stage(upload.id, {"/a": b"second", "/b": b"third"}) == [0, 1]
        assert user.stage(upload.id, {"/m": b"fourth"}) == [0]
        user.send(upload.id, [b"first", b"second", b"third", b"fourth"])
        now = user.get(upload.id)
        assert (now.staged_files, now.sent_bytes, now.label, now.creator) == (4, 22, "holiday", "you")
        assert user.commit(upload.id).new_files == 4
        assert user.named() == {"/a": 1, "/b": 1, "/m": 1, "/z": 1}

    def test_nothing_is_visible_before_the_commit(self, user: LakeUser) -> None:
        user.prepare(FILES, file_set="s")
        assert (user.named(), user.children()) == ({}, [])
        user.put({"/b/c": b"another's"})
        assert (user.named(), user.children(), user.children("/b")) == ({"/b/c": 1}, ["b/"], ["c"])

    def test_a_name_staged_again_is_replaced(self, user: LakeUser) -> None:
        upload = user.prepare({"/x": b"old", "/y": b"same"}, file_set="s")
        assert user.stage(upload, {"/x": b"new and longer"}) == [0]
        user.send(upload, [b"new and longer"])
        assert user.get(upload).staged_files == 2
        result = user.commit(upload)
        assert (result.new_files, result.size_bytes) == (2, 18)
        assert user.read("@s") == user.read() == {"/x": b"new and longer", "/y": b"same"}
        assert user.numbers("/x") == [1]

    def test_a_name_may_be_staged_again_with_the_same_content(self, user: LakeUser) -> None:
        upload = user.prepare(FILES)
        assert user.stage(upload, FILES) == []
        assert user.commit(upload).new_files == 3
        assert user.named() == dict.fromkeys(FILES, 1)

    def test_pending_sessions_come_in_pages(self, user: LakeUser) -> None:
        begun = [user.begin().id for _ in range(5)]
        assert [user.listed_by(limit) for limit in (1, 2, 5)] == [begun[::-1]] * 3

    def test_the_same_path_twice_in_a_page_is_refused_by_its_name(self, user: LakeUser) -> None:
        page = [NewFile(path, 1, hash_of(path.encode())) for path in ("/a", "/twice", "/b", "/twice")]
        upload = user.begin()
        with pytest.raises(BadRequest, match="'/twice' is in it twice"):
            user.stage_all(upload.id, page)
        assert user.get(upload.id).staged_files == 0

    @pytest.mark.parametrize(
        "path", ["no/slash", "/a/../b", "/a//b", "/a/", "/", "/nul\0", "/\U0010ffff", "/" + "x" * 1024]
    )
    def test_a_path_that_cannot_be_one_is_refused_with_its_page(self, user: LakeUser, path: str) -> None:
        upload = user.begin()
        with pytest.raises(BadPath):
            user.stage(upload.id, {"/good": b"1", path: b"2"})
        with pytest.raises(BadPath):
            user.begin({"/good": b"1", path: b"2"})
        assert user.get(upload.id).staged_files == 0

    def test_a_path_may_have_as_many_bytes_as_there_may_be(self, user: LakeUser) -> None:
        longest = "/" + "é" * 511 + "x"
        user.put({longest: b"far"})
        assert user.read() == {longest: b"far"}
        assert user.children() == [longest[1:]]

    def test_what_is_known_need_not_be_sent(self, user: LakeUser) -> None:
        user.put({"/old": b"known"})
        upload = user.begin({"/a": b"known", "/b": b"new", "/c": b"new"})
        assert upload.missing == [1, 2]
        user.send(upload.id, [b"new"])
        assert user.stage(upload.id, {"/d": b"new", "/e": b"newer", "/f": b"known"}) == [1]
        user.send(upload.id, [b"newer"])
        result = user.commit(upload.id)
        assert (result.new_files, result.sent_bytes) == (6, 8)
        assert user.read()["/d"] == b"new"

    def test_what_a_pending_session_has_sent_is_not_known_to_another(self, user: LakeUser) -> None:
        pending = user.prepare({"/a": b"content"})
        other = user.begin({"/b": b"content"})
        assert other.missing == [0]
        user.abort(pending)
        with pytest.raises(Conflict, match="'/b' have not been sent"):
            user.commit(other.id)
        user.send(other.id, [b"content"])
        user.commit(other.id)
        assert user.read() == {"/b": b"content"}

    def test_anothers_content_is_known_only_when_it_was_hashed_again(self, user: LakeUser) -> None:
        her = user.beside("her")
        her.put({"/hers": b"content"})
        upload = user.begin({"/mine": b"content"})
        assert upload.missing == [0]
        with pytest.raises(Conflict, match="have not been sent"):
            user.commit(upload.id)
        her.believe()
        assert user.begin({"/mine": b"content"}).missing == []
        user.commit(upload.id)
        assert user.read() == {"/hers": b"content", "/mine": b"content"}

    def test_content_that_was_found_wrong_is_nobodys(self, user: LakeUser) -> None:
        one, _ = packed(1, [b"truth"])
        upload = user.begin({"/x": b"truth"})
        target = user.targets(upload.id, NewObject(1, 5, hash_of(b"false")))
        user.objects.put(target[0].key, io.BytesIO(b"false"), size_bytes=5)
        user.commit(upload.id, msgspec.structs.replace(one, sha256=hash_of(b"false")))
        assert user.begin({"/y": b"truth"}).missing == []
        user.believe()
        assert user.begin({"/y": b"truth"}).missing == [0]
        assert user.beside("her").begin({"/y": b"truth"}).missing == [0]

    def test_a_name_of_a_file_set_is_checked_at_the_start(self, user: LakeUser) -> None:
        with pytest.raises(BadRequest, match="'9lives'"):
            user.begin(file_set="9lives")
        assert user.listed(UploadState.PENDING) == []

    def test_only_what_a_base_holds_can_be_left_out(self, user: LakeUser) -> None:
        upload = user.begin({"/x": b"1"})
        with pytest.raises(BadRequest, match="base"):
            user.stage(upload.id, {}, ["/x"])

    def test_the_storage_class_stays_with_the_versions(self, user: LakeUser) -> None:
        user.put({"/x": b"1"}, storage=StorageClass.ARCHIVE)
        user.put({"/x": b"2"})
        assert [version.storage for version in user.versions("/x")] == [StorageClass.ARCHIVE, StorageClass.FREQUENT]


class SendingSuite(LakeSuite):
    """Bytes."""

    def test_small_files_share_an_object(self, user: LakeUser, objects: ObjectStore) -> None:
        user.put(FILES)
        assert len(list(objects.keys(f"p{user.member.project_id}/objects/"))) == 1
        assert user.read() == FILES
        assert len(user.fetch("/").objects) == 1

    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            ({"size_bytes": 9}, "not announced like this"),
            ({"sha256": hash_of(b"another")}, "not announced like this"),
            ({"sha256": None}, "not announced like this"),
            ({"number": 7}, "object 7 was not announced"),
        ],
    )
    def test_an_object_is_what_was_announced(self, user: LakeUser, changed: dict[str, object], reason: str) -> None:
        upload = user.begin({"/x": b"content"})
        sent = user.leave(upload.id, [b"content"])
        with pytest.raises(BadRequest, match=reason):
            user.tell(upload.id, msgspec.structs.replace(sent, **changed))
        with pytest.raises(Conflict, match="'/x' have not been sent"):
            user.commit(upload.id)
        user.tell(upload.id, sent)
        user.commit(upload.id)
        assert user.read() == {"/x": b"content"}

    @pytest.mark.parametrize(("offset", "size"), [(0, 8), (1, 7), (7, 1), (100, 0)])
    def test_a_content_lies_inside_its_object(self, user: LakeUser, offset: int, size: int) -> None:
        upload = user.begin({"/x": b"content"})
        sent = user.leave(upload.id, [b"content"])
        blob = msgspec.structs.replace(sent.blobs[0], offset=offset, size_bytes=size)
        with pytest.raises(BadRequest, match="outside object 1"):
            user.tell(upload.id, msgspec.structs.replace(sent, blobs=[blob]))
        assert user.get(upload.id).sent_bytes == 0

    def test_an_object_that_did_not_arrive_is_not_recorded(self, user: LakeUser) -> None:
        upload = user.begin({"/x": b"content"})
        sent, pack = packed(1, [b"content"])
        wanted = NewObject(1, len(pack), sent.sha256)
        user.targets(upload.id, wanted)
        for tell in (user.tell, user.commit):
            with pytest.raises(Conflict, match="object 1 has not arrived; send it again"):
                tell(upload.id, sent)
        assert user.get(upload.id).sent_bytes == 0

    def test_an_object_of_another_size_is_not_recorded(self, user: LakeUser, objects: ObjectStore) -> None:
        upload = user.begin({"/x": b"content"})
        sent = user.leave(upload.id, [b"content"])
        key = user.targets(upload.id, NewObject(1, 7, sent.sha256))[0].key
        objects.put(key, io.BytesIO(b"cut"), size_bytes=3)
        with pytest.raises(HashMismatch, match="object 1"):
            user.tell(upload.id, sent)

    def test_one_bad_object_takes_those_told_with_it_along(self, user: LakeUser) -> None:
        upload = user.begin({"/x": b"one", "/y": b"two"})
        good = user.leave(upload.id, [b"one"])
        with pytest.raises(BadRequest, match="object 9"):
            user.tell(upload.id, good, msgspec.structs.replace(good, number=9))
        assert user.get(upload.id).sent_bytes == 0

    def test_telling_twice_is_telling_once(self, user: LakeUser, database: Database) -> None:
        before = (rows(database, "object"), rows(database, "blob"))
        upload = user.begin(FILES)
        sent = user.leave(upload.id, FILES.values())
        assert user.tell(upload.id, sent) == user.tell(upload.id, sent) == [1]
        assert (rows(database, "object"), rows(database, "blob")) == (before[0] + 1, before[1] + 3)
        assert user.commit(upload.id, sent).sent_bytes == 11
        assert rows(database, "blob") == before[1] + 3

    def test_a_target_asked_for_again_is_the_same_object(self, user: LakeUser) -> None:
        upload = user.begin({"/x": b"content"})
        wanted = NewObject(3, 7, hash_of(b"content"))
        keys = {user.targets(upload.id, wanted)[0].key for _ in range(2)}
        assert len(keys) == 1
        assert user.get(upload.id).next_object == 4

    def test_the_last_announcement_counts(self, user: LakeUser) -> None:
        upload = user.begin({"/x": b"second"})
        user.targets(upload.id, NewObject(1, 5, hash_of(b"first")))
        target = user.targets(upload.id, NewObject(1, 6, hash_of(b"second")))[0]
        user.objects.put(target.key, io.BytesIO(b"second"), size_bytes=6)
        user.commit(upload.id, packed(1, [b"second"])[0])
        assert user.read() == {"/x": b"second"}

    def test_a_large_object_travels_in_parts_that_can_be_resumed(self, user: LakeUser, objects: ObjectStore) -> None:
        body = b"%d" % 7 * (5 * MIB) + b"tail"
        upload = user.begin({"/large": body})
        wanted = NewObject(1, len(body), part_bytes=5 * MIB)
        target = user.targets(upload.id, wanted)[0]
        assert [(part.number, part.offset, part.size_bytes) for part in target.parts] == [
            (1, 0, 5 * MIB),
            (2, 5 * MIB, 4),
        ]
        parts_id = _parts_id(user, upload.id)
        objects.put_part(target.key, parts_id, 1, io.BytesIO(body[: 5 * MIB]), size_bytes=5 * MIB)
        again = user.targets(upload.id, wanted)[0]
        assert [part.etag is not None for part in again.parts] == [True, False]
        assert (again.key, _parts_id(user, upload.id)) == (target.key, parts_id)
        objects.put_part(target.key, parts_id, 2, io.BytesIO(b"tail"), size_bytes=4)
        parts = [SentPart(part.number, str(part.etag)) for part in user.targets(upload.id, wanted)[0].parts]
        sent = msgspec.structs.replace(packed(1, [body])[0], parts=parts)
        with pytest.raises(BadRequest, match="1, 2, 3"):
            user.tell(upload.id, msgspec.structs.replace(sent, parts=parts[::-1]))
        user.tell(upload.id, sent)
        assert user.tell(upload.id, sent) == [1]
        assert user.targets(upload.id, wanted)[0].has_arrived
        user.commit(upload.id)
        assert user.read() == {"/large": body}

    def test_a_content_of_the_same_size_may_be_there(self, user: LakeUser) -> None:
        body = bytes(8 * MIB)
        user.put({"/large": body})
        upload = user.begin()
        wanted = [NewObject(1, 8 * MIB, part_bytes=5 * MIB), NewObject(2, 8 * MIB + 1, part_bytes=5 * MIB)]
        assert [target.may_exist for target in user.targets(upload.id, *wanted)] == [True, False]


class EndingSuite(LakeSuite):
    """Commits, aborts, and whose session it is."""

    def test_a_commit_with_unsent_bytes_names_a_path_and_can_be_done_again(self, user: LakeUser) -> None:
        upload = user.begin(FILES, file_set="s")
        user.send(upload.id, [b"one", b"three"])
        with pytest.raises(Conflict, match="The bytes of '/b/c' have not been sent"):
            user.commit(upload.id)
        assert (user.get(upload.id).state, user.named()) == (UploadState.PENDING, {})
        user.send(upload.id, [b"two"])
        result = user.commit(upload.id)
        assert (result.new_files, result.file_set) == (3, "s:1")
        assert user.read("@s") == FILES

    def test_bytes_of_another_length_are_not_those_of_the_file(self, user: LakeUser) -> None:
        upload = user.begin()
        lie = [NewFile("/x", 3, hash_of(b"content"))]
        user.stage_all(upload.id, lie)
        user.send(upload.id, [b"content"])
        with pytest.raises(Conflict, match="'/x' have not been sent"):
            user.commit(upload.id)

    def test_committing_twice_is_committing_once(self, user: LakeUser) -> None:
        upload = user.prepare(FILES, file_set="s")
        first = user.commit(upload)
        user.put({"/a": b"later"}, file_set="s")
        assert user.commit(upload) == user.commit(upload, packed(1, [b"anything"])[0]) == first
        assert (user.numbers("/a"), user.named("@s")) == ([1, 2], {"/a": 2})

    def test_committing_many_times_at_once_is_committing_once(self, user: LakeUser) -> None:
        upload = user.begin(FILES, file_set="s")
        sent = user.leave(upload.id, FILES.values())
        results = at_once(8, lambda _: user.commit(upload.id, sent))
        assert len({msgspec.json.encode(result) for result in results}) == 1
        assert user.named("@s:1") == user.named() == dict.fromkeys(FILES, 1)
        assert user.lake.file_sets.get(user.member.project_id, "s").version == 1

    def test_another_server_commits_what_this_one_has_staged(self, user: LakeUser) -> None:
        upload = user.prepare(FILES, file_set="s")
        user.elsewhere().commit(upload)
        assert user.read("@s") == FILES

    def test_a_session_goes_on_at_any_server(self, user: LakeUser) -> None:
        there = user.elsewhere()
        upload = user.prepare({"/a": b"one", "/m": b"old"}, file_set="s")
        there.stage(upload, {"/b": b"two", "/m": b"new"})
        there.send(upload, [b"two", b"new"])
        user.stage(upload, {"/z": b"three"})
        user.send(upload, [b"three"])
        assert user.commit(upload).new_files == 4
        assert user.read("@s") == {"/a": b"one", "/b": b"two", "/m": b"new", "/z": b"three"}

    def test_what_was_staged_at_another_server_must_have_been_sent(self, user: LakeUser) -> None:
        upload = user.prepare({"/x": b"old"}, file_set="s")
        user.elsewhere().stage(upload, {"/x": b"new"})
        with pytest.raises(Conflict, match="'/x' have not been sent"):
            user.commit(upload)

    @pytest.mark.parametrize("how", [{}, {"file_set": "s"}, {"only_changed": True}])
    def test_a_session_of_nothing_cannot_be_committed(self, user: LakeUser, how: dict[str, Any]) -> None:
        upload = user.begin(**how)
        with pytest.raises(BadRequest, match="holds no files"):
            user.commit(upload.id)
        user.stage(upload.id, {"/x": b"late"})
        user.send(upload.id, [b"late"])
        assert user.commit(upload.id).new_files == 1

    def test_names_forgotten_during_a_commit_are_not_committed(self, user: LakeUser) -> None:
        upload = user.prepare({"/a": b"1", "/b": b"2"}, file_set="s")
        with (
            meanwhile(user.database, lambda: user.stage_anew(upload)),
            pytest.raises(Conflict, match="commit it again"),
        ):
            user.commit(upload)
        check_lake(user)

    def test_names_forgotten_at_another_server_are_not_committed(self, user: LakeUser) -> None:
        upload = user.prepare({"/a": b"1"}, file_set="s")
        user.elsewhere().stage_anew(upload)
        user.stage(upload, {"/b": b"2"})
        user.send(upload, [b"2"])
        assert user.commit(upload).new_files == 1
        assert user.named("@s") == user.named() == {"/b": 1}

    def test_a_page_that_comes_during_a_commit_is_not_committed_without_its_bytes(self, user: LakeUser) -> None:
        upload = user.prepare({"/a": b"1"}, file_set="s")

        def stage() -> None:
            user.stage(upload, {"/b": b"never sent"})

        with meanwhile(user.database, stage), pytest.raises(Conflict, match="commit it again"):
            user.commit(upload)
        with pytest.raises(Conflict, match="'/b' have not been sent"):
            user.commit(upload)

    def test_an_object_told_again_is_not_believed_to_hold_something_else(self, user: LakeUser) -> None:
        upload = user.begin({"/a": b"1", "/b": b"2"}).id
        sent = user.leave(upload, [b"1"])
        user.tell(upload, sent)
        with pytest.raises(Conflict, match="was told before, with other contents"):
            user.tell(upload, msgspec.structs.replace(sent, blobs=[PackedBlob(hash_of(b"2"), 0, 1)]))
        with pytest.raises(Conflict, match="'/b' have not been sent"):
            user.commit(upload)

    def test_an_object_in_one_piece_is_signed_with_its_hash(self, user: LakeUser) -> None:
        with pytest.raises(BadRequest, match="needs its SHA-256"):
            user.targets(user.begin({"/a": b"1"}).id, NewObject(1, 1))

    def test_content_found_wrong_between_staging_and_commit_is_not_leaned_on(self, user: LakeUser) -> None:
        user.put({"/a": b"1"})
        upload = user.begin({"/b": b"1"})
        assert upload.missing == []
        user.lose_faith()
        with pytest.raises(Conflict, match="'/b' have not been sent"):
            user.commit(upload.id)

    def test_content_found_wrong_is_put_again_and_not_taken_from_a_base(self, user: LakeUser) -> None:
        files = {"/a": b"1", "/b": b"2"}
        base = user.put(files, only_changed=True).id
        user.lose_faith()
        with pytest.raises(Conflict, match="put again"):
            user.begin({}, base=base, only_changed=True)
        assert user.put(files, only_changed=True).unchanged_files == 2
        assert user.read() == files
        assert user.begin({}, base=base, only_changed=True).missing == []

    def test_a_hash_of_two_lengths_is_the_longer_content(self, user: LakeUser) -> None:
        upload = user.begin({"/a": b"12345"}).id
        sent = user.leave(upload, [b"12345"])
        blobs = [*sent.blobs, PackedBlob(hash_of(b"12345"), 0, 3)]
        user.tell(upload, msgspec.structs.replace(sent, blobs=blobs))
        user.commit(upload)
        assert user.read() == {"/a": b"12345"}

    def test_an_abort_leaves_nothing(self, user: LakeUser, database: Database, objects: ObjectStore) -> None:
        user.put({"/kept": b"kept"})
        before = {table: rows(database, table) for table in OF_SESSIONS}
        keys = list(objects.keys(""))
        upload = user.prepare(FILES | {"/kept": b"kept"}, only_changed=True, file_set="s")
        assert len(list(objects.keys(""))) > len(keys)
        after = user.abort(upload)
        assert (after.state, after.staged_files, after.sent_bytes) == (UploadState.ABORTED, 0, 0)
        assert {table: rows(database, table) for table in before} == before
        assert list(objects.keys("")) == keys
        assert user.read() == {"/kept": b"kept"}

    def test_an_abort_takes_the_parts_along(self, user: LakeUser, objects: ObjectStore) -> None:
        upload = user.begin({"/large": b"x" * 9})
        wanted = NewObject(1, 6 * MIB, part_bytes=5 * MIB)
        target = user.targets(upload.id, wanted)[0]
        parts_id = _parts_id(user, upload.id)
        objects.put_part(target.key, parts_id, 2, io.BytesIO(b"x" * MIB), size_bytes=MIB)
        user.abort(upload.id)
        with pytest.raises(ObjectNotFound):
            objects.parts(target.key, parts_id)
        assert list(objects.keys(target.key.rpartition("/")[0])) == []

    def test_an_abort_takes_no_numbers(self, user: LakeUser) -> None:
        first, second = (user.prepare({"/x": body}) for body in (b"one", b"two"))
        user.abort(first)
        user.commit(second)
        user.abort(user.prepare({"/x": b"three"}))
        user.put({"/x": b"four"})
        assert user.numbers("/x") == [1, 2]

    def test_aborting_twice_is_aborting_once(self, user: LakeUser) -> None:
        upload = user.prepare(FILES)
        assert user.abort(upload) == user.abort(upload)
        with pytest.raises(Conflict, match="is aborted"):
            user.commit(upload)
        with pytest.raises(Conflict, match="is aborted"):
            user.commit(upload, packed(1, [b"one"])[0])

    def test_what_is_committed_cannot_be_aborted(self, user: LakeUser) -> None:
        upload = user.prepare(FILES)
        user.commit(upload)
        with pytest.raises(Conflict, match="with rm"):
            user.abort(upload)
        assert user.read() == FILES

    @pytest.mark.parametrize("end", ["commit", "abort"])
    def test_an_ended_session_takes_nothing_more(self, user: LakeUser, end: str) -> None:
        upload = user.prepare({"/x": b"one"})
        getattr(user, end)(upload)
        sent, pack = packed(2, [b"two"])
        wanted = NewObject(2, len(pack), sent.sha256)
        acts: list[Callable[[], object]] = [
            lambda: user.stage(upload, {"/y": b"two"}),
            lambda: user.tell(upload, sent),
            lambda: user.targets(upload, wanted),
        ]
        for act in acts:
            with pytest.raises(Conflict, match=f"the upload session is {end}"):
                act()

    def test_anothers_session_is_not_there(self, user: LakeUser) -> None:
        her, stranger = user.beside("her"), user.beside("you")
        upload = user.prepare({"/x": b"one"})
        sent = SentObject(1, 3, hash_of(b"one"), [])
        acts: list[Callable[[], object]] = [
            lambda: her.get(upload),
            lambda: her.stage(upload, {"/y": b"two"}),
            lambda: her.targets(upload, NewObject(9, 1)),
            lambda: her.tell(upload, sent),
            lambda: her.commit(upload),
            lambda: her.abort(upload),
            lambda: her.begin(base=upload, only_changed=True),
            lambda: user.get("0" * 32),
        ]
        for act in acts:
            with pytest.raises(UploadNotFound):
                act()
        assert stranger.get(upload).id == upload

    def test_sessions_are_listed_by_state_the_newest_first(self, user: LakeUser) -> None:
        her = user.beside("her")
        her.begin({"/hers": b"1"})
        uploads = [user.prepare({f"/{number}": b"%d" % number}) for number in range(5)]
        user.commit(uploads[0])
        user.abort(uploads[1])
        assert {state: user.listed(state, 2) for state in UploadState} == {
            UploadState.PENDING: [uploads[4], uploads[3]],
            UploadState.COMMITTED: [uploads[0]],
            UploadState.ABORTED: [uploads[1]],
        }

    def test_who_begins_many_at_once_has_them_all(self, user: LakeUser) -> None:
        uploads = at_once(8, lambda number: user.prepare({"/x": b"%d" % number}))
        at_once(8, lambda number: user.abort(uploads[number]) if number % 2 else user.commit(uploads[number]))
        assert user.numbers("/x") == [1, 2, 3, 4]
        check_lake(user)


class SessionSuite(StagingSuite, SendingSuite, EndingSuite):
    """All about sessions."""


def _parts_id(user: LakeUser, upload: str) -> str:
    with user.database.reading() as work:
        expected = work.uploads.expected(work.uploads.get(user.member.project_id, upload).id)
    return str(expected[1].parts_id)
