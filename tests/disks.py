"""Disks that are as small as a test wants."""

from __future__ import annotations

import errno
import itertools
import os
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def small_disk(folder: Path, size: str = "1m") -> Iterator[Path]:
    """Mount a disk of this size while the context lasts; the test is skipped where that is not allowed."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root can mount a small disk")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def fill(path: Path) -> None:
    """Write until the disk is full to the last block."""
    with path.open("wb", buffering=0) as ballast:
        for size in (1024**2, 4096):
            piece = b"\0" * size
            with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
                ballast.writelines(itertools.repeat(piece))
