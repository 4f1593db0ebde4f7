"""Zips of code, most of them made to do harm."""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acai_jupyter.client.archives import SMALL_BYTES, unpacked
from acai_jupyter.contract.errors import BadRequest

MIB = 1024**2


def refused(archive: Path) -> str:
    """Return the sentence with which a zip is refused."""
    with pytest.raises(BadRequest) as told, unpacked(archive, 100, 64 * MIB):
        pass
    assert len(told.value.message.splitlines()) == 1
    return told.value.message


def packed(folder: Path, *members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    archive = folder / "code.zip"
    with zipfile.ZipFile(archive, "w", method) as target:
        for name, content in members:
            target.writestr(name, content)
    return archive


def test_files_and_folders_come_out_as_they_went_in(tmp_path: Path) -> None:
    archive = packed(tmp_path, ("main.py", b"import lib.a"), ("lib/", b""), ("lib/a.py", b"X = 1"), ("ä.txt", b"x"))
    with unpacked(archive, 100, MIB) as folder:
        found = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert found == {"main.py": b"import lib.a", "lib/a.py": b"X = 1", "ä.txt": b"x"}
    assert not folder.exists()


@pytest.mark.parametrize(
    "name", ["../out.py", "a/../../out.py", "/etc/out.py", "a//b.py", "./a.py", "a/./b.py", "..", "a\\b.py", "c:\\x.py"]
)
def test_a_path_that_could_lie_outside_is_refused(tmp_path: Path, name: str) -> None:
    info = zipfile.ZipInfo("x")
    info.filename = name
    assert "is refused" in refused(packed(tmp_path, ("good.py", b"x"), (info, b"x")))
    assert not (tmp_path / "out.py").exists()


def test_a_path_that_no_project_can_hold_is_refused(tmp_path: Path) -> None:
    with unpacked(packed(tmp_path, ("d/" * 511 + "fg", b"x")), 100, MIB) as folder:
        assert (folder / ("d/" * 511 + "fg")).read_bytes() == b"x"
    assert not folder.exists()
    assert "has a path longer than 1024 bytes" in refused(packed(tmp_path, ("d/" * 3000 + "f", b"x")))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices_are_refused(tmp_path: Path, kind: int) -> None:
    info = zipfile.ZipInfo("link")
    info.external_attr = (kind | 0o777) << 16
    assert "'link' is" in refused(packed(tmp_path, (info, b"/etc/passwd")))


def test_a_name_twice_is_refused(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="Duplicate"):
        archive = packed(tmp_path, ("a.py", b"good"), ("a.py", b"bad"))
    assert "'a.py' is in it twice" in refused(archive)


def test_a_file_that_is_a_folder_too_is_refused(tmp_path: Path) -> None:
    assert "a file and a folder" in refused(packed(tmp_path, ("a", b"x"), ("a/b", b"x")))
    assert "a file and a folder" in refused(packed(tmp_path, ("a/b", b"x"), ("a", b"x")))


def test_what_is_encrypted_is_refused(tmp_path: Path) -> None:
    archive = packed(tmp_path, ("a.py", b"x"), method=zipfile.ZIP_STORED)
    body = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        body[body.index(signature) + offset] |= 1
    archive.write_bytes(body)
    assert "'a.py' is encrypted" in refused(archive)


def test_a_name_in_an_unknown_encoding_is_refused(tmp_path: Path) -> None:
    archive = packed(tmp_path, ("xx.py", b"x"), method=zipfile.ZIP_STORED)
    archive.write_bytes(archive.read_bytes().replace(b"xx.py", b"\xe4\xf6.py"))
    assert "not said to be UTF-8" in refused(archive)


def test_a_name_that_claims_to_be_utf8_and_is_not_is_refused(tmp_path: Path) -> None:
    archive = packed(tmp_path, ("ä.py", b"x"), method=zipfile.ZIP_STORED)
    archive.write_bytes(archive.read_bytes().replace("ä".encode(), b"\xff\xfe"))
    assert "cannot be unpacked" in refused(archive)


def test_what_would_be_too_large_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    archive = packed(tmp_path, ("zeros", bytes(65 * MIB)))
    assert "holds 1 files and 65 MB; code is at most 100 files and 64 MB" in refused(archive)


def test_what_is_packed_too_tightly_is_refused(tmp_path: Path) -> None:
    assert "more than 100 times as large" in refused(packed(tmp_path, ("zeros", bytes(SMALL_BYTES + 1))))


def test_a_size_that_is_not_true_is_found_out(tmp_path: Path) -> None:
    archive = packed(tmp_path, ("zeros", bytes(MIB)))
    body = bytearray(archive.read_bytes())
    struct.pack_into("<I", body, body.index(b"PK\x01\x02") + 24, 10)
    archive.write_bytes(body)
    assert "The zip" in refused(archive)


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    assert "101 files" in refused(packed(tmp_path, *((f"{n}.py", b"x") for n in range(101))))


def test_a_list_that_is_too_long_to_be_read_is_refused(tmp_path: Path) -> None:
    archive = tmp_path / "long.zip"
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 65535, 65535, 20 * MIB, 0, 0)
    with archive.open("wb") as file:
        file.truncate(20 * MIB)
        file.seek(20 * MIB)
        file.write(tail)
    assert "holds too much" in refused(archive)


def test_a_file_name_that_no_disk_takes_is_refused(tmp_path: Path) -> None:
    assert "cannot be unpacked" in refused(packed(tmp_path, ("x" * 300, b"x")))


@settings(max_examples=150)
@given(data=st.data())
def test_a_damaged_zip_is_a_sentence_and_leaves_nothing(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("a.py", b"print(1)\n" * 20)
        target.writestr("lib/b.py", b"x")
    body = bytearray(whole.getvalue())
    for at in data.draw(st.lists(st.integers(0, len(body) - 1), min_size=1, max_size=4)):
        body[at] = data.draw(st.integers(0, 255))
    archive = tmp_path_factory.getbasetemp() / "damaged.zip"
    archive.write_bytes(body[: data.draw(st.integers(0, len(body)))])
    folder = None
    try:
        with unpacked(archive, 100, MIB) as folder:
            for path in folder.rglob("*"):
                assert os.path.commonpath([path.resolve(), folder.resolve()]) == str(folder.resolve())
    except BadRequest as error:
        assert error.message.startswith("The zip")  # noqa: PT017 (either is right)
    assert folder is None or not Path(folder).exists()
