"""File sets: named, versioned, flat lists of file versions."""

from __future__ import annotations

from datetime import datetime

import msgspec

from acai_jupyter.contract.ids import Sha256
from acai_jupyter.contract.states import InputRole


class FileSet(msgspec.Struct, frozen=True):
    """One version of a file set."""

    name: str
    version: int
    file_count: int
    size_bytes: int
    created_at: datetime
    creator: str
    role: InputRole = InputRole.DATA
    """'data' unless the system made it to keep a job's code or variables."""

    @property
    def ref(self) -> str:
        """How people write it: `mnist:3`."""
        return f"{self.name}:{self.version}"


class FileSetPage(msgspec.Struct, frozen=True):
    """File sets, the newest version of each name, by name."""

    file_sets: list[FileSet]
    next: str | None = None


class Entry(msgspec.Struct, frozen=True):
    """One file version in a file set."""

    path: str
    version: int
    size_bytes: int
    sha256: Sha256


class EntryPage(msgspec.Struct, frozen=True):
    """Entries of a file set by path; `next` is the path to continue after."""

    entries: list[Entry]
    next: str | None = None
