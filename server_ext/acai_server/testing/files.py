"""What the lake owes to readers: every way to name files, folders in pages, bytes, and what may be deleted."""

from __future__ import annotations

import io
from contextlib import contextmanager
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from acai_jupyter.contract.errors import (
    BadRequest,
    BadSpec,
    BlobQuarantined,
    Conflict,
    FileNotFound,
    FileSetNotFound,
)
from acai_jupyter.contract.files import Removed, RemovedFiles
from acai_jupyter.contract.specs import encode_path
from acai_jupyter.contract.uploads import NewObject
from acai_server.testing.keeping import told
from acai_server.testing.lakes import LakeUser, check_lake, engine_of, hash_of, packed
from acai_server.testing.uploads import LakeSuite

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.uploads import UploadResult
    from acai_server.db.database import Database

TREE = {
    "/README": b"r",
    "/README.md": b"m",
    "/data/train/a.csv": b"a",
    "/data/train/b.csv": b"b",
    "/data/val.csv": b"v",
    "/data!/x": b"!",
    "/data0": b"0",
    "/odd/50%@12:30": b"odd",
    "/é/ü": b"uml",
}


NAMES = st.text(st.sampled_from("ab-.!0~%@: é\ufffd\U0001f600"), min_size=1, max_size=2)
PATHS = st.lists(NAMES.filter(lambda name: name not in (".", "..")), min_size=1, max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)


def children_of(paths: list[str], folder: str) -> list[str]:
    """Return the names in a folder, folders with a '/' behind them: what listings must say."""
    names = (path[len(folder) :].partition("/") for path in paths if path.startswith(folder))
    return sorted({name + slash for name, slash, _ in names})


def check_listings(user: LakeUser, paths: set[str], deleted: set[str], pending: set[str]) -> None:
    """Upload, delete and leave pending some files, and list every folder of the project and of a set."""
    there = sorted(paths - deleted)
    user.put(dict.fromkeys(paths, b"1"))
    if there:
        user.put(dict.fromkeys(there, b"2"), file_set="s")
    for path in deleted:
        user.remove(encode_path(path))
    user.prepare(dict.fromkeys(pending, b"3"))
    assert list(user.named()) == there
    folders = {"/"} | {path[: place + 1] for path in there for place, sign in enumerate(path) if sign == "/"}
    for folder in folders:
        wanted = children_of(there, folder)
        for limit in (1, 2, 1000):
            assert user.children(folder, None, limit) == wanted, (folder, limit)
            assert not there or user.children(folder, "s", limit) == wanted, (folder, limit)


@contextmanager
def queries(database: Database) -> Iterator[list[str]]:
    """Tell which queries are asked meanwhile."""
    engine, asked = engine_of(database), list[str]()

    def note(connection: object, cursor: object, statement: str, *rest: object) -> None:
        del connection, cursor, rest
        asked.extend([statement] if "SELECT" in statement else [])

    event.listen(engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(engine, "before_cursor_execute", note)


class NamingSuite(LakeSuite):
    """Specs."""

    @pytest.mark.parametrize(
        ("spec", "paths"),
        [
            ("/README", ["/README"]),
            ("/README:1", ["/README"]),
            ("/", list(TREE)),
            ("/data", ["/data/train/a.csv", "/data/train/b.csv", "/data/val.csv"]),
            ("/data/", ["/data/train/a.csv", "/data/train/b.csv", "/data/val.csv"]),
            ("/data/train/", ["/data/train/a.csv", "/data/train/b.csv"]),
            ("/odd/50%25%4012%3A30", ["/odd/50%@12:30"]),
            ("/é/ü", ["/é/ü"]),
            ("/%C3%A9/", ["/é/ü"]),
        ],
    )
    def test_a_spec_names_files_of_the_project_and_of_a_set(self, user: LakeUser, spec: str, paths: list[str]) -> None:
        user.put(TREE, file_set="s")
        assert [entry.path for entry in user.entries(spec)] == sorted(paths)
        assert user.read(spec) == {path: TREE[path] for path in paths}
        if ":1" not in spec:
            for ref in ("s", "s:1", "s:latest"):
                assert user.read(f"{spec}@{ref}") == user.read(spec)

    def test_where_a_set_has_a_path_is_found_in_few_queries(self, user: LakeUser) -> None:
        user.put({f"/d/{number:04}": b"" for number in range(3000)}, file_set="s")
        for spec, most in (("/d/0017@s", 5), ("/d/0017@s:1", 1), ("/d/2999@s", 4)):
            with queries(user.database) as asked:
                assert user.named(spec) == {spec.partition("@")[0]: 1}
            assert len(asked) <= most, asked

    def test_a_version_and_a_set_are_what_they_were(self, user: LakeUser) -> None:
        user.put({"/x": b"one", "/f/y": b"y"}, file_set="s")
        user.put({"/x": b"two", "/f/z": b"z"}, file_set="s")
        said = {spec: user.read(spec) for spec in ("/x", "/x:1", "/x@s:1", "/x@s", "@s:1", "/@s:2", "/f/@s:1", "/f@s")}
        assert said == {
            "/x": {"/x": b"two"},
            "/x:1": {"/x": b"one"},
            "/x@s:1": {"/x": b"one"},
            "/x@s": {"/x": b"two"},
            "@s:1": {"/x": b"one", "/f/y": b"y"},
            "/@s:2": {"/x": b"two", "/f/z": b"z"},
            "/f/@s:1": {"/f/y": b"y"},
            "/f@s": {"/f/z": b"z"},
        }

    def test_a_file_comes_before_a_folder_of_its_name(self, user: LakeUser) -> None:
        user.put({"/a": b"file", "/a/b": b"below"}, file_set="s")
        for of_set in ("", "@s"):
            assert user.read(f"/a{of_set}") == {"/a": b"file"}
            assert user.read(f"/a/{of_set}") == {"/a/b": b"below"}

    @pytest.mark.parametrize(
        ("spec", "error", "said"),
        [
            ("/READM", FileNotFound, "There is no file '/READM'. Did you mean /README?"),
            ("/data/trains/", FileNotFound, "Did you mean /data/train?"),
            ("/nothing/like/it", FileNotFound, "There is no file '/nothing/like/it'.$"),
            ("/README:7", FileNotFound, "There is no file '/README:7'. The latest is '/README:1'."),
            ("/README@other", FileSetNotFound, "There is no file set 'other'"),
            ("@se", FileSetNotFound, "Did you mean se_t"),
            ("@se_t:9", FileSetNotFound, "The latest is 'se_t:1'"),
            ("/missing@se_t", FileNotFound, "not in file set se_t:1"),
            ("README", BadSpec, "starts with '/'"),
            ("/README:0", BadSpec, "version number"),
        ],
    )
    def test_what_is_not_there_is_said_with_what_may_be_meant(
        self, user: LakeUser, spec: str, error: type[Exception], said: str
    ) -> None:
        user.put(TREE, file_set="se_t")
        for ask in (user.entries, user.fetch):
            with pytest.raises(error, match=said):
                ask(spec)

    def test_projects_do_not_see_each_others_files(self, user: LakeUser) -> None:
        other = LakeUser(user.database, user.objects, "you", f"{user.member.project}-other")
        user.put({"/x": b"ours"}, file_set="s")
        assert (other.named(), other.children()) == ({}, [])
        for spec in ("/x", "@s"):
            with pytest.raises((FileNotFound, FileSetNotFound)):
                other.entries(spec)
        assert other.begin({"/x": b"ours"}).missing == [0]
        other.put({"/x": b"theirs"})
        assert (user.read(), other.read()) == ({"/x": b"ours"}, {"/x": b"theirs"})

    def test_versions_come_in_pages_the_newest_first(self, user: LakeUser) -> None:
        for number in range(5):
            (user if number % 2 else user.beside("her")).put({"/x": b"%d" % number})
        found = []
        before: int | None = None
        while page := user.lake.files.versions(user.member.project_id, "/x", before, 2):
            found += [(version.version, version.creator) for version in page.versions]
            before = page.next
            if before is None:
                break
        assert found == [(5, "her"), (4, "you"), (3, "her"), (2, "you"), (1, "her")]

    @pytest.mark.parametrize("limit", [1, 2, 4])
    @pytest.mark.parametrize("spec", ["/", "@s", "/data/", "/data/@s"])
    def test_what_a_spec_names_comes_in_pages(self, user: LakeUser, spec: str, limit: int) -> None:
        user.put(TREE, file_set="s")
        found: list[str] = []
        after: str | None = ""
        while after is not None:
            page = user.fetch(spec, after=after, limit=limit)
            assert len(page.files) <= limit
            found += [place.path for place in page.files]
            after = page.next
        assert found == [entry.path for entry in user.entries(spec)] == sorted(found)


class FolderSuite(LakeSuite):
    """Folders."""

    @pytest.mark.parametrize("limit", [1, 2, 1000])
    @pytest.mark.parametrize("file_set", [None, "s", "s:1"])
    def test_a_folder_has_files_and_folders(self, user: LakeUser, file_set: str | None, limit: int) -> None:
        user.put(TREE, file_set="s")
        for folder in ("/", "/data", "/data/", "/data/train", "/odd", "/é"):
            wanted = children_of(list(TREE), folder.rstrip("/") + "/")
            assert user.children(folder, file_set, limit) == wanted

    def test_a_child_that_is_a_file_has_its_latest_version(self, user: LakeUser) -> None:
        user.put({"/f/x": b"one", "/f/g/y": b""}, file_set="s")
        user.put({"/f/x": b"three"})
        page = user.lake.files.folder(user.member.project_id, "/f", None, "", 10)
        of_set = user.lake.files.folder(user.member.project_id, "/f", "s", "", 10)
        newest = user.versions("/f/x")[-1]
        assert [(child.name, child.version, child.size_bytes) for child in page.children] == [
            ("g", None, None),
            ("x", 2, 5),
        ]
        assert (page.path, page.children[1].created_at) == ("/f/", newest.created_at)
        assert [(child.name, child.version, child.size_bytes) for child in of_set.children] == [
            ("g", None, None),
            ("x", 1, 3),
        ]

    def test_any_names_are_listed_at_any_depth_in_pages_of_any_size(self, user: LakeUser) -> None:
        @settings(max_examples=12)
        @given(st.sets(PATHS, min_size=1, max_size=12), st.data())
        def check(paths: set[str], data: st.DataObject) -> None:
            deleted = data.draw(st.sets(st.sampled_from(sorted(paths)), max_size=3))
            pending = data.draw(st.sets(PATHS, max_size=3))
            check_listings(user.in_a_new_project(), paths, deleted, pending)

        check()

    def test_a_folder_of_nothing_is_not_there_and_a_file_is_shown_as_its_folder_shows_it(self, user: LakeUser) -> None:
        assert user.children("/") == []
        user.put({"/f/x": b"1"}, file_set="s")
        for file_set in (None, "s"):
            with pytest.raises(FileNotFound):
                user.children("/g", file_set)
            assert user.children("/f/x", file_set) == ["x"]

    def test_a_folder_goes_with_its_last_file(self, user: LakeUser) -> None:
        user.put({"/f/g/x": b"1", "/f/y": b"2"})
        user.remove("/f/g/x")
        assert user.children("/f") == ["y"]
        user.remove("/f/y")
        assert user.children("/") == []
        with pytest.raises(FileNotFound):
            user.children("/f")
        user.remove("/f/g/x", undo=True)
        assert user.children("/f") == ["g/"]


class FetchingSuite(LakeSuite):
    """Bytes."""

    def test_each_file_has_its_place(self, user: LakeUser) -> None:
        user.put({"/a": b"one", "/b": b"two"})
        user.put({"/c": b"three", "/d": b"one"})
        page = user.fetch("/")
        assert [(place.path, place.version, place.size_bytes, place.object, place.offset) for place in page.files] == [
            ("/a", 1, 3, 0, 0),
            ("/b", 1, 3, 0, 3),
            ("/c", 1, 5, 1, 0),
            ("/d", 1, 3, 0, 0),
        ]
        assert (len(page.objects), page.root, page.is_file) == (2, "/", False)

    @pytest.mark.parametrize(
        ("spec", "root", "is_file"),
        [("/f/g/x", "/f/g/", True), ("/f", "/f/", False), ("/f/g/", "/f/g/", False), ("@s", "/", False),
         ("/f/g/x@s", "/f/g/", True), ("/f@s", "/f/", False), ("/f/g/x:1", "/f/g/", True)],
    )  # fmt: skip
    def test_files_are_laid_out_below_a_root(self, user: LakeUser, spec: str, root: str, *, is_file: bool) -> None:
        user.put({"/f/g/x": b"1"}, file_set="s")
        page = user.fetch(spec)
        assert (page.root, page.is_file) == (root, is_file)

    def test_an_empty_file_is_a_file(self, user: LakeUser) -> None:
        user.put({"/empty": b"", "/full": b"1"})
        assert user.read() == {"/empty": b"", "/full": b"1"}

    def test_wrong_bytes_name_their_uploader_and_heal_when_the_right_ones_are_put_again(self, user: LakeUser) -> None:
        her = user.beside("her")
        _lie(her, "/x", b"truth")
        user.believe()
        for spec in ("/x", "/"):
            with pytest.raises(BlobQuarantined, match="'/x:1', uploaded by her, are damaged"):
                user.fetch(spec)
        user.put({"/elsewhere": b"truth"}, only_changed=True)
        assert user.read() == {"/elsewhere": b"truth", "/x": b"truth"}

    def test_wrong_bytes_heal_when_the_same_file_is_put_again(self, user: LakeUser) -> None:
        _lie(user, "/x", b"truth")
        user.believe()
        result = user.put({"/x": b"truth"}, only_changed=True)
        assert (result.new_files, user.read(), user.numbers("/x")) == (0, {"/x": b"truth"}, [1])

    def test_a_content_that_was_checked_is_preferred(self, user: LakeUser) -> None:
        her = user.beside("her")
        _lie(her, "/x", b"truth")
        user.put({"/y": b"truth"})
        user.believe()
        assert user.read() == {"/x": b"truth", "/y": b"truth"}


class RemovingSuite(LakeSuite):
    """Tombstones."""

    def test_a_version_that_is_deleted_keeps_its_number(self, user: LakeUser) -> None:
        for body in (b"1", b"2", b"3"):
            user.put({"/x": body})
        assert user.remove("/x:2") == [2]
        assert [(one.version, one.deleted_at is None) for one in user.versions("/x")] == [
            (1, True),
            (2, False),
            (3, True),
        ]
        assert user.named("/x") == {"/x": 3}
        with pytest.raises(FileNotFound, match="deleted; bring it back with acai rm --undo /x:2"):
            user.fetch("/x:2")
        assert user.remove("/x:3") == [3]
        assert user.read("/x") == {"/x": b"1"}
        user.put({"/x": b"4"})
        assert user.named("/x") == {"/x": 4}

    def test_a_file_that_is_deleted_is_in_no_listing(self, user: LakeUser) -> None:
        user.put({"/x": b"1", "/y": b"y"})
        user.put({"/x": b"2"})
        assert user.remove("/x") == [1, 2]
        assert (user.named(), user.children()) == ({"/y": 1}, ["y"])
        with pytest.raises(FileNotFound):
            user.entries("/x")
        assert user.remove("/x") == []
        user.put({"/x": b"3"})
        assert user.named("/x") == {"/x": 3}

    def test_an_undo_brings_back_what_was_deleted(self, user: LakeUser) -> None:
        for body in (b"1", b"2", b"3"):
            user.put({"/x": body})
        user.remove("/x")
        assert user.remove("/x:2", undo=True) == [2]
        assert user.read("/x") == {"/x": b"2"}
        assert user.remove("/x", undo=True) == [1, 3]
        assert user.read("/x") == {"/x": b"3"}
        assert user.remove("/x", undo=True) == []

    def test_what_a_set_holds_cannot_be_deleted(self, user: LakeUser) -> None:
        user.put({"/x": b"1", "/y": b"y"})
        user.put({"/x": b"2", "/z": b"z"}, file_set="held")
        user.put({"/x": b"3", "/z": b"zz"}, file_set="held")
        for spec, ref in (("/x:2", "held:1"), ("/x:3", "held:2"), ("/x", "held:[12]"), ("/z:1", "held:1")):
            with pytest.raises(Conflict, match=f"is in file set {ref}"):
                user.remove(spec)
        assert user.remove("/x:1") == [1]
        assert user.remove("/y") == [1]
        check_lake(user)

    @pytest.mark.parametrize(
        ("spec", "error"),
        [
            ("/x@s", BadRequest),
            ("@s", BadRequest),
            ("/", BadRequest),
            ("/f/", BadRequest),
            ("/y", FileNotFound),
            ("/x:2", FileNotFound),
            ("/f", FileNotFound),
        ],
    )
    def test_only_files_and_their_versions_can_be_deleted(
        self, user: LakeUser, spec: str, error: type[Exception]
    ) -> None:
        user.put({"/x": b"1", "/f/g": b"2"}, file_set="s")
        user.prepare({"/y": b"1", "/x": b"2"})
        for undo in (False, True):
            with pytest.raises(error):
                user.remove(spec, undo=undo)

    def test_a_file_with_the_longest_path_can_be_deleted(self, user: LakeUser) -> None:
        path = "/" + "@" * 1023
        user.put({path: b"1"})
        assert user.remove(encode_path(path)) == [1]
        assert user.remove(encode_path(path), undo=True) == [1]

    def test_of_many_those_go_that_can_and_of_the_others_it_is_said_why_they_stay(self, user: LakeUser) -> None:
        user.put({"/held": b"1", "/also": b"2"}, file_set="s")
        user.put({"/x": b"1", "/f/y": b"2"})
        user.put({"/x": b"3"})
        pending = user.prepare({"/f/y": b"2"}, file_set="t", only_changed=True)
        done = remove_many(user, "/x", "/held", "/f/y:1", "/nothing", "/x:1")
        assert done.removed == [Removed("/x", [2, 1]), Removed("/f/y", [1]), Removed("/x", [1])]
        assert [one.spec for one in done.kept] == ["/held", "/nothing"]
        assert "'/held:1' is in file set s:1" in done.kept[0].reason
        assert "There is no file '/nothing'" in done.kept[1].reason
        assert user.named() == {"/held": 1, "/also": 1}
        user.commit(pending)
        assert user.read("@t") == {"/f/y": b"2"}
        check_lake(user)
        back = remove_many(user, "/x", "/f/y", "/held", undo=True)
        assert (back.removed, back.kept) == ([Removed("/x", [2, 1]), Removed("/f/y", [1]), Removed("/held", [])], [])
        assert user.read("/x") == {"/x": b"3"}
        with pytest.raises(BadRequest, match="'/f/' is not a file"):
            remove_many(user, "/x", "/f/")
        assert user.read("/x") == {"/x": b"3"}

    def test_many_that_are_deleted_at_once_are_told_of_once(self, user: LakeUser) -> None:
        paths = [f"/f/{number}" for number in range(1000)]
        user.put(dict.fromkeys(paths, b"1"))
        assert len(remove_many(user, *paths).removed) == 1000
        assert remove_many(user, "/f/1").removed == [Removed("/f/1", [])]
        assert [one.subject for one in told(user, "files_removed")] == ["1000 file versions"]
        remove_many(user, "/f/7", undo=True)
        assert [one.subject for one in told(user, "files_restored")] == ["/f/7"]

    def test_another_may_delete_what_she_did_not_upload(self, user: LakeUser) -> None:
        user.put({"/x": b"1"})
        assert user.beside("her").remove("/x:1") == [1]


def remove_many(user: LakeUser, *specs: str, undo: bool = False) -> RemovedFiles:
    """Delete what specs name in one request, or take that back."""
    return user.lake.removals.remove_many(user.member.project_id, list(specs), undo=undo)


class FileSuite(NamingSuite, FolderSuite, FetchingSuite, RemovingSuite):
    """All about reading."""


def _lie(user: LakeUser, path: str, truth: bytes) -> UploadResult:
    """Upload other bytes than those that are announced."""
    sent, pack = packed(1, [truth])
    upload = user.begin({path: truth})
    lie = bytes(len(pack))
    target = user.targets(upload.id, NewObject(1, len(lie), hash_of(lie)))[0]
    user.objects.put(target.key, io.BytesIO(lie), size_bytes=len(lie))
    return user.commit(upload.id, msgspec.structs.replace(sent, sha256=hash_of(lie)))
