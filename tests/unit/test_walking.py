"""The walk of `put`: which files, under which paths, in which order, and what is said of those left out."""

from __future__ import annotations

import os
import sys
import tempfile
import unicodedata
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acai_jupyter.client.ignoring import Rules, excluding
from acai_jupyter.client.walking import VANISHED, Excluded, Found, walk
from acai_jupyter.contract.errors import BadPath, BadRequest, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterator

SEGMENTS = st.text(st.sampled_from("ab-.0 e\u0301\u03a9\U0001f600\uffee"), min_size=1, max_size=3)
TREES = st.sets(st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join), max_size=12)


def make(root: Path, *paths: str) -> str:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    return str(root)


def taken(entries: Iterator[Found | Excluded]) -> list[str]:
    return [entry.path for entry in entries if isinstance(entry, Found)]


def left_out(source: str, rules: Rules | None = None) -> dict[str, tuple[str, bool]]:
    entries = [entry for entry in walk(source, "/", rules or Rules()) if isinstance(entry, Excluded)]
    return {entry.source.removeprefix(f"{source}/"): (entry.reason, entry.is_folder) for entry in entries}


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_a_file_comes_with_what_is_known_of_it(tmp_path: Path) -> None:
    file = tmp_path / "sub" / "x.bin"
    make(tmp_path, "sub/x.bin")
    file.write_bytes(b"12345")
    known = file.stat()
    expected = Found(str(file), "/data/sub/x.bin", 5, known.st_mtime_ns, known.st_ino, known.st_ctime_ns)
    assert list(walk(str(tmp_path), "/data", Rules())) == [expected]


@pytest.mark.parametrize(("dest", "path"), [("/", "/a/b"), ("/d", "/d/a/b"), ("/d/", "/d/a/b"), ("/d/e/", "/d/e/a/b")])
def test_the_contents_of_a_folder_go_under_dest(tmp_path: Path, dest: str, path: str) -> None:
    assert taken(walk(make(tmp_path, "a/b"), dest, Rules())) == [path]


@pytest.mark.parametrize("slashes", ["", "/", "//"])
def test_sources_are_written_with_single_slashes(tmp_path: Path, slashes: str) -> None:
    source = make(tmp_path, "a")
    assert [entry.source for entry in walk(source + slashes, "/", Rules())] == [f"{source}/a"]


@pytest.mark.parametrize(("dest", "path"), [("/", "/a.pyc"), ("/d", "/d"), ("/d/", "/d/a.pyc")])
def test_a_file_given_by_name_is_taken_whatever_the_rules(tmp_path: Path, dest: str, path: str) -> None:
    make(tmp_path, "a.pyc")
    assert taken(walk(str(tmp_path / "a.pyc"), dest, excluding(["*.pyc"]))) == [path]


def test_links_given_by_name_are_followed(tmp_path: Path) -> None:
    make(tmp_path, "data/x")
    (tmp_path / "folder").symlink_to("data")
    (tmp_path / "file").symlink_to("data/x")
    assert taken(walk(str(tmp_path / "folder"), "/", Rules())) == ["/x"]
    assert taken(walk(str(tmp_path / "file"), "/", Rules())) == ["/file"]


def test_folders_stand_among_files_where_their_paths_do(tmp_path: Path) -> None:
    source = make(tmp_path, "a/x", "a-b", "a.txt", "a0", "B", "a/-", "\ufb01", "\U0001f600", "z/y/x", "z-/x")
    expected = ["/B", "/a-b", "/a.txt", "/a/-", "/a/x", "/a0", "/z-/x", "/z/y/x", "/\ufb01", "/\U0001f600"]
    assert taken(walk(source, "/", Rules())) == expected


@settings(max_examples=200, deadline=None)
@given(TREES)
def test_any_tree_comes_in_order_and_whole(paths: set[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        for path in paths:
            with suppress(OSError):  # what is a file already cannot be a folder, and '..' leads out
                if ".." not in path.split("/"):
                    make(Path(place), path)
        present = [str(file) for file in Path(place).rglob("*") if file.is_file()]
        entries = list(walk(place, "/d", Rules()))
        assert sorted(entry.source for entry in entries) == sorted(present)
        paths_there = [unicodedata.normalize("NFC", source.replace(place, "/d", 1)) for source in present]
        assert taken(iter(entries)) == sorted(paths_there)


def test_names_are_composed_and_sorted_as_such(tmp_path: Path) -> None:
    source = make(tmp_path, "e\u0301/x", "f", "u\u0308")
    assert taken(walk(source, "/e\u0301", Rules())) == ["/\u00e9/f", "/\u00e9/\u00e9/x", "/\u00e9/\u00fc"]


@pytest.mark.parametrize("paths", [("\u00e9", "e\u0301"), ("\u00e9", "e\u0301/x"), ("\u00e9/x", "e\u0301/y")])
def test_two_names_for_one_path_are_both_named(tmp_path: Path, paths: tuple[str, str]) -> None:
    with pytest.raises(BadPath) as caught:
        list(walk(make(tmp_path, *paths), "/", Rules()))
    assert ascii(f"{tmp_path}/\u00e9") in caught.value.message
    assert ascii(f"{tmp_path}/e\u0301") in caught.value.message


def test_names_that_cannot_be_paths_are_told_once_the_walk_is_through(tmp_path: Path) -> None:
    source = make(tmp_path, "a\nb", "c", "z/x\x7f")
    (tmp_path / os.fsdecode(b"\xff")).mkdir()
    entries: list[Found | Excluded] = []
    with pytest.raises(BadPath) as caught:
        entries.extend(walk(source, "/d", Rules()))
    assert caught.value.details["reason"] == "it has a control character"
    assert caught.value.message.startswith("'/d/a\\nb' cannot be a path in a project: it has a control character.")
    assert "2 more cannot either" in caught.value.message
    assert taken(iter(entries)) == ["/d/c"]
    faulty = {entry.source: (entry.reason, entry.is_folder) for entry in entries if isinstance(entry, Excluded)}
    control = "its name cannot be a path in a project: it has a control character"
    assert faulty == {
        f"{source}/a\\nb": (control, False),
        f"{source}/z/x\\x7f": (control, False),
        f"{source}/\\udcff": ("its name cannot be a path in a project: it is not valid Unicode", True),
    }


def test_a_name_that_cannot_be_a_path_does_not_matter_when_it_is_left_out(tmp_path: Path) -> None:
    assert taken(walk(make(tmp_path, "a\nb", "c"), "/", excluding(["a*"]))) == ["/c"]


@pytest.mark.parametrize("name", ["x", "\u00e9"])
def test_a_path_that_is_too_long_is_refused(tmp_path: Path, name: str) -> None:
    make(tmp_path, name)
    room = 1024 - len(f"/{name}".encode())
    assert len(taken(walk(str(tmp_path), "/" + "d" * (room - 1), Rules()))) == 1
    with pytest.raises(BadPath, match="longer than 1024 bytes"):
        list(walk(str(tmp_path), "/" + "d" * room, Rules()))


def test_links_and_what_is_no_file_are_left_out_with_the_reason(tmp_path: Path) -> None:
    source = make(tmp_path, "folder/x")
    (tmp_path / "up").symlink_to("..")
    (tmp_path / "to file").symlink_to("folder/x")
    (tmp_path / "to nothing").symlink_to("missing")
    (tmp_path / "itself").symlink_to("itself")
    os.mkfifo(tmp_path / "pipe")
    assert left_out(source) == {
        "up": ("a symbolic link that leads to a folder", False),
        "to file": ("a symbolic link that leads to a file", False),
        "to nothing": ("a symbolic link that leads to no file", False),
        "itself": ("a symbolic link that leads to no file", False),
        "pipe": ("not a regular file", False),
    }
    assert taken(walk(source, "/", Rules())) == ["/folder/x"]


def test_defaults_are_left_out_without_a_look_inside(tmp_path: Path) -> None:
    source = make(
        tmp_path, ".git/HEAD", "src/__pycache__/m.pyc", "src/m.pyc", ".acaiignore", "src/.DS_Store", "src/m.py"
    )
    assert taken(walk(source, "/", Rules())) == ["/src/m.py"]
    assert left_out(source) == {
        ".git": ("default: .git", True),
        ".acaiignore": ("default: .acaiignore", False),
        "src/__pycache__": ("default: __pycache__", True),
        "src/m.pyc": ("default: *.pyc", False),
        "src/.DS_Store": ("default: .DS_Store", False),
    }


def test_environments_are_known_by_what_they_hold(tmp_path: Path) -> None:
    source = make(tmp_path, "venv/pyvenv.cfg", "any/pyvenv.cfg", "conda/conda-meta/history", "env/x", "venv/x")
    (tmp_path / "other").mkdir()
    make(tmp_path, "other/conda-meta")
    assert taken(walk(source, "/", Rules())) == ["/env/x", "/other/conda-meta"]
    assert left_out(source) == {
        "any": ("default: an environment (it holds pyvenv.cfg)", True),
        "conda": ("default: an environment (it holds conda-meta/)", True),
        "venv": ("default: an environment (it holds pyvenv.cfg)", True),
    }


def test_an_environment_that_is_asked_for_is_taken(tmp_path: Path) -> None:
    source = make(tmp_path, "venv/pyvenv.cfg")
    assert taken(walk(f"{source}/venv", "/", Rules())) == ["/pyvenv.cfg"]
    assert taken(walk(source, "/", excluding(["!venv/"]))) == ["/venv/pyvenv.cfg"]
    assert taken(walk(source, "/", excluding(["!*/"]))) == []


def test_ignore_files_hold_below_their_folder_and_the_deeper_wins(tmp_path: Path) -> None:
    source = make(tmp_path, "x.log", "a/x.log", "a/keep.log", "a/b/keep.log", "c/keep.log", "c/x.tmp")
    (tmp_path / ".acaiignore").write_text("*.log\n")
    (tmp_path / "a" / ".acaiignore").write_text("!keep.log\n!*.tmp")
    assert taken(walk(source, "/", Rules())) == ["/a/b/keep.log", "/a/keep.log", "/c/x.tmp"]
    assert taken(walk(source, "/", excluding(["keep.log", "/c"]))) == []
    assert left_out(source, excluding(["/c"]))["a/x.log"] == ("matched `*.log` of .acaiignore", False)
    assert left_out(source, excluding(["/c"]))["c"] == ("--exclude /c", True)


def test_an_ignore_file_can_be_a_link_to_a_file(tmp_path: Path) -> None:
    source = make(tmp_path, "data/x.log", "data/x")
    (tmp_path / "shared").write_text("*.log")
    (tmp_path / "data" / ".acaiignore").symlink_to("../shared")
    assert taken(walk(f"{source}/data", "/", Rules())) == ["/x"]


@pytest.mark.parametrize("kind", ["folder", "dangling link", "pipe"])
def test_an_ignore_file_that_cannot_be_read_is_an_error(tmp_path: Path, kind: str) -> None:
    file = tmp_path / ".acaiignore"
    if kind == "folder":
        file.mkdir()
    elif kind == "dangling link":
        file.symlink_to("gone")
    else:
        os.mkfifo(file)
    with pytest.raises(BadRequest, match=r"\.acaiignore cannot be read: it is not a file"):
        list(walk(str(tmp_path), "/", Rules()))


def test_a_folder_that_vanishes_during_the_walk_is_left_out(tmp_path: Path) -> None:
    entries = walk(make(tmp_path, "a", "b/x", "c"), "/", Rules())
    first = next(entries)
    (tmp_path / "b" / "x").unlink()
    (tmp_path / "b").rmdir()
    assert [first.source, *[entry.source for entry in entries]] == [f"{tmp_path}/{name}" for name in "abc"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs a folder whose entries go away by being listed")
def test_a_file_that_vanishes_while_its_folder_is_read_is_left_out() -> None:
    # Listing opens a descriptor, is told of it, and closes it before it is looked at.
    assert VANISHED in {reason for reason, _ in left_out("/proc/self/fdinfo").values()}


def test_a_link_in_the_place_of_a_folder_is_not_followed(tmp_path: Path) -> None:
    source = make(tmp_path / "source", "a", "b/x", "c")
    make(tmp_path / "outside", "secret")
    entries = walk(source, "/", Rules())
    first = next(entries)
    (tmp_path / "source" / "b").rename(tmp_path / "b")
    (tmp_path / "source" / "b").symlink_to("../outside")
    rest = list(entries)
    assert [entry.source for entry in (first, *rest)] == [f"{source}/{name}" for name in "abc"]
    assert [entry.reason for entry in rest if isinstance(entry, Excluded)] == [VANISHED]


def test_a_folder_that_is_moved_during_the_walk_is_an_error(tmp_path: Path) -> None:
    make(tmp_path / "source", "a/b/x", "a/c")
    make(tmp_path / "elsewhere", "c")
    entries = walk(str(tmp_path / "source"), "/", Rules())
    assert taken(iter([next(entries)])) == ["/a/b/x"]
    (tmp_path / "source" / "a" / "b").rename(tmp_path / "elsewhere" / "b")
    with pytest.raises(BadRequest, match="/a/b was moved or removed while it was read"):
        list(entries)


def test_few_descriptors_are_open_however_deep_the_folder_is(tmp_path: Path) -> None:
    make(tmp_path, "/".join("d" * 400))
    before = open_descriptors()
    open_then = [open_descriptors() for _ in walk(str(tmp_path), "/", Rules())]
    assert max(open_then) <= before + 1
    assert open_descriptors() == before


def test_a_folder_that_cannot_be_read_is_an_error_with_its_name() -> None:
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        Path(place, "closed").mkdir(mode=0)
        if user == 0:
            os.seteuid(65534)  # root may read everything
        try:
            for source in (place, f"{place}/closed"):
                with pytest.raises(BadRequest, match="/closed cannot be read: Permission denied"):
                    list(walk(source, "/", Rules()))
        finally:
            os.seteuid(user)


@pytest.mark.parametrize(
    ("source", "dest", "kind"),
    [
        ("missing", "/", NotFound),
        ("file/x", "/", NotFound),
        ("nul\0", "/", NotFound),
        ("", "/", BadRequest),
        ("pipe", "/", BadRequest),
        ("file", "relative", BadRequest),
        ("file", "/a/../b", BadPath),
    ],
)
def test_what_cannot_be_walked_is_said_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, dest: str, kind: type[BadRequest]
) -> None:
    monkeypatch.chdir(make(tmp_path, "file"))
    os.mkfifo("pipe")
    with pytest.raises(kind):
        walk(source, dest, Rules())
