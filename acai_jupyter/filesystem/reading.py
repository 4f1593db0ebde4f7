"""Reading a file version: ranges of the object it is in, verified where all of it is read."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from fsspec.caching import BaseCache, register_cache
from fsspec.spec import AbstractBufferedFile

from acai_jupyter.client.damage import reported
from acai_jupyter.client.sessions import proof
from acai_jupyter.client.told import told_by_store
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.files import FetchFiles
from acai_jupyter.filesystem import links
from acai_jupyter.filesystem.listing import details
from acai_jupyter.transfer.errors import LostBytes, Refused, WrongBytes
from acai_jupyter.transfer.fetching import Wanted, fetch_bytes, groups

if TYPE_CHECKING:
    from collections.abc import Callable

    from fsspec import AbstractFileSystem

    from acai_jupyter.client.http import Client
    from acai_jupyter.filesystem.addresses import Address

LINE_BYTES = 8 * 1024
JUMP_BYTES = 64 * 1024
"""What is fetched at least: less does not cost less."""
FIRST_AHEAD_BYTES = 256 * 1024
_EXPIRED = (403, 404)
"""A URL that was signed too long ago, or whose object has moved."""


class Version:
    """One file version and where its bytes are. What it names does not change; its URL is asked for again."""

    def __init__(self, address: Address) -> None:
        self._project = address.project
        self._locate(str(address.spec))
        self.address = address.pinned(self.place.path, self.place.version)

    def read(self, start: int, end: int) -> bytes:
        """Read a range."""
        with links.told_to_python(), told_by_store(), reported(self._client, [self.place]):
            try:
                return self._read(start, end)
            except (Refused, LostBytes) as error:
                if isinstance(error, Refused) and error.status not in _EXPIRED:
                    raise
            self._locate(str(self.address.spec))
            return self._read(start, end)

    def bounds(self, start: int | None, end: int | None) -> tuple[int, int]:
        """Return what a slice means here."""
        first, last, _ = slice(start, end).indices(self.place.size_bytes)
        return first, max(first, last)

    def read_slice(self, start: int | None, end: int | None) -> bytes:
        """Read a slice; verified if it is all of it."""
        first, last = self.bounds(start, end)
        data = self.read(first, last)
        if len(data) == self.place.size_bytes:
            self.check(hashlib.sha256(data).hexdigest())
        return data

    def check(self, sha256: str) -> None:
        """Refuse bytes that are not those that were recorded."""
        if sha256 != self.place.sha256:
            with links.told_to_python(), told_by_store(), reported(self._client, [self.place]):
                raise WrongBytes(f"the bytes of {self.address.spec} are not those that were recorded")

    def _locate(self, spec: str) -> None:
        client = self._client
        with links.told_to_python():
            page = client.call(endpoints.FETCH_FILES, FetchFiles(spec, limit=1, proof=proof(client.store)))
        if not page.is_file:
            raise IsADirectoryError(f"'{spec}' is a folder; name one file.")
        self.place = page.files[0]
        self.url = page.objects[self.place.object]

    @property
    def _client(self) -> Client:
        return links.client(self._project)

    def _read(self, start: int, end: int) -> bytes:
        return fetch_bytes(self.url, self.place.offset + start, end - start, links.connections())


class VersionReader(AbstractBufferedFile):  # type: ignore[misc]
    """A file version, open for reading."""

    def __init__(self, fs: AbstractFileSystem, version: Version, **options: Any) -> None:
        self._version = version
        self._digest = hashlib.sha256()
        self._hashed_bytes = 0
        place = version.place
        super().__init__(fs, version.address.path, "rb", size=place.size_bytes, **options)
        self.details = details(self.path, place)

    def readline(self, size: int = -1) -> bytes:
        """Read a line, or its beginning."""
        start = self.tell()
        line: bytes = self.readuntil(b"\n", blocks=LINE_BYTES)
        if 0 <= size < len(line):
            self.seek(start + size)
            return line[:size]
        return line

    def _fetch_range(self, start: int, end: int) -> bytes:
        data = self._version.read(start, end)
        if start == 0:
            self._digest, self._hashed_bytes = hashlib.sha256(), 0
        if start == self._hashed_bytes:
            self._digest.update(data)
            self._hashed_bytes += len(data)
            if self._hashed_bytes == self.size:
                self._version.check(self._digest.hexdigest())
        return data


def read_ranges(version: Version, ranges: list[tuple[int, int]]) -> list[bytes]:
    """Read ranges of one file, neighbours together."""
    found = [b""] * len(ranges)
    wanted = [Wanted(str(number), start, end - start, "") for number, (start, end) in enumerate(ranges) if start < end]
    for group in groups(wanted):
        first = group[0].offset
        data = version.read(first, max(one.offset + one.size_bytes for one in group))
        for one in group:
            found[int(one.path)] = data[one.offset - first :][: one.size_bytes]
    return found


class GrowingReadAhead(BaseCache):  # type: ignore[misc]
    """Reads ahead only while reads follow one another, twice as far each time: text flows, parquet jumps."""

    name = "growing"

    def __init__(self, blocksize: int, fetcher: Callable[[int, int], bytes], size: int) -> None:
        super().__init__(blocksize, fetcher, size)
        self._start = 0
        self._held = b""
        self._ahead = 0

    def _fetch(self, start: int | None, stop: int | None) -> bytes:
        start = start or 0
        stop = self.size if stop is None else min(stop, self.size)
        if start >= stop:
            return b""
        end = self._start + len(self._held)
        if not self._start <= start < stop <= end:
            self._read(start, stop, end)
        held = self._held[start - self._start : stop - self._start]
        if len(held) > self.blocksize:
            self._start, self._held = stop, b""
        return held

    def _read(self, start: int, stop: int, end: int) -> None:
        follows = self._start <= start <= end
        self._ahead = min(max(2 * self._ahead, FIRST_AHEAD_BYTES), self.blocksize) if follows else 0
        kept = self._held[start - self._start :] if follows else b""
        begin = start + len(kept)
        until = min(max(stop + self._ahead, begin + JUMP_BYTES), self.size)
        self.total_requested_bytes += until - begin
        self._held = kept + self.fetcher(begin, until)
        self._start = start


register_cache(GrowingReadAhead, clobber=True)
