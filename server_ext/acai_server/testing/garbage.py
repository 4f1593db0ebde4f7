"""What the lake owes to who collects garbage in it: all that is dead goes, at some time; nothing goes that lives."""

from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest

from acai_jupyter.contract.errors import Conflict, FileSetNotFound, NotFound, StoreUnavailable
from acai_jupyter.contract.filesets import Retention
from acai_jupyter.contract.garbage import CollectGarbage, CollectionState, GarbageKind
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.specs import SetRef
from acai_jupyter.contract.states import InputRole, JobState, UploadState
from acai_server.lake.checker import BlobChecker
from acai_server.lake.collecting import Terms
from acai_server.objects.keys import folder_prefix, job_folder, project_prefix, upload_folder
from acai_server.testing.collecting import (
    GRACE,
    URLS,
    Days,
    before_write,
    chunks_of,
    collect,
    collect_as_announced,
    collections_of,
    needed_chunks,
    numbers,
    of_store,
    remove_set,
    sizes,
)
from acai_server.testing.databases import at_once
from acai_server.testing.dying import Broken, Dying, Held
from acai_server.testing.lakes import EVERYTHING, LakeUser, check_lake, engine_of, key_of, meanwhile
from acai_server.testing.uploads import LakeSuite

KIB = 1024
LARGE = {f"/{number}": bytes([number]) * 64 * KIB for number in range(4)}
"""Four of them fill a pack of which something is worth moving."""
DAY = timedelta(days=1)
MANY = {f"/many/{number:04}": b"%d" % number for number in range(300)}
UNKNOWN_FOLDERS = (
    "objects/ff/" + "f" * 32,
    "objects/i0123456789abcdef/ff/" + "f" * 32,
    "objects/{prefix}/{upload}",
    "objects/i0123456789abcdef/{prefix}/{upload}",
    "jobs/{job}/1/launch",
    "jobs/i0123456789abcdef/{job}_00000000/1/launch",
    "jobs/i0123456789abcdef/999_00000000/1/log",
    "objects/of/no/layout/that/is/known",
)
"""Folders of other databases, of sessions and jobs that do not exist, and of version 0.1 with names of today."""


class GarbageSuite(LakeSuite):
    """Derive from this with fixtures `user` and `days`: the clock of the user's database."""

    moments_apart = 1
    """Of the writes to the database before each of which somebody acts; they are the same over every store."""

    @pytest.fixture
    def days(self) -> Days:
        raise NotImplementedError

    # -- contents

    def test_what_was_deleted_is_freed_when_it_cannot_be_brought_back(self, user: LakeUser, days: Days) -> None:
        user.put({"/x": b"dead"})
        user.put({"/y": b"living"})
        user.remove("/x")
        days.go_on(GRACE - DAY)
        assert collect_as_announced(user) == {}
        days.go_on(2 * DAY)
        found = of_store(collect_as_announced(user))
        assert numbers(found) == {GarbageKind.DELETED_FILES: (1, 4)}
        assert found[GarbageKind.DELETED_FILES].examples == ["/x:1"]
        assert (list(sizes(user).values()), user.read()) == ([6], {"/y": b"living"})
        assert collect(user) == {}
        check_lake(user)

    def test_what_was_freed_does_not_come_back_unless_it_is_put_again(self, user: LakeUser, days: Days) -> None:
        user.put({"/x": b"one"})
        user.put({"/x": b"two"})
        user.remove("/x")
        days.go_on()
        collect(user)
        with pytest.raises(Conflict, match=r"all versions of '/x' were freed"):
            user.remove("/x", undo=True)
        user.put({"/other": b"one"})
        assert user.remove("/x", undo=True) == [1]
        with pytest.raises(Conflict, match=r"the bytes of '/x:2' were freed"):
            user.remove("/x:2", undo=True)
        assert user.read("/x") == {"/x": b"one"}
        check_lake(user)

    def test_what_is_brought_back_before_a_collection_lives(self, user: LakeUser, days: Days) -> None:
        user.put({"/x": b"one"})
        user.remove("/x")
        days.go_on()
        user.remove("/x", undo=True)
        assert collect_as_announced(user) == {}
        assert user.read() == {"/x": b"one"}

    def test_a_content_lives_while_any_version_has_it(self, user: LakeUser, days: Days) -> None:
        user.put({"/x": b"one", "/y": b"one"})
        user.put({"/x": b"one again"})
        user.remove("/x:1")
        days.go_on()
        assert collect(user) == {}
        user.remove("/y")
        days.go_on()
        assert numbers(of_store(collect_as_announced(user))) == {GarbageKind.DELETED_FILES: (1, 3)}
        assert user.read() == {"/x": b"one again"}

    def test_what_no_version_ever_had_is_freed(self, user: LakeUser) -> None:
        upload = user.begin({"/x": b"meant"})
        user.send(upload.id, [b"meant"])
        user.send(upload.id, [b"not meant after all"])
        user.commit(upload.id)
        assert numbers(collect_as_announced(user)) == {GarbageKind.DELETED_FILES: (1, 19)}
        assert user.read() == {"/x": b"meant"}

    def test_nothing_of_other_projects_is_touched(self, user: LakeUser, days: Days) -> None:
        other = user.in_a_new_project()
        for one in (user, other):
            one.put({"/x": b"one"})
            one.remove("/x")
        days.go_on()
        assert of_store(collect(other)).keys() == {GarbageKind.DELETED_FILES}
        assert (len(sizes(user)), len(sizes(other))) == (1, 0)

    # -- who is at work meanwhile

    def test_a_session_that_leans_on_what_is_dead_finds_it_alive(self, user: LakeUser, days: Days) -> None:
        user.put({"/x": b"one"})
        user.remove("/x")
        days.go_on()
        upload = user.begin({"/y": b"one"}, file_set="s")
        assert upload.missing == []
        assert collect_as_announced(user) == {}
        user.commit(upload.id)
        assert user.read("@s") == {"/y": b"one"}
        check_lake(user)

    @pytest.mark.parametrize("act", ["stage", "commit", "undo", "base", "set", "list", "restage"])
    def test_what_comes_to_life_at_any_moment_of_a_collection_lives(self, user: LakeUser, days: Days, act: str) -> None:
        number, happened = 0, True
        while happened:
            one = user.in_a_new_project()
            done = Dying(one, days)
            with before_write(one.database, number, partial(done.act, act)) as came:
                collect(one, Terms(grace=GRACE, dead_bytes=1))
            happened = bool(came)
            done.check()
            number += self.moments_apart
        assert number > 4, "a collection is several transactions"

    def test_a_session_in_the_making_keeps_all_it_sent(self, user: LakeUser, days: Days) -> None:
        upload = user.prepare({"/x": b"one"})
        user.leave(upload, [b"was not told yet"])
        days.go_on(timedelta(days=60))
        assert collect_as_announced(user) == {}
        user.commit(upload)
        assert (user.read(), len(sizes(user))) == ({"/x": b"one"}, 2)

    def test_two_servers_may_collect_at_once(self, user: LakeUser, days: Days) -> None:
        for number in range(30):
            user.put({f"/{number}": b"%d" % number * 10})
        for number in range(0, 30, 2):
            user.remove(f"/{number}")
        days.go_on()
        found = at_once(2, lambda number: collect([user, user.elsewhere()][number]))
        freed = [one[GarbageKind.DELETED_FILES].count for one in found if GarbageKind.DELETED_FILES in one]
        assert sum(freed) == 15
        assert len(sizes(user)) == len(user.read()) == 15

    def test_the_checker_is_not_misled_by_what_is_freed_while_it_hashes(self, user: LakeUser, days: Days) -> None:
        checker = BlobChecker(user.database, user.objects, delay=timedelta(), rest=0)
        while checker.step():
            pass
        user.put({"/x": b"one"})
        (key,) = sizes(user)
        user.objects.put(ObjectKey(key), io.BytesIO(b"two"), size_bytes=3)  # has rotted
        user.remove("/x")
        days.go_on()
        with meanwhile(user.database, lambda: [collect(user), user.put({"/y": b"two"})]):
            while checker.step():
                pass
        assert user.read() == {"/y": b"two"}
        with user.database.reading() as work:
            events = work.events.after(user.member.project_id, 0, EVERYTHING).events
        assert not [one for one in events if one.kind == "blobs_quarantined"]

    def test_people_may_do_anything_while_garbage_is_collected_again_and_again(self, user: LakeUser) -> None:
        terms = Terms(grace=timedelta(), dead_bytes=1)
        over = threading.Event()

        def go_on_collecting() -> None:
            while not over.is_set():
                collect(user, terms)

        def live(number: int) -> None:
            me = user.beside(f"user{number}")
            for turn in range(8):
                path, body = f"/{number}", b"%d" % (turn % 3)  # others put the same contents
                me.put({path: body, "/shared": body, f"/more{number}": b"%d %d" % (number, turn)})
                assert me.read(path) == {path: body}
                me.remove(f"{path}:{turn + 1}")
                me.remove(f"/more{number}:{turn + 1}")
                me.put({f"/kept{number}": body}, file_set=f"s{number}")
                assert me.read(f"@s{number}") == {f"/kept{number}": body}

        with ThreadPoolExecutor(1) as pool:
            collecting = pool.submit(go_on_collecting)
            try:
                at_once(3, live)
            finally:
                over.set()
            collecting.result()
        collect(user, terms)
        check_lake(user)

    # -- packs

    def test_what_lives_in_a_pack_that_is_mostly_dead_is_moved(self, user: LakeUser, days: Days) -> None:
        user.put(LARGE)
        user.remove("/0")
        days.go_on()
        assert of_store(collect(user)) == {}, "most of it lives"
        for path in ("/1", "/2"):
            user.remove(path)
        days.go_on()
        url = user.fetch("/3").objects[0]
        assert numbers(collect_as_announced(user)) == {GarbageKind.PACKS: (1, 3 * 64 * KIB)}
        assert user.read() == {"/3": LARGE["/3"]}
        assert user.fetch("/3").objects[0] != url
        assert user.objects.get(key_of(url)), "who was told of it may be reading it"
        assert collect(user) == {}
        days.go_on(URLS)
        assert numbers(collect_as_announced(user)) == {GarbageKind.MOVED: (1, 4 * 64 * KIB)}
        assert list(sizes(user).values()) == [64 * KIB]
        assert user.beside("her").begin({"/hers": LARGE["/3"]}).missing == [], "it was hashed on its way"
        check_lake(user)

    def test_packs_are_moved_together_until_a_new_one_is_full(self, user: LakeUser, days: Days) -> None:
        for pack in range(5):
            user.put({f"/{pack}{path}": bytes([pack]) + body for path, body in LARGE.items()})
            for path in ("/0", "/1", "/2"):
                user.remove(f"/{pack}{path}")
        days.go_on()
        before = user.read()
        found = collect(user, Terms(grace=GRACE, pack_bytes=200 * KIB))
        assert found[GarbageKind.PACKS].count == 5
        days.go_on(URLS)
        collect(user)
        assert sorted(sizes(user).values()) == [2 * (64 * KIB + 1), 3 * (64 * KIB + 1)]
        assert user.read() == before

    def test_a_content_that_is_another_is_marked_and_its_pack_stays(self, user: LakeUser, days: Days) -> None:
        user.put(LARGE)
        for path in ("/0", "/1"):
            user.remove(path)
        user.remove("/2:1")
        days.go_on()
        (key,) = sizes(user)
        body = user.objects.get(ObjectKey(key))
        spoiled = body[: 3 * 64 * KIB] + b"?" + body[3 * 64 * KIB + 1 :]
        user.objects.put(ObjectKey(key), io.BytesIO(spoiled), size_bytes=len(spoiled))
        assert of_store(collect(user)) == {}
        assert list(sizes(user)) == [key]
        with user.database.reading() as work:
            assert work.blobs.any_wrong(user.member.project_id)
        assert collect_as_announced(user) == {}
        user.put({"/3": LARGE["/3"]})  # heals it
        user.believe()
        days.go_on(URLS)
        assert numbers(of_store(collect_as_announced(user))) == {GarbageKind.COPIES: (4, 4 * 64 * KIB)}
        days.go_on(URLS)
        collect(user)
        assert (user.read(), len(sizes(user))) == ({"/3": LARGE["/3"]}, 1)

    def test_a_move_that_is_cut_off_leaves_everything_as_it_was(self, user: LakeUser, days: Days) -> None:
        user.put(LARGE)
        for path in ("/0", "/1", "/2"):
            user.remove(path)
        days.go_on()
        for broken in (Broken(user, "put"), Broken(user, "stream")):
            failed = collections_of(broken.user).collect(user.member.project_id)
            assert (failed.state, failed.reason) == (CollectionState.FAILED, StoreUnavailable(reason="cut off").message)
            assert (user.read(), len(sizes(user))) == ({"/3": LARGE["/3"]}, 1)
            assert user.listed(UploadState.PENDING) == []
        assert of_store(collect(user)).keys() == {GarbageKind.PACKS}

    # -- copies

    def test_of_contents_that_are_kept_twice_one_stays(self, user: LakeUser, days: Days) -> None:
        her = user.beside("her")
        uploads = [one.prepare({f"/{one.member.user.name}": b"same"}) for one in (user, her)]
        user.commit(uploads[0])
        her.commit(uploads[1])
        assert len(sizes(user)) == 2
        assert collect_as_announced(user) == {}, "neither was hashed again"
        user.believe()
        url = her.fetch("/her").objects[0]
        assert numbers(collect_as_announced(user)) == {GarbageKind.COPIES: (1, 4)}
        assert user.read() == {"/you": b"same", "/her": b"same"}
        assert user.objects.get(key_of(url)) == b"same", "who was told of it may be reading it"
        days.go_on(URLS)
        assert numbers(collect_as_announced(user)) == {GarbageKind.MOVED: (1, 4)}
        assert (len(sizes(user)), user.read()) == (1, {"/you": b"same", "/her": b"same"})

    def test_a_wrong_content_goes_when_there_is_a_right_one(self, user: LakeUser, days: Days) -> None:
        user.put({"/x": b"one"})
        user.lose_faith()
        assert collect(user) == {}
        user.put({"/x": b"one"})
        user.believe()
        assert collect_as_announced(user).keys() == {GarbageKind.COPIES}
        days.go_on(URLS)
        collect(user)
        assert (user.read(), len(sizes(user))) == ({"/x": b"one"}, 1)
        with user.database.reading() as work:
            assert not work.blobs.any_wrong(user.member.project_id)

    # -- file sets and their lists

    def test_a_deleted_set_is_collected_with_its_list(self, user: LakeUser, days: Days) -> None:
        user.put(MANY, file_set="s")
        user.put(MANY | {"/many/0000": b"changed"}, file_set="s", only_changed=True)
        before = user.read("@s:1")
        remove_set(user, "s:2")
        days.go_on()
        found = collect_as_announced(user)
        assert (found[GarbageKind.DELETED_SETS].count, found[GarbageKind.DELETED_SETS].examples) == (1, ["s:2"])
        with pytest.raises(Conflict, match="too long ago"):
            remove_set(user, "s:2", undo=True)
        with pytest.raises(FileSetNotFound):
            user.named("@s:2")
        days.go_on(timedelta(days=31))  # nobody is based on those uploads any more
        found = collect_as_announced(user)
        assert set(chunks_of(user)) == needed_chunks(user)
        assert user.read("@s:1") == before
        remove_set(user, "s")
        days.go_on()
        found = collect_as_announced(user)
        assert found[GarbageKind.DELETED_SETS].size_bytes > 0
        assert chunks_of(user) == {}
        assert len(user.read()) == len(MANY), "files stay"
        check_lake(user)

    def test_a_deleted_set_keeps_its_files_while_it_can_come_back(self, user: LakeUser, days: Days) -> None:
        user.put({"/x": b"one"}, file_set="s")
        user.put({"/x": b"two"})
        remove_set(user, "s", files=True)
        days.go_on(GRACE - DAY)
        assert collect_as_announced(user) == {}
        remove_set(user, "s", undo=True)
        assert user.read("@s") == {"/x": b"one"}
        remove_set(user, "s", files=True)
        days.go_on()
        assert collect_as_announced(user).keys() >= {GarbageKind.DELETED_SETS, GarbageKind.DELETED_FILES}
        assert user.read() == {"/x": b"two"}

    def test_a_set_that_an_open_job_was_given_is_not_collected(self, user: LakeUser, days: Days) -> None:
        user.put({"/x": b"one"}, file_set="s")
        with user.database.writing() as work:
            version = work.file_sets.find(user.member.project_id, SetRef("s", 1))
            inputs = [(version.id, InputRole.DATA)]
            job = work.jobs.create(
                user.member.project_id, user.member.user_id, CreateJob(command=["true"]), inputs, work.clock.now()
            )
            work.file_sets.mark(version.file_set_id, [version.id], work.clock.now())
        user.remove("/x")
        days.go_on()
        assert collect_as_announced(user) == {}
        with user.database.writing() as work:
            assert work.jobs.advance(job.id, JobState.KILLED, "", work.clock.now())
        assert collect_as_announced(user).keys() >= {GarbageKind.DELETED_SETS, GarbageKind.DELETED_FILES}

    def test_pieces_of_lists_that_were_asked_for_lately_stay(self, user: LakeUser, days: Days) -> None:
        user.put(MANY, file_set="s")
        remove_set(user, "s")
        days.go_on(timedelta(days=31))
        upload = user.prepare(MANY, file_set="again")  # cuts the same pieces
        for _ in range(2):
            collect(user)
        user.commit(upload)
        assert len(user.read("@again")) == len(MANY)
        assert needed_chunks(user) <= chunks_of(user).keys()

    def test_what_the_rules_do_not_keep_is_deleted_and_freed_later(self, user: LakeUser, days: Days) -> None:
        for number in range(4):
            user.put({"/x": b"%d" % number}, file_set="s")
        user.lake.retention.set(user.member.project_id, user.member.user_id, Retention(keep_last=2, files=True))
        found = collect_as_announced(user)
        assert numbers(found) == {GarbageKind.OUTDATED_SETS: (2, 0), GarbageKind.OUTDATED_FILES: (2, 0)}
        assert found[GarbageKind.OUTDATED_SETS].examples == ["s:1", "s:2"]
        assert sorted(user.named("@s:3")) == ["/x"]
        days.go_on()
        assert collect_as_announced(user).keys() >= {GarbageKind.DELETED_SETS, GarbageKind.DELETED_FILES}
        assert len(sizes(user)) == 2
        check_lake(user)

    # -- bases of later uploads

    def test_a_base_of_which_something_was_freed_is_refused_so_that_names_are_sent(
        self, user: LakeUser, days: Days
    ) -> None:
        untouched = user.put({"/x": b"one", "/y": b"two"}, only_changed=True).id
        base = user.put({"/q": b"alone"}, only_changed=True).id
        user.remove("/q")
        days.go_on()
        collect(user, dry_run=True)
        upload = user.begin(base=base, only_changed=True)
        assert upload.base == base
        user.abort(upload.id)
        collect(user)
        with pytest.raises(Conflict, match="name no base"):
            user.begin(base=base, only_changed=True)
        assert user.put({"/q": b"alone"}, only_changed=True).new_files == 1
        assert user.put({}, base=untouched, only_changed=True, file_set="s").file_set == "s:1"
        assert user.read("@s") == {"/x": b"one", "/y": b"two"}
        check_lake(user)

    def test_nobody_is_based_on_what_is_old_or_has_another_over_it(self, user: LakeUser, days: Days) -> None:
        first = user.put({"/x": b"one"}, only_changed=True).id
        second = user.put({"/x": b"two"}, base=first, only_changed=True).id
        assert collect(user) == {}
        assert user.begin(base=first, only_changed=True).base == first, "whose client may not have heard of the second"
        user.abort(user.listed(UploadState.PENDING)[0])
        days.go_on(2 * DAY)
        collect_as_announced(user)
        with pytest.raises(Conflict, match="name no base"):
            user.begin(base=first, only_changed=True)
        days.go_on(timedelta(days=27))
        collect_as_announced(user)
        assert user.begin(base=second, only_changed=True).base == second
        user.abort(user.listed(UploadState.PENDING)[0])
        days.go_on(2 * DAY)
        assert collect_as_announced(user).keys() == {GarbageKind.LEFTOVERS}
        with pytest.raises(Conflict, match="name no base"):
            user.begin(base=second, only_changed=True)
        assert chunks_of(user) == {}

    def test_who_was_based_on_it_before_has_it_all(self, user: LakeUser, days: Days) -> None:
        base = user.put({"/q": b"alone"}, only_changed=True).id
        user.remove("/q")
        days.go_on()
        upload = user.begin(base=base, only_changed=True, file_set="s")
        assert collect_as_announced(user) == {}
        user.commit(upload.id)
        assert user.read("@s") == {"/q": b"alone"}

    # -- what is left in the store

    def test_what_was_never_told_of_is_dropped_when_nobody_can_tell_of_it(self, user: LakeUser, days: Days) -> None:
        upload = user.prepare({"/x": b"one"})
        user.leave(upload, [b"arrives late"])
        user.commit(upload)
        assert collect_as_announced(user) == {}
        days.go_on(URLS)
        found = collect_as_announced(user)
        assert numbers(found) == {GarbageKind.LEFTOVERS: (1, 12)}
        assert user.read() == {"/x": b"one"}

    @pytest.mark.parametrize("folder", UNKNOWN_FOLDERS)
    def test_an_object_that_no_record_owns_stays_and_is_counted(self, user: LakeUser, days: Days, folder: str) -> None:
        upload, job = user.put({"/x": b"one"}).id, killed_job(user)
        folder = folder.format(upload=upload, prefix=upload[:2], job=job)
        key = ObjectKey(f"{folder_prefix(user.member.project_id, folder)}1")
        user.objects.put(key, io.BytesIO(b"lost"), size_bytes=4)
        days.go_on(timedelta(days=1000))
        found = collect_as_announced(user)
        assert numbers(found)[GarbageKind.UNKNOWN] == (1, 4)
        assert found[GarbageKind.UNKNOWN].examples == [key]
        assert GarbageKind.LEFTOVERS not in of_store(found)
        assert user.objects.get(key) == b"lost"

    def test_an_object_under_a_key_of_version_0_1_is_released_by_the_session_or_job_that_owns_it(
        self, user: LakeUser, days: Days
    ) -> None:
        upload, number = user.put({"/x": b"one"}).id, killed_job(user)
        with engine_of(user.database).begin() as connection:
            for table in ("upload_session", "job"):
                connection.exec_driver_sql(f"UPDATE {table} SET object_folder = NULL")  # noqa: S608 (names of ours)
        project = user.member.project_id
        for key in (f"{upload_folder(upload)}/7", f"{job_folder(number)}/1/launch", f"{job_folder(number)}/1/log"):
            user.objects.put(ObjectKey(f"{project_prefix(project)}{key}"), io.BytesIO(b"1"), size_bytes=1)
        days.go_on(URLS)
        found = numbers(collect_as_announced(user))
        assert (found[GarbageKind.LEFTOVERS], GarbageKind.UNKNOWN in found) == ((2, 2), False)
        assert f"{project_prefix(project)}{job_folder(number)}/1/log" in sizes(user)

    def test_of_a_job_that_ended_its_log_stays(self, user: LakeUser, days: Days) -> None:
        ended, goes_on = killed_job(user), job_of(user)
        prefixes = {number: _prefix(user, number) for number in (ended, goes_on)}
        for prefix in prefixes.values():
            for slot in ("launch", "log", "pack", "result"):
                user.objects.put(ObjectKey(f"{prefix}1/{slot}"), io.BytesIO(b"1"), size_bytes=1)
        assert collect_as_announced(user) == {}
        days.go_on(URLS)
        assert numbers(collect_as_announced(user)) == {GarbageKind.LEFTOVERS: (3, 3)}
        assert len(sizes(user)) == 5
        assert f"{prefixes[ended]}1/log" in sizes(user)

    def test_what_a_crash_left_between_records_and_bytes_is_found_later(self, user: LakeUser, days: Days) -> None:
        user.put({"/x": b"one"})
        user.remove("/x")
        days.go_on()
        failed = collections_of(Broken(user, "delete_all").user).collect(user.member.project_id)
        assert failed.state is CollectionState.FAILED
        assert len(sizes(user)) == 1
        found = collect_as_announced(user)
        assert (len(found[GarbageKind.LEFTOVERS].examples), sizes(user)) == (1, {})

    # -- one after the other

    def test_who_asks_while_a_collection_runs_joins_it(self, user: LakeUser) -> None:
        held = Held(user)
        collections = collections_of(held.user)
        project, me = user.member.project_id, user.member.user_id
        first = collections.begin(project, me, CollectGarbage())
        assert held.reached.wait(20)
        assert collections.begin(project, me, CollectGarbage()).id == first.id
        dry = collections.begin(project, me, CollectGarbage(dry_run=True))
        assert dry.id != first.id
        assert collections.begin(project, me, CollectGarbage(dry_run=True)).id == dry.id
        assert collections.get(project, first.id).step == "looking through the store"
        assert collections.get(project, dry.id).step == "waiting for another collection to end"
        held.go_on.set()
        for _ in range(2):
            collections.stop()
        assert collections.get(project, first.id).state is CollectionState.FINISHED
        assert collections.get(project, dry.id).state is not CollectionState.RUNNING

    def test_there_is_no_collection_of_another_project_or_server(self, user: LakeUser) -> None:
        collections = collections_of(user)
        done = collections.collect(user.member.project_id)
        for project, key in ((user.in_a_new_project().member.project_id, done.id), (user.member.project_id, "0")):
            with pytest.raises(NotFound, match="begin another"):
                collections.get(project, key)


def job_of(user: LakeUser) -> int:
    """Return a new job that waits."""
    with user.database.writing() as work:
        me = user.member.user_id
        return work.jobs.create(user.member.project_id, me, CreateJob(command=["true"]), [], work.clock.now()).number


def killed_job(user: LakeUser) -> int:
    """Return a new job that was killed before it began."""
    number = job_of(user)
    with user.database.writing() as work:
        job = work.jobs.find(user.member.project_id, number)
        work.jobs.advance(job.id, JobState.KILLED, "", work.clock.now())
    return number


def _prefix(user: LakeUser, number: int) -> str:
    with user.database.reading() as work:
        return folder_prefix(
            user.member.project_id, work.sweeping.jobs(user.member.project_id, [number])[number].folder
        )
