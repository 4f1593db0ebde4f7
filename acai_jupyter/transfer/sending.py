"""Sending bytes to places that a URL names: whole objects, and large files as parts in parallel."""

import hashlib
import os
import threading
from contextlib import contextmanager
from typing import BinaryIO, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from acai_jupyter.transfer.connections import Connections, lent
from acai_jupyter.transfer.errors import Changed, Stopped, not_read, not_written
from acai_jupyter.transfer.hashing import BUFFER
from acai_jupyter.transfer.landing import landing, write_all
from acai_jupyter.transfer.ranges import is_local, local_path
from acai_jupyter.transfer.retrying import DEFAULT, ONCE, Retrying

THREADS = 4

Source = Union[BinaryIO, Callable[[], BinaryIO]]
"""Bytes from where a stream stands, or what opens such a stream. One that cannot seek is tried only once."""


class Part(NamedTuple):
    """A part of a file and where it goes. One with an ETag was kept earlier and is not sent."""

    number: int
    offset: int
    size_bytes: int
    url: str
    headers: Dict[str, str]
    etag: str = ""


class SentParts(NamedTuple):
    """A file whose parts are all kept; the hashes are of the file as it was read beside, if that was asked for."""

    etags: Dict[int, str]
    sha256: str
    part_sha256: Dict[int, str]


def send(
    url: str,
    source: Source,
    size_bytes: int,
    headers: Optional[Dict[str, str]] = None,
    on_bytes: Optional[Callable[[int], object]] = None,
    connections: Optional[Connections] = None,
    retrying: Retrying = DEFAULT,
) -> str:
    """Send bytes as one object. When this returns they are kept; returns the ETag, if the store gives one.

    `on_bytes` gets a negative number when bytes have to be sent again.
    """
    sending = _Sending(source, size_bytes, on_bytes)
    if is_local(url):
        sending.write(local_path(url))
        return ""
    all_headers = {"Content-Length": str(size_bytes), "Content-Type": "application/octet-stream"}
    all_headers.update(headers or {})
    with lent(connections) as opened:
        retrying = retrying if sending.can_be_repeated else ONCE
        return retrying.call(lambda: sending.put(url, all_headers, opened))


def send_parts(
    parts: Sequence[Part],
    path: str,
    on_part: Optional[Callable[[int, str], object]] = None,
    on_bytes: Optional[Callable[[int], object]] = None,
    *,
    hashing: bool = True,
    threads: int = THREADS,
    retrying: Optional[Retrying] = None,
) -> SentParts:
    """Send a file as parts, which cover it without gaps, in parallel; `hashing` reads it beside, in this thread.

    The first failure stops the others and is raised. `on_part` is told each part's number and ETag as it is kept, one
    at a time, so that a journal can be written; `on_bytes` comes from all threads. Memory: a piece for each thread.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    before = _state(path)
    if sum(part.size_bytes for part in parts) != before[0]:
        raise Changed("'%s' is not as large as when it was cut into parts" % path)
    stop = threading.Event()
    with Connections() as connections, ThreadPoolExecutor(threads, "acai-send") as pool:
        sending = _PartSending(path, connections, retrying or Retrying(sleep=stop.wait), stop)
        sending.on_part, sending.on_bytes = on_part, on_bytes
        try:
            tasks = [pool.submit(sending.send, part) for part in parts if not part.etag]
            whole, each = _hash_parts(path, parts, stop) if hashing else ("", {})
            wait(tasks)
        finally:
            stop.set()
    if sending.error is not None:
        raise sending.error
    if _state(path) != before:
        raise Changed("'%s' changed while it was read" % path)
    kept = {part.number: part.etag for part in parts if part.etag}
    return SentParts({**kept, **sending.etags}, whole, each)


class _Sending:
    """One object on its way."""

    def __init__(self, source: Source, size_bytes: int, on_bytes: Optional[Callable[[int], object]]) -> None:
        self._source = source
        self._size_bytes = size_bytes
        self._on_bytes = on_bytes
        self._start = 0
        self.can_be_repeated = True
        if not callable(source):
            self.can_be_repeated = source.seekable()
            self._start = source.tell() if self.can_be_repeated else 0

    def put(self, url: str, headers: Dict[str, str], connections: Connections) -> str:
        """Try once to send it over HTTP."""
        with self._told() as pieces, connections.request("PUT", url, headers, pieces) as answer:
            answer.read()
            return answer.headers.get("ETag", "")

    def write(self, path: str) -> None:
        """Write it into a store on this disk."""
        try:
            with self._told() as pieces, landing(path, durable=True) as out:
                for piece in pieces:
                    write_all(out, piece)
        except OSError as error:
            raise not_written("the store's folder", error) from error

    @contextmanager
    def _told(self) -> Iterator[Iterator[memoryview]]:
        """Hand over the pieces; what was told of them is taken back when they do not arrive."""
        told: List[int] = []
        try:
            with self._opened() as stream:
                yield self._pieces(stream, told)
        except BaseException:
            if told and self._on_bytes is not None:
                self._on_bytes(-sum(told))
            raise

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        if not callable(self._source):
            if self.can_be_repeated:
                self._source.seek(self._start)
            yield self._source
            return
        try:
            stream = self._source()
        except OSError as error:
            raise not_read("the source", error) from error
        with stream:
            yield stream

    def _pieces(self, stream: BinaryIO, told: List[int]) -> Iterator[memoryview]:
        left = self._size_bytes
        while left:
            try:
                piece = stream.read(min(BUFFER, left))
            except OSError as error:
                raise not_read("the source", error) from error
            if not piece:
                raise Changed("%d bytes of those announced are missing" % left)
            yield memoryview(piece)
            left -= len(piece)
            told.append(len(piece))
            if self._on_bytes is not None:
                self._on_bytes(len(piece))


class _PartSending:
    """The parts of one file on their way, from several threads."""

    def __init__(self, path: str, connections: Connections, retrying: Retrying, stop: threading.Event) -> None:
        self._path = path
        self._connections = connections
        self._retrying = retrying
        self._stop = stop
        self._lock = threading.Lock()
        self.on_part: Optional[Callable[[int, str], object]] = None
        self.on_bytes: Optional[Callable[[int], object]] = None
        self.etags: Dict[int, str] = {}
        self.error: Optional[BaseException] = None

    def send(self, part: Part) -> None:
        """Send one part; a failure, of this or in what the caller does with it, stops all."""
        try:
            self._go_on()
            etag = self._put(part)
            with self._lock:
                self.etags[part.number] = etag
                if self.on_part is not None:
                    self.on_part(part.number, etag)
        except BaseException as error:  # noqa: BLE001 (raised in the caller's thread)
            self._stop.set()
            with self._lock:
                if self.error is None or isinstance(self.error, Stopped):
                    self.error = error

    def _put(self, part: Part) -> str:
        def source() -> BinaryIO:
            stream = open(self._path, "rb", buffering=0)  # noqa: SIM115 (`send` closes it)
            stream.seek(part.offset)
            return stream

        return send(part.url, source, part.size_bytes, part.headers, self._told, self._connections, self._retrying)

    def _told(self, size_bytes: int) -> None:
        if self.on_bytes is not None:
            self.on_bytes(size_bytes)
        if size_bytes > 0:
            self._go_on()

    def _go_on(self) -> None:
        if self._stop.is_set():
            raise Stopped("sending was stopped")


def _hash_parts(path: str, parts: Sequence[Part], stop: threading.Event) -> Tuple[str, Dict[int, str]]:
    """Return the hash of a file and of each of its parts, or as far as it came when it is stopped."""
    whole = hashlib.sha256()
    each: Dict[int, str] = {}
    view = memoryview(bytearray(BUFFER))
    with open(path, "rb", buffering=0) as stream:
        for part in sorted(parts, key=lambda part: part.offset):
            digest = hashlib.sha256()
            left = part.size_bytes
            while left and not stop.is_set():
                count = stream.readinto(view[:left])
                if not count:
                    raise Changed("'%s' became shorter while it was read" % path)
                digest.update(view[:count])
                whole.update(view[:count])
                left -= count
            each[part.number] = digest.hexdigest()
    return whole.hexdigest(), each


def _state(path: str) -> Tuple[int, int]:
    """What tells whether a file is still the same."""
    try:
        state = os.stat(path)
    except OSError as error:
        raise not_read("'%s'" % path, error) from error
    return state.st_size, state.st_mtime_ns
