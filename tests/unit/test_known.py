"""What a machine remembers of an upload: a stream of files, and where uploads of one line stand."""

from __future__ import annotations

from pathlib import Path

import pytest

from acai_jupyter.client.known import BLOCK, FileList, KnownFile, LargeFile, Memory

LINE = ("project", "/home/me/digits", "→", "/digits")


def file(number: int) -> KnownFile:
    return KnownFile(f"/digits/{number:06}", number, number * 10, number * 100, number * 1000, f"{number:064x}")


def remembered(memory: Memory, files: list[KnownFile], upload: str = "first") -> Memory:
    """Remember an upload, and return what another process knows of it."""
    made = memory.begin()
    for one in files:
        made.add(one)
    memory.committed(upload, made)
    return Memory(*LINE)


def folder() -> Path:
    return Path.home() / ".cache" / "acai" / "uploads"


def test_a_line_that_was_never_put_has_no_memory() -> None:
    memory = Memory(*LINE)
    assert (memory.state.upload, memory.state.pending, list(memory.files())) == (None, None, [])


@pytest.mark.parametrize("count", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_every_file_comes_back_in_its_order(count: int) -> None:
    files = [file(number) for number in range(count)]
    memory = remembered(Memory(*LINE), files)
    assert memory.state.upload == "first"
    assert list(memory.files()) == files


def test_another_line_has_another_memory() -> None:
    remembered(Memory(*LINE), [file(1)])
    for other in (("project", "/home/me/digits", "→", "/other"), ("other", *LINE[1:]), (*LINE, "*.log"), LINE[:-1]):
        assert list(Memory(*other).files()) == []


def test_the_list_of_the_upload_before_is_thrown_away() -> None:
    memory = remembered(Memory(*LINE), [file(1)])
    memory = remembered(memory, [file(2)], "second")
    assert (memory.state.upload, list(memory.files())) == ("second", [file(2)])
    assert len(list(folder().glob("*.files"))) == 1


def test_an_upload_that_is_broken_off_leaves_the_one_before(tmp_path: Path) -> None:
    del tmp_path
    memory = remembered(Memory(*LINE), [file(1)])
    begun = memory.begin()
    begun.add(file(2))
    begun.drop()
    memory.state.pending = "pending"
    memory.state.large["/digits/large"] = LargeFile(3, 10, 20, {1: "etag"})
    memory.save()
    again = Memory(*LINE)
    assert (again.state.upload, again.state.pending) == ("first", "pending")
    assert again.state.large == {"/digits/large": LargeFile(3, 10, 20, {1: "etag"})}
    assert list(again.files()) == [file(1)]
    assert len(list(folder().glob("*.files"))) == 1


def test_a_commit_forgets_what_was_pending() -> None:
    memory = Memory(*LINE)
    memory.state.pending = "pending"
    memory.save()
    again = remembered(memory, [file(1)])
    assert (again.state.pending, again.state.large) == (None, {})


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"upload": 1}'])
def test_a_damaged_state_is_no_memory(damage: bytes) -> None:
    remembered(Memory(*LINE), [file(1)])
    (state,) = folder().glob("*.json")
    state.write_bytes(damage)
    memory = Memory(*LINE)
    assert memory.state.upload is None
    assert list(memory.files()) == []


@pytest.mark.parametrize("kept", [0, 1, 3, 4, 5, 1000, -1])
def test_nothing_is_built_on_a_list_that_was_cut(kept: int) -> None:
    """What was removed since could not be told from what was cut away."""
    remembered(Memory(*LINE), [file(number) for number in range(2 * BLOCK)])
    (path,) = folder().glob("*.files")
    path.write_bytes(path.read_bytes()[:kept])
    memory = Memory(*LINE)
    assert memory.state.upload is None
    assert list(memory.files()) == []


def test_nothing_is_built_on_a_list_that_is_gone() -> None:
    remembered(Memory(*LINE), [file(1)])
    next(folder().glob("*.files")).unlink()
    memory = Memory(*LINE)
    assert memory.state.upload is None
    assert list(memory.files()) == []


def test_a_machine_that_cannot_remember_does_not_build_on_what_it_has_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    memory = Memory(*LINE)
    again = remembered(memory, [file(1)])
    assert memory.state.upload is None
    assert again.state.upload is None


def test_a_list_without_a_folder_is_not_kept() -> None:
    nowhere = FileList()
    nowhere.add(file(1))
    assert not nowhere.close()
    nowhere.drop()
    assert not folder().exists()


def test_what_is_remembered_is_for_its_user_only() -> None:
    remembered(Memory(*LINE), [file(1)])
    assert folder().stat().st_mode & 0o077 == 0
