"""Putting files into a project: hash, stage names, send what is missing, commit.

Four things go on at once: this thread reads and hashes, one stages pages, one fills packs, two ship packs. What is in
flight between them is bounded, so memory is too.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter.client.contents import (
    LARGE_BYTES,
    PACK_BLOBS,
    PACK_BYTES,
    Content,
    Pack,
    copy_large,
    read_file,
    send_large,
)
from acai_jupyter.client.known import FileList, KnownFile, LargeFile, Memory
from acai_jupyter.client.sessions import Plan, Session
from acai_jupyter.client.told import changed
from acai_jupyter.client.walking import Found
from acai_jupyter.contract.errors import BadRequest, BytesMissing
from acai_jupyter.contract.uploads import NewFile, SentObject, UploadResult
from acai_jupyter.transfer.connections import Connections
from acai_jupyter.transfer.hashing import hash_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acai_jupyter.client.http import Client

PAGE_FILES = 1000
PAGE_BYTES = 16 * 1024 * 1024
_PAGES_AHEAD = 1
_PACKS_AHEAD = 2
_SEEN_AHEAD = 10_000
_SETTLED_NS = 50_000_000
"""A file that changed less than this before it was read may change again without a new time: it is looked at again."""
_NEVER = -(2**63)
"""The time of a file that is remembered only by its path, so that it is missed when it is gone."""


@dataclass(frozen=True)
class Watcher:
    """Who is told how far it is."""

    on_file: Callable[[int], object] = lambda _: None
    """So many bytes of a file were taken."""
    on_bytes: Callable[[int], object] = lambda _: None
    on_gone: Callable[[str], object] = lambda _: None
    """This path was in the last upload of the same line and is not in this one."""


def put(
    client: Client,
    found: Iterable[Found],
    plan: Plan,
    *,
    memory: Memory | None = None,
    watcher: Watcher | None = None,
    again: Callable[[], Iterable[Found]] | None = None,
) -> UploadResult:
    """Upload files, given by ascending path, in one session; what the project has is not sent again.

    With a memory, the same line again looks only at what changed, and one that was broken off is continued. When the
    store loses contents during the upload, the files are taken once more, from `again` if `found` is an iterator.
    """
    try:
        return _put(client, found, plan, memory, watcher or Watcher())
    except BytesMissing:
        if again is None and isinstance(found, Iterator):
            raise
        return _put(client, found if again is None else again(), plan, memory, watcher or Watcher())


def _put(client: Client, found: Iterable[Found], plan: Plan, memory: Memory | None, watcher: Watcher) -> UploadResult:
    with ExitStack() as open_until_end:
        connections = open_until_end.enter_context(Connections())
        if memory is not None:
            memory = memory if memory.hold() else None
        if memory is not None:
            open_until_end.callback(memory.release)
        putting = _Putting(client, plan, connections, memory, watcher)
        if memory is None:
            open_until_end.push(putting.given_up)
        open_until_end.callback(putting.close)
        return putting.run(found)


def found_file(source: str, path: str) -> Found:
    """Return one file as `walk` would find it."""
    state = Path(source).stat()
    return Found(source, path, state.st_size, state.st_mtime_ns, state.st_ino, state.st_ctime_ns)


class _Putting:
    """One run of `put`."""

    def __init__(
        self, client: Client, plan: Plan, connections: Connections, memory: Memory | None, watcher: Watcher
    ) -> None:
        self._memory = memory
        self._watcher = watcher
        self._session = Session(client, plan, connections, self._begun)
        self._sending = _Sending(self._session)
        self._stager = ThreadPoolExecutor(1, "acai-stage")
        self._staging: deque[Future[None]] = deque()
        self._page: list[Content] = []
        self._removed: list[str] = []
        self._page_bytes = 0

    def run(self, found: Iterable[Found]) -> UploadResult:
        """Do it."""
        found = iter(found)
        beginning = self._stager.submit(self._resume_or_build_on)
        seen: list[Found] = []
        while not beginning.done() and len(seen) < _SEEN_AHEAD and (file := next(found, None)) is not None:
            seen.append(file)  # the walk need not wait for the server
        over = beginning.result()
        files = FileList() if self._memory is None else self._memory.begin()
        try:
            self._take_all(chain(seen, found), files, over=over)
            result = self._session.commit(self._sending.finish())
        except BaseException as error:
            files.drop()
            if isinstance(error, BytesMissing):
                self._forget()
            raise
        if self._memory is not None:
            self._memory.committed(result.id, files)
        return result

    def _forget(self) -> None:
        """Give up the session, and let the next one stage every file: then the server says which it does not have."""
        self._session.give_up()
        if self._memory is not None:
            self._memory.forget()

    def _take_all(self, found: Iterable[Found], files: FileList, *, over: bool) -> None:
        before = iter(()) if self._memory is None else self._memory.files()
        known = next(before, None)
        file = None
        for file in found:
            path = file.path
            while known is not None and known.path < path:
                self._gone(known, over=over)
                known = next(before, None)
            if known is None or known.path != path:
                self._changed(file, files)
                continue
            if _same(file, known):
                files.add(known)
                if not over:
                    self._unchanged(file, known)
            else:
                self._changed(file, files)
            known = next(before, None)
        if file is None:
            raise BadRequest(reason="there are no files to upload")
        while known is not None:
            self._gone(known, over=over)
            known = next(before, None)
        self._stage()
        while self._staging:
            self._staging.popleft().result()

    def given_up(self, error: type[BaseException] | None, *rest: object) -> None:
        """Abort the session when something went wrong: without a memory nobody continues it."""
        del rest
        if error is not None:
            self._session.give_up()

    def close(self) -> None:
        """End the threads; what is not sent by then is not."""
        self._stager.shutdown(cancel_futures=True)
        self._sending.close()

    def _begun(self, upload: str) -> None:
        if self._memory is not None:
            self._memory.state.pending, self._memory.state.large = upload, {}
            self._memory.save()

    def _resume_or_build_on(self) -> bool:
        """Continue what was broken off, or build on what was committed; says whether the latter."""
        if self._memory is None:
            return False
        state = self._memory.state
        if state.pending is not None and self._session.continue_with(state.pending, state.upload):
            return self._session.base is not None
        return state.upload is not None and self._session.begin_over(state.upload)

    def _gone(self, known: KnownFile, *, over: bool) -> None:
        self._watcher.on_gone(known.path)
        if over:
            self._removed.append(known.path)
            self._stage_if_full()

    def _unchanged(self, file: Found, known: KnownFile) -> None:
        self._watcher.on_file(file.size_bytes)
        self._add(Content(NewFile(file.path, known.size_bytes, known.sha256), file.source), 0)

    def _changed(self, file: Found, files: FileList) -> None:
        began = time.time_ns()
        content = self._large(file) if file.size_bytes >= LARGE_BYTES else self._small(file)
        settled = max(file.mtime_ns, file.ctime_ns) < began - _SETTLED_NS and content.new.size_bytes == file.size_bytes
        mtime_ns = file.mtime_ns if settled else _NEVER
        files.add(KnownFile(file.path, file.size_bytes, mtime_ns, file.inode, file.ctime_ns, content.new.sha256))
        self._add(content, len(content.data or b""))

    def _small(self, file: Found) -> Content:
        data = read_file(file.source)
        self._watcher.on_file(len(data))
        return Content(NewFile(file.path, len(data), hash_bytes(data)), file.source, data)

    def _large(self, file: Found) -> Content:
        self._stage()  # paths go up in order, and what was read so far need not wait in memory
        folder = self._session.folder()
        if folder is not None:
            return copy_large(folder, self._session.number(), file, self._watcher.on_file)
        if self._session.part_bytes is None:
            return self._small(file)
        begun = self._large_begun(file)

        def on_part(number: int, etag: str) -> None:
            begun.etags[number] = etag
            if self._memory is not None:
                self._memory.state.large[file.path] = begun
                self._memory.save()

        return send_large(self._session, begun, file, on_part, self._watcher.on_file)

    def _large_begun(self, file: Found) -> LargeFile:
        before = None if self._memory is None else self._memory.state.large.get(file.path)
        if before is not None and (before.size_bytes, before.mtime_ns) == (file.size_bytes, file.mtime_ns):
            return before
        return LargeFile(self._session.number(), file.size_bytes, file.mtime_ns, {})

    def _add(self, content: Content, held_bytes: int) -> None:
        self._page.append(content)
        self._page_bytes += held_bytes
        self._stage_if_full()

    def _stage_if_full(self) -> None:
        if len(self._page) + len(self._removed) >= PAGE_FILES or self._page_bytes >= PAGE_BYTES:
            self._stage()

    def _stage(self) -> None:
        if not self._page and not self._removed:
            return
        page, removed, self._page, self._removed, self._page_bytes = self._page, self._removed, [], [], 0
        self._staging.append(self._stager.submit(self._sending.take, page, removed))
        while len(self._staging) > _PAGES_AHEAD:
            self._staging.popleft().result()


class _Sending:
    """What happens to pages: names are staged, then missing contents go into packs. One thread comes to each."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._packer = ThreadPoolExecutor(1, "acai-pack")
        self._packing: deque[Future[None]] = deque()
        self._shipper = ThreadPoolExecutor(2, "acai-ship")
        self._shipping: deque[Future[None]] = deque()
        self._pack: Pack | None = None
        self._packed: set[str] = set()

    def take(self, page: list[Content], removed: list[str]) -> None:
        """Stage a page, and hand on what is missing."""
        missing = self._session.stage([content.new for content in page], removed)
        while len(self._packing) >= _PAGES_AHEAD:
            self._packing.popleft().result()
        self._packing.append(self._packer.submit(self._fill, page, missing))

    def _fill(self, page: list[Content], missing: list[int]) -> None:
        wanted: dict[str, Content] = {}
        for position in missing:
            content = page[position]
            if content.new.sha256 not in self._packed:
                wanted.setdefault(content.new.sha256, content)
        unsent = [content for content in wanted.values() if content.sent is None]
        self._add([content for content in unsent if content.new.size_bytes < LARGE_BYTES])
        for content in unsent:
            if content.new.size_bytes >= LARGE_BYTES:
                self._session.arrived(self._large(content))
        for content in page:
            if content.sent is not None:
                self._tell_large(content.sent, wanted=wanted.get(content.new.sha256) is content)

    def _add(self, contents: list[Content]) -> None:
        held: list[Content] = []
        size = 0
        for content in contents:
            held.append(content)
            size += content.new.size_bytes
            if size >= LARGE_BYTES or content is contents[-1]:
                self._add_to_pack(held)
                held, size = [], 0

    def _add_to_pack(self, contents: list[Content]) -> None:
        if self._pack is None:
            self._pack = self._session.pack()
        self._pack.add(contents)
        self._packed.update(content.new.sha256 for content in contents)
        if self._pack.size_bytes >= PACK_BYTES or len(self._pack.blobs) >= PACK_BLOBS:
            self._ship()

    def _large(self, content: Content) -> SentObject:
        """Send a large file that was hashed before, as the project might have had it."""
        found = found_file(content.source, content.new.path)
        folder = self._session.folder()
        if folder is not None:
            sent = copy_large(folder, self._session.number(), found, lambda _: None)
        else:
            begun = LargeFile(self._session.number(), found.size_bytes, found.mtime_ns)
            sent = send_large(self._session, begun, found, hash_first=False)
        if sent.new != content.new or sent.sent is None:
            raise changed(content.source)
        return sent.sent

    def _tell_large(self, sent: SentObject, *, wanted: bool) -> None:
        if wanted:
            self._session.arrived(sent)
            return
        folder = self._session.folder()
        if folder is not None:  # the project had it: the copy is not needed
            with suppress(OSError):
                (Path(folder) / str(sent.number)).unlink()

    def _ship(self) -> None:
        pack, self._pack = self._pack, None
        if pack is None:
            return
        while len(self._shipping) >= _PACKS_AHEAD:
            self._shipping.popleft().result()
        self._shipping.append(self._shipper.submit(self._shipped, pack))

    def _shipped(self, pack: Pack) -> None:
        sent = pack.ship()
        self._session.arrived(sent)
        self._packed.difference_update(blob.sha256 for blob in sent.blobs)

    def finish(self) -> list[SentObject]:
        """Wait until all is recorded but the last pack, which is returned for the commit to tell of."""
        while self._packing:
            self._packing.popleft().result()
        pack, self._pack = self._pack, None
        last = [] if pack is None else [pack.ship()]
        while self._shipping:
            self._shipping.popleft().result()
        return last

    def close(self) -> None:
        """End the threads; a pack that was not shipped is dropped."""
        self._packer.shutdown(cancel_futures=True)
        self._shipper.shutdown(cancel_futures=True)
        if self._pack is not None:
            self._pack.drop()


def _same(file: Found, known: KnownFile) -> bool:
    return (
        file.size_bytes == known.size_bytes
        and file.mtime_ns == known.mtime_ns
        and file.ctime_ns == known.ctime_ns
        and file.inode == known.inode
    )
