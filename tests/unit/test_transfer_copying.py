"""Copying a large file on this disk: hashed as it arrives, visible only when whole."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from acai_jupyter.transfer.copying import PIECE_BYTES, Copied, Copying, copy_file
from acai_jupyter.transfer.errors import Changed, DiskFull, TransferError
from tests.disks import small_disk

MEGABYTE = 1024 * 1024


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def body(size: int) -> bytes:
    return (os.urandom(MEGABYTE) * (size // MEGABYTE + 1))[:size]


@pytest.mark.parametrize("durable", [True, False])
@pytest.mark.parametrize("size", [0, 1, MEGABYTE, 2 * PIECE_BYTES + 3])
def test_a_copy_is_the_same_and_its_hash_is_known(tmp_path: Path, size: int, durable: bool) -> None:
    content = body(size)
    (tmp_path / "source").write_bytes(content)
    target = tmp_path / "new" / "folder" / "target"
    told: list[int] = []
    copied = copy_file(str(tmp_path / "source"), str(target), told.append, durable=durable)
    assert copied == Copied(size, hashlib.sha256(content).hexdigest())
    assert target.read_bytes() == content
    assert (sum(told), names(target.parent)) == (size, ["target"])


def test_a_copy_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"new")
    (tmp_path / "target").write_bytes(b"old and longer")
    copy_file(str(tmp_path / "source"), str(tmp_path / "target"))
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_copy_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"x")
    (tmp_path / "source").chmod(0o400)
    (tmp_path / "plain").touch()
    copy_file(str(tmp_path / "source"), str(tmp_path / "target"))
    assert (tmp_path / "target").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_name_as_long_as_names_can_be_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"x")
    copy_file(str(tmp_path / "source"), str(tmp_path / ("n" * 255)))
    assert (tmp_path / ("n" * 255)).read_bytes() == b"x"


def test_only_a_range_can_be_copied(tmp_path: Path) -> None:
    content = body(3 * MEGABYTE)
    (tmp_path / "source").write_bytes(content)
    with (tmp_path / "source").open("rb") as source, (tmp_path / "target").open("w+b") as target:
        copying = Copying("source", source.fileno(), target.fileno(), 5, 2 * MEGABYTE)
        sha256 = copying.run(None, durable=False)
    assert (tmp_path / "target").read_bytes() == content[5 : 5 + 2 * MEGABYTE]
    assert sha256 == hashlib.sha256(content[5 : 5 + 2 * MEGABYTE]).hexdigest()


def test_between_two_file_systems_it_copies_too(tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("this machine has one file system")
    (tmp_path / "source").write_bytes(body(MEGABYTE + 1))
    target = memory / f"acai-{os.getpid()}"
    try:
        copied = copy_file(str(tmp_path / "source"), str(target))
        assert hashlib.sha256(target.read_bytes()).hexdigest() == copied.sha256
    finally:
        target.unlink()


@pytest.mark.parametrize("change", [b"longer", b""])
def test_a_source_that_changes_while_it_is_read_is_named(tmp_path: Path, change: bytes) -> None:
    source = tmp_path / "source"
    source.write_bytes(body(2 * PIECE_BYTES))

    def meddle(count: int) -> None:
        assert count
        if change:
            with source.open("ab") as stream:
                stream.write(change)
        else:
            os.truncate(source, 1)

    with pytest.raises(Changed, match=r"source' (changed|became shorter) while it was read"):
        copy_file(str(source), str(tmp_path / "out" / "target"), meddle)
    assert names(tmp_path / "out") == []


def test_a_caller_that_gives_up_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(body(2 * PIECE_BYTES))
    (tmp_path / "target").write_bytes(b"old")

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_file(str(tmp_path / "source"), str(tmp_path / "target"), interrupt)
    assert names(tmp_path) == ["source", "target"]
    assert (tmp_path / "target").read_bytes() == b"old"


def test_a_source_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="missing' cannot be read: No such file"):
        copy_file(str(tmp_path / "missing"), str(tmp_path / "target"))
    assert names(tmp_path) == []


def test_a_folder_is_not_copied(tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="is not a regular file"):
        copy_file(str(tmp_path), str(tmp_path / "target"))


def test_a_target_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(b"x")
    with pytest.raises(TransferError, match="target' cannot be written"):
        copy_file(str(tmp_path / "source"), str(tmp_path / "source" / "target"))


def test_a_file_beyond_what_is_allowed_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(body(2 * MEGABYTE))
    (tmp_path / "out").mkdir()
    program = (
        "import resource, sys\n"
        "from acai_jupyter.transfer.copying import copy_file\n"
        "from acai_jupyter.transfer.errors import TransferError\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1024 * 1024, 1024 * 1024))\n"
        "try:\n"
        "    copy_file(sys.argv[1], sys.argv[2])\n"
        "except TransferError as error:\n"
        "    print(error)\n"
    )
    target = tmp_path / "out" / "target"
    arguments = [sys.executable, "-c", program, str(tmp_path / "source"), str(target)]
    said = subprocess.run(arguments, check=True, stdout=subprocess.PIPE, text=True).stdout
    assert said == f"'{target}' cannot be written: File too large\n"
    assert names(tmp_path / "out") == []


def test_a_full_disk_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(body(2 * MEGABYTE))
    with small_disk(tmp_path) as disk:
        with pytest.raises(DiskFull) as caught:
            copy_file(str(tmp_path / "source"), str(disk / "target"))
        assert names(disk) == []
    assert str(caught.value) == f"'{disk / 'target'}' cannot be written: the disk is full"
