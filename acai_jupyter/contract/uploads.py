"""Upload sessions: the transaction in which a batch of files is uploaded."""

from __future__ import annotations

from typing import Annotated

import msgspec

from acai_jupyter.contract.ids import ObjectKey, Sha256, UploadId
from acai_jupyter.contract.states import UploadState

HashText = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Size = Annotated[int, msgspec.Meta(ge=0, le=2**50)]


class NewFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file that an upload session is about."""

    path: str
    size_bytes: Size
    sha256: HashText


class CreateUpload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Start an upload session with all its names."""

    files: Annotated[list[NewFile], msgspec.Meta(min_length=1, max_length=100_000)]


class Upload(msgspec.Struct, frozen=True):
    """An upload session. `missing` lists the hashes whose bytes the store does not have yet."""

    id: UploadId
    state: UploadState
    missing: list[Sha256] = []


class NewObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One object that the client is going to send: a large file, or a pack of small ones."""

    size_bytes: Size
    sha256: HashText


class CreateTargets(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask where to send objects."""

    objects: Annotated[list[NewObject], msgspec.Meta(min_length=1, max_length=1000)]


class Target(msgspec.Struct, frozen=True):
    """Where to send one object: a signed URL and the headers that belong to its signature."""

    key: ObjectKey
    url: str
    headers: dict[str, str] = {}


class TargetList(msgspec.Struct, frozen=True):
    """One target for each object asked about, in the same order."""

    targets: list[Target]


class PackedBlob(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One content inside an object: a byte range with its hash."""

    sha256: HashText
    offset: Size
    size_bytes: Size


class SentObject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An object that has arrived, and what is in it."""

    key: str
    size_bytes: Size
    sha256: HashText
    blobs: list[PackedBlob]


class CommitUpload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Give the files their versions, and with a name make a file set of them."""

    objects: list[SentObject] = []
    file_set: str | None = None
    only_changed: bool = False
    """Make versions only of files that changed, and reuse the set's version when nothing did (`put`)."""


class UploadResult(msgspec.Struct, frozen=True):
    """What a commit did; asking again answers the same."""

    id: UploadId
    new_files: int
    unchanged_files: int
    size_bytes: int
    file_set: str | None = None
