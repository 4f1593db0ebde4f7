"""File sets: named, versioned, flat lists of file versions."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Union

import msgspec

from acai_jupyter.contract.errors import BadRequest
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
    note: str = ""
    """Markdown."""
    aliases: list[str] = []
    """The names that stand for this version now, beside 'latest'."""
    deleted_at: datetime | None = None

    @property
    def ref(self) -> str:
        """How people write it: `mnist:3`."""
        return f"{self.name}:{self.version}"


class FileSetPage(msgspec.Struct, frozen=True):
    """File sets, the newest version of each name, by name."""

    file_sets: list[FileSet]
    next: str | None = None


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One file version in a file set."""

    path: str
    version: int
    size_bytes: int
    sha256: Sha256


class EntryPage(msgspec.Struct, frozen=True):
    """Entries of a file set by path; `next` is the path to continue after."""

    entries: list[Entry]
    next: str | None = None


class VersionsPage(msgspec.Struct, frozen=True):
    """The versions of one name, the newest first, the deleted ones too; `next` is the number to continue below."""

    file_sets: list[FileSet]
    next: int | None = None


# -- what sets are made of

MAX_SOURCES = 100_000
MAX_NESTING = 20
MAX_NOTE = 10_000
Note = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": MAX_NOTE})]  # `check_note` says it better


class Without(msgspec.Struct, frozen=True, tag="without", tag_field="op", forbid_unknown_fields=True):
    """The files of some sources whose paths others do not have."""

    of: list[Source]
    without: list[Source]


class Matching(msgspec.Struct, frozen=True, tag="matching", tag_field="op", forbid_unknown_fields=True):
    """The files of some sources whose paths fit a pattern.

    `*` and `?` stand for what is between two '/', `**` for any number of folders, `[abc]` and `[!abc]` for one
    character; a pattern that ends in '/' means all below that folder.
    """

    of: list[Source]
    pattern: str


class AsOf(msgspec.Struct, frozen=True, tag="as_of", tag_field="op", forbid_unknown_fields=True):
    """A folder of the project, `/` or `/dir/`, as it was after a commit: how the server pins one.

    Files that were deleted and brought back since count as there.
    """

    spec: str
    commit: Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]


Source = Union[str, Without, Matching, AsOf]  # noqa: UP007 (it names itself)
"""A file spec, or files chosen from other sources. In a list of sources the later one wins for the same path."""


def check_extent(count: int, depth: int) -> None:
    """Refuse more sources than a request can have, or lists of them that stand in each other deeper."""
    if depth > MAX_NESTING:
        raise BadRequest(reason=f"sources stand in each other more than {MAX_NESTING} deep")
    if count > MAX_SOURCES:
        raise BadRequest(reason=f"there are more than {MAX_SOURCES:,} sources; name folders or sets instead")


def check_files(file_count: int) -> None:
    """Refuse to make a file set of nothing."""
    if not file_count:
        raise BadRequest(reason="these sources have no files; an empty file set is not made")


def check_note(note: str) -> None:
    """Refuse a note that is too long, or that a database cannot keep."""
    if len(note) > MAX_NOTE:
        raise BadRequest(reason=f"a note has at most {MAX_NOTE:,} characters")
    if "\0" in note:
        raise BadRequest(reason="a note cannot have a NUL character")


class CreateFileSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Make the next version of a name of these sources; with `if_changed` only when the newest holds something else."""

    name: str
    sources: list[Source]
    note: Note = ""
    if_changed: bool = False


class CreatedFileSet(msgspec.Struct, frozen=True):
    """A file set, and whether it was made just now or held the same already."""

    file_set: FileSet
    is_new: bool
    made_from: list[str]
    """The file sets that provenance leads back to."""


class ResolveSources(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask which file versions sources are, after a path; `counted` wants their number and size too."""

    sources: list[Source]
    after: str = ""
    limit: Annotated[int, msgspec.Meta(ge=0, le=20_000)] = 1000
    counted: bool = False


class Resolved(msgspec.Struct, frozen=True):
    """File versions by path; `next` is the path to continue after. Later pages are asked for by `pinned` sources."""

    entries: list[Entry]
    pinned: list[Source]
    """The sources with every set and file named by its version, so that all pages are of one moment."""
    made_from: list[str]
    next: str | None = None
    file_count: int | None = None
    size_bytes: int | None = None


class UpdateFileSet(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Change what is not content."""

    note: Note
    expect: str | None = None
    """The note until then. If it is another, it stays and the error `outdated` says what it is."""


# -- differences


class DifferenceKind(StrEnum):
    """How a file differs."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"
    """Other bytes under the same path."""
    RENAMED = "renamed"
    """The same bytes under another path."""


class Difference(msgspec.Struct, frozen=True):
    """A file that differs: what it was and what it is."""

    kind: DifferenceKind
    before: Entry | None
    after: Entry | None


class CompareSources(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask how one content differs from another."""

    before: list[Source]
    after: list[Source]
    start: Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)] = 0
    """How many differences to leave out at the beginning."""
    limit: Annotated[int, msgspec.Meta(ge=0, le=20_000)] = 1000


class Comparison(msgspec.Struct, frozen=True):
    """Differences by path; `next` is where to start again."""

    added: int
    removed: int
    changed: int
    renamed: int
    renumbered: int
    """Files with the same bytes under another version number: no difference, but not the same file version."""
    differences: list[Difference]
    pinned_before: list[Source]
    pinned_after: list[Source]
    next: int | None = None


# -- aliases


class AliasChange(msgspec.Struct, frozen=True):
    """From when on an alias stood for which version; none is when it was taken away."""

    number: int
    alias: str
    version: int | None
    creator: str
    at: datetime


class AliasPage(msgspec.Struct, frozen=True):
    """What the aliases of a name are now, and their changes, the newest first; `next` is the number to go on below."""

    aliases: dict[str, int]
    changes: list[AliasChange]
    next: int | None = None


# -- removing


class RemoveFileSets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Delete a version, or all versions of a name that is given without one; with `undo` bring them back.

    `files` also deletes the file versions that no other file set holds, but not the newest of a path.
    """

    undo: bool = False
    files: bool = False


class RemovedFileSets(msgspec.Struct, frozen=True):
    """What was deleted, or is back."""

    file_sets: list[str]
    file_versions: int
    undo_until: datetime | None = None
    """Until then what was deleted can be brought back."""


class Retention(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a project keeps of old versions. A version that any of the rules keeps stays; without rules all stay.

    What has an alias or a label, or an open job uses, always stays, and so does the newest of each name.
    """

    keep_last: Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)] | None = None
    keep_days: Annotated[float, msgspec.Meta(ge=0)] | None = None
    files: bool = False
    """Whether file versions that no file set holds any more follow the same rules."""
