"""Reading back over the API, as users do: versions, contents, folders, sets, pending sessions."""

from __future__ import annotations

import hashlib
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from acai_jupyter.client import downloads
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError, FileNotFound
from acai_jupyter.contract.files import FetchFiles
from acai_jupyter.transfer.connections import Connections
from acai_jupyter.transfer.fetching import fetch_bytes

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.files import FileVersion
    from tests.kills.oracle import Oracle
    from tests.kills.records import Records, StoredVersion

T = TypeVar("T")
FEW = 25


class Reading:
    """What users find, held against the records."""

    def __init__(self, oracle: Oracle, chance: random.Random) -> None:
        self._oracle = oracle
        self._chance = chance
        self.read_bytes = 0
        self.read_versions = 0

    def run(self, client: Client, records: Records, *, most: int | None) -> None:
        """Read a few, or at the end so many versions, and all lists."""
        try:
            self._all(client, records, most=most)
        except AcaiError as error:
            self._oracle.wrong(f"reading back ended with {error.code}: {error.message}")

    def _all(self, client: Client, records: Records, *, most: int | None) -> None:
        by_path: dict[str, list[StoredVersion]] = defaultdict(list)
        for one in records.visible:
            by_path[one.path].append(one)
        paths = sorted(by_path)
        for path in paths if most else self._some(paths, FEW):
            self._versions(client, path, by_path[path])
        with Connections() as connections:
            for one in self._some(records.visible, most or FEW):
                self._content(client, one, connections)
        self._folder(client, by_path)
        for ref in sorted({one.ref for one in records.sets if not one.is_buried}) if most else ():
            self._set(client, ref)

    def _some(self, found: list[T], count: int) -> list[T]:
        return self._chance.sample(found, min(count, len(found)))

    def _versions(self, client: Client, path: str, stored: list[StoredVersion]) -> None:
        found = [(one.version, one.sha256, one.deleted_at is not None) for one in _pages(client, path)]
        wanted = sorted(((one.number or 0, one.sha256, one.is_buried) for one in stored), reverse=True)
        if found != wanted:
            self._oracle.wrong(f"{path} is listed with {found}, recorded are {wanted}")

    def _content(self, client: Client, one: StoredVersion, connections: Connections) -> None:
        spec = f"{one.path}:{one.number}"
        try:
            data = b"".join(downloads.read(client, spec))
            signed = client.call(endpoints.FETCH_FILES, FetchFiles(spec))
        except FileNotFound:
            if not one.is_buried:
                self._oracle.wrong(f"{spec} cannot be found")
            return
        self.read_versions += 1
        self.read_bytes += len(data)
        place = signed.files[0]
        if one.is_buried or hashlib.sha256(data).hexdigest() != one.sha256:
            self._oracle.wrong(f"{spec} reads as {data[:120]!r}")
        url = signed.objects[place.object]
        if place.size_bytes and fetch_bytes(url, place.offset, place.size_bytes, connections) != data:
            self._oracle.wrong(f"{spec} reads otherwise over its signed URL")

    def _folder(self, client: Client, by_path: dict[str, list[StoredVersion]]) -> None:
        """Get everything: the newest of each file that is not deleted."""
        wanted = {}
        for path, stored in by_path.items():
            alive = [one for one in stored if not one.is_buried]
            if alive:
                wanted[path] = max(alive, key=lambda one: one.number or 0).sha256
        if not wanted:
            return
        with tempfile.TemporaryDirectory() as folder:
            fetched = downloads.get(client, "/", f"{folder}/all/")
            files = [path for path in Path(folder, "all").rglob("*") if path.is_file()]
            found = {f"/{path.relative_to(f'{folder}/all')}": _hash(path) for path in files}
        self.read_bytes += fetched.size_bytes
        if found != wanted:
            self._oracle.wrong(f"getting everything differs in {sorted(found.items() ^ wanted.items())[:4]}")

    def _set(self, client: Client, ref: str) -> None:
        after: str | None = ""
        while after is not None:
            page = client.call(endpoints.LIST_ENTRIES, ref=ref, query={"after": after})
            self._oracle.tell([(one.path, one.version, one.sha256) for one in page.entries], ref)
            after = page.next


def _pages(client: Client, path: str) -> Iterator[FileVersion]:
    query: dict[str, object] = {"path": path}
    while True:
        page = client.call(endpoints.LIST_VERSIONS, query=query)
        yield from page.versions
        if page.next is None:
            return
        query["before"] = page.next


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
