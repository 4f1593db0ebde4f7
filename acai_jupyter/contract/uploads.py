"""Upload sessions: the transaction in which a batch of files is uploaded.

A session is started, its names are staged in pages, objects are sent to targets and told, then it is committed: all of
its files have their versions at once, or none has. Until then it can be listed, continued or aborted.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from acai_jupyter.contract.ids import ObjectKey, UploadId
from acai_jupyter.contract.states import StorageClass, UploadState

MAX_PAGE = 10_000
"""Names in one request."""

HashText = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}(?!\\n)$")]
Size = Annotated[int, msgspec.Meta(ge=0, le=2**50)]
ObjectNumber = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
"""A session's objects are numbered by who sends them."""


class NewFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One file that an upload session is about."""

    path: str
    size_bytes: Size
    sha256: HashText


NewFiles = Annotated[list[NewFile], msgspec.Meta(max_length=MAX_PAGE)]


class CreateUpload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Start an upload session, with a first page of names if you like."""

    files: NewFiles = []
    file_set: str | None = None
    """Make a file set of all its files, by this name."""
    only_changed: bool = False
    """Make versions only of files that changed, and reuse the set's version when nothing did (`put`)."""
    storage: StorageClass = StorageClass.FREQUENT
    base: str | None = None
    """Another session, committed before: this one holds the files of that one too, unless staged or removed here."""
    label: Annotated[str, msgspec.Meta(max_length=500)] = ""
    """What people read in the list of pending sessions."""
    proof: str = ""
    """What the store's proof file says, by who shares its disk."""


class Upload(msgspec.Struct, frozen=True):
    """An upload session."""

    id: UploadId
    state: UploadState
    label: str
    creator: str
    created_at: datetime
    touched_at: datetime
    staged_files: int
    sent_bytes: int
    file_set: str | None = None
    base: UploadId | None = None
    """The session that it was built on."""
    next_object: int = 1
    """No object of the session has this number or a higher one yet."""
    folder: str | None = None
    """On the direct path: where the session's objects are to be left, as files named by their numbers."""
    missing: list[int] = []
    """Of the first page: the positions of files whose bytes the store does not have."""


class UploadList(msgspec.Struct, frozen=True):
    """Upload sessions, the newest first; `next` is the id of the one to go on behind."""

    uploads: list[Upload]
    next: str | None = None


class StageFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A page of names. The same name again in a session replaces what was said of it."""

    files: NewFiles = []
    removed: Annotated[list[str], msgspec.Meta(max_length=MAX_PAGE)] = []
    """Paths of the session's base that it does not hold."""
    anew: bool = False
    """Forget the names that were staged before this page. Objects that arrived stay."""


class Staged(msgspec.Struct, frozen=True):
    """The positions, in the page, of files whose bytes the store does not have."""

    missing: list[int]


class NewObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One object that is going to be sent: a large file, or a pack of small ones.

    With `part_bytes` it travels in parts of that size, and its hash is told when it has arrived.
    """

    number: ObjectNumber
    size_bytes: Size
    sha256: HashText | None = None
    part_bytes: Annotated[int, msgspec.Meta(ge=5 * 1024**2, le=5 * 1024**3)] | None = None


class CreateTargets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask where to send objects. Asked again for the same object, it answers with what is still missing."""

    objects: Annotated[list[NewObject], msgspec.Meta(min_length=1, max_length=1000)]


class PartTarget(msgspec.Struct, frozen=True):
    """Where to send one part. With an `etag` one has arrived before; whose it is knows who sent it."""

    number: int
    offset: int
    size_bytes: int
    url: str
    headers: dict[str, str] = {}
    etag: str | None = None


class Target(msgspec.Struct, frozen=True):
    """Where to send one object: a signed URL and the headers that belong to its signature, or its parts."""

    number: int
    key: ObjectKey
    url: str = ""
    headers: dict[str, str] = {}
    parts: list[PartTarget] = []
    has_arrived: bool = False
    """All of it is there, and has only to be told."""
    may_exist: bool = False
    """The project has a content of this size: it may be worth to hash before sending."""


class TargetList(msgspec.Struct, frozen=True):
    """One target for each object asked about, in the same order."""

    targets: list[Target]


class PackedBlob(msgspec.Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One content inside an object: a byte range with its hash."""

    sha256: HashText
    offset: Size
    size_bytes: Size


class SentPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part that has arrived."""

    number: Annotated[int, msgspec.Meta(ge=1, le=10_000)]
    etag: str


class SentObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An object that has arrived, and what is in it."""

    number: ObjectNumber
    size_bytes: Size
    sha256: HashText | None
    """None where nothing was signed for it, as on the direct path: the blobs have theirs."""
    blobs: Annotated[list[PackedBlob], msgspec.Meta(max_length=20_000)]
    parts: list[SentPart] = []


class AddObjects(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tell of objects that have arrived. Telling twice is the same as telling once."""

    objects: Annotated[list[SentObject], msgspec.Meta(max_length=1000)]


class Arrived(msgspec.Struct, frozen=True):
    """The numbers of the objects that are recorded now."""

    numbers: list[int]


class CommitUpload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Give the files their versions."""

    objects: Annotated[list[SentObject], msgspec.Meta(max_length=1000)] = []
    """What has not been told yet."""


class UploadResult(msgspec.Struct, frozen=True):
    """What a commit did; asking again answers the same."""

    id: UploadId
    new_files: int
    unchanged_files: int
    size_bytes: int
    sent_bytes: int = 0
    file_set: str | None = None


class Store(msgspec.Struct, frozen=True):
    """Where bytes rest. Who can read the proof file shares the store's disk, and may move bytes without HTTP."""

    kind: str
    proof_file: str | None = None
    part_bytes: int | None = None
    """Objects above this size should travel in parts of it; none where they go whole."""
