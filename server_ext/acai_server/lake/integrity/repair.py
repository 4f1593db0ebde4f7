"""Examines all objects of a project, says what depends on damaged contents, and heals them from good copies.

Healed contents go into new packs, hashed on the way, in an upload session of their own. Versions name hashes and not
places, so every version with such a content is readable again.
"""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, BinaryIO, cast
from uuid import uuid4

import msgspec

from acai_jupyter.contract.errors import HashMismatch
from acai_jupyter.contract.states import UploadState
from acai_jupyter.contract.uploads import UploadResult
from acai_server.db.garbage import Bare
from acai_server.lake import marking
from acai_server.lake.burying import load_in
from acai_server.lake.deletion_guard import AlwaysAllowed
from acai_server.lake.integrity.damage import Damages
from acai_server.lake.integrity.range_reader import damaged_blobs
from acai_server.lake.integrity.scrubber import UNREADABLE_RETRY
from acai_server.lake.tidying import Tidying, object_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.damage import DamagedContent, DamagedFile, SetVersion
    from acai_server.db.database import Database
    from acai_server.lake.integrity.sources import Candidate, Source
    from acai_server.objects.protocol import ObjectStore

LABEL = "healed by acai-server repair"
PACK_BYTES = 32 * 1024 * 1024
FILES = 10_000
"""The most damaged files of a project that are named."""


@dataclass(frozen=True)
class Finding:
    """A damaged content with all that depends on it."""

    content: DamagedContent
    files: list[DamagedFile]
    sets: list[str] = field(default_factory=list)
    used_by: list[int] = field(default_factory=list)
    """Jobs that were given such a file set."""

    @property
    def made_by(self) -> int | None:
        """The job that made it, if one did."""
        return next((file.job for file in self.files if file.job is not None), None)


class Repair:
    """Repairs one project."""

    def __init__(self, database: Database, objects: ObjectStore, project: ProjectId) -> None:
        self._database = database
        self._objects = objects
        self._project = project
        self._damages = Damages(database, objects)
        self._tidying = Tidying(database, objects, None, AlwaysAllowed())  # drops only what this repair wrote itself

    def examine(self, *, reads_all: bool) -> int:
        """Compare the sizes of all objects, and hash the suspected ones, or all; returns how many objects there are."""
        with self._database.reading() as work:
            every = work.damage.every(self._project)
        self._damages.lost(self._project, every)
        with self._database.reading() as work:
            now = work.clock.now()
            doubtful = set(work.damage.doubtful(now + UNREADABLE_RETRY, now, len(every) + 1))
        for one in every:
            if reads_all or one.id in doubtful:
                self._read(one.id)
        return len(every)

    def _read(self, number: int) -> None:
        with self._database.reading() as work:
            stored = work.blobs.object(number)
        wrong = None if stored is None else damaged_blobs(self._database, self._objects, stored)
        if stored is None or wrong is None:
            return
        with self._database.writing() as work:
            if work.blobs.object(number) == stored:
                work.blobs.checked(number, wrong, work.clock.now())

    def findings(self) -> list[Finding]:
        """Return the damaged contents with what depends on them."""
        with self._database.reading() as work:
            contents = work.damage.contents(self._project)
            files = work.damage.files(self._project, FILES) if contents else []
            versions = work.damage.set_versions(self._project) if contents else []
            load = load_in(work, self._project)
            damaged = {one.sha256 for one in contents}
            clean: set[bytes] = set()
            holding: dict[bytes, list[SetVersion]] = {}
            for version in versions:
                if marking.holds(version.root, load, clean, damaged):
                    for sha256 in {leaf[3] for leaf in marking.leaves(version.root, load)} & damaged:
                        holding.setdefault(sha256, []).append(version)
            using = work.damage.using(self._project, [one.id for held in holding.values() for one in held])
        found = []
        for content in contents:
            sets = holding.get(content.sha256, [])
            used_by = {job for version in sets for job in using.get(version.id, [])}
            of_content = [file for file in files if file.sha256 == content.sha256]
            names = [f"{one.name}:{one.number}" for one in sets]
            found.append(Finding(content, of_content, names, sorted(used_by)))
        return found

    def heal(self, contents: Iterable[DamagedContent], sources: list[Source]) -> Counter[str]:
        """Bring back what a source has; returns how many contents came from each."""
        healed: Counter[str] = Counter()
        pack: list[tuple[DamagedContent, Candidate]] = []
        size = 0
        for content in contents:
            candidate = _sound(content, sources)
            if candidate is None:
                continue
            if pack and not (_goes_with(pack[0][0], content) and size + content.size_bytes <= PACK_BYTES):
                self._write(pack)
                pack, size = [], 0
            pack.append((content, candidate))
            size += content.size_bytes
            healed[candidate.origin] += 1
        if pack:
            self._write(pack)
        return healed

    def _write(self, pack: list[tuple[DamagedContent, Candidate]]) -> None:
        """Keep contents as one new object."""
        first = pack[0][0]
        with self._database.writing() as work:
            how = {"storage": first.storage.value, "label": LABEL}
            stored = work.uploads.create(uuid4().hex, self._project, first.user_id, work.clock.now(), **how)
        bare = Bare(0, object_key(stored, 1), sum(content.size_bytes for content, _ in pack))
        done = False
        try:
            source = cast("BinaryIO", _Verified(pack))
            self._objects.put(bare.key, source, size_bytes=bare.size_bytes, storage=first.storage)
            with self._database.writing() as work:
                work.uploads.lock_project(self._project)
                now = work.clock.now()
                number = work.garbage.add_checked(self._project, stored.id, bare, now)
                work.damage.heal(self._project, number, list(_placed(pack)))
                work.events.record(self._project, "blobs_healed", bare.key)
                work.uploads.commit(stored, None, msgspec.to_builtins(UploadResult(stored.key, 0, 0, 0)), now)
            done = True
        finally:
            if not done:
                with self._database.writing() as work:
                    work.uploads.lock_project(self._project)
                    work.uploads.give_up(stored.id)
                self._tidying.tidy(replace(stored, state=UploadState.ABORTED), for_good=True)


def _sound(content: DamagedContent, sources: list[Source]) -> Candidate | None:
    candidates = (one for source in sources for one in source.of(content.sha256, content.size_bytes))
    return next((one for one in candidates if one.is_sound(content.sha256, content.size_bytes)), None)


def _goes_with(one: DamagedContent, other: DamagedContent) -> bool:
    return (one.user_id, one.storage) == (other.user_id, other.storage)


def _placed(pack: list[tuple[DamagedContent, Candidate]]) -> Iterator[tuple[DamagedContent, int]]:
    offset = 0
    for content, _ in pack:
        yield content, offset
        offset += content.size_bytes


class _Verified(io.RawIOBase):
    """Contents one after the other, hashed again while they are read."""

    def __init__(self, pack: list[tuple[DamagedContent, Candidate]]) -> None:
        super().__init__()
        self._pieces = self._read(pack)
        self._rest = memoryview(b"")

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes; none at the end."""
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        part, self._rest = self._rest[:size], self._rest[size:]
        return bytes(part)

    def _read(self, pack: list[tuple[DamagedContent, Candidate]]) -> Iterator[bytes]:
        for content, candidate in pack:
            digest = hashlib.sha256()
            for piece in candidate.pieces():
                digest.update(piece)
                yield piece
            if digest.digest() != content.sha256:
                raise HashMismatch(what=f"a copy in {candidate.origin}")
