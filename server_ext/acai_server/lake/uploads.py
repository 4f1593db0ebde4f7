"""Upload sessions: bytes first, record last, versions given in the transaction that records the files."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec

from acai_jupyter.contract.errors import BadRequest, Conflict, FileSetNotFound, HashMismatch
from acai_jupyter.contract.ids import ObjectKey, ProjectId, Sha256, UploadId, UserId
from acai_jupyter.contract.specs import SetRef, check_name, normal_path
from acai_jupyter.contract.states import ActionKind, InputRole, UploadState
from acai_jupyter.contract.uploads import (
    CommitUpload,
    CreateUpload,
    NewObject,
    SentObject,
    Target,
    Upload,
    UploadResult,
)
from acai_server.lake import filesets
from acai_server.objects.keys import upload_key

if TYPE_CHECKING:
    from acai_jupyter.contract.filesets import Entry
    from acai_server.db.database import Database
    from acai_server.db.files import AddedVersions
    from acai_server.db.work import Work
    from acai_server.objects.protocol import ObjectStore

CODE_FOLDER = "/.code/"
"""Programs are kept as files too; sets of such files are in the role code."""


class Uploads:
    """Sessions of a batch of files."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self._database = database
        self._objects = objects

    def create(self, project: ProjectId, user: UserId, request: CreateUpload) -> Upload:
        """Stage the names; says which contents have to be sent."""
        paths = [normal_path(file.path) for file in request.files]
        if len(set(paths)) < len(paths):
            twice = next(path for path in paths if paths.count(path) > 1)
            raise BadRequest(reason=f"'{twice}' is in it twice")
        upload = UploadId(uuid4().hex)
        with self._database.writing() as work:
            work.uploads.create(upload, project, user, request.files, work.clock.now())
            known = work.files.known_blobs(project, (file.sha256 for file in request.files))
        missing = sorted({Sha256(file.sha256) for file in request.files} - set(known))
        return Upload(upload, UploadState.PENDING, missing)

    def targets(self, project: ProjectId, upload: str, objects: list[NewObject]) -> list[Target]:
        """Hand out the places to send objects to."""
        made = []
        with self._database.writing() as work:
            stored = work.uploads.get(project, upload, lock=True)
            if stored.state is not UploadState.PENDING:
                raise Conflict(reason=f"the upload session is {stored.state.value}")
            for announced in objects:
                key = upload_key(project)
                work.uploads.add_object(stored.id, key, announced)
                url, headers = self._objects.sign_put(key, size_bytes=announced.size_bytes, sha256=announced.sha256)
                made.append(Target(key, url, headers))
        return made

    def commit(self, project: ProjectId, upload: str, request: CommitUpload) -> UploadResult:
        """Give the files their versions, all or none. Again: the same answer."""
        if request.file_set is not None:
            check_name(request.file_set)
        with self._database.reading() as work:
            stored = work.uploads.get(project, upload)
            announced = work.uploads.objects(stored.id)
        if stored.state is UploadState.PENDING:
            for sent in request.objects:
                self._check(sent, announced)
        with self._database.writing() as work:
            stored = work.uploads.get(project, upload, lock=True)
            if stored.result is not None:
                return msgspec.convert(stored.result, UploadResult)
            result = _record(work, project, stored.user_id, stored.id, request)
            work.uploads.commit(stored.id, msgspec.to_builtins(result), work.clock.now())
        return result

    def _check(self, sent: SentObject, announced: dict[str, NewObject]) -> None:
        """Refuse an object that did not arrive as announced, or whose blobs do not lie inside it."""
        wanted = announced.get(sent.key)
        if wanted != NewObject(sent.size_bytes, sent.sha256):
            raise BadRequest(reason=f"object '{sent.key[:80]}' was not announced like this")
        if self._objects.size(ObjectKey(sent.key)) != sent.size_bytes:
            raise HashMismatch(what=sent.key)
        if any(blob.offset + blob.size_bytes > sent.size_bytes for blob in sent.blobs):
            raise BadRequest(reason=f"a blob lies outside object '{sent.key}'")


def _record(work: Work, project: ProjectId, user: UserId, upload: UploadId, request: CommitUpload) -> UploadResult:
    now = work.clock.now()
    for sent in request.objects:
        work.files.add_object(project, sent, now)
    files = work.uploads.entries(upload)
    known = work.files.known_blobs(project, (file.sha256 for file in files))
    lost = next((file.path for file in files if Sha256(file.sha256) not in known), None)
    if lost is not None:
        raise Conflict(reason=f"the bytes of '{lost}' have not been sent")
    added = work.files.add_versions(project, user, files, now, only_changed=request.only_changed)
    if added.new_files:
        work.events.record(project, "files_committed", f"{added.new_files} files")
    ref = None
    if request.file_set is not None:
        ref = _file_set(work, project, user, request.file_set, added, reuse=request.only_changed)
    return UploadResult(
        id=upload,
        new_files=added.new_files,
        unchanged_files=len(files) - added.new_files,
        size_bytes=sum(file.size_bytes for file in files),
        file_set=ref,
    )


def _file_set(work: Work, project: ProjectId, user: UserId, name: str, added: AddedVersions, *, reuse: bool) -> str:
    try:
        latest = work.file_sets.find(project, SetRef(name))
    except FileSetNotFound:
        latest = None
    role = _role(added.entries)
    if latest is not None and latest.public.role is not role:
        raise Conflict(reason=f"the name '{name}' is taken by a set of role {latest.public.role.value}")
    if reuse and latest is not None and latest.root == filesets.root_of(added.entries):
        return latest.public.ref
    stored = filesets.add_version(work, project, user, name, role, added.entries)
    work.actions.add(project, user, ActionKind.UPLOAD, [], stored.id, work.clock.now())
    return stored.public.ref


def _role(entries: list[Entry]) -> InputRole:
    return InputRole.CODE if all(entry.path.startswith(CODE_FOLDER) for entry in entries) else InputRole.DATA
