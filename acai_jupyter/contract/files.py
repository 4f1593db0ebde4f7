"""Files as they are read: folders, versions, and where to fetch bytes."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import msgspec

from acai_jupyter.contract.ids import Sha256
from acai_jupyter.contract.states import StorageClass


class ChildKind(StrEnum):
    """What stands in a folder."""

    FILE = "file"
    FOLDER = "folder"


class Child(msgspec.Struct, frozen=True):
    """One file or folder in a folder. A folder is there because files are below it, and has only its name."""

    name: str
    kind: ChildKind
    version: int | None = None
    size_bytes: int | None = None
    created_at: datetime | None = None


class FolderPage(msgspec.Struct, frozen=True):
    """Children of a folder by name; `next` is the name to continue after."""

    path: str
    children: list[Child]
    next: str | None = None


class FileVersion(msgspec.Struct, frozen=True):
    """One version of a file. One that was deleted keeps its number and its hash."""

    path: str
    version: int
    size_bytes: int
    sha256: Sha256
    created_at: datetime
    creator: str
    storage: StorageClass
    deleted_at: datetime | None = None


class VersionPage(msgspec.Struct, frozen=True):
    """Versions of a file, the newest first."""

    path: str
    versions: list[FileVersion]
    next: int | None = None


class Place(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file to fetch: a byte range of one of the page's objects."""

    path: str
    version: int
    size_bytes: int
    sha256: str
    object: int
    """Its position in the page's list."""
    offset: int


class FetchFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask where the bytes of what a spec names can be fetched."""

    spec: str
    after: str = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=20_000)] = 10_000
    proof: str = ""


class FetchPage(msgspec.Struct, frozen=True):
    """Files by path, and the URLs of the objects they are in."""

    root: str
    """What the paths have in common: they are laid out below it. The file's own folder when the spec names one file."""
    is_file: bool
    files: list[Place]
    objects: list[str]
    next: str | None = None


class RemoveFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Delete the version that a spec names, all versions of a file, or with `undo` take that back."""

    spec: str
    undo: bool = False


class RemoveManyFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Do the same with many; those that cannot be deleted stay."""

    specs: Annotated[list[str], msgspec.Meta(min_length=1, max_length=1000)]
    undo: bool = False


class Removed(msgspec.Struct, frozen=True):
    """What was deleted, or is back."""

    path: str
    versions: list[int]


class KeptFile(msgspec.Struct, frozen=True):
    """What is as it was, and why."""

    spec: str
    reason: str


class RemovedFiles(msgspec.Struct, frozen=True):
    """What became of many."""

    removed: list[Removed]
    kept: list[KeptFile]


class ReportedFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file version that a reader could not read."""

    path: str
    version: Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)]


class DamageReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Report files whose bytes were missing, too few, or not those of their hash."""

    files: Annotated[list[ReportedFile], msgspec.Meta(min_length=1, max_length=1000)]


class DamageVerdict(msgspec.Struct, frozen=True):
    """What the server found when it looked for itself."""

    damaged: list[str]
    """Those of the reported files that are damaged, as path:version."""
    is_pending: bool = False
    """Some of them are large and will be read in the background."""
