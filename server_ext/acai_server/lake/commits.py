"""Committing an upload session: all of its files become visible at once, each with the next number of its path.

What takes long, as checking a million contents and cutting a manifest, happens before; what is left for the one
transaction in which nobody else can commit is what others did in the meantime.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import BadRequest, BytesMissing, Conflict
from acai_jupyter.contract.filesets import Entry
from acai_jupyter.contract.ids import Sha256
from acai_jupyter.contract.specs import SetRef
from acai_jupyter.contract.states import ActionKind, InputRole, StorageClass, UploadState
from acai_jupyter.contract.uploads import NewFile, SentObject, UploadResult
from acai_server.lake import filesets, manifests
from acai_server.lake.integrity.damage import first_damaged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acai_jupyter.contract.ids import JobId, ProjectId, UserId
    from acai_server.db.database import Database
    from acai_server.db.uploads import StoredUpload
    from acai_server.db.work import Work
    from acai_server.lake.growing import Growing, GrowingSessions
    from acai_server.lake.integrity.damage import Damages

CODE_FOLDER = "/.code/"
ROLES = {CODE_FOLDER: InputRole.CODE, "/.variables/": InputRole.VARIABLES}
"""Programs and variables are kept as files too; sets of only such files are in these roles."""
FEW = 5000
"""So many versions of others are looked at inside the last transaction."""
FEW_CHUNKS = 100
BASE_HOLDS = timedelta(minutes=1)
"""The contents of a base were looked for when the session began; after this long they are looked for again."""
FLUSH_CHUNKS = 4000
Held = tuple[str, int | None, int | None, bytes | None]
"""Path, number, size and hash of what a session holds; no hash is what it leaves out."""


@dataclass(frozen=True)
class Prepared:
    """A session's manifest as it was just before the commit."""

    root: bytes
    file_count: int
    size_bytes: int
    made_files: int
    pages: int
    chunks: dict[bytes, bytes]
    """Those that are still to be stored; few."""


class Commits:
    """Commits sessions."""

    def __init__(self, database: Database, growing: GrowingSessions, damages: Damages) -> None:
        self._database = database
        self._growing = growing
        self._damages = damages

    def commit(self, stored: StoredUpload) -> UploadResult:
        """Commit a pending session, or say why that cannot be."""
        growing = self._growing.forget(stored.key)
        stored = self._catch_up(stored)
        with self._database.reading() as work:
            # What is staged from here on makes the last transaction refuse: it would not have been looked at.
            stored = work.uploads.by_id(stored.id)
            known = growing is not None and growing.pages == stored.pages and not growing.missing
            lost, damaged = None, work.blobs.any_wrong(stored.project_id)
            if not known or damaged:
                lost = work.blobs.unsent(stored.project_id, stored.id, stored.user_id)
            elapsed = work.clock.now() - stored.created_at
            relied = growing.relied if known and growing else work.damage.relied_on(stored.project_id, stored.id)
            base = None if stored.base_id is None else work.uploads.by_id(stored.base_id)
        refuse_unsent(lost)
        if base is not None and elapsed > BASE_HOLDS:
            damaged |= self._damages.base_lost(base, answer(base).new_files + answer(base).unchanged_files)
        damaged |= self._damages.lost(stored.project_id, relied)
        prepared = self._prepared(stored, growing)
        if damaged:
            with self._database.reading() as work:
                lost = first_damaged(work, stored, prepared.root, prepared.chunks)
            refuse_unsent(lost)
        with self._database.writing() as work:
            work.uploads.lock_project(stored.project_id)
            stored = work.uploads.get(stored.project_id, stored.key, lock=True)
            if stored.state is not UploadState.PENDING:
                return answer(stored)
            return _finish(work, stored, prepared)

    def _catch_up(self, stored: StoredUpload) -> StoredUpload:
        """Reconcile with what others committed until it is little enough for the last transaction."""
        while stored.only_changed:
            with self._database.reading() as work:
                others = work.uploads.made_since(stored.project_id, stored.reconciled)
                if others <= FEW or _holds_few(work, stored):
                    break
                other = work.uploads.next_commit(stored.project_id, stored.reconciled)
            after = 0
            while True:
                with self._database.writing() as work:
                    work.uploads.lock_project(stored.project_id)
                    page = work.staging.page_of(other.id, after, FEW)
                    if not page:
                        break
                    if _reconcile_files(work, stored, page):
                        work.uploads.changed(stored.id)
                    after = max(page.values())
            assert other.commit_number is not None
            with self._database.writing() as work:
                work.uploads.lock_project(stored.project_id)
                if _reconcile_files(work, stored, work.staging.marked(stored.project_id, stored.reconciled)):
                    work.uploads.changed(stored.id)
                work.uploads.set_reconciled(stored.id, other.commit_number)
                stored = work.uploads.by_id(stored.id)
        return stored

    def _prepared(self, stored: StoredUpload, growing: Growing | None) -> Prepared:
        chunks: dict[bytes, bytes] = {}
        with self._database.reading() as work:
            counts = work.staging.counts(stored.id)
            if growing is not None and growing.pages == stored.pages:
                root, chunks = growing.root(), growing.chunks
                prepared = Prepared(root, growing.file_count, growing.size_bytes, counts[0], stored.pages, chunks)
            else:
                base = None if stored.base_id is None else work.uploads.by_id(stored.base_id)
                if base is not None and sum(counts) <= FEW:
                    prepared = _edited(work, stored, base, chunks, counts)
                else:
                    prepared = self._built(work, stored, base, chunks, counts)
        if len(prepared.chunks) > FEW_CHUNKS:
            self._keep(stored.project_id, prepared.chunks)
        return prepared

    def _built(
        self,
        work: Work,
        stored: StoredUpload,
        base: StoredUpload | None,
        chunks: dict[bytes, bytes],
        counts: tuple[int, int],
    ) -> Prepared:
        builder = manifests.Builder(chunks.__setitem__)
        count = total = 0
        held = work.staging.leaves(stored.id)
        if base is not None and base.root is not None:
            held = _over(_entries(work, base), held)
        for path, number, size, sha256 in held:
            if size is None or sha256 is None:
                continue
            builder.add((path, number or 0, size, sha256))
            count, total = count + 1, total + size
            if len(chunks) >= FLUSH_CHUNKS and not self._database.is_in_memory:
                self._keep(stored.project_id, chunks)
        return Prepared(builder.root(), count, total, counts[0], stored.pages, chunks)

    def _keep(self, project: ProjectId, chunks: dict[bytes, bytes]) -> None:
        """Store chunks ahead of the commit. Those of a commit that fails are garbage."""
        if chunks:
            with self._database.writing() as work:
                work.file_sets.add_chunks(project, chunks, work.clock.now())
            chunks.clear()


def record(
    work: Work, project: ProjectId, user: UserId, sent: list[tuple[str, SentObject]], files: list[NewFile], job: JobId
) -> list[Entry]:
    """Record objects and new versions of files of a job in somebody's transaction, as a session of its own."""
    now = work.clock.now()
    work.uploads.lock_project(project)
    stored = work.uploads.create(uuid4().hex, project, user, now, storage=StorageClass.FREQUENT.value, job_id=job)
    for key, one in sent:
        work.blobs.add(project, stored.id, key, one)
    work.staging.stage(stored, [(file.path, file.size_bytes, bytes.fromhex(file.sha256)) for file in files])
    lost = work.blobs.unsent(project, stored.id, user)
    refuse_unsent(lost)
    work.staging.number(stored.id)
    leaves = work.staging.leaves(stored.id)
    entries = [Entry(path, number or 0, size or 0, Sha256((sha or b"").hex())) for path, number, size, sha in leaves]
    result = UploadResult(stored.key, len(entries), 0, sum(entry.size_bytes for entry in entries))
    work.uploads.commit(stored, None, msgspec.to_builtins(result), now)
    return entries


def refuse_unsent(path: str | None) -> None:
    """Refuse a commit that would make a version without bytes."""
    if path is not None:
        raise BytesMissing(path=path)


def answer(stored: StoredUpload) -> UploadResult:
    """Return what a session's commit did, if it did."""
    if stored.result is None:
        raise Conflict(reason=f"the upload session is {stored.state.value}")
    return decoding.convert(stored.result, UploadResult)


def _edited(
    work: Work, stored: StoredUpload, base: StoredUpload, chunks: dict[bytes, bytes], counts: tuple[int, int]
) -> Prepared:
    assert base.root is not None
    load = partial(work.file_sets.chunk, stored.project_id)
    changes = {
        path: None if size is None or sha256 is None else Entry(path, number or 0, size, Sha256(sha256.hex()))
        for path, number, size, sha256 in work.staging.leaves(stored.id)
    }
    was = answer(base)
    count, size = was.new_files + was.unchanged_files, was.size_bytes
    for path, entry in changes.items():
        old = manifests.find(base.root, load, path)
        count += (entry is not None) - (old is not None)
        size += (entry.size_bytes if entry else 0) - (old.size_bytes if old else 0)
    root = manifests.edit(base.root, changes, load, chunks.__setitem__)
    return Prepared(root, count, size, counts[0], stored.pages, chunks)


def _over(base: Iterator[Entry], held: Iterator[Held]) -> Iterator[Held]:
    """Lay what a session holds over its base; both come by path."""
    below = next(base, None)
    for one in held:
        while below is not None and below.path < one[0]:
            yield manifests.leaf_of(below)
            below = next(base, None)
        if below is not None and below.path == one[0]:
            below = next(base, None)
        yield one
    while below is not None:
        yield manifests.leaf_of(below)
        below = next(base, None)


def _holds_few(work: Work, stored: StoredUpload) -> bool:
    base = None if stored.base_id is None else answer(work.uploads.by_id(stored.base_id))
    count = 0 if base is None else base.new_files + base.unchanged_files
    return count + sum(work.staging.counts(stored.id)) <= FEW


def _reconcile(work: Work, stored: StoredUpload) -> list[str]:
    """Bring a session to what others committed since the last time; returns the paths that moved.

    Looked at is what is less: what others did since, or all that the session holds.
    """
    if not stored.only_changed:
        return []
    base = None if stored.base_id is None else work.uploads.by_id(stored.base_id)
    if work.staging.count_touched(stored.project_id, stored.reconciled, FEW + 1) <= FEW:
        return _reconcile_files(work, stored, work.staging.touched(stored.project_id, stored.reconciled))
    paths = [] if base is None else [entry.path for entry in _entries(work, base)]
    rows = work.staging.rows_of(stored.project_id, paths)
    return _reconcile_files(work, stored, rows, work.staging.files_of(stored.id))


def _reconcile_files(work: Work, stored: StoredUpload, rows: dict[str, int], others: Iterable[int] = ()) -> list[str]:
    moved = work.staging.reconcile(stored, [*rows.values(), *others])
    if stored.base_id is not None:
        moved += _hold_base(work, stored, work.uploads.by_id(stored.base_id), rows)
    return moved


def _hold_base(work: Work, stored: StoredUpload, base: StoredUpload, rows: dict[str, int]) -> list[str]:
    """What others made of the base's files since is made again as the base has it."""
    assert base.root is not None
    load = partial(work.file_sets.chunk, stored.project_id)
    held = work.staging.held(stored.id, rows.values())
    moved = []
    for path, file in rows.items():
        entry = None if file in held else manifests.find(base.root, load, path)
        if entry is not None and work.staging.hold(stored, file, entry):
            moved.append(path)
    return moved


def _entries(work: Work, base: StoredUpload) -> Iterator[Entry]:
    assert base.root is not None
    load = filesets.Chunks(work, base.project_id)
    return manifests.entries(base.root, load, ahead=load.ahead)


def _finish(work: Work, stored: StoredUpload, prepared: Prepared) -> UploadResult:
    if stored.pages != prepared.pages:
        raise Conflict(reason="files were staged while the session was being committed; commit it again")
    if not prepared.file_count:
        raise BadRequest(reason="the upload session holds no files")
    work.file_sets.add_chunks(stored.project_id, prepared.chunks, work.clock.now())
    moved = _reconcile(work, stored)
    # What another user made, and was to be kept, may now be a version of this user's own: then the bytes must be too.
    refuse_unsent(work.blobs.unsent_of(stored.project_id, stored.id, stored.user_id, moved))
    given = [entry.path for entry in work.staging.number(stored.id)]
    root = _patched(work, stored, prepared.root, [*moved, *given])
    made = work.staging.counts(stored.id)[0] if moved else prepared.made_files
    result = UploadResult(
        id=stored.key,
        new_files=made,
        unchanged_files=prepared.file_count - made,
        size_bytes=prepared.size_bytes,
        sent_bytes=work.uploads.sent_bytes(stored.id),
    )
    if stored.file_set is not None:
        ref = _file_set(work, stored, root, result)
        result = msgspec.structs.replace(result, file_set=ref)
    if made:
        work.events.record(stored.project_id, "files_committed", f"{made} files", upload=stored.key)
    work.uploads.commit(stored, root, msgspec.to_builtins(result), work.clock.now())
    return result


def _patched(work: Work, stored: StoredUpload, root: bytes, paths: list[str]) -> bytes:
    if not paths:
        return root
    chunks: dict[bytes, bytes] = {}
    load = partial(work.file_sets.chunk, stored.project_id)
    changes = work.staging.entries_of(stored.id, paths)
    root = manifests.edit(root, changes, load, chunks.__setitem__)
    work.file_sets.add_chunks(stored.project_id, chunks, work.clock.now())
    return root


def _file_set(work: Work, stored: StoredUpload, root: bytes, result: UploadResult) -> str:
    assert stored.file_set is not None
    name, project, user = stored.file_set, stored.project_id, stored.user_id
    known = work.file_sets.name(project, name)
    latest = work.file_sets.find(project, SetRef(name)) if known is not None and known.latest else None
    role = _role(work, stored, root)
    if known is not None and known.role is not role:
        raise Conflict(reason=f"the name '{name}' is taken by a set of role {known.role.value}")
    if stored.only_changed and latest is not None and latest.root == root:
        return latest.public.ref
    count = result.new_files + result.unchanged_files
    made = filesets.add_root(work, project, user, name, role, root=root, file_count=count, size_bytes=result.size_bytes)
    work.actions.add(project, user, ActionKind.UPLOAD, [], made.id, work.clock.now())
    if work.restricted.borders(project) is not None:
        work.restricted.uploaded(stored.id)
    return made.public.ref


def _role(work: Work, stored: StoredUpload, root: bytes) -> InputRole:
    """Say in which role a set is. Programs stand together, variables too, so the first and the last path tell."""
    load = partial(work.file_sets.chunk, stored.project_id)
    first, last = next(manifests.entries(root, load)).path, manifests.last_path(root, load)
    roles = (role for folder, role in ROLES.items() if first.startswith(folder) and last.startswith(folder))
    return next(roles, InputRole.DATA)
