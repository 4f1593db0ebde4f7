"""Collecting garbage: what nothing refers to any more, why, and how many bytes that is."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

import msgspec


class GarbageKind(StrEnum):
    """Why something can go."""

    OUTDATED_SETS = "outdated_sets"
    """File set versions that the project's rules do not keep, and those that belonged to deleted jobs alone; they are
    deleted, and can be brought back for a while."""
    OUTDATED_FILES = "outdated_files"
    """File versions that the project's rules do not keep; deleted likewise."""
    DELETED_FILES = "deleted_files"
    """Contents of file versions that were deleted so long ago that they cannot be brought back."""
    DELETED_SETS = "deleted_sets"
    """Lists of file sets that were deleted so long ago that they cannot be brought back."""
    DELETED_JOBS = "deleted_jobs"
    """Logs, displays and records of jobs that were deleted so long ago that they cannot be brought back."""
    COPIES = "copies"
    """Contents that are kept more than once."""
    PACKS = "packs"
    """Packs of which most is dead: what lives is moved, the rest is freed."""
    MOVED = "moved"
    """Packs whose living contents were moved earlier, and which nobody can be reading any more."""
    LEFTOVERS = "leftovers"
    """What interrupted uploads and jobs left in the store."""
    UNKNOWN = "unknown"
    """Objects that no record of this database owns. They stay: they may belong to another database."""


class Garbage(msgspec.Struct, frozen=True):
    """What can go for one reason: how many things, and the bytes that are freed in the store or the database."""

    kind: GarbageKind
    count: int
    size_bytes: int
    examples: list[str] = []


class UnknownObject(msgspec.Struct, frozen=True):
    """An object of the store that no record of this database owns."""

    key: str
    size_bytes: int
    modified_at: datetime


class CollectionState(StrEnum):
    """Where a collection is."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"


class Collection(msgspec.Struct, frozen=True):
    """One run of the collector: what it found and, unless it was a dry run, freed so far."""

    id: str
    state: CollectionState
    is_dry_run: bool
    started_at: datetime
    step: str
    """What it is doing, for people."""
    garbage: list[Garbage]
    reason: str = ""
    """Why it failed."""
    unknown: list[UnknownObject] = []
    """The first of the unknown objects, if the collection looked for those."""


class CollectGarbage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Find what nothing refers to any more, and free it unless this is a dry run.

    With `unknown`, find the objects of the whole store that no record of this database owns instead. They are deleted
    only if `confirmed_count` is their number in an earlier list. Only global admins may ask for this.
    """

    dry_run: bool = False
    unknown: bool = False
    confirmed_count: Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)] | None = None
