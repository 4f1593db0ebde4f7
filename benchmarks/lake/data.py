"""The files that are moved: made once of incompressible bytes, changed in one place, compared, deleted."""

from __future__ import annotations

import filecmp
import os
import random
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from benchmarks.lake.programs import WorkFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

A_FOLDER = 1000
PART_BYTES = 1024 * 1024
CHANGED = "0000/000500"


def make_files(folder: Path, count: int, size_bytes: int) -> Path:
    """Write files of random bytes, a thousand a folder; the same ones every time."""
    source = random.Random(count)
    for number in range(count):
        if number % A_FOLDER == 0:
            below = folder / f"{number // A_FOLDER:04}"
            below.mkdir(parents=True)
        (below / f"{number:06}").write_bytes(source.randbytes(size_bytes))
    return folder


def make_file(folder: Path, size_bytes: int) -> Path:
    """Write a folder with one file of random bytes."""
    folder.mkdir(parents=True)
    source = random.Random(size_bytes)
    with (folder / "file").open("wb") as out:
        for _ in range(size_bytes // PART_BYTES):
            out.write(source.randbytes(PART_BYTES))
    return folder


@contextmanager
def changed(folder: Path) -> Iterator[bytes]:
    """Give one file another content of the same size, for a while."""
    file = folder / CHANGED
    before = file.read_bytes()
    after = random.Random(before).randbytes(len(before))
    file.write_bytes(after)
    try:
        yield after
    finally:
        file.write_bytes(before)


def check_equal(source: Path, returned: Path) -> None:
    """Refuse what did not come back whole, or came back with something else."""
    names = _names(source)
    if _names(returned) != names:
        raise WorkFailed("what came back are not the same files")
    _, different, unreadable = filecmp.cmpfiles(source, returned, sorted(names), shallow=False)
    filecmp.clear_cache()
    if different or unreadable:
        raise WorkFailed(f"{len(different) + len(unreadable)} files came back different")


def _names(folder: Path) -> set[str]:
    return {os.path.relpath(os.path.join(below, name), folder) for below, _, names in os.walk(folder) for name in names}  # noqa: PTH118 (a million times)


def stored_bytes(data_folder: Path) -> int:
    """Return what the embedded server keeps: the pages its database uses, and the objects."""
    with closing(sqlite3.connect(data_folder / "acai.db", timeout=20)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        pages, free, page_bytes = (
            int(connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
    objects = sum(path.stat().st_size for path in (data_folder / "objects").rglob("*") if path.is_file())
    return (pages - free) * page_bytes + objects
