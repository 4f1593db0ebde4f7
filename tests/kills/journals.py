"""What a client writes down before and after each step, so that it is known even when it is killed."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

COMMITTING = "committing"
"""A file beside the journals that grows by a byte when a client asks for a commit."""


class Journal:
    """Lines of JSON in a file; each is on the disk before the next step is taken."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, **said: Any) -> None:
        """Add a line."""
        with self.path.open("ab", buffering=0) as file:
            file.write(json.dumps(said).encode() + b"\n")
            os.fsync(file.fileno())
        if COMMITTING in said:
            with self.path.with_name(COMMITTING).open("ab") as beside:
                beside.write(b".")

    def lines(self) -> list[dict[str, Any]]:
        """Return all lines; what a kill cut off is not one."""
        if not self.path.exists():
            return []
        return [json.loads(line) for line in self.path.read_bytes().split(b"\n") if line.endswith(b"}")]

    def last(self, key: str) -> Any:
        """Return the last word on something."""
        return next((line[key] for line in reversed(self.lines()) if key in line), None)
