"""A client process that speaks the API of upload sessions by itself: `python -m tests.kills.raw TASK JOURNAL`.

It writes down each step. Started again with the same journal, it continues the session that is named there.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.client import downloads
from acai_jupyter.client.http import Client
from acai_jupyter.client.sessions import proof
from acai_jupyter.client.told import told_by_store
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError, Conflict
from acai_jupyter.contract.files import RemoveFiles
from acai_jupyter.contract.filesets import RemoveFileSets
from acai_jupyter.contract.garbage import CollectGarbage, CollectionState
from acai_jupyter.contract.states import UploadState
from acai_jupyter.contract.uploads import (
    AddObjects,
    CommitUpload,
    CreateTargets,
    CreateUpload,
    NewFile,
    NewObject,
    PackedBlob,
    SentObject,
    SentPart,
    StageFiles,
    Upload,
)
from acai_jupyter.transfer.connections import Connections
from acai_jupyter.transfer.hashing import hash_bytes
from acai_jupyter.transfer.landing import landing, write_all
from acai_jupyter.transfer.sending import Part, send, send_parts
from tests.kills.contents import Origin, origin_of
from tests.kills.journals import Journal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PART_BYTES = 5 * 1024 * 1024
WRONG = 70
"""Exit status of who has found what must not be."""


class Task(msgspec.Struct):
    """What one process is to do."""

    do: str
    """upload, read, remove, remove_set or collect."""
    spec: str = ""
    undo: bool = False
    with_files: bool = False
    files: dict[str, Origin] = {}
    removed: list[str] = []
    base: str | None = None
    only_changed: bool = False
    file_set: str | None = None
    way: str = "direct"
    """How bytes go: direct, signed or parts."""
    tells: str = "each"
    """When objects are told of: each at once, or all with the commit."""
    pages: int = 1
    packs: int = 1
    end: str = "commit"
    """commit, abort or leave."""
    label: str = ""


class Wrong(Exception):
    """Something that must not be."""


class Uploading:
    """One upload session, from its beginning or from where it was left."""

    def __init__(self, client: Client, task: Task, journal: Journal) -> None:
        self._client = client
        self._task = task
        self._journal = journal
        self._numbers: dict[str, int] = journal.last("parts") or {}
        self._next = 1
        self._untold: list[SentObject] = []

    def run(self) -> None:
        """Do it."""
        found = self._continued() or self._begun()
        if found.state is UploadState.ABORTED:
            self._journal.write(aborted=found.id)
        elif found.state is UploadState.COMMITTED:
            self._commit(found)
        else:
            self._next = max(found.next_object, *self._numbers.values(), 0) + 1
            self._send(found, self._stage(found))
            self._end(found)

    def _continued(self) -> Upload | None:
        key = self._journal.last("session")
        return None if key is None else self._client.call(endpoints.GET_UPLOAD, upload=key)

    def _begun(self) -> Upload:
        task = self._task
        request = CreateUpload(
            file_set=task.file_set,
            only_changed=task.only_changed,
            base=task.base,
            label=task.label,
            proof=proof(self._client.store) if task.way == "direct" else "",
        )
        try:
            found = self._client.call(endpoints.CREATE_UPLOAD, request)
        except Conflict:  # something of the base was collected: all is staged anyway
            found = self._client.call(endpoints.CREATE_UPLOAD, msgspec.structs.replace(request, base=None))
        self._journal.write(session=found.id)
        return found

    def _stage(self, upload: Upload) -> dict[str, Origin]:
        """Stage all names; returns the contents to send."""
        names = sorted(self._task.files)
        size = -(-len(names) // self._task.pages)
        wanted: dict[str, Origin] = {}
        for start in range(0, len(names), size):
            page = [(name, self._task.files[name]) for name in names[start : start + size]]
            new = [NewFile(name, origin.length, origin.sha256) for name, origin in page]
            removed = self._task.removed if not start and upload.base is not None else []
            missing = self._client.call(endpoints.STAGE_FILES, StageFiles(new, removed), upload=upload.id).missing
            wanted |= {page[position][1].sha256: page[position][1] for position in missing}
        self._journal.write(staged=len(names))
        return wanted

    def _send(self, upload: Upload, wanted: dict[str, Origin]) -> None:
        small = [origin for origin in wanted.values() if origin.length <= PART_BYTES]
        for start in range(self._task.packs):
            pack = small[start :: self._task.packs]
            if pack:
                self._sent(upload, self._packed(upload, pack))
        for origin in wanted.values():
            if origin.length > PART_BYTES:
                in_parts = self._task.way == "parts"
                sent = self._in_parts(upload, origin) if in_parts else self._packed(upload, [origin])
                self._sent(upload, sent)

    def _packed(self, upload: Upload, origins: list[Origin]) -> SentObject:
        blobs, body = [], io.BytesIO()
        for origin in origins:
            blobs.append(PackedBlob(origin.sha256, body.tell(), origin.length))
            body.write(origin.data)
        number, data = self._next, body.getvalue()
        self._next += 1
        if upload.folder is not None:
            with landing(f"{upload.folder}/{number}", durable=True) as file:
                write_all(file, memoryview(data))
            return SentObject(number, len(data), None, blobs)
        new = NewObject(number, len(data), hash_bytes(data))
        target = self._client.call(endpoints.CREATE_TARGETS, CreateTargets([new]), upload=upload.id).targets[0]
        with told_by_store(), Connections() as connections:
            send(target.url, lambda: io.BytesIO(data), len(data), target.headers, None, connections)
        return SentObject(number, len(data), new.sha256, blobs)

    def _in_parts(self, upload: Upload, origin: Origin) -> SentObject:
        number = self._numbers.setdefault(origin.path, self._next)
        self._next = max(self._next, number + 1)
        self._journal.write(parts=self._numbers)
        new = NewObject(number, origin.length, part_bytes=PART_BYTES)
        target = self._client.call(endpoints.CREATE_TARGETS, CreateTargets([new]), upload=upload.id).targets[0]
        parts = [Part(p.number, p.offset, p.size_bytes, p.url, p.headers, etag=p.etag or "") for p in target.parts]
        with tempfile.NamedTemporaryFile() as source:
            source.write(origin.data)
            source.flush()
            with told_by_store():
                sent = send_parts(parts, source.name)
        if sent.sha256 != origin.sha256:
            raise Wrong(f"{origin} was sent with the hash {sent.sha256}")
        etags = [SentPart(part, etag) for part, etag in sorted(sent.etags.items())]
        return SentObject(number, origin.length, sent.sha256, [PackedBlob(sent.sha256, 0, origin.length)], etags)

    def _sent(self, upload: Upload, sent: SentObject) -> None:
        self._journal.write(written=sent.number)
        if self._task.tells == "each":
            self._client.call(endpoints.ADD_OBJECTS, AddObjects([sent]), upload=upload.id)
        else:
            self._untold.append(sent)

    def _end(self, upload: Upload) -> None:
        if self._task.end == "commit":
            self._commit(upload)
        elif self._task.end == "abort":
            self._journal.write(aborting=upload.id)
            self._client.call(endpoints.ABORT_UPLOAD, upload=upload.id)
            self._journal.write(aborted=upload.id)

    def _commit(self, upload: Upload) -> None:
        """Commit twice: the second answer is the first."""
        self._journal.write(committing=upload.id)
        result = self._client.call(endpoints.COMMIT_UPLOAD, CommitUpload(self._untold), upload=upload.id)
        self._journal.write(committed=msgspec.to_builtins(result))
        again = self._client.call(endpoints.COMMIT_UPLOAD, CommitUpload(), upload=upload.id)
        if again != result:
            raise Wrong(f"committed again, the answer is {again} instead of {result}")
        self._journal.write(told=list(self._versions()))

    def _versions(self) -> Iterator[tuple[str, int, str]]:
        for path, origin in self._task.files.items():
            page = self._client.call(endpoints.LIST_VERSIONS, query={"path": path})
            mine = [one for one in page.versions if one.sha256 == origin.sha256]
            if not mine and page.next is None:
                raise Wrong(f"{path} was committed and has no version {origin.sha256}")
            yield from ((path, one.version, one.sha256) for one in mine)


def read(client: Client, task: Task, journal: Journal) -> None:
    """Get files, and hold each against what it says of itself."""
    places = [place for page in downloads.pages(client, task.spec) for place in page.files]
    journal.write(told=[(place.path, place.version, place.sha256) for place in places])
    with tempfile.TemporaryDirectory() as folder:
        downloads.get(client, task.spec, f"{folder}/got/")
        _check_all(path for path in Path(folder).rglob("*") if path.is_file())


def _check_all(files: Iterable[Path]) -> None:
    for file in files:
        data = file.read_bytes()
        if data and origin_of(data) is None:
            raise Wrong(f"{file} holds what nobody wrote")


def remove(client: Client, task: Task, journal: Journal) -> None:
    """Delete a version or all of a file, or take that back."""
    found = client.call(endpoints.REMOVE_FILES, RemoveFiles(task.spec, undo=task.undo))
    journal.write(removed=found.path, versions=found.versions, undo=task.undo)


def remove_set(client: Client, task: Task, journal: Journal) -> None:
    """Delete a version of a set, or take that back."""
    found = client.call(endpoints.REMOVE_FILE_SETS, RemoveFileSets(task.undo, task.with_files), ref=task.spec)
    del found  # which names what this call changed: what one before did that was killed is so too
    journal.write(removed_set=task.spec, undo=task.undo)


def collect(client: Client, task: Task, journal: Journal) -> None:
    """Look for garbage, then free it; a server that forgets its collections is asked again."""
    for dry_run in (True, False):
        found = client.call(endpoints.COLLECT_GARBAGE, CollectGarbage(dry_run))
        while found.state is CollectionState.RUNNING:
            found = client.call(endpoints.GET_COLLECTION, query={"wait_seconds": 5}, collection=found.id)
        if found.state is CollectionState.FAILED and found.reason != "the server was stopped":
            raise Wrong(f"a collection failed: {found.reason}")
    journal.write(collected=task.do)


def main(task_file: str, journal_file: str) -> int:
    """Do one task."""
    task = msgspec.json.decode(Path(task_file).read_bytes(), type=Task)
    journal = Journal(Path(journal_file))
    try:
        client = Client()
        if task.do == "upload":
            Uploading(client, task, journal).run()
        else:
            does = {"read": read, "remove": remove, "remove_set": remove_set, "collect": collect}
            does[task.do](client, task, journal)
    except AcaiError as error:
        sys.stderr.write(f"{error.message}\n")
        return error.exit_status
    except Wrong as error:
        sys.stderr.write(f"{error}\n")
        return WRONG
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
