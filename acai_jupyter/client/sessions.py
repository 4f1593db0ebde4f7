"""An upload session as the client sees it: begun with its first page, or continued."""

from __future__ import annotations

import io
import itertools
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from acai_jupyter.client.contents import LARGE_BYTES, DirectPack, Pack, SignedPack, folder_is_ours
from acai_jupyter.client.told import told_by_store
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError, Conflict, Unavailable, UploadNotFound, VersionMismatch
from acai_jupyter.contract.states import StorageClass, UploadState
from acai_jupyter.contract.uploads import (
    AddObjects,
    CommitUpload,
    CreateTargets,
    CreateUpload,
    NewFile,
    NewObject,
    SentObject,
    StageFiles,
    Store,
    Target,
    Upload,
    UploadResult,
)
from acai_jupyter.transfer.sending import THREADS, send

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.endpoints import Endpoint
    from acai_jupyter.transfer.connections import Connections

PAUSES_SECONDS = (0.25, 0.5, 1.0, 2.0, 4.0)

ResponseT = TypeVar("ResponseT")


@dataclass(frozen=True)
class Plan:
    """What is to become of the files."""

    file_set: str | None = None
    storage: StorageClass = StorageClass.FREQUENT
    label: str = ""
    only_changed: bool = True


class Session:
    """Calls for one session, from any thread. What comes first begins it; `begun` is told its id before bytes go."""

    def __init__(
        self,
        client: Client,
        plan: Plan,
        connections: Connections,
        begun: Callable[[str], None],
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._client = client
        self._sleep = sleep
        self._plan = plan
        self._connections = connections
        self._begun = begun
        self._store = client.store
        self._upload: Upload | None = None
        self._numbers = itertools.count(1)
        self._beginning = threading.Lock()
        self.base: str | None = None

    @property
    def part_bytes(self) -> int | None:
        """The largest part of an object that travels in parts; none where objects go whole."""
        return self._store.part_bytes

    @property
    def upload(self) -> Upload:
        """The session; begun if it was not."""
        with self._beginning:
            if self._upload is None:
                self._begin([])
        assert self._upload is not None
        return self._upload

    def continue_with(self, upload: str, base: str | None) -> bool:
        """Go on with a session that was begun before, over this base or none; says whether that can be done.

        What is to be in it is staged anew: files may be gone since.
        """
        try:
            found = self._call(endpoints.GET_UPLOAD, upload=upload)
        except UploadNotFound:
            return False
        if found.state is not UploadState.PENDING or found.base not in (None, base):
            return False
        try:
            # Not called twice: the first, if it is still at work, would forget what is staged after the second.
            self._client.call(endpoints.STAGE_FILES, StageFiles(anew=True), upload=upload)
        except Conflict:  # it has ended meanwhile
            return False
        self._take(found)
        self.base = found.base
        return True

    def begin_over(self, base: str) -> bool:
        """Begin a session that holds what an earlier one held; says whether that can be done."""
        self.base = base
        try:
            self._begin([])
        except (UploadNotFound, Conflict):
            self.base = None
            return False
        return True

    def stage(self, files: list[NewFile], removed: list[str]) -> list[int]:
        """Stage a page; returns the positions of the files whose bytes have to be sent."""
        with self._beginning:
            if self._upload is None and not removed:
                return self._begin(files)
        page = StageFiles(files, removed)
        return self._call(endpoints.STAGE_FILES, page, upload=self.upload.id).missing

    def number(self) -> int:
        """Take a number for an object."""
        assert self.upload is not None  # it knows which are taken
        return next(self._numbers)

    def folder(self) -> str | None:
        """Where objects may be left as files, if they may."""
        return self.upload.folder

    def pack(self) -> Pack:
        """Begin a pack."""
        number, folder = self.number(), self.folder()
        return SignedPack(number, self) if folder is None else DirectPack(number, folder)

    def send(self, number: int, body: bytes, sha256: str) -> None:
        """Send an object in one piece."""
        wanted = NewObject(number, len(body), sha256)
        target = self._target(wanted)
        with told_by_store():
            send(target.url, lambda: io.BytesIO(body), len(body), target.headers, None, self._connections)

    def part_target(self, number: int, size_bytes: int) -> Target:
        """Return where the parts of an object go, and which have arrived. Asked again, they are cut the same."""
        quarter = max(LARGE_BYTES, -(-size_bytes // THREADS))  # no large file waits for a single connection
        part_bytes = quarter if self.part_bytes is None else min(quarter, self.part_bytes)
        return self._target(NewObject(number, size_bytes, part_bytes=part_bytes))

    def arrived(self, sent: SentObject) -> None:
        """Tell of an object."""
        self._call(endpoints.ADD_OBJECTS, AddObjects([sent]), upload=self.upload.id)

    def commit(self, sent: list[SentObject]) -> UploadResult:
        """Tell of the last objects, and give the files their versions."""
        return self._call(endpoints.COMMIT_UPLOAD, CommitUpload(sent), upload=self.upload.id)

    def give_up(self) -> None:
        """Abort it, if it was begun and if the server can be told; else it is collected some day."""
        if self._upload is not None:
            with suppress(AcaiError):
                self._client.call(endpoints.ABORT_UPLOAD, upload=self._upload.id)

    def _call(self, endpoint: Endpoint[ResponseT], body: msgspec.Struct | None = None, **params: Any) -> ResponseT:
        """Call the server; one that is away for a moment, as while it restarts, is asked again.

        Whatever is called here may be called twice: at worst a session is begun that nobody goes on with.
        """
        for pause in PAUSES_SECONDS:
            try:
                return self._client.call(endpoint, body, **params)
            except Unavailable as error:
                if isinstance(error, VersionMismatch):
                    raise
                self._sleep(pause)
        return self._client.call(endpoint, body, **params)

    def _target(self, wanted: NewObject) -> Target:
        body = CreateTargets([wanted])
        return self._call(endpoints.CREATE_TARGETS, body, upload=self.upload.id).targets[0]

    def _begin(self, files: list[NewFile]) -> list[int]:
        plan = self._plan
        request = CreateUpload(
            files,
            file_set=plan.file_set,
            only_changed=plan.only_changed,
            storage=plan.storage,
            base=self.base,
            label=plan.label[:500],
            proof=proof(self._store),
        )
        found = self._call(endpoints.CREATE_UPLOAD, request)
        self._begun(found.id)
        self._take(found)
        return found.missing

    def _take(self, found: Upload) -> None:
        ours = found.folder is not None and folder_is_ours(found.folder)
        self._upload = found if ours else msgspec.structs.replace(found, folder=None)
        self._numbers = itertools.count(found.next_object)


def proof(store: Store) -> str:
    """Return what the store's proof file says; nothing where it cannot be read."""
    if store.proof_file is None:
        return ""
    try:
        return Path(store.proof_file).read_text()
    except (OSError, UnicodeDecodeError):
        return ""
