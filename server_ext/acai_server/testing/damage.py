"""What the lake owes to its users when the store loses or changes bytes: damage is found, named and healed."""

from __future__ import annotations

import errno
import io
import os
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.checkups import Finding
from acai_jupyter.contract.errors import BlobQuarantined, BytesMissing, Conflict, StoreUnavailable
from acai_jupyter.contract.files import DamageReport, ReportedFile
from acai_server.lake.integrity.damage import Damages
from acai_server.lake.integrity.presence import LISTED_FROM
from acai_server.lake.integrity.range_reader import damaged_blobs
from acai_server.lake.integrity.repair import Repair
from acai_server.objects.durable import translated
from acai_server.objects.keys import project_prefix
from acai_server.testing.lakes import check_lake, claim_store, hash_of, meanwhile
from acai_server.testing.uploads import LakeSuite

if TYPE_CHECKING:
    from acai_jupyter.contract.files import DamageVerdict
    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.db.blobs import StoredObject
    from acai_server.objects.protocol import ObjectStore
    from acai_server.testing.lakes import LakeUser

FILES = {"/a": b"alpha" * 100, "/b": b"beta" * 100, "/c": b"gamma" * 100}


class DamageSuite(LakeSuite):
    """Derive from this with a fixture `user`."""

    @pytest.fixture(autouse=True)
    def _claimed(self, user: LakeUser) -> None:
        claim_store(user)

    # -- when the store is away

    @pytest.mark.parametrize(
        ("fault", "reason"), [(errno.ENOENT, "it lacks the mark of this database"), (errno.EIO, "Input/output error")]
    )
    def test_a_store_that_is_away_has_lost_nothing(self, user: LakeUser, fault: int, reason: str) -> None:
        base = user.put(FILES, only_changed=True).id
        away = Away(user.objects, fault)
        me = user.over(away)
        with user.database.reading() as work:
            (one,) = work.damage.every(user.member.project_id)
        for act in (
            partial(me.begin, FILES),
            partial(me.begin, {}, base=base, only_changed=True),
            partial(report, me, "/a:1"),
            partial(
                me.lake.damages.look_into,
                user.member.project_id,
                {bytes.fromhex(hash_of(body)) for body in FILES.values()},
            ),
            partial(me.lake.damages.not_found, one.key),
            partial(damaged_blobs, user.database, away, stored_object(user, one.id)),
            partial(Repair(user.database, away, user.member.project_id).examine, reads_all=True),
        ):
            with pytest.raises(StoreUnavailable, match=reason):
                act()
        assert user.read() == FILES
        assert check(user) is Finding.OK

    def test_an_object_that_the_disk_alone_cannot_read_is_damaged(self, user: LakeUser) -> None:
        user.put(FILES)
        with user.database.reading() as work:
            (one,) = work.damage.every(user.member.project_id)
        stored = stored_object(user, one.id)
        found = damaged_blobs(user.database, Away(user.objects, errno.EIO, keys="p"), stored)
        assert found == [blob for blob, *_ in stored.blobs]

    # -- what readers report

    def test_a_report_marks_exactly_the_contents_beyond_the_end_of_a_truncated_pack(self, user: LakeUser) -> None:
        user.put(FILES)
        truncate(user, 600)
        assert report(user, "/a:1", "/b:1", "/c:1").damaged == ["/b:1", "/c:1"]
        assert user.read("/a") == {"/a": FILES["/a"]}
        with pytest.raises(BlobQuarantined, match=r"'/b:1', uploaded by you, are damaged\. Put a good copy"):
            user.fetch("/b")

    def test_a_report_marks_everything_in_a_deleted_object(self, user: LakeUser) -> None:
        user.put(FILES)
        delete(user)
        assert report(user, "/a:1").damaged == ["/a:1"]
        for path in FILES:
            with pytest.raises(BlobQuarantined):
                user.fetch(path)

    def test_a_report_marks_only_the_content_whose_hash_fails(self, user: LakeUser) -> None:
        user.put(FILES)
        flip(user, len(FILES["/a"]) + 3)
        assert report(user, "/a:1", "/b:1", "/c:1").damaged == ["/b:1"]
        assert user.read("/a") | user.read("/c") == {"/a": FILES["/a"], "/c": FILES["/c"]}

    def test_a_healthy_file_is_not_marked_whatever_is_reported(self, user: LakeUser) -> None:
        user.put(FILES)
        assert report(user, "/a:1", "/a:7", "/nothing:1").damaged == []
        assert user.read() == FILES

    def test_reports_make_the_server_read_a_bounded_number_of_bytes(self, user: LakeUser) -> None:
        user.put(FILES)
        flip(user, 3)
        counting = Counting(user.objects)
        damages = Damages(user.database, counting, read_bytes=450, ticks=lambda: 0.0)
        verdict = report(user, "/c:1", damages=damages)
        assert (verdict.damaged, verdict.is_pending, counting.reads) == ([], True, 0), "500 bytes exceed the allowance"
        assert report(user, "/b:1", damages=damages).damaged == []
        assert report(user, "/b:1", damages=damages).damaged == []
        assert counting.reads == 1, "what was just found sound is not read again"
        with user.database.reading() as work:
            (one,) = work.damage.every(user.member.project_id)
            assert one.id in work.damage.doubtful(work.clock.now(), work.clock.now(), 1000), "the scrubber takes over"

    def test_a_content_whose_bytes_are_right_again_is_handed_out_again(self, user: LakeUser) -> None:
        user.put(FILES)
        flip(user, 3)
        assert report(user, "/a:1").damaged == ["/a:1"]
        flip(user, 3)
        assert user.read("/a") == {"/a": FILES["/a"]}
        assert check(user) is Finding.OK

    def test_a_damaged_content_is_read_again_once_a_minute_and_within_the_allowance(self, user: LakeUser) -> None:
        user.put(FILES)
        flip(user, 3)
        report(user, "/a:1")
        moment = [0.0]
        counting = Counting(user.objects)
        damages = Damages(user.database, counting, ticks=lambda: moment[0])
        wanted = user.member.project_id, [bytes.fromhex(hash_of(FILES["/a"]))]
        assert not damages.look_again(*wanted)
        moment[0] = 59.0
        assert not damages.look_again(*wanted)
        assert counting.reads == 1
        flip(user, 3)
        poor = Damages(user.database, user.objects, read_bytes=499)
        assert not poor.look_again(*wanted), "500 bytes exceed the allowance"
        moment[0] = 61.0
        assert damages.look_again(*wanted)

    def test_damaged_contents_are_read_again_up_to_the_first_one_for_which_a_reader_is_refused(
        self, user: LakeUser
    ) -> None:
        user.put(FILES)
        delete(user)
        report(user, "/a:1", "/b:1", "/c:1")
        counting = Counting(user.objects)
        hashes = [bytes.fromhex(hash_of(body)) for body in FILES.values()]
        assert not Damages(user.database, counting).look_again(user.member.project_id, hashes)
        assert counting.reads == 1

    def test_damaged_contents_are_read_again_for_a_short_time_only(self, user: LakeUser) -> None:
        user.put(FILES)
        flip(user, 3)
        flip(user, len(FILES["/a"]) + 3)
        report(user, "/a:1", "/b:1")
        flip(user, 3)
        flip(user, len(FILES["/a"]) + 3)
        hashes = [bytes.fromhex(hash_of(FILES[path])) for path in ("/a", "/b")]
        slow = count(step=3)
        damages = Damages(user.database, user.objects, ticks=lambda: float(next(slow)))
        assert damages.look_again(user.member.project_id, hashes)
        with user.database.reading() as work:
            assert work.damage.hashes(user.member.project_id) == {hashes[1]}

    def test_damage_in_another_project_is_not_reported_from_here(self, user: LakeUser) -> None:
        user.put(FILES)
        delete(user)
        stranger = user.in_a_new_project()
        assert report(stranger, "/a:1").damaged == []
        assert user.fetch("/a").files, "no reader of its own project has reported it"

    # -- what uploads rely on

    @pytest.mark.parametrize("only_changed", [False, True])
    def test_put_sends_and_heals_what_the_store_has_lost(self, user: LakeUser, *, only_changed: bool) -> None:
        user.put(FILES, file_set="s")
        delete(user)
        upload = user.begin(FILES, only_changed=only_changed)
        assert upload.missing == [0, 1, 2]
        user.send(upload.id, list(FILES.values()))
        user.commit(upload.id)
        assert user.read("@s:1") == user.read() == FILES
        assert user.named() == dict.fromkeys(FILES, 1 if only_changed else 2)

    def test_put_sends_only_what_lies_beyond_the_end_of_a_truncated_pack(self, user: LakeUser) -> None:
        user.put(FILES)
        truncate(user, 600)
        assert user.begin(FILES, only_changed=True).missing == [1, 2]
        assert user.put(FILES, only_changed=True).unchanged_files == 3
        assert user.read() == FILES

    def test_put_over_a_base_that_the_store_has_lost_is_refused(self, user: LakeUser) -> None:
        base = user.put(FILES, only_changed=True).id
        assert user.begin({}, base=base, only_changed=True).missing == []
        delete(user)
        with pytest.raises(Conflict, match="damaged and have to be put again; name no base"):
            user.elsewhere().begin({}, base=base, only_changed=True)
        assert user.put(FILES, only_changed=True).unchanged_files == 3
        assert user.read() == FILES
        assert user.begin({}, base=base, only_changed=True).missing == []

    @pytest.mark.parametrize("server", ["the same", "another"])
    def test_a_commit_does_not_rely_on_what_was_lost_after_staging(self, user: LakeUser, server: str) -> None:
        seconds = count()
        damages = Damages(user.database, user.objects, ticks=lambda: 60.0 * next(seconds))
        me = user.over(user.objects, damages=damages)
        me.put({"/a": FILES["/a"]})
        upload = me.begin({"/copy": FILES["/a"], "/new": b"new"})
        assert upload.missing == [1]
        me.send(upload.id, [b"new"])
        delete(me, first_only=True)
        with pytest.raises(BytesMissing, match="'/copy'"):
            (me if server == "the same" else me.elsewhere()).commit(upload.id)
        assert me.stage(upload.id, {"/copy": FILES["/a"]}) == [0], "now it can be sent"
        me.send(upload.id, [FILES["/a"]])
        me.commit(upload.id)
        assert me.read() == {"/a": FILES["/a"], "/copy": FILES["/a"], "/new": b"new"}
        check_lake(me)

    def test_a_commit_refuses_an_unchanged_file_whose_content_is_damaged_and_was_not_sent(self, user: LakeUser) -> None:
        user.put(FILES)
        upload = user.begin(FILES | {"/new": b"new"}, only_changed=True)
        user.send(upload.id, [b"new"])
        delete(user, first_only=True)
        report(user, "/a:1")
        with pytest.raises(BytesMissing, match=r"'/[abc]' have not been sent, or the store has lost them"):
            user.commit(upload.id)
        user.send(upload.id, list(FILES.values()))
        assert user.commit(upload.id).unchanged_files == 3
        assert user.read() == FILES | {"/new": b"new"}

    def test_of_two_copies_one_may_be_lost(self, user: LakeUser) -> None:
        her = user.beside("her")
        uploads = [one.prepare({f"/{one.member.user.name}": b"same"}) for one in (user, her)]
        user.commit(uploads[0])
        her.commit(uploads[1])
        user.believe()
        delete(user, first_only=True)
        assert user.begin({"/third": b"same"}).missing == []
        report(user, "/you:1")
        assert user.read() == {"/you": b"same", "/her": b"same"}
        assert check(user) is Finding.OK

    def test_a_commit_of_many_files_asks_once_for_each_object(self, user: LakeUser) -> None:
        many = {f"/{number:04}": b"%d" % number for number in range(600)}
        user.put(many)
        counting = Counting(user.objects)
        me = user.over(counting)
        pages = [dict(list(many.items())[start : start + 200]) for start in (0, 200, 400)]
        upload = me.begin(pages[0])
        for page in pages[1:]:
            assert me.stage(upload.id, page) == []
        me.commit(upload.id)
        assert counting.sizes <= 4, "one object, asked about once for each second of the upload"

    def test_an_upload_over_a_base_of_many_objects_reads_the_list_of_a_bucket(self, user: LakeUser) -> None:
        many = {f"/{number:02}": b"%d" % number for number in range(LISTED_FROM)}
        upload = user.begin(many, only_changed=True)
        for body in many.values():
            user.send(upload.id, [body])
        base = user.commit(upload.id).id
        counting = Counting(user.objects)
        user.over(counting).begin({}, base=base, only_changed=True)
        assert (counting.lists, counting.sizes) == ((1, 0) if user.objects.name == "s3" else (0, LISTED_FROM))
        keys = objects_of(user)
        user.objects.delete(keys[3])
        replace(user, keys[7], b"")
        counting = Counting(user.objects)
        with pytest.raises(Conflict, match="damaged and have to be put again; name no base"):
            user.over(counting).begin({}, base=base, only_changed=True)
        assert counting.sizes == 2 or user.objects.name != "s3", "what the list does not show is asked for"
        with user.database.reading() as work:
            damaged = work.damage.hashes(user.member.project_id)
        assert damaged == {bytes.fromhex(hash_of(many[path])) for path in ("/03", "/07")}
        user.put({"/other": b"other"})
        counting = Counting(user.objects)
        with pytest.raises(Conflict):
            user.over(counting).begin({}, base=base, only_changed=True)
        assert (counting.lists, counting.sizes) == (0, LISTED_FROM - 1), "what is known to be lost is left out"

    def test_loss_during_the_last_transaction_of_staging_is_found_by_the_commit(self, user: LakeUser) -> None:
        user.put({"/a": FILES["/a"]})
        with meanwhile(user.database, lambda: delete(user)):
            upload = user.begin({"/copy": FILES["/a"]})
        assert upload.missing == [0]

    # -- what is known

    def test_a_checkup_names_damaged_files_and_a_healed_one_no_more(self, user: LakeUser) -> None:
        user.put(FILES)
        assert check(user) is Finding.OK
        flip(user, 3)
        report(user, "/a:1")
        said = user.lake.damages.check(user.member.project_id, sees_all_projects=False)
        assert said.finding is Finding.FAILED
        assert said.said.startswith("1 damaged file: /a:1. Put the same files again")
        user.put({"/elsewhere": FILES["/a"]})
        assert check(user) is Finding.OK
        assert user.read("/a") == {"/a": FILES["/a"]}


class Counting:
    """A store that counts what is asked of it."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self.sizes = self.lists = self.reads = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)

    def size(self, key: ObjectKey) -> int:
        """See the protocol."""
        self.sizes += 1
        return self._objects.size(key)

    def listed(self, prefix: str, after: str = "") -> Any:
        """See the protocol."""
        self.lists += 1
        return self._objects.listed(prefix, after)

    def stream(self, *arguments: Any, **more: Any) -> Any:
        """See the protocol."""
        self.reads += 1
        return self._objects.stream(*arguments, **more)


class Away:
    """A store whose disk is not mounted or detached, or that cannot read the keys with a prefix."""

    def __init__(self, objects: ObjectStore, fault: int = errno.ENOENT, *, keys: str = "") -> None:
        self._objects = objects
        self._fault = fault
        self._keys = keys

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)

    def get(self, key: ObjectKey, *place: Any) -> bytes:
        """See the protocol."""
        self._refuse(key)
        return self._objects.get(key, *place)

    def stream(self, key: ObjectKey, *place: Any) -> Any:
        """See the protocol."""
        self._refuse(key)
        return self._objects.stream(key, *place)

    def size(self, key: ObjectKey) -> int:
        """See the protocol."""
        self._refuse(key)
        return self._objects.size(key)

    def _refuse(self, key: ObjectKey) -> None:
        if key.startswith(self._keys):
            with translated(key):
                raise OSError(self._fault, os.strerror(self._fault))


def stored_object(user: LakeUser, number: int) -> StoredObject:
    """Return what is recorded of an object."""
    with user.database.reading() as work:
        found = work.blobs.object(number)
    assert found is not None
    return found


def report(user: LakeUser, *names: str, damages: Damages | None = None) -> DamageVerdict:
    """Report files as a reader that could not read them."""
    files = [ReportedFile(path, int(version)) for path, _, version in (name.rpartition(":") for name in names)]
    return (damages or user.lake.damages).report(user.member.project_id, DamageReport(files))


def check(user: LakeUser) -> Finding:
    """Say how the contents of a project are."""
    return user.lake.damages.check(user.member.project_id, sees_all_projects=False).finding


def objects_of(user: LakeUser) -> list[ObjectKey]:
    """Return the keys of the project's objects, the oldest first."""
    with user.database.reading() as work:
        found = sorted(work.damage.every(user.member.project_id))
    there = set(user.objects.keys(project_prefix(user.member.project_id)))
    return [one.key for one in found if one.key in there]


def delete(user: LakeUser, *, first_only: bool = False) -> None:
    """Delete the project's objects from the store."""
    for key in objects_of(user)[: 1 if first_only else None]:
        user.objects.delete(key)


def truncate(user: LakeUser, size_bytes: int) -> None:
    """Cut the project's only object."""
    (key,) = objects_of(user)
    replace(user, key, user.objects.get(key)[:size_bytes])


def flip(user: LakeUser, position: int) -> None:
    """Change a byte of the project's only object."""
    (key,) = objects_of(user)
    body = bytearray(user.objects.get(key))
    body[position] ^= 1
    replace(user, key, bytes(body))


def replace(user: LakeUser, key: ObjectKey, body: bytes) -> None:
    """Put other bytes in the place of an object."""
    user.objects.put(key, io.BytesIO(body), size_bytes=len(body))
