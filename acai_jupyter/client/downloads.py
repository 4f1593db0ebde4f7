"""Getting files out of a project: ask where they are, fetch neighbours together, verify, show each only when whole."""

from __future__ import annotations

import hashlib
import os
import posixpath
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.client.damage import reported
from acai_jupyter.client.sessions import proof
from acai_jupyter.client.told import told_by_store
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest, Conflict
from acai_jupyter.contract.files import FetchFiles, FetchPage, Place
from acai_jupyter.contract.specs import normal_path
from acai_jupyter.transfer.connections import Connections
from acai_jupyter.transfer.errors import WrongBytes
from acai_jupyter.transfer.fetching import Wanted, Watching, fetch_bytes, fetch_files
from acai_jupyter.transfer.hashing import hash_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_jupyter.client.http import Client

PAGE = 5000
THREADS = 4
PIECE_BYTES = 8 * 1024 * 1024


class Fetched(msgspec.Struct, frozen=True):
    """What `get` did."""

    files: int
    size_bytes: int
    unchanged_files: int


@dataclass
class _Count:
    files: int = 0
    size_bytes: int = 0
    unchanged: int = 0


def get(
    client: Client, spec: str, dest: str, *, force: bool = False, on_bytes: Callable[[int], object] = lambda _: None
) -> Fetched:
    """Fetch what a spec names below a folder, or one file to a path.

    Files that are there already with the same content stay; others are refused before anything is written, or with
    `force` replaced.
    """
    count = _Count()
    laying = _Laying(dest)
    if not force and laying.may_meet_files:
        laying.refuse_others(pages(client, spec))
    with Connections() as connections, ThreadPoolExecutor(THREADS, "acai-fetch") as pool:
        for page in pages(client, spec):
            wanted = laying.wanted(page, count)
            fetching = _Fetching(client, page, connections, pool)
            fetching.run(wanted, on_bytes)
    return Fetched(count.files, count.size_bytes, count.unchanged)


def pages(client: Client, spec: str, limit: int = PAGE) -> Iterator[FetchPage]:
    """Iterate over the places of what a spec names; the next page is asked for while one is worked on."""
    said = proof(client.store)

    def ask(after: str) -> FetchPage:
        return client.call(endpoints.FETCH_FILES, FetchFiles(spec, after, limit, said))

    page = ask("")
    with ThreadPoolExecutor(1, "acai-pages") as pool:
        while page.next is not None:
            following = pool.submit(ask, page.next)
            yield page
            page = following.result()
    yield page


def read(client: Client, spec: str) -> Iterator[bytes]:
    """Yield the bytes of one file, piece by piece; the last one only after all were verified."""
    page = next(pages(client, spec, 2))
    if not page.is_file:
        raise BadRequest(reason=f"'{spec[:80]}' is a folder; name one file")
    place = page.files[0]
    digest = hashlib.sha256()
    with Connections() as connections, told_by_store(), reported(client, [place]):
        done = 0
        while done < place.size_bytes:
            size = min(PIECE_BYTES, place.size_bytes - done)
            piece = fetch_bytes(page.objects[place.object], place.offset + done, size, connections)
            digest.update(piece)
            done += size
            if done == place.size_bytes and digest.hexdigest() != place.sha256:
                raise WrongBytes(f"the bytes of {place.path}:{place.version} are not those that were recorded")
            yield piece


class _Laying:
    """Where files go below DEST."""

    def __init__(self, dest: str) -> None:
        self._dest = dest
        self._is_folder = dest.endswith(("/", os.sep)) or Path(dest).is_dir()
        self.may_meet_files = Path(dest).is_file() or (Path(dest).is_dir() and any(Path(dest).iterdir()))

    def path(self, page: FetchPage, place: Place) -> str:
        """Return where a file goes. What no project holds leads nowhere."""
        normal_path(place.path)
        if page.is_file:
            return posixpath.join(self._dest, posixpath.basename(place.path)) if self._is_folder else self._dest
        if not place.path.startswith(page.root):
            raise BadRequest(reason=f"the server sent a path that is not below {page.root}")
        return posixpath.join(self._dest, place.path[len(page.root) :])

    def refuse_others(self, found: Iterator[FetchPage]) -> None:
        """Refuse when a file is there with another content."""
        for page in found:
            for place in page.files:
                path = self.path(page, place)
                if os.path.lexists(path) and not _is_same(path, place):
                    raise Conflict(f"{path} is there already and is another file. Replace it with --force.")

    def wanted(self, page: FetchPage, count: _Count) -> dict[int, list[Wanted]]:
        """Return the files to fetch, by object."""
        wanted: dict[int, list[Wanted]] = {}
        for place in page.files:
            path = self.path(page, place)
            if self.may_meet_files and _is_same(path, place):
                count.unchanged += 1
                continue
            count.files += 1
            count.size_bytes += place.size_bytes
            one = Wanted(path, place.offset, place.size_bytes, place.sha256)
            wanted.setdefault(place.object, []).append(one)
        return wanted


def _is_same(path: str, place: Place) -> bool:
    try:
        if os.stat(path).st_size != place.size_bytes:  # noqa: PTH116 (a million times)
            return False
        return hash_file(path) == place.sha256
    except OSError:
        return False


@dataclass
class _Fetching:
    """Fetches the files of one page, each object in a task of its own."""

    client: Client
    page: FetchPage
    connections: Connections
    pool: ThreadPoolExecutor

    def run(self, wanted: dict[int, list[Wanted]], on_bytes: Callable[[int], object]) -> None:
        """Fetch them; what fails stops the rest."""
        stop = threading.Event()
        watching = Watching(on_bytes=on_bytes, stop=stop.is_set)
        tasks = {number: self.pool.submit(self._fetch, number, files, watching) for number, files in wanted.items()}
        try:
            with told_by_store():
                for number, task in tasks.items():
                    with reported(self.client, (one for one in self.page.files if one.object == number)):
                        task.result()
        except BaseException:
            stop.set()
            wait(tasks.values())
            raise

    def _fetch(self, number: int, files: list[Wanted], watching: Watching) -> None:
        fetch_files(self.page.objects[number], files, watching, self.connections)
