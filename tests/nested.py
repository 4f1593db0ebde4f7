"""Folders nested deeper than Python recurses and than a path can be long. Runs on Python 3.8."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

LEVELS = 3000


def nest(root: Path, levels: int = LEVELS, name: str = "nest", content: bytes = b"") -> None:
    """Make folders in each other, with a file `bottom` in the deepest one."""
    root.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(root, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=descriptor)
        below = os.open(name, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    file = os.open("bottom", os.O_WRONLY | os.O_CREAT, dir_fd=descriptor)
    os.write(file, content)
    os.close(file)
    os.close(descriptor)
