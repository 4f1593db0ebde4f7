"""Trees of any depth are walked and removed. Runs on Python 3.8: so does what it tests."""

from __future__ import annotations

import os
import stat
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter import trees
from tests.nested import LEVELS, nest

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A place for a tree; pytest could not remove a deep one by itself."""
    yield tmp_path / "root"
    assert trees.remove(str(tmp_path / "root")) is None


@pytest.fixture
def unprivileged(tmp_path: Path) -> Iterator[Path]:
    """A folder of a user who is not root, as whom the test runs."""
    folder = tmp_path / "users"
    folder.mkdir()
    uid, gid = os.geteuid(), os.getegid()
    if uid == 0:
        os.chown(folder, 65534, 65534)
        for above in folder.parents:
            if stat.S_IMODE(above.stat().st_mode) & 0o011 != 0o011:
                above.chmod(above.stat().st_mode | 0o011)
        os.setegid(65534)
        os.seteuid(65534)
    yield folder
    os.seteuid(uid)
    os.setegid(gid)


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def found(root: Path, **options: Any) -> dict[str, str | None]:
    """Each path with why it was not entered."""
    entries = trees.walk(str(root), **options)
    return {entry.path: None if entry.error is None else entry.error.strerror for entry in entries}


def test_a_tree_deeper_than_recursion_and_paths_is_walked(root: Path) -> None:
    nest(root)
    (path,) = found(root)
    assert path == "nest/" * LEVELS + "bottom"
    assert sys.getrecursionlimit() < LEVELS


def test_a_tree_deeper_than_recursion_and_paths_is_removed(root: Path) -> None:
    nest(root)
    assert trees.remove(str(root)) is None
    assert not root.exists()


def test_only_two_descriptors_are_open_however_deep_the_tree_is(root: Path) -> None:
    nest(root)
    before = open_descriptors()
    open_at_the_bottom = [open_descriptors() for _ in trees.walk(str(root))]
    assert max(open_at_the_bottom) <= before + 3  # the listing of the bottom is open as well
    assert open_descriptors() == before


def test_folders_beyond_a_length_are_named_and_not_entered(root: Path) -> None:
    nest(root, 10, "abcd")
    assert found(root, max_path_bytes=20) == {"abcd/abcd/abcd/abcd/abcd": "File name too long"}
    assert found(root, max_path_bytes=50) == {"abcd/" * 10 + "bottom": None}


def test_all_files_of_a_wide_tree_are_found_with_their_states(root: Path) -> None:
    for path in ("a/b/c", "a/d", "e/f/g/h", "e/i", "j"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    (root / "empty").mkdir()
    entries = {entry.path: entry.state for entry in trees.walk(str(root))}
    assert sorted(entries) == ["a/b/c", "a/d", "e/f/g/h", "e/i", "j"]
    assert all(state is not None and state.st_size == len(path) for path, state in entries.items())
    assert sorted(state.st_size for state in trees.states(str(root))) == [1, 3, 3, 5, 7]


def test_links_are_neither_followed_nor_removed_through(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "kept").write_text("kept")
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    assert list(found(root)) == ["link"]
    assert trees.remove(str(root)) is None
    assert (tmp_path / "outside" / "kept").read_text() == "kept"


def test_a_link_in_the_place_of_a_tree_is_removed_itself(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    link = tmp_path / "link"
    link.symlink_to("outside")
    with pytest.raises(OSError, match="directory"):
        list(trees.walk(str(link)))
    assert trees.remove(str(link)) is None
    assert (tmp_path / "outside").is_dir()
    assert not link.is_symlink()


def test_a_file_and_what_is_gone_are_removed_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    assert trees.remove(str(tmp_path / "file")) is None
    assert trees.remove(str(tmp_path / "file")) is None
    assert list(trees.states(str(tmp_path / "file"))) == []


def test_regular_files_are_listed_name_by_name_and_without_links(root: Path) -> None:
    for path in ("a/b", "a-b", "a/c/d", "b"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    (root / "link").symlink_to("b")
    os.mkfifo(root / "pipe")
    assert trees.regular_files(str(root)) == ["a/b", "a/c/d", "a-b", "b"]


def test_no_list_of_regular_files_lacks_those_of_a_closed_folder(unprivileged: Path) -> None:
    (unprivileged / "closed").mkdir(mode=0)
    with pytest.raises(PermissionError):
        trees.regular_files(str(unprivileged))


def test_a_temporary_folder_is_removed_however_deep_it_became(tmp_path: Path) -> None:
    with suppress(KeyError), trees.temporary_folder("some-", str(tmp_path)) as folder:
        assert Path(folder).parent == tmp_path
        nest(Path(folder))
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_folders_without_permissions_are_removed(unprivileged: Path) -> None:
    for mode in (0o000, 0o100, 0o300, 0o400, 0o500, 0o600):
        folder = unprivileged / "root" / f"{mode:o}" / "in"
        folder.mkdir(parents=True)
        (folder / "file").write_text("x")
        folder.chmod(mode)
        folder.parent.chmod(mode)
    (unprivileged / "root").chmod(0)
    assert trees.remove(str(unprivileged / "root")) is None
    assert not (unprivileged / "root").exists()


def test_a_walk_names_a_folder_that_cannot_be_read_and_continues(unprivileged: Path) -> None:
    for name in ("locked", "open"):
        (unprivileged / "root" / name).mkdir(parents=True)
        (unprivileged / "root" / name / "file").write_text("x")
    (unprivileged / "root" / "locked").chmod(0)
    assert found(unprivileged / "root") == {"locked": "Permission denied", "open/file": None}
    assert found(unprivileged / "root", unlock=True) == {"locked/file": None, "open/file": None}


def test_what_cannot_be_removed_is_returned_and_the_rest_goes(unprivileged: Path) -> None:
    (unprivileged / "root").mkdir()
    (unprivileged / "root" / "file").write_text("x")
    unprivileged.chmod(0o500)
    error = trees.remove(str(unprivileged / "root"))
    assert isinstance(error, PermissionError)
    assert list((unprivileged / "root").iterdir()) == []


def test_files_that_appear_during_the_removal_are_removed_as_well(root: Path) -> None:
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            with suppress(OSError):
                (root / "a" / str(number)).write_text("x")

    (root / "a").mkdir(parents=True)
    writer = threading.Thread(target=write)
    writer.start()
    try:
        while trees.remove(str(root)) is not None:
            pass
    finally:
        stop.set()
        writer.join()
    assert not root.exists()


def test_a_walk_does_not_leave_its_tree_when_a_folder_is_moved(root: Path, tmp_path: Path) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "file").write_text("x")
    (tmp_path / "outside").write_text("x")
    walked = trees.walk(str(root))
    assert next(walked).path == "a/b/file"
    (root / "a" / "b").rename(tmp_path / "b")
    with pytest.raises(OSError, match="moved"):
        list(walked)
