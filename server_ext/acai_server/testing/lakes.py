"""People at a lake: what the suites about uploads and files do there, and what must be true of it at any time."""

from __future__ import annotations

import hashlib
import io
import re
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from sqlalchemy import event

from acai_jupyter.contract.files import FetchFiles
from acai_jupyter.contract.ids import ObjectKey, Sha256
from acai_jupyter.contract.queries import UploadQuery
from acai_jupyter.contract.specs import encode_path
from acai_jupyter.contract.uploads import CreateUpload, NewFile, NewObject, PackedBlob, SentObject
from acai_server.lake.service import Lake
from acai_server.objects.signing import UrlSigner
from acai_server.store_owner import mark
from acai_server.testing.databases import enter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import datetime

    from sqlalchemy.engine import Connection, Engine

    from acai_jupyter.contract.files import FetchPage, FileVersion
    from acai_jupyter.contract.filesets import Entry
    from acai_jupyter.contract.states import UploadState
    from acai_jupyter.contract.uploads import Target, Upload, UploadResult
    from acai_server.db.database import Database
    from acai_server.db.projects import Member
    from acai_server.objects.protocol import ObjectStore

SIGNER = UrlSigner(b"secret", lambda: "http://127.0.0.1:1", lambda: 0.0)
EVERYTHING = 1000


class LakeUser:
    """A user of a project, in any number of threads."""

    def __init__(
        self, database: Database, objects: ObjectStore, name: str = "you", project: str = "default", **of_lake: Any
    ) -> None:
        self.database = database
        self.objects = objects
        self.lake = Lake(database, objects, **of_lake)
        self.member: Member = enter(database, project, name)

    def beside(self, name: str) -> LakeUser:
        """Return another user of the same project."""
        return LakeUser(self.database, self.objects, name, self.member.project)

    def elsewhere(self) -> LakeUser:
        """Return the same user of the same project at another server of the same database."""
        return LakeUser(self.database, self.objects, self.member.user.name, self.member.project)

    def over(self, objects: ObjectStore, **of_lake: Any) -> LakeUser:
        """Return the same user of the same project at a server over another view of the store."""
        return LakeUser(self.database, objects, self.member.user.name, self.member.project, **of_lake)

    def in_a_new_project(self) -> LakeUser:
        """Return the same user in a project of which nobody has heard."""
        return LakeUser(self.database, self.objects, self.member.user.name, f"p{rows(self.database, 'project')}")

    # -- uploads

    def begin(self, files: Mapping[str, bytes] | None = None, **how: Any) -> Upload:
        """Start a session."""
        return self.lake.uploads.create(*self._me, CreateUpload(new_files(files or {}), **how))

    def stage(self, upload: str, files: Mapping[str, bytes], removed: Iterable[str] = ()) -> list[int]:
        """Stage a page; returns the positions of those whose bytes have to be sent."""
        return self.stage_all(upload, new_files(files), list(removed))

    def stage_all(self, upload: str, files: list[NewFile], removed: Iterable[str] = ()) -> list[int]:
        """Stage a page, whatever it says."""
        return self.lake.uploads.stage(*self._me, upload, files, list(removed))

    def stage_anew(self, upload: str) -> None:
        """Forget what was staged."""
        self.lake.uploads.stage_anew(*self._me, upload)

    def targets(self, upload: str, *objects: NewObject) -> list[Target]:
        """Ask where to send objects."""
        return self.lake.uploads.targets(*self._me, upload, list(objects))

    def listed(self, state: UploadState, limit: int = EVERYTHING) -> list[str]:
        """Return the sessions in a state."""
        return [one.id for one in self.lake.uploads.of_user(*self._me, UploadQuery(state, limit=limit)).uploads]

    def listed_by(self, limit: int) -> list[str]:
        """Return the pending sessions as pages of such a size say."""
        found: list[str] = []
        while True:
            asked = UploadQuery(before=found[-1] if found else None, limit=limit)
            page = self.lake.uploads.of_user(*self._me, asked)
            found += [one.id for one in page.uploads]
            assert page.next == (found[-1] if page.next else None)
            if page.next is None:
                return found

    def leave(self, upload: str, bodies: Iterable[bytes]) -> SentObject:
        """Send contents in one object, and do not tell of it."""
        one, pack = packed(self.get(upload).next_object, bodies)
        wanted = NewObject(one.number, one.size_bytes, one.sha256)
        target = self.targets(upload, wanted)[0]
        self.objects.put(target.key, io.BytesIO(pack), size_bytes=len(pack))
        return one

    def tell(self, upload: str, *sent: SentObject) -> list[int]:
        """Tell of objects that have arrived."""
        return self.lake.uploads.add(*self._me, upload, list(sent))

    def send(self, upload: str, bodies: Iterable[bytes]) -> None:
        """Send contents in one object, and tell of it."""
        if wanted := list(bodies):
            self.tell(upload, self.leave(upload, wanted))

    def prepare(self, files: Mapping[str, bytes], **how: Any) -> str:
        """Do all but the commit; returns the session."""
        upload = self.begin(files, **how)
        bodies = list(files.values())
        self.send(upload.id, [bodies[position] for position in upload.missing])
        return upload.id

    def commit(self, upload: str, *sent: SentObject) -> UploadResult:
        """Commit a session."""
        return self.lake.uploads.commit(*self._me, upload, list(sent))

    def put(self, files: Mapping[str, bytes], **how: Any) -> UploadResult:
        """Upload files in a session of their own."""
        return self.commit(self.prepare(files, **how))

    def get(self, upload: str) -> Upload:
        """Return a session."""
        return self.lake.uploads.get(*self._me, upload)

    def abort(self, upload: str) -> Upload:
        """Give a session up."""
        return self.lake.uploads.abort(*self._me, upload)

    # -- files

    def versions(self, path: str) -> list[FileVersion]:
        """Return all versions of a file, from the first on."""
        return self.lake.files.versions(self.member.project_id, encode_path(path), None, EVERYTHING).versions[::-1]

    def numbers(self, path: str) -> list[int]:
        """Return the numbers of a file's versions."""
        return [version.version for version in self.versions(path)]

    def entries(self, spec: str = "/") -> list[Entry]:
        """Return all that a spec names."""
        found: list[Entry] = []
        after: str | None = ""
        while after is not None:
            page = self.lake.files.entries(self.member.project_id, spec, after, EVERYTHING)
            found += page.entries
            after = page.next
        return found

    def named(self, spec: str = "/") -> dict[str, int]:
        """Return the paths and versions of what a spec names."""
        return {entry.path: entry.version for entry in self.entries(spec)}

    def fetch(self, spec: str, **how: Any) -> FetchPage:
        """Ask where bytes are."""
        return self.lake.files.fetch(self.member.project_id, FetchFiles(spec, **how))

    def read(self, spec: str = "/") -> dict[str, bytes]:
        """Return the content of all that a spec names, whose hashes are as they should be."""
        page = self.fetch(spec)
        found = {}
        for place in page.files:
            body = self.objects.get(key_of(page.objects[place.object]), place.offset, place.size_bytes)
            assert hash_of(body) == place.sha256, f"{place.path}:{place.version} has other bytes"
            found[place.path] = body
        return found

    def remove(self, spec: str, *, undo: bool = False) -> list[int]:
        """Delete what a spec names, or take that back."""
        return sorted(self.lake.removals.remove(self.member.project_id, spec, undo=undo).versions)

    def children(self, path: str = "/", file_set: str | None = None, limit: int = EVERYTHING) -> list[str]:
        """Return the names in a folder, folders with a '/' behind them."""
        names: list[str] = []
        after: str | None = ""
        while after is not None:
            page = self.lake.files.folder(self.member.project_id, path, file_set, after, limit)
            assert len(page.children) <= limit
            names += [f"{child.name}/" if child.kind == "folder" else child.name for child in page.children]
            after = page.next
        return names

    def believe(self) -> None:
        """Hash all new objects again, as is done in the background."""
        with self.database.writing() as work:
            later = _later(work.clock.now())
            for number in work.blobs.unchecked(later, later, EVERYTHING):
                stored = work.blobs.object(number)
                assert stored is not None
                if stored.project_id != self.member.project_id:
                    continue
                wrong = [
                    blob
                    for blob, sha256, offset, size in stored.blobs
                    if hashlib.sha256(self.objects.get(stored.key, offset, size)).digest() != sha256
                ]
                work.blobs.checked(number, wrong, work.clock.now())

    def lose_faith(self) -> None:
        """Find all contents of the project wrong, as when their bytes have rotted."""
        with self.database.writing() as work:
            later = _later(work.clock.now())
            for number in work.blobs.unchecked(later, later, EVERYTHING):
                stored = work.blobs.object(number)
                assert stored is not None
                if stored.project_id == self.member.project_id:
                    work.blobs.checked(number, [blob[0] for blob in stored.blobs], work.clock.now())

    @property
    def _me(self) -> tuple[Any, Any]:
        return self.member.project_id, self.member.user_id


def claim_store(user: LakeUser) -> None:
    """Mark the user's store as the database's, as a server does at its start."""
    mark.adopt(user.database, user.objects)


def hash_of(body: bytes) -> Sha256:
    """Return a content's hash."""
    return Sha256(hashlib.sha256(body).hexdigest())


def new_files(files: Mapping[str, bytes]) -> list[NewFile]:
    """Return files as a session is told of them."""
    return [NewFile(path, len(body), hash_of(body)) for path, body in files.items()]


def packed(number: int, bodies: Iterable[bytes]) -> tuple[SentObject, bytes]:
    """Return an object with these contents, and its bytes."""
    pack = b""
    blobs = []
    for body in dict.fromkeys(bodies):
        blobs.append(PackedBlob(hash_of(body), len(pack), len(body)))
        pack += body
    return SentObject(number, len(pack), hash_of(pack), blobs), pack


def key_of(url: str) -> ObjectKey:
    """Return the key of the object that a signed URL of a store leads to."""
    found = re.search(r"p\d+/(objects|jobs)/.+", unquote(urlsplit(url).path))
    assert found is not None, url
    return ObjectKey(found[0])


def check_lake(user: LakeUser) -> None:
    """Assert what is true of a lake at any time: no gaps, no record without its bytes, no set of what is not there."""
    there: dict[tuple[str, int], str] = {}
    for path in _paths(user):
        versions = user.versions(path)
        assert [one.version for one in versions] == list(range(1, len(versions) + 1)), path
        there |= {(path, one.version): one.sha256 for one in versions if one.deleted_at is None}
    for name in (one.name for one in user.lake.file_sets.page(user.member.project_id, "", EVERYTHING).file_sets):
        sets = user.lake.file_sets.versions(user.member.project_id, name, None, EVERYTHING).file_sets
        assert [one.version for one in sets[::-1]] == list(range(1, len(sets) + 1)), name
        for ref in (one.ref for one in sets if one.deleted_at is None):
            check_set(user, ref, there)
    user.read()


def check_set(user: LakeUser, ref: str, there: dict[tuple[str, int], str]) -> None:
    """Assert that a set is what its version says, and that all in it is there."""
    entries = user.entries(f"@{ref}")
    public = user.lake.file_sets.get(user.member.project_id, ref)
    assert (public.file_count, public.size_bytes) == (len(entries), sum(entry.size_bytes for entry in entries)), ref
    for entry in entries:
        assert there.get((entry.path, entry.version)) == entry.sha256, f"{entry.path}:{entry.version} in {ref}"
    user.read(f"@{ref}")


def rows(database: Database, table: str, where: str = "") -> int:
    """Count the rows of a table."""
    with database.connect() as connection:
        query = f"SELECT count(*) FROM {table} {where}"  # noqa: S608 (names of ours)
        return int(connection.exec_driver_sql(query).scalar_one())


@contextmanager
def meanwhile(database: Database, act: Callable[[], object]) -> Iterator[None]:
    """Let something happen just before the next transaction that writes begins."""
    engine = engine_of(database)
    waiting = True

    def connect(connection: Connection) -> None:
        nonlocal waiting
        if waiting and connection.get_execution_options().get("acai_writes"):
            waiting = False
            act()

    event.listen(engine, "engine_connect", connect)  # the last event before SQLite's lock is taken
    try:
        yield
    finally:
        event.remove(engine, "engine_connect", connect)
    assert not waiting, "nothing was written"


def engine_of(database: Database) -> Engine:
    """Return the engine under a database, whose events tell what is done."""
    with database.connect() as connection:
        return connection.engine


def _paths(user: LakeUser) -> list[str]:
    """All paths of the project, the hidden ones too."""
    with user.database.connect() as connection:
        sql = f"SELECT path FROM file WHERE project_id = {user.member.project_id}"  # noqa: S608 (a number of ours)
        paths = [str(row[0]) for row in connection.exec_driver_sql(sql)]
    return [path for path in paths if _is_known(user, path)]


def _is_known(user: LakeUser, path: str) -> bool:
    with user.database.reading() as work:
        return bool(work.files.versions(user.member.project_id, path, None, 1))


def _later(moment: datetime) -> datetime:
    return moment + timedelta(days=366)
