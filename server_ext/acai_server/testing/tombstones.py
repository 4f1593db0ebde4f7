"""What the lake owes to who deletes file sets: their files, coming back, and many who do it at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event

from acai_jupyter.contract.errors import Conflict, FileSetNotFound
from acai_jupyter.contract.filesets import RemovedFileSets
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.specs import parse_set
from acai_server.engine.registry import Registry
from acai_server.lake.burying import load_in
from acai_server.lake.commits import FEW
from acai_server.lake.holding import own_entries
from acai_server.testing.databases import at_once
from acai_server.testing.keeping import (
    AnyMachine,
    alias,
    alive,
    collect,
    get,
    listed,
    make,
    me,
    registry,
    remove,
    searched,
    together,
    told,
    tried,
    undo,
    versions,
)
from acai_server.testing.lakes import check_lake, engine_of, meanwhile
from acai_server.testing.uploads import LakeSuite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_server.db.database import Database
    from acai_server.testing.lakes import LakeUser


class FilesOfSetsSuite(LakeSuite):
    """Files that only deleted sets hold."""

    def test_a_file_that_only_deleted_sets_hold_may_be_deleted_and_comes_back_with_its_set(
        self, user: LakeUser
    ) -> None:
        make(user, "s", a="1", b="b")
        make(user, "s", a="2", b="b")
        with pytest.raises(Conflict, match="in file set s:1"):
            user.remove("/a:1")
        remove(user, "s:1")
        assert user.remove("/a:1") == [1]
        with pytest.raises(Conflict, match="in file set s:2"):
            user.remove("/b:1")
        assert undo(user, "s:1") == RemovedFileSets(["s:1"], 1)
        assert user.read("@s:1") == {"/a": b"1", "/b": b"b"}
        assert user.read("/a:1") == {"/a": b"1"}
        check_lake(user)

    def test_files_that_no_other_set_holds_go_with_their_set_but_not_the_newest_of_a_path(self, user: LakeUser) -> None:
        make(user, "s", a="1", b="1", c="1", d="1", e="1")
        make(user, "t", b="1")
        user.put(dict.fromkeys(("/a", "/b", "/c", "/d"), b"2"))
        user.put({"/c": b"3"})
        user.remove("/c:3")
        user.remove("/d:2")
        assert remove(user, "s:1", files=True).file_versions == 2
        there = {path: [one.version for one in user.versions(path) if one.deleted_at is None] for path in user.named()}
        assert there == {"/a": [2], "/b": [1, 2], "/c": [2], "/d": [1], "/e": [1]}
        check_lake(user)
        assert undo(user, "s:1") == RemovedFileSets(["s:1"], 2)
        assert user.read("@s:1") == dict.fromkeys(("/a", "/b", "/c", "/d", "/e"), b"1")
        check_lake(user)

    def test_files_of_all_versions_go_with_the_name(self, user: LakeUser) -> None:
        for body in "123":
            make(user, "s", a=body, b="b")
        assert remove(user, "s", files=True).file_versions == 2
        assert user.named() == {"/a": 3, "/b": 1}
        assert undo(user, "s:2").file_versions == 1
        assert [one.deleted_at is None for one in user.versions("/a")] == [False, True, True]
        assert undo(user, "s").file_versions == 1
        check_lake(user)

    def test_the_files_of_a_set_that_is_deleted_already_can_go_afterwards(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        make(user, "s", a="2")
        remove(user, "s:1")
        done = remove(user, "s:1", files=True)
        assert (done.file_sets, done.file_versions) == ([], 1)
        assert done.undo_until is not None

    def test_many_files_go_and_come_back_a_page_at_a_time(self, user: LakeUser) -> None:
        paths = [f"/{number % 50}/{number:05}" for number in range(25_000)]
        user.put(dict.fromkeys(paths, b"1"), file_set="s")
        user.put(dict.fromkeys(paths[:24_000], b"2"), file_set="t")
        user.put(dict.fromkeys(paths[:100], b"1"), only_changed=True, file_set="u")
        assert remove(user, "s", files=True).file_versions == 24_000
        assert len(told(user, "files_removed")) > 1
        assert undo(user, "s") == RemovedFileSets(["s:1"], 24_000)
        check_lake_quickly(user, "s:1", dict.fromkeys(paths, b"1"))

    def test_what_versions_share_is_not_looked_at(self, user: LakeUser) -> None:
        files = {f"/{number:05}": b"1" for number in range(5000)}
        user.put(files, file_set="s")
        user.put(files | {"/00007": b"2"}, file_set="s", only_changed=True)
        with user.database.reading() as work:
            project = user.member.project_id
            roots = [work.file_sets.find(project, parse_set(ref)).root for ref in ("s:1", "s:2")]
            assert len(list(own_entries(roots[:1], roots[1:], load_in(work, project)))) < 500
            assert list(own_entries(roots[:1], roots[:1], load_in(work, project))) == []
        assert remove(user, "s:1", files=True).file_versions == 1
        assert user.numbers("/00007") == [1, 2]
        assert user.versions("/00007")[0].deleted_at is not None

    def test_a_pending_upload_that_counted_on_a_file_makes_its_own(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        upload = user.prepare({"/a": b"1", "/b": b"b"}, file_set="t", only_changed=True)
        user.put({"/a": b"2"})
        remove(user, "s", files=True)
        assert user.versions("/a")[0].deleted_at is not None
        user.commit(upload)
        assert user.read("@t") == {"/a": b"1", "/b": b"b"}
        assert user.named("@t") == {"/a": 3, "/b": 1}
        check_lake(user)

    def test_an_upload_that_many_deletions_overtake_finds_what_it_counted_on(self, user: LakeUser) -> None:
        files = {f"/{number:05}": b"1" for number in range(FEW + 500)}
        user.put(files, file_set="s")
        few = user.prepare({"/00001": b"1", "/new": b"2"}, file_set="t", only_changed=True)
        many = user.prepare(files, file_set="u", only_changed=True)
        user.put(dict.fromkeys(files, b"2"))
        remove(user, "s", files=True)
        for upload, path in ((few, "/new"), (many, "/00002")):
            user.commit(upload)
            assert user.numbers(path)
        assert user.read("/00001@t") == user.read("/00001@u") == {"/00001": b"1"}
        check_lake_quickly(user, "u:1", files)
        check_lake_quickly(user, "t:1", {"/00001": b"1", "/new": b"2"})

    def test_files_that_a_set_holds_which_is_made_meanwhile_stay(self, user: LakeUser) -> None:
        make(user, "s", a="1", b="1")
        upload = user.prepare({"/a": b"1"}, file_set="t", only_changed=True)

        def commit() -> None:
            user.commit(upload)
            user.put({"/a": b"2", "/b": b"2"})

        with at_statement(user.database, "FROM chunk", commit):
            assert remove(user, "s:1", files=True).file_versions == 1
        assert user.read("@t") == {"/a": b"1"}
        check_lake(user)

    def test_files_of_a_set_that_comes_back_meanwhile_stay(self, user: LakeUser) -> None:
        make(user, "s", a="1", b="1")
        make(user, "s", a="2", b="2")
        with at_statement(user.database, "FROM chunk", lambda: undo(user, "s:1")):
            assert remove(user, "s:1", files=True).file_versions == 0
        check_lake(user)


class UndoSuite(LakeSuite):
    """Coming back."""

    def test_undo_makes_the_newest_the_latest_again(self, user: LakeUser) -> None:
        for body in "123":
            make(user, "s", a=body)
        remove(user, "s")
        undo(user, "s:2")
        assert (get(user, "s").ref, alive(user, "s"), searched(user, "latest = true")) == ("s:2", [2], ["s:2"])
        undo(user, "s")
        assert (get(user, "s").ref, alive(user, "s")) == ("s:3", [3, 2, 1])
        assert searched(user, "latest = true") == ["s:3"]
        assert user.read("@s") == {"/a": b"3"}

    def test_what_comes_back_has_its_note_and_may_have_an_alias(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        user.lake.file_sets.set_note(user.member.project_id, "s", "kept")
        remove(user, "s")
        undo(user, "s:1")
        assert alias(user, "s", "x").note == "kept"

    def test_what_was_collected_does_not_come_back(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        make(user, "s", a="2")
        remove(user, "s")
        collect(user, "s:1")
        with pytest.raises(Conflict, match="'s:1' was deleted too long ago"):
            undo(user, "s:1")
        with pytest.raises(FileSetNotFound, match=r"'s:1'\. It was deleted too long ago to come back"):
            get(user, "s:1")
        assert undo(user, "s").file_sets == ["s:2"]
        remove(user, "s")
        collect(user, "s:2")
        with pytest.raises(Conflict, match="'s' was deleted too long ago"):
            undo(user, "s")
        with pytest.raises(FileSetNotFound, match="All its versions were deleted too long ago"):
            get(user, "s")
        assert remove(user, "s", files=True) == RemovedFileSets([], 0)
        assert make(user, "s", a="3") == "s:3"

    def test_a_file_that_was_deleted_while_its_set_comes_back_comes_too(self, user: LakeUser) -> None:
        make(user, "s", a="1", b="1")
        make(user, "s", a="2", b="2")
        remove(user, "s:1")
        user.remove("/a:1")
        with meanwhile(user.database, lambda: user.remove("/b:1")):
            assert undo(user, "s:1").file_versions == 2
        check_lake(user)


class KeepingRaces(LakeSuite):
    """Many at once."""

    def test_versions_are_made_and_deleted_at_once_without_gaps(self, user: LakeUser) -> None:
        make(user, "s", a="0")

        def act(number: int) -> object:
            if number % 2:
                return make(user.elsewhere(), "s", a=str(number))
            return remove(user.elsewhere(), "s:latest", files=bool(number % 4))

        outcomes = at_once(12, lambda number: tried(lambda: act(number)))
        made = [one for one in outcomes if isinstance(one, str)]
        every = versions(user, "s")
        assert sorted(made) == sorted(f"s:{number}" for number in range(2, 8))
        assert [one.version for one in every] == list(range(7, 0, -1))
        newest = next((one.ref for one in every if one.deleted_at is None), None)
        assert [one.ref for one in listed(user)] == ([] if newest is None else [newest])
        check_lake(user)

    def test_an_alias_and_a_deletion_at_once_leave_no_alias_on_what_is_deleted(self, user: LakeUser) -> None:
        for number in range(6):
            make(user, "s", a=str(number))
        for ref in (f"s:{number}" for number in range(1, 7)):
            together(partial(alias, user.elsewhere(), ref, "x"), partial(remove, user.elsewhere(), ref))
            [one] = [one for one in versions(user, "s") if one.ref == ref]
            assert (one.deleted_at is None) is (one.aliases == ["x"])

    def test_of_two_that_delete_the_same_one_does(self, user: LakeUser) -> None:
        for number in range(5):
            make(user, "s", a=str(number), b=str(number))
        done = at_once(4, lambda _: remove(user.elsewhere(), "s", files=True))
        assert sorted(len(one.file_sets) for one in done) == [0, 0, 0, 5]
        assert sum(one.file_versions for one in done) == 8
        back = at_once(4, lambda _: undo(user.elsewhere(), "s"))
        assert sorted(len(one.file_sets) for one in back) == [0, 0, 0, 5]
        check_lake(user)

    def test_deleting_with_files_and_bringing_back_at_once_end_with_all_or_nothing(self, user: LakeUser) -> None:
        for round_ in range(4):
            make(user, "s", a=f"x{round_}", b=f"y{round_}")
            make(user, "t", a=f"z{round_}")
            ref = f"s:{round_ + 1}"
            remove(user, ref)
            together(
                partial(remove, user.elsewhere(), ref, files=True),
                partial(undo, user.elsewhere(), ref),
                partial(user.elsewhere().remove, "/a:1"),
            )
            check_lake(user)

    def test_a_job_and_the_deletion_of_its_input_at_once_leave_no_job_without_its_input(self, user: LakeUser) -> None:
        jobs = registry(user)
        for number in range(1, 6):
            ref = make(user, "s", a=str(number))
            request = CreateJob(["true"], inputs=[ref])
            submitted, _ = together(partial(jobs.submit, *me(user), request), partial(remove, user.elsewhere(), ref))
            assert isinstance(submitted, FileSetNotFound) is (number not in alive(user, "s"))

    def test_a_set_that_is_deleted_while_a_job_reads_it_is_refused_after_all(self, user: LakeUser) -> None:
        """On PostgreSQL a deletion can end between what the registry reads and what it writes."""
        make(user, "s", a="1")
        with ThreadPoolExecutor(1) as pool:

            class Deleting:
                def read(self, *_: object) -> Iterator[object]:
                    if user.database.name == "postgresql":
                        pool.submit(remove, user.elsewhere(), "s:1").result(timeout=30)
                    return iter(())

            slow = Registry(user.database, Deleting(), AnyMachine())  # type: ignore[arg-type]  # all that is asked
            outcome = tried(lambda: slow.submit(*me(user), CreateJob(["true"], inputs=["s"])))
        assert isinstance(outcome, FileSetNotFound) is (user.database.name == "postgresql")
        with user.database.reading() as work:
            assert len(work.shown_jobs.page(user.member.project_id, None, 10)) == len(alive(user, "s"))


class TombstoneSuite(FilesOfSetsSuite, UndoSuite, KeepingRaces):
    """All about files that go and come back."""


@contextmanager
def at_statement(database: Database, words: str, act: Callable[[], object]) -> Iterator[None]:
    """Let something happen just before the next statement with these words."""
    engine = engine_of(database)
    waiting = True

    def execute(*given: object) -> None:
        nonlocal waiting
        if waiting and words in str(given[2]):
            waiting = False
            act()

    event.listen(engine, "before_cursor_execute", execute)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", execute)
    assert not waiting, f"nothing was asked {words}"


def check_lake_quickly(user: LakeUser, ref: str, files: dict[str, bytes]) -> None:
    """Assert that a large set holds what it should, and that none of its files is deleted."""
    entries = user.named(f"@{ref}")
    assert entries.keys() == files.keys()
    with user.database.reading() as work:
        alive_there = work.burials.alive(user.member.project_id, entries)
    assert all(entries[path] in [one.number for one in alive_there[path]] for path in entries)
