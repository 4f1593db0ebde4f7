"""Unpacking a zip that may come from anybody: all of it lies below one folder, or nothing is unpacked."""

from __future__ import annotations

import stat
import struct
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter import trees
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.specs import MAX_PATH_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_RATIO = 100
SMALL_BYTES = 16 * 1024**2
"""What unpacks to no more than this may be packed as tightly as it likes."""
MAX_DIRECTORY_BYTES = 16 * 1024**2
"""How long the list of what is in a zip may be: it is held in memory before anything can be said of it."""
_TAIL_BYTES = 22 + 65535
_TAIL = b"PK\x05\x06"
_ENCRYPTED, _UTF8 = 0x1, 0x800
_BLOCK = 1024 * 1024
_BROKEN = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    struct.error,
)
"""What Python raises for zips that are none; `RuntimeError` for a method it lacks, or a password."""


@contextmanager
def unpacked(archive: Path, max_files: int, max_bytes: int) -> Iterator[Path]:
    """Unpack into a folder that is gone afterwards."""
    with trees.temporary_folder("acai-code-") as folder:
        try:
            _unpack(archive, Path(folder), max_files, max_bytes)
        except _BROKEN as error:
            raise _refused(archive, f"cannot be unpacked: {one_line(str(error)) or type(error).__name__}") from error
        except (OSError, MemoryError) as error:
            reason = getattr(error, "strerror", None) or "it is too large"
            raise _refused(archive, f"cannot be unpacked: {reason}") from error
        yield Path(folder)


def _unpack(archive: Path, folder: Path, max_files: int, max_bytes: int) -> None:
    packed_bytes = archive.stat().st_size
    if _directory_bytes(archive, packed_bytes) > MAX_DIRECTORY_BYTES:
        raise _refused(archive, f"holds too much; code is at most {max_files:,} files")
    with zipfile.ZipFile(archive) as source:
        files = _checked(archive, source.infolist())
        total = sum(member.file_size for member in files)
        if len(files) > max_files or total > max_bytes:
            most = f"code is at most {max_files:,} files and {max_bytes // 1024**2:,} MB"
            raise _refused(archive, f"holds {len(files):,} files and {total // 1024**2:,} MB; {most}")
        if total > max(SMALL_BYTES, MAX_RATIO * packed_bytes):
            raise _refused(archive, f"would become more than {MAX_RATIO} times as large when unpacked")
        for member in files:
            _write(archive, source, member, folder)


def _directory_bytes(archive: Path, packed_bytes: int) -> int:
    """How long its list says that it is; where that cannot be seen it may be as long as the file."""
    with archive.open("rb") as file:
        file.seek(max(0, packed_bytes - _TAIL_BYTES))
        tail = file.read()
    at = tail.rfind(_TAIL)
    if at < 0 or len(tail) < at + 16:
        return packed_bytes
    (declared,) = struct.unpack_from("<I", tail, at + 12)
    return min(int(declared), packed_bytes)


def _checked(archive: Path, members: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """Return the files; whatever could lie outside, or be something else than it seems, refuses all."""
    seen: set[str] = set()
    files: list[zipfile.ZipInfo] = []
    for member in members:
        reason = _fault(member)
        name = member.filename.rstrip("/")
        if not reason and name in seen and not member.is_dir():
            reason = "is in it twice"
        if reason:
            raise _refused(archive, f"is refused: '{one_line(member.filename[:80])}' {reason}")
        if not member.is_dir():
            seen.add(name)
            files.append(member)
    return files


def _fault(member: zipfile.ZipInfo) -> str:
    name = member.orig_filename
    kind = stat.S_IFMT(member.external_attr >> 16)
    reasons = (
        (member.flag_bits & _ENCRYPTED, "is encrypted"),
        (not name.isascii() and not member.flag_bits & _UTF8, "has a name that is not said to be UTF-8"),
        ("\0" in name or "\\" in name, "has a name with a backslash or NUL"),
        (name.startswith("/"), "has an absolute path"),
        (len(name.encode()) > MAX_PATH_BYTES, f"has a path longer than {MAX_PATH_BYTES} bytes"),
        (
            {"", ".", ".."} & set(name.removesuffix("/").split("/")),
            "has a path with '..', '.' or nothing between two '/'",
        ),
        (kind == stat.S_IFLNK, "is a symbolic link"),
        (kind not in (0, stat.S_IFREG, stat.S_IFDIR, stat.S_IFLNK), "is not a regular file"),
    )
    return next((reason for is_wrong, reason in reasons if is_wrong), "")


def _write(archive: Path, source: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path) -> None:
    path = folder / member.filename
    left = member.file_size
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        target = path.open("xb")
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        raise _refused(archive, f"is refused: '{one_line(member.filename[:80])}' is a file and a folder") from error
    with target, source.open(member) as stream:
        while block := stream.read(_BLOCK):
            left -= len(block)
            if left < 0:
                raise _refused(archive, f"is refused: '{one_line(member.filename[:80])}' is longer than it says")
            target.write(block)


def _refused(archive: Path, what: str) -> BadRequest:
    return BadRequest(f"The zip {one_line(str(archive))} {what}.")
