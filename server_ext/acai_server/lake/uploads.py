"""Upload sessions: names first, then bytes, the record last. The commit itself is in `commits.py`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

import msgspec

from acai_jupyter.contract.errors import (
    BadRequest,
    Conflict,
    DeletionPaused,
    HashMismatch,
    ObjectNotFound,
    TooManyUploads,
    UploadNotFound,
)
from acai_jupyter.contract.specs import check_name, normal_path
from acai_jupyter.contract.states import UploadState
from acai_jupyter.contract.uploads import (
    CreateUpload,
    NewFile,
    NewObject,
    PartTarget,
    SentObject,
    Store,
    Target,
    Upload,
    UploadList,
    UploadResult,
)
from acai_server.db import pages, sight
from acai_server.db.uploads import ExpectedObject
from acai_server.lake.commits import FEW, Commits, answer
from acai_server.lake.growing import GrowingSessions
from acai_server.lake.tidying import object_key

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ObjectKey, ProjectId, UserId
    from acai_jupyter.contract.queries import UploadQuery
    from acai_server.db.blobs import RecordedObject
    from acai_server.db.database import Database
    from acai_server.db.uploads import StoredUpload
    from acai_server.db.work import Work
    from acai_server.lake.direct import DirectPath
    from acai_server.lake.integrity.damage import Damages
    from acai_server.lake.tidying import Tidying
    from acai_server.objects.protocol import ObjectStore


class _Staged(NamedTuple):
    """What staging a page found out."""

    contents: list[tuple[bytes, int]]
    """Hash and size of each file."""
    missing: list[int]
    relied: set[RecordedObject]


PART_BYTES = 64 * 1024 * 1024
STILL_MINUTES = 5
"""So long an upload that nobody goes on with counts as being under way."""


class Uploads:
    """Sessions of a batch of files. Each is its user's own; for everybody else there is none."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        direct: DirectPath | None,
        tidying: Tidying,
        damages: Damages,
        at_once: int = 0,
    ) -> None:
        self._database = database
        self._damages = damages
        self._at_once = at_once
        self._tidying = tidying
        self._objects = objects
        self._direct = direct
        self._growing = GrowingSessions()
        self._commits = Commits(database, self._growing, damages)

    def store(self) -> Store:
        """Say where bytes rest."""
        return Store(self._objects.name, self._direct.proof_file if self._direct else None, PART_BYTES)

    def create(self, project: ProjectId, user: UserId, request: CreateUpload) -> Upload:
        """Start a session; with a first page, says which of its contents have to be sent."""
        if request.file_set is not None:
            check_name(request.file_set)
            sight.refuse_set(request.file_set)
        _check(request.files)
        direct = self._direct is not None and self._direct.proved(request.proof)
        if request.base is not None:
            self._check_base(project, user, request.base)
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            self._hold_back(work, user)
            base = _base(work, project, user, request)
            stored = work.uploads.create(
                uuid4().hex,
                project,
                user,
                work.clock.now(),
                file_set=request.file_set,
                only_changed=request.only_changed,
                is_direct=direct,
                storage=request.storage.value,
                label=request.label,
                base_id=None if base is None else base.id,
            )
            if base is not None and base.commit_number is not None:
                work.uploads.set_reconciled(stored.id, base.commit_number)
            else:
                self._growing.begin(stored.key)
            staged = self._staged(work, stored, request.files)
            public = self._public(work, stored, [])
        return msgspec.structs.replace(public, missing=self._unsent(stored, staged))

    def _check_base(self, project: ProjectId, user: UserId, key: str) -> None:
        """Mark what the store has lost of a base, which then is refused."""
        with self._database.reading() as work:
            base = _own(work, project, user, key)
        if base.root is not None:
            self._damages.base_lost(base, answer(base).new_files + answer(base).unchanged_files)

    def _hold_back(self, work: Work, user: UserId) -> None:
        """Refuse what is more than one user may have under way. One that stands still is not counted for ever."""
        if not self._at_once:
            return
        since = work.clock.now() - timedelta(minutes=STILL_MINUTES)
        if work.uploads.under_way(user, since) >= self._at_once:
            raise TooManyUploads(user=work.uploads.creator(user), limit=self._at_once, minutes=STILL_MINUTES)

    def get(self, project: ProjectId, user: UserId, key: str) -> Upload:
        """Return one session."""
        with self._database.reading() as work:
            return self._public(work, _own(work, project, user, key), [])

    def of_user(self, project: ProjectId, user: UserId, asked: UploadQuery) -> UploadList:
        """Return a page of a user's sessions, the newest first."""
        with self._database.reading() as work:
            found = work.uploads.of_user(project, user, asked.state, asked.before, asked.limit + 1)
            shown, last = pages.cut(found, asked.limit, lambda one: one.key)
            return UploadList([self._public(work, stored, []) for stored in shown], last)

    def stage(self, project: ProjectId, user: UserId, key: str, files: list[NewFile], removed: list[str]) -> list[int]:
        """Stage a page of names; returns the positions of those whose bytes have to be sent."""
        _check(files)
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            stored = _pending(work, project, user, key)
            if removed and stored.base_id is None:
                raise BadRequest(reason="only what a base holds can be removed")
            if removed:
                work.staging.leave_out(stored, [normal_path(path) for path in removed])
                work.uploads.changed(stored.id)
            staged = self._staged(work, stored, files)
        return self._unsent(stored, staged)

    def stage_anew(self, project: ProjectId, user: UserId, key: str) -> None:
        """Forget the names that were staged; objects that arrived stay. It may be interrupted, and done again."""
        more = True
        while more:
            with self._database.writing() as work:
                work.uploads.lock_project(project)
                stored = _pending(work, project, user, key)
                self._growing.forget(stored.key)
                more = work.staging.forget(stored.id, FEW)
                work.uploads.changed(stored.id)

    def targets(self, project: ProjectId, user: UserId, key: str, objects: list[NewObject]) -> list[Target]:
        """Hand out the places to send objects to."""
        with self._database.reading() as work:
            stored = _pending(work, project, user, key)
            expected = work.uploads.expected(stored.id)
            unhashed = {one.size_bytes for one in objects if one.sha256 is None}
            there = {size for size in unhashed if work.blobs.may_have(project, size)}
        made = [self._target(stored, wanted, expected.get(wanted.number)) for wanted in objects]
        with self._database.writing() as work:
            work.uploads.touch(stored.id, work.clock.now())
            for number, (_, wanted) in zip((one.number for one in objects), made, strict=True):
                if wanted != expected.get(number):
                    work.uploads.expect(stored.id, number, wanted)
        return [
            msgspec.structs.replace(target, may_exist=wanted.sha256 is None and wanted.size_bytes in there)
            for (target, _), wanted in zip(made, objects, strict=True)
        ]

    def add(self, project: ProjectId, user: UserId, key: str, sent: list[SentObject]) -> list[int]:
        """Record objects that have arrived. Doing it again changes nothing."""
        with self._database.reading() as work:
            stored = _pending(work, project, user, key)
            expected = work.uploads.expected(stored.id)
        for one in sent:
            self._arrived(stored, one, expected.get(one.number))
        with self._database.writing() as work:
            stored = _pending(work, project, user, key, lock=True)
            for one in sent:
                work.blobs.add(project, stored.id, object_key(stored, one.number), one)
            work.uploads.touch(stored.id, work.clock.now())
        growing = self._growing.get(stored.key)
        if growing is not None:
            growing.arrived(blob for one in sent for blob in one.blobs)
        return [one.number for one in sent]

    def commit(self, project: ProjectId, user: UserId, key: str, sent: list[SentObject]) -> UploadResult:
        """Give the files their versions, all or none. Again: the same answer."""
        with self._database.reading() as work:
            stored = _own(work, project, user, key)
        if stored.state is not UploadState.PENDING:
            return answer(stored)
        if sent and not self._told(project, user, key, sent):
            with self._database.reading() as work:  # somebody else ended it meanwhile
                return answer(_own(work, project, user, key))
        return self._commits.commit(stored)

    def _told(self, project: ProjectId, user: UserId, key: str, sent: list[SentObject]) -> bool:
        try:
            self.add(project, user, key, sent)
        except Conflict:
            with self._database.reading() as work:
                if _own(work, project, user, key).state is UploadState.PENDING:
                    raise
            return False
        return True

    def abort(self, project: ProjectId, user: UserId, key: str) -> Upload:
        """Give a session up and delete what was sent. Again: nothing more happens."""
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            stored = _own(work, project, user, key, lock=True)
            if stored.state is UploadState.COMMITTED:
                raise Conflict(reason="the upload session is committed; its files can be deleted with rm")
            work.uploads.give_up(stored.id)
        with suppress(DeletionPaused):  # the collector of uploads does it later
            self._tidying.tidy(replace(stored, state=UploadState.ABORTED), for_good=False)
        return self.get(project, user, key)

    def _staged(self, work: Work, stored: StoredUpload, files: list[NewFile]) -> _Staged:
        if not files:
            return _Staged([], [], set())
        staged = [(file.path, file.size_bytes, bytes.fromhex(file.sha256)) for file in files]
        growing = self._growing.forget(stored.key)  # back when all of this went well
        numbers = work.staging.stage(stored, staged)
        work.uploads.changed(stored.id, work.clock.now())
        known = work.blobs.usable(stored.project_id, stored.id, stored.user_id, {sha256 for _, _, sha256 in staged})
        missing = [n for n, (_, size, sha256) in enumerate(staged) if (sha256, size) not in known]
        relied = {one for one in known.values() if one is not None}
        if growing is not None and growing.add(staged, numbers, missing, relied):
            work.file_sets.add_chunks(stored.project_id, growing.chunks, work.clock.now())
            growing.chunks.clear()
            self._growing.begin(stored.key, growing)
        return _Staged([(sha256, size) for _, size, sha256 in staged], missing, relied)

    def _unsent(self, stored: StoredUpload, staged: _Staged) -> list[int]:
        """Return the positions of a page's files whose bytes the store does not have, or has lost."""
        missing, relied = staged.missing, staged.relied
        while relied and self._damages.lost(stored.project_id, relied):
            self._growing.forget(stored.key)
            hashes = {sha256 for sha256, _ in staged.contents}
            with self._database.reading() as work:
                known = work.blobs.usable(stored.project_id, stored.id, stored.user_id, hashes)
            missing = [position for position, content in enumerate(staged.contents) if content not in known]
            relied = {one for one in known.values() if one is not None} - relied  # another copy, which may be lost too
        return missing

    def _target(
        self, stored: StoredUpload, wanted: NewObject, before: ExpectedObject | None
    ) -> tuple[Target, ExpectedObject]:
        key = object_key(stored, wanted.number)
        if wanted.part_bytes is None:
            if wanted.sha256 is None:
                raise BadRequest(reason=f"object {wanted.number} goes in one piece and needs its SHA-256")
            url, headers = self._objects.sign_put(
                key, size_bytes=wanted.size_bytes, sha256=wanted.sha256, storage=stored.storage
            )
            expected = ExpectedObject(wanted.size_bytes, bytes.fromhex(wanted.sha256), None)
            return Target(wanted.number, key, url, headers), expected
        same = before is not None and before.parts_id is not None and before.size_bytes == wanted.size_bytes
        parts_id = before.parts_id if before is not None and same else None
        parts = None
        if parts_id is not None:
            if self._is_there(key, wanted.size_bytes):  # the answer of an earlier end did not arrive
                return Target(wanted.number, key, has_arrived=True), ExpectedObject(wanted.size_bytes, None, parts_id)
            with suppress(ObjectNotFound):  # dropped meanwhile: they are begun anew
                parts = self._parts(key, parts_id, wanted.size_bytes, wanted.part_bytes)
        if parts is None:
            parts_id = self._objects.begin_parts(key, storage=stored.storage)
            parts = self._parts(key, parts_id, wanted.size_bytes, wanted.part_bytes)
        return Target(wanted.number, key, parts=parts), ExpectedObject(wanted.size_bytes, None, parts_id)

    def _is_there(self, key: ObjectKey, size_bytes: int) -> bool:
        try:
            return self._objects.size(key) == size_bytes
        except ObjectNotFound:
            return False

    def _parts(self, key: ObjectKey, parts_id: str, size_bytes: int, part_bytes: int) -> list[PartTarget]:
        arrived = {part.number: part for part in self._objects.parts(key, parts_id)}
        made = []
        for number, offset in enumerate(range(0, size_bytes, part_bytes), 1):
            size = min(part_bytes, size_bytes - offset)
            there = arrived.get(number)
            etag = there.etag if there is not None and there.size_bytes == size else None
            url, headers = self._objects.sign_part(key, parts_id, number, size_bytes=size)
            made.append(PartTarget(number, offset, size, url, headers, etag))
        return made

    def _arrived(self, stored: StoredUpload, sent: SentObject, wanted: ExpectedObject | None) -> None:
        """Refuse an object that did not arrive as announced, or whose blobs do not lie inside it."""
        key = object_key(stored, sent.number)
        if wanted is not None or not self._leaves_files(stored):
            hashed = None if wanted is None or wanted.sha256 is None else wanted.sha256.hex()
            if wanted is None or wanted.size_bytes != sent.size_bytes or hashed not in (None, sent.sha256):
                raise BadRequest(reason=f"object {sent.number} was not announced like this")
            if wanted.parts_id is not None and not self._is_there(key, sent.size_bytes):
                self._objects.end_parts(key, wanted.parts_id, [(part.number, part.etag) for part in sent.parts])
        if any(blob.offset + blob.size_bytes > sent.size_bytes for blob in sent.blobs):
            raise BadRequest(reason=f"a blob lies outside object {sent.number}")
        try:
            found = self._objects.size(key)
        except ObjectNotFound as error:
            raise Conflict(reason=f"object {sent.number} has not arrived; send it again") from error
        if found != sent.size_bytes:
            raise HashMismatch(what=f"object {sent.number}")

    def _leaves_files(self, stored: StoredUpload) -> bool:
        """Whether the session's objects may be left as files, still."""
        return stored.is_direct and self._direct is not None and self._direct.proof_file is not None

    def _public(self, work: Work, stored: StoredUpload, missing: list[int]) -> Upload:
        folder = None
        if self._direct is not None and self._leaves_files(stored) and stored.state is UploadState.PENDING:
            folder = self._direct.folder(stored.object_prefix)
        return Upload(
            id=stored.key,
            state=stored.state,
            label=stored.label,
            creator=work.uploads.creator(stored.user_id),
            created_at=stored.created_at,
            touched_at=stored.touched_at,
            staged_files=work.uploads.staged_files(stored.id),
            sent_bytes=work.uploads.sent_bytes(stored.id),
            file_set=stored.file_set,
            base=None if stored.base_id is None else work.uploads.by_id(stored.base_id).key,
            next_object=work.uploads.next_object(stored.id),
            folder=folder,
            missing=missing,
        )


def _own(work: Work, project: ProjectId, user: UserId, key: str, *, lock: bool = False) -> StoredUpload:
    stored = work.uploads.get(project, key, lock=lock)
    if stored.user_id != user:
        raise UploadNotFound(upload=key[:64])
    return stored


def _pending(work: Work, project: ProjectId, user: UserId, key: str, *, lock: bool = False) -> StoredUpload:
    stored = _own(work, project, user, key, lock=lock)
    if stored.state is not UploadState.PENDING:
        raise Conflict(reason=f"the upload session is {stored.state.value}")
    return stored


def _base(work: Work, project: ProjectId, user: UserId, request: CreateUpload) -> StoredUpload | None:
    if request.base is None:
        return None
    if not request.only_changed:
        raise BadRequest(reason="a session with a base makes versions only of what changed")
    base = _own(work, project, user, request.base)
    if base.commit_number is None or base.root is None:
        raise Conflict(
            reason="the upload session that is named as base is not committed, or was long ago; name no base"
        )
    if work.blobs.any_wrong(project):
        raise Conflict(reason="files of the project are damaged and have to be put again; name no base")
    return base


def _check(files: list[NewFile]) -> None:
    paths = {normal_path(file.path) for file in files}
    if len(paths) < len(files):
        seen: set[str] = set()
        twice = next(file.path for file in files if file.path in seen or seen.add(file.path))  # type: ignore[func-returns-value]
        raise BadRequest(reason=f"'{twice}' is in it twice")
