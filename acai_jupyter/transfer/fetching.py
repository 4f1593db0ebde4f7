"""Fetching many files out of one object: neighbours in one request, each verified and visible only when whole."""

import hashlib
import os
from contextlib import suppress
from typing import Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional

from acai_jupyter.transfer.connections import Connections, lent
from acai_jupyter.transfer.copying import Copying
from acai_jupyter.transfer.errors import Stopped, TransferError, WrongBytes, not_stored, not_written
from acai_jupyter.transfer.hashing import BUFFER
from acai_jupyter.transfer.landing import landing, make_folder, open_new, partial_path, write_all
from acai_jupyter.transfer.ranges import ended_early, is_local, local_path, opened_range, read_range
from acai_jupyter.transfer.retrying import DEFAULT, ONCE, Retrying

GAP_BYTES = 64 * 1024
"""What lies between two files is fetched with them up to here: it costs less than another request."""
GROUP_BYTES = 16 * 1024 * 1024


class Wanted(NamedTuple):
    """A file to be had, and where its bytes are inside the object."""

    path: str
    offset: int
    size_bytes: int
    sha256: str


class Watching(NamedTuple):
    """What a caller can know and do meanwhile. Bytes are negative when they have to come again."""

    on_file: Optional[Callable[[Wanted], object]] = None
    on_bytes: Optional[Callable[[int], object]] = None
    stop: Optional[Callable[[], bool]] = None


UNWATCHED = Watching()


def fetch_files(
    url: str,
    wanted: Iterable[Wanted],
    watching: Watching = UNWATCHED,
    connections: Optional[Connections] = None,
    retrying: Retrying = DEFAULT,
) -> None:
    """Fetch files out of one object. A file that is there already is replaced when the new one is whole.

    Ends with `TransferError` naming the first file that could not be had, or with `Stopped`; those that were fetched
    before stay. Memory: one group of neighbours, whatever the sizes.
    """
    with lent(connections) as opened:
        fetching = _Fetching(url, watching, opened, ONCE if is_local(url) else retrying)
        for group in groups(wanted):
            fetching.fetch(group)


def fetch_bytes(
    url: str, offset: int, size_bytes: int, connections: Optional[Connections] = None, retrying: Retrying = DEFAULT
) -> bytes:
    """Fetch a range of an object into memory."""
    buffer = bytearray(size_bytes)
    view = memoryview(buffer)
    attempts = retrying.attempts()
    done = 0
    with lent(connections) as opened:
        while done < size_bytes:
            count, error = read_range(url, offset + done, view[done:], opened)
            done += count
            if count:
                attempts.progressed()
            if error is not None:
                attempts.failed(error)
    return bytes(buffer)


def groups(wanted: Iterable[Wanted]) -> Iterator[List[Wanted]]:
    """Cut what is wanted into neighbours that are fetched together; a large file is alone."""
    group: List[Wanted] = []
    start = end = 0
    for one in sorted(wanted, key=lambda one: (one.offset, one.size_bytes)):
        new_end = max(end, one.offset + one.size_bytes)
        if group and (one.offset - end > GAP_BYTES or new_end - start > GROUP_BYTES):
            yield group
            group = []
        if not group:
            start, new_end = one.offset, one.offset + one.size_bytes
        group.append(one)
        end = new_end
    if group:
        yield group


class _Fetching:
    """Fetching out of one object: what is kept from group to group."""

    def __init__(self, url: str, watching: Watching, connections: Connections, retrying: Retrying) -> None:
        self._url = url
        self._watching = watching
        self._connections = connections
        self._retrying = retrying
        self._partials: Dict[str, str] = {}
        self._memory = memoryview(b"")

    def fetch(self, group: List[Wanted]) -> None:
        """Fetch neighbours; those that did not come whole are asked for again."""
        if group[0].size_bytes > GROUP_BYTES:
            self._fetch_large(group[0])
            return
        attempts = self._retrying.attempts()
        missing = group
        while True:
            before = len(missing)
            start = missing[0].offset
            view = self._view(max(one.offset + one.size_bytes for one in missing) - start)
            count, error = read_range(self._url, start, view, self._connections) if view else (0, None)
            missing = self._keep_whole(missing, start, view[:count])
            if not missing:
                return
            if len(missing) < before:
                attempts.progressed()
            attempts.failed((error or _wrong()).about(missing[0].path))

    def _view(self, size_bytes: int) -> memoryview:
        if len(self._memory) < size_bytes:
            self._memory = memoryview(bytearray(size_bytes))
        return self._memory[:size_bytes]

    def _keep_whole(self, wanted: List[Wanted], start: int, view: memoryview) -> List[Wanted]:
        """Write the files that are whole; return the others."""
        missing = []
        for one in wanted:
            self._go_on()
            piece = view[one.offset - start : one.offset - start + one.size_bytes]
            if len(piece) < one.size_bytes or hashlib.sha256(piece).hexdigest() != one.sha256:
                missing.append(one)
                continue
            self._write(one.path, piece)
            self._arrived(one.size_bytes)
            self._finished(one)
        return missing

    def _write(self, path: str, piece: memoryview) -> None:
        """Write one small file, with as few system calls as can be: they are most of its cost."""
        folder = os.path.dirname(path)
        partial = ""
        try:
            partial = self._partials.get(folder) or self._prepare(folder)
            descriptor = open_new(partial)
            try:
                write_all(descriptor, piece)
            finally:
                os.close(descriptor)
            os.replace(partial, path)
        except BaseException as error:
            with suppress(OSError):
                os.remove(partial)
            if isinstance(error, OSError):
                raise not_written("'%s'" % path, error) from error
            raise

    def _prepare(self, folder: str) -> str:
        make_folder(folder or ".", durable=False)
        self._partials[folder] = partial_path(folder)
        return self._partials[folder]

    def _fetch_large(self, wanted: Wanted) -> None:
        attempts = self._retrying.attempts()
        while not self._land(wanted):
            self._arrived(-wanted.size_bytes)
            attempts.failed(_wrong().about(wanted.path))
        self._finished(wanted)

    def _land(self, wanted: Wanted) -> bool:
        """Bring a large file; say whether its bytes were the right ones."""
        bring = self._copy if is_local(self._url) else self._stream
        try:
            with landing(wanted.path, durable=False) as out:
                _check(bring(wanted, out), wanted)
        except _Unfit:
            return False
        except OSError as error:
            raise not_written("'%s'" % wanted.path, error) from error
        return True

    def _copy(self, wanted: Wanted, out: int) -> str:
        path = local_path(self._url)
        try:
            source = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise not_stored(error).about(wanted.path) from error
        try:
            left = wanted.offset + wanted.size_bytes - os.fstat(source).st_size
            if left > 0:
                raise ended_early(self._url, left).about(wanted.path)
            return Copying(path, source, out, wanted.offset, wanted.size_bytes).run(self._arrived, durable=False)
        finally:
            os.close(source)

    def _stream(self, wanted: Wanted, out: int) -> str:
        """Bring the bytes in pieces; after a cut, go on from there."""
        attempts = self._retrying.attempts()
        digest = hashlib.sha256()
        view = self._view(BUFFER)
        done = 0
        while done < wanted.size_bytes:
            left = wanted.size_bytes - done
            try:
                with opened_range(self._url, wanted.offset + done, left, self._connections) as read_into:
                    while done < wanted.size_bytes:
                        count = read_into(view[: wanted.size_bytes - done])
                        if not count:
                            raise ended_early(self._url, wanted.size_bytes - done)
                        digest.update(view[:count])
                        write_all(out, view[:count])
                        done += count
                        attempts.progressed()
                        self._arrived(count)
            except TransferError as error:
                attempts.failed(error.about(wanted.path))
        return digest.hexdigest()

    def _arrived(self, size_bytes: int) -> None:
        if self._watching.on_bytes is not None:
            self._watching.on_bytes(size_bytes)
        if size_bytes > 0:
            self._go_on()

    def _finished(self, wanted: Wanted) -> None:
        if self._watching.on_file is not None:
            self._watching.on_file(wanted)

    def _go_on(self) -> None:
        if self._watching.stop is not None and self._watching.stop():
            raise Stopped("fetching was stopped")


class _Unfit(Exception):
    """A large file is not the one that was recorded."""


def _check(sha256: str, wanted: Wanted) -> None:
    if sha256 != wanted.sha256:
        raise _Unfit


def _wrong() -> WrongBytes:
    return WrongBytes("the bytes are not those that were recorded")
