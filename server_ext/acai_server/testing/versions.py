"""What the lake owes to versions: numbers without gaps whoever commits when, and none where nothing changed."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event

from acai_jupyter.contract.errors import BadRequest, Conflict, UploadNotFound
from acai_server.lake.commits import FEW
from acai_server.testing.databases import at_once
from acai_server.testing.lakes import check_lake, engine_of, hash_of, meanwhile
from acai_server.testing.uploads import LakeSuite

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.uploads import UploadResult
    from acai_server.testing.lakes import LakeUser

MANY = 3000
SHORT = 30
"""Statements, and rows: a set, an action, an event, a few chunks on the way to the root."""
FEW_FILES = {"/a": b"1", "/b/c": b"2", "/b/d": b"3"}


class NumberSuite(LakeSuite):
    """Numbers."""

    def test_versions_of_a_path_count_from_one(self, user: LakeUser) -> None:
        refs = [user.put({"/x": body}, file_set="s").file_set for body in (b"one", b"two", b"one")]
        assert refs == ["s:1", "s:2", "s:3"]
        assert [user.named(f"@s:{number}") for number in (1, 2, 3)] == [{"/x": 1}, {"/x": 2}, {"/x": 3}]

    def test_fifty_uploads_to_a_path_at_once_make_versions_one_to_fifty(self, user: LakeUser) -> None:
        results = at_once(50, lambda number: user.put({"/x": b"%d" % number}, file_set=f"s{number}"))
        assert user.numbers("/x") == list(range(1, 51))
        assert {result.new_files for result in results} == {1}
        assert sorted(user.named(f"@s{number}")["/x"] for number in range(50)) == list(range(1, 51))
        assert [user.read(f"@s{number}") for number in range(50)] == [{"/x": b"%d" % number} for number in range(50)]

    @pytest.mark.parametrize("order", list(permutations(range(3))))
    @pytest.mark.parametrize("ends", [("commit", "commit"), ("commit", "abort"), ("abort", "commit")])
    def test_sessions_over_the_same_paths_end_in_any_order(
        self, user: LakeUser, order: tuple[int, ...], ends: tuple[str, str]
    ) -> None:
        paths = ("/x", "/y")
        user.put({"/x": b"before"})
        uploads = [user.prepare(dict.fromkeys(paths, b"%d" % one), file_set=f"s{one}") for one in range(3)]
        committed = []
        for who, end in zip(order, (*ends, "leave"), strict=True):
            if end == "commit":
                user.commit(uploads[who])
                committed.append(who)
            elif end == "abort":
                user.abort(uploads[who])
        assert user.numbers("/x") == list(range(1, len(committed) + 2))
        assert [user.named(f"@s{who}") for who in committed] == [
            {"/x": place + 2, "/y": place + 1} for place in range(len(committed))
        ]
        user.put({"/y": b"after"})
        assert user.numbers("/y") == list(range(1, len(committed) + 2))
        check_lake(user)

    def test_who_commits_first_takes_the_number_that_another_holds(self, user: LakeUser) -> None:
        first = user.prepare({"/x": b"first", "/only": b"1"}, file_set="first")
        second = user.prepare({"/x": b"second"}, file_set="second")
        user.commit(second)
        third = user.prepare({"/x": b"third"}, file_set="third")
        user.commit(first)
        user.commit(third)
        assert [user.named(f"@{name}")["/x"] for name in ("second", "first", "third")] == [1, 2, 3]
        check_lake(user)

    def test_a_number_that_was_taken_away_during_the_commit_is_given_anew(self, user: LakeUser) -> None:
        upload = user.prepare({"/x": b"mine", "/y": b"mine too"}, file_set="s")
        with meanwhile(user.database, lambda: user.put({"/x": b"theirs"})):
            user.commit(upload)
        assert user.named("@s") == {"/x": 2, "/y": 1}
        check_lake(user)

    def test_a_number_that_is_free_again_is_used(self, user: LakeUser) -> None:
        first, second = (user.prepare({"/x": body}, file_set="s") for body in (b"first", b"second"))
        with meanwhile(user.database, lambda: user.abort(first)):
            user.commit(second)
        assert user.named("@s") == {"/x": 1}

    def test_a_file_staged_while_the_commit_goes_on_is_not_lost_in_it(self, user: LakeUser) -> None:
        upload = user.prepare({"/x": b"old"}, file_set="s")

        def restage() -> None:
            user.stage(upload, {"/x": b"new"})
            user.send(upload, [b"new"])

        with meanwhile(user.database, restage):
            _insist(lambda: user.commit(upload))
        assert user.read("@s") == user.read() == {"/x": b"new"}

    def test_many_sessions_of_overlapping_files_in_threads(self, user: LakeUser) -> None:
        step = MANY // 6
        wholes = [
            {f"/{(number * step + n) % (2 * MANY):05}": b"%d %d" % (number, n % 50) for n in range(MANY)}
            for number in range(4)
        ]
        at_once(4, lambda number: user.put(wholes[number], file_set=f"s{number}"))
        counts: dict[str, int] = {}
        for path in (path for files in wholes for path in files):
            counts[path] = counts.get(path, 0) + 1
        assert {entry.path: entry.version for entry in user.entries()} == counts
        for number, files in enumerate(wholes):
            found = {entry.path: entry.sha256 for entry in user.entries(f"@s{number}")}
            assert found == {path: hash_of(body) for path, body in files.items()}
        for path in list(counts)[:: MANY // 10]:
            assert user.numbers(path) == list(range(1, counts[path] + 1))

    def test_sessions_that_stage_the_same_paths_in_turned_orders_do_not_block_each_other(self, user: LakeUser) -> None:
        paths = [f"/{number:02}" for number in range(12)]

        def put(number: int) -> None:
            turned = paths[number:] + paths[:number]
            user.put({path: f"{path} {number}".encode() for path in turned[:: -1 if number % 2 else 1]})

        at_once(8, put)
        assert {path: len(user.numbers(path)) for path in paths} == dict.fromkeys(paths, 8)
        check_lake(user)


class UnchangedSuite(LakeSuite):
    """Versions only of what changed."""

    def test_what_is_the_same_keeps_its_version(self, user: LakeUser) -> None:
        assert user.put({"/x": b"one", "/y": b"two"}, file_set="s", only_changed=True).file_set == "s:1"
        again = user.put({"/x": b"one", "/y": b"two"}, file_set="s", only_changed=True)
        assert (again.new_files, again.unchanged_files, again.size_bytes, again.file_set) == (0, 2, 6, "s:1")
        changed = user.put({"/x": b"one", "/y": b"three"}, file_set="s", only_changed=True)
        assert (changed.new_files, changed.unchanged_files, changed.file_set) == (1, 1, "s:2")
        assert user.named("@s:2") == {"/x": 1, "/y": 2}

    def test_a_raw_session_always_makes_versions(self, user: LakeUser) -> None:
        refs = [user.put({"/x": b"same"}, file_set="s").file_set for _ in range(3)]
        assert (refs, user.numbers("/x")) == (["s:1", "s:2", "s:3"], [1, 2, 3])

    def test_a_file_that_goes_back_to_an_earlier_content_gets_a_version(self, user: LakeUser) -> None:
        for body in (b"a", b"b", b"a"):
            user.put({"/x": body}, only_changed=True)
        assert user.numbers("/x") == [1, 2, 3]

    def test_less_in_a_set_is_another_set(self, user: LakeUser) -> None:
        user.put(FEW_FILES, file_set="s", only_changed=True)
        result = user.put({"/a": b"1"}, file_set="s", only_changed=True)
        assert (result.file_set, result.new_files, user.named("@s")) == ("s:2", 0, {"/a": 1})
        assert user.put({"/a": b"1"}, file_set="s", only_changed=True).file_set == "s:2"
        assert user.put(FEW_FILES, file_set="s", only_changed=True).file_set == "s:3"

    def test_many_that_upload_the_same_make_one_version(self, user: LakeUser) -> None:
        files = {f"/{number}": b"same %d" % (number % 3) for number in range(9)}
        results = at_once(8, lambda _: user.put(files, file_set="s", only_changed=True))
        assert {result.file_set for result in results} == {"s:1"}
        assert sorted(result.new_files for result in results) == [0] * 7 + [9]
        check_lake(user)

    @pytest.mark.parametrize("theirs", [b"theirs", b"mine", b"before"])
    @pytest.mark.parametrize("mine", [b"mine", b"before"])
    @pytest.mark.parametrize("during_the_commit", [False, True])
    def test_what_others_commit_before_counts(
        self, user: LakeUser, mine: bytes, theirs: bytes, *, during_the_commit: bool
    ) -> None:
        user.put({"/x": b"before"})
        upload = user.prepare({"/x": mine, "/y": b"alone"}, file_set="s", only_changed=True)
        her = user.beside("her")
        if during_the_commit:
            with meanwhile(user.database, lambda: her.put({"/x": theirs})):
                result = user.commit(upload)
        else:
            her.put({"/x": theirs})
            result = user.commit(upload)
        same = mine == theirs
        assert (result.new_files, result.unchanged_files) == ((1, 1) if same else (2, 0))
        assert user.named("@s") == {"/x": 2 if same else 3, "/y": 1}
        assert user.read("@s") == user.read() == {"/x": mine, "/y": b"alone"}
        check_lake(user)

    def test_what_was_to_be_kept_of_anothers_and_is_made_must_have_been_sent(self, user: LakeUser) -> None:
        her = user.beside("her")
        her.put({"/x": b"kept"})
        upload = user.begin({"/x": b"kept"}, only_changed=True)
        assert upload.missing == [0]
        her.put({"/x": b"later"})
        with pytest.raises(Conflict, match="'/x' have not been sent"):
            user.commit(upload.id)

    @pytest.mark.parametrize("theirs", [[b"1", b"2"], [b"2", b"1"], [b"2", b"3"], [b"1", b"1"]])
    @pytest.mark.parametrize("before", [None, b"1", b"0"])
    def test_more_than_a_last_transaction_looks_at_counts_too(
        self, user: LakeUser, before: bytes | None, theirs: list[bytes]
    ) -> None:
        if before is not None:
            user.put({"/x": before})
        upload = user.prepare({"/w": b"w", "/x": b"1"}, file_set="s", only_changed=True)
        her = user.beside("her")
        for body in theirs:
            her.put({f"/many/{number}": b"" for number in range(FEW // 2 + 1)} | {"/x": body})
        result = user.commit(upload)
        count = len(theirs) + (before is not None)
        same = theirs[-1] == b"1"
        assert (result.new_files, result.unchanged_files) == ((1, 1) if same else (2, 0))
        assert user.named("@s") == {"/w": 1, "/x": count if same else count + 1}
        assert user.read("@s") == {"/w": b"w", "/x": b"1"}

    def test_two_commits_of_a_session_that_has_much_to_catch_up_with(self, user: LakeUser) -> None:
        upload = user.prepare({"/x": b"1"}, file_set="s", only_changed=True)
        user.put({f"/many/{number}": b"" for number in range(FEW + 1)})
        results: list[UploadResult] = []
        with meanwhile(user.database, lambda: results.append(user.commit(upload))):
            assert user.commit(upload) == results[0]
        assert (user.numbers("/x"), user.read("@s")) == ([1], {"/x": b"1"})

    @pytest.mark.parametrize("during_the_commit", [False, True])
    @pytest.mark.parametrize("first", [b"kept", b"another"])
    def test_what_was_to_be_kept_and_is_deleted_is_made_again(
        self, user: LakeUser, first: bytes, *, during_the_commit: bool
    ) -> None:
        user.put({"/x": first})
        user.put({"/x": b"kept"})
        upload = user.prepare({"/x": b"kept"}, file_set="s", only_changed=True)
        if during_the_commit:
            with meanwhile(user.database, lambda: user.remove("/x:2")):
                _insist(lambda: user.commit(upload))
        else:
            user.remove("/x:2")
            user.commit(upload)
        assert user.named("@s") == {"/x": 1 if first == b"kept" else 3}
        check_lake(user)

    @pytest.mark.parametrize("during_the_commit", [False, True])
    def test_what_was_to_be_kept_and_is_not_the_latest_any_more_is_made_again(
        self, user: LakeUser, *, during_the_commit: bool
    ) -> None:
        for body in (b"kept", b"undone"):
            user.put({"/x": body})
        user.remove("/x:2")
        upload = user.prepare({"/x": b"kept"}, file_set="s", only_changed=True)
        if during_the_commit:
            with meanwhile(user.database, lambda: user.remove("/x:2", undo=True)):
                _insist(lambda: user.commit(upload))
        else:
            user.remove("/x:2", undo=True)
            user.commit(upload)
        assert user.read() == user.read("@s") == {"/x": b"kept"}
        assert user.named("@s") == {"/x": 3}


class BaseSuite(LakeSuite):
    """Sessions that say only what differs from another."""

    def test_a_session_holds_what_its_base_holds(self, user: LakeUser) -> None:
        base = _base(user, FEW_FILES)
        result = _over(user, base, {"/b/c": b"changed", "/new": b"4"}, ["/a"])
        assert (result.new_files, result.unchanged_files, result.size_bytes, result.file_set) == (2, 1, 9, "s:2")
        assert user.named("@s") == {"/b/c": 2, "/b/d": 1, "/new": 1}
        assert user.read("@s:1") == FEW_FILES
        check_lake(user)

    def test_with_no_changes_it_is_the_same_set(self, user: LakeUser) -> None:
        result = _over(user, _base(user, FEW_FILES), {})
        assert (result.new_files, result.unchanged_files, result.size_bytes, result.file_set) == (0, 3, 3, "s:1")

    def test_a_chain_of_bases_goes_on(self, user: LakeUser) -> None:
        files = dict(FEW_FILES)
        last = _base(user, files)
        for number in range(5):
            files[f"/{number}"] = b"%d" % number
            files["/a"] = b"a%d" % number
            last = _over(user, last, {path: files[path] for path in (f"/{number}", "/a")}).id
        assert user.read("@s") == files
        assert user.named("@s")["/a"] == 6

    def test_what_is_removed_and_staged_again_is_there(self, user: LakeUser) -> None:
        base = _base(user, FEW_FILES)
        upload = user.begin(base=base, only_changed=True, file_set="s")
        user.stage(upload.id, {}, ["/a", "/b/c", "/never"])
        user.stage(upload.id, {"/a": b"1"})
        user.stage(upload.id, {"/b/d": b"3"}, ["/b/d"])
        result = user.commit(upload.id)
        assert (result.new_files, result.unchanged_files, user.read("@s")) == (0, 2, {"/a": b"1", "/b/d": b"3"})

    def test_what_is_staged_and_removed_afterwards_is_not_there(self, user: LakeUser) -> None:
        upload = user.begin({"/a": b"changed", "/b/c": b"2"}, base=_base(user, FEW_FILES), only_changed=True)
        user.send(upload.id, [b"changed"])
        user.stage(upload.id, {}, ["/a", "/b/c"])
        assert user.commit(upload.id).unchanged_files == 1
        assert user.named() == dict.fromkeys(FEW_FILES, 1)

    def test_a_session_from_which_all_is_removed_holds_no_files(self, user: LakeUser) -> None:
        with pytest.raises(BadRequest, match="holds no files"):
            _over(user, _base(user, FEW_FILES), {}, list(FEW_FILES))

    @pytest.mark.parametrize("count", [3, 500])
    @pytest.mark.parametrize("during_the_commit", [False, True])
    def test_it_is_what_a_full_upload_would_be(self, user: LakeUser, count: int, *, during_the_commit: bool) -> None:
        files = {f"/{number:05}": b"%d" % (number % 7) for number in range(count)}
        base = _base(user, files)
        changes = {f"/{number:05}": b"changed" for number in range(0, count + 3, 2)}
        removed = [f"/{number:05}" for number in range(1, count, 4)]
        others = {f"/{number:05}": b"theirs" for number in range(0, count, 3)} | {"/00001": b"1", "/else": b""}
        if during_the_commit:
            with meanwhile(user.database, lambda: user.beside("her").put(others)):
                result = _over(user, base, changes, removed)
        else:
            user.beside("her").put(others)
            result = _over(user, base, changes, removed)
        whole = {path: body for path, body in (files | changes).items() if path not in removed}
        full = user.put(whole, file_set="s", only_changed=True)
        assert (full.file_set, full.new_files) == (result.file_set, 0) == ("s:2", 0)
        assert (full.unchanged_files, full.size_bytes) == (result.new_files + result.unchanged_files, result.size_bytes)
        assert {entry.path: entry.sha256 for entry in user.entries("@s")} == {
            path: hash_of(body) for path, body in whole.items()
        }
        assert {path: body for path, body in user.read().items() if path in whole} == user.read("@s")

    @pytest.mark.parametrize("theirs", [b"theirs", b"1"])
    def test_what_others_made_of_the_bases_files_is_made_again_as_the_base_has_it(
        self, user: LakeUser, theirs: bytes
    ) -> None:
        base = _base(user, FEW_FILES)
        user.beside("her").put({"/a": theirs})
        result = _over(user, base, {"/new": b"4"})
        assert user.named("@s")["/a"] == (1 if theirs == b"1" else 3)
        assert user.read("@s") == user.read() == FEW_FILES | {"/new": b"4"}
        assert result.new_files == (1 if theirs == b"1" else 2)

    def test_more_of_others_than_a_last_transaction_looks_at_counts_too(self, user: LakeUser) -> None:
        files = {f"/{number:05}": b"" for number in range(FEW + 1)}
        base = _base(user, files)
        user.beside("her").put(dict.fromkeys(files, b"theirs"))
        result = _over(user, base, {"/new": b"4"})
        assert (result.new_files, result.unchanged_files) == (FEW + 2, 0)
        assert set(user.named("@s").values()) == {1, 3}

    @pytest.mark.parametrize("during_the_commit", [False, True])
    def test_what_was_deleted_of_a_base_is_made_again(self, user: LakeUser, *, during_the_commit: bool) -> None:
        user.put({"/a": b"1"})
        base = user.put(FEW_FILES | {"/a": b"2"}, only_changed=True).id
        if during_the_commit:
            with meanwhile(user.database, lambda: user.remove("/a:2")):
                _over(user, base, {"/new": b"4"})
        else:
            user.remove("/a:2")
            _over(user, base, {"/new": b"4"})
        assert user.named("@s") == {"/a": 3, "/b/c": 1, "/b/d": 1, "/new": 1}
        check_lake(user)

    def test_a_deleted_base_file_that_an_earlier_version_equals_is_that(self, user: LakeUser) -> None:
        user.put({"/a": b"1"})
        user.put({"/a": b"1"})
        base = user.put(FEW_FILES, only_changed=True).id
        user.remove("/a:2")
        _over(user, base, {"/new": b"4"})
        assert user.named("@s")["/a"] == 1
        check_lake(user)

    def test_what_came_back_over_a_base_is_made_again_as_the_base_has_it(self, user: LakeUser) -> None:
        user.put({"/a": b"1"})
        user.put({"/a": b"undone"})
        user.remove("/a:2")
        base = _base(user, FEW_FILES)
        user.remove("/a:2", undo=True)
        _over(user, base, {"/new": b"4"})
        assert user.read() == user.read("@s") == FEW_FILES | {"/new": b"4"}

    def test_a_base_is_a_committed_session_of_ones_own(self, user: LakeUser) -> None:
        her = user.beside("her")
        hers = her.put(FEW_FILES).id
        pending, aborted = user.prepare(FEW_FILES), user.prepare(FEW_FILES)
        user.abort(aborted)
        for base, kind in (
            (hers, UploadNotFound),
            ("0" * 32, UploadNotFound),
            (pending, Conflict),
            (aborted, Conflict),
        ):
            with pytest.raises(kind):
                user.begin(base=base, only_changed=True)
        with pytest.raises(BadRequest, match="only of what changed"):
            user.begin(base=user.put(FEW_FILES).id)


class ShortCommitSuite(LakeSuite):
    """The last transaction of a commit, in which nobody else can commit."""

    @pytest.mark.parametrize("how", [{}, {"only_changed": True}])
    def test_it_does_as_little_for_many_files_as_for_few(self, user: LakeUser, how: dict[str, Any]) -> None:
        user.put({f"/{number:05}": b"old" for number in range(MANY)})
        few, many = (
            self.work_of_commit(user, {f"/{number:05}": b"new %d" % (number % 5) for number in range(count)}, **how)
            for count in (10, MANY)
        )
        assert max(*few, *many) < SHORT

    def work_of_commit(self, user: LakeUser, files: dict[str, bytes], **how: Any) -> tuple[int, int]:
        """Count the statements and the changed rows of the last transaction that commits some files."""
        upload = user.prepare(files, file_set="s", **how)
        engine = engine_of(user.database)
        done: list[int] = []

        def begin(connection: object) -> None:
            del connection
            done.clear()

        def after(connection: object, cursor: Any, statement: str, *rest: object) -> None:
            del connection, rest
            done.append(
                0 if statement.lstrip()[:6].upper() in ("SELECT", "BEGIN ", "PRAGMA") else max(cursor.rowcount, 0)
            )

        event.listen(engine, "begin", begin)
        event.listen(engine, "after_cursor_execute", after)
        try:
            user.commit(upload)
        finally:
            event.remove(engine, "begin", begin)
            event.remove(engine, "after_cursor_execute", after)
        return len(done), sum(done)


class VersionSuite(NumberSuite, UnchangedSuite, BaseSuite, ShortCommitSuite):
    """All about versions."""


def _insist(commit: Callable[[], UploadResult]) -> UploadResult:
    """Commit, and once more when something came between: both are allowed."""
    try:
        return commit()
    except Conflict:
        return commit()


def _base(user: LakeUser, files: dict[str, bytes]) -> str:
    return user.put(files, file_set="s", only_changed=True).id


def _over(user: LakeUser, base: str, files: dict[str, bytes], removed: list[str] | None = None) -> UploadResult:
    upload = user.begin(base=base, only_changed=True, file_set="s")
    bodies = list(files.values())
    missing = user.stage(upload.id, files, removed or [])
    user.send(upload.id, [bodies[position] for position in missing])
    return user.commit(upload.id)
