"""Putting files into a project: hash, ask what is missing, send that in packs, commit."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError, BadRequest, StoreUnavailable, Unavailable, from_body
from acai_jupyter.contract.uploads import (
    CommitUpload,
    CreateTargets,
    CreateUpload,
    NewFile,
    NewObject,
    PackedBlob,
    SentObject,
    UploadResult,
)
from acai_jupyter.transfer.hashing import hash_file
from acai_jupyter.transfer.packs import Pack, write_pack
from acai_jupyter.transfer.targets import TransferError, send

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from acai_jupyter.client.http import Client

PACK_BYTES = 32 * 1024 * 1024


@dataclass(frozen=True)
class LocalFile:
    """A file here and the path it is to have in the project."""

    source: Path
    path: str


def put(client: Client, files: list[LocalFile], *, file_set: str | None, only_changed: bool = True) -> UploadResult:
    """Upload files in one session; what the project has already is not sent again."""
    if not files:
        raise BadRequest(reason="there are no files to upload")
    hashed = {file.path: (file.source, _new_file(file)) for file in files}
    upload = client.call(endpoints.CREATE_UPLOAD, CreateUpload([new for _, new in hashed.values()]))
    missing = set(upload.missing)
    sources = {new.sha256: (source, new) for source, new in hashed.values() if new.sha256 in missing}
    sent = [_send(client, upload.id, batch) for batch in _batches(sources.values())]
    commit = CommitUpload(sent, file_set=file_set, only_changed=only_changed)
    return client.call(endpoints.COMMIT_UPLOAD, commit, upload=upload.id)


def _new_file(file: LocalFile) -> NewFile:
    return NewFile(file.path, file.source.stat().st_size, hash_file(str(file.source)))


def _batches(files: Iterable[tuple[Path, NewFile]]) -> Iterator[list[tuple[Path, NewFile]]]:
    """Group files into packs; one that is larger than a pack travels alone."""
    batch: list[tuple[Path, NewFile]] = []
    size = 0
    for source, new in files:
        if batch and size + new.size_bytes > PACK_BYTES:
            yield batch
            batch, size = [], 0
        batch.append((source, new))
        size += new.size_bytes
    if batch:
        yield batch


def _send(client: Client, upload: str, batch: list[tuple[Path, NewFile]]) -> SentObject:
    with tempfile.TemporaryFile() as spool:
        pack = write_pack(((new.sha256, str(source)) for source, new in batch), spool)
        changed = next((f for f in pack.files if f.sha256 != f.name), None)
        if changed is not None:
            source = next(source for source, new in batch if new.sha256 == changed.name)
            raise BadRequest(reason=f"'{source}' changed while it was read; run the same line again")
        return _send_pack(client, upload, pack, spool)


def _send_pack(client: Client, upload: str, pack: Pack, spool: BinaryIO) -> SentObject:
    wanted = CreateTargets([NewObject(pack.size_bytes, pack.sha256)])
    target = client.call(endpoints.CREATE_TARGETS, wanted, upload=upload).targets[0]
    spool.seek(0)
    try:
        send(target.url, spool, pack.size_bytes, target.headers)
    except TransferError as error:
        raise _told_by_store(error) from error
    blobs = [PackedBlob(f.sha256, f.offset, f.size_bytes) for f in pack.files]
    return SentObject(target.key, pack.size_bytes, pack.sha256, blobs)


def _told_by_store(error: TransferError) -> AcaiError:
    """What a store of our own server refused with, else that the store does not answer."""
    with suppress(msgspec.DecodeError):
        told = from_body(msgspec.json.decode(error.answer), error.status)
        if not isinstance(told, Unavailable):
            return told
    return StoreUnavailable(reason=str(error))
