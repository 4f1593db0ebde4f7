"""Marks contents as damaged: those that a commit relies on and the store has lost, and those that readers report.

A report is a hint. The server compares the bytes with their hash itself before it marks anything, and reads at most
an allowance of bytes for reports; what exceeds it is left to the scrubber, which reads at its own pace.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from acai_jupyter.contract.checkups import Check, Finding
from acai_jupyter.contract.files import DamageReport, DamageVerdict
from acai_server.lake import marking
from acai_server.lake.burying import load_in
from acai_server.lake.integrity.presence import Presence
from acai_server.lake.integrity.range_reader import RangeReader
from acai_server.lake.integrity.store_mark import confirm_store

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from acai_jupyter.contract.ids import ObjectKey, ProjectId
    from acai_server.db.blobs import RecordedObject
    from acai_server.db.damage import Copy
    from acai_server.db.database import Database
    from acai_server.db.uploads import StoredUpload
    from acai_server.db.work import Work
    from acai_server.objects.protocol import ObjectStore

READ_BYTES = 256 * 1024 * 1024
REFILL_SECONDS = 60.0
"""The limit for all reports together: READ_BYTES in REFILL_SECONDS. What exceeds it waits for the scrubber."""
SOUND_SECONDS = 600.0
"""A content that was read and found sound is not read for another report for this long."""
CONTENTS = "stored files"
"""The name of the check."""
DAMAGED_SECONDS = 60.0
"""A content that was read again and is still damaged is not read again for this long."""
AGAIN_SECONDS = 5.0
"""For how long a request reads marked contents again at most."""
RECENT = timedelta(minutes=10)
"""An object that was read so recently is not read again for a mere suspicion."""
NAMED = 10
"""File names in one line of a checkup."""
_REMEMBERED = 10_000
_FEW_OBJECTS = 200
_FILES_PER_OBJECT = 50
_log = logging.getLogger(__name__)


class Allowance:
    """Bytes that may be read, refilled as time passes. Thread-safe."""

    def __init__(self, size_bytes: int, refill_seconds: float, ticks: Callable[[], float]) -> None:
        self._size = size_bytes
        self._per_second = size_bytes / refill_seconds
        self._ticks = ticks
        self._left, self._at = float(size_bytes), ticks()
        self._lock = threading.Lock()

    def take(self, size_bytes: int) -> bool:
        """Take some bytes; says whether there were as many."""
        with self._lock:
            now = self._ticks()
            self._left = min(self._size, self._left + (now - self._at) * self._per_second)
            self._at = now
            if size_bytes > self._left:
                return False
            self._left -= size_bytes
            return True


class Damages:
    """What is known to be damaged, and the ways to find out."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        *,
        read_bytes: int = READ_BYTES,
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._database = database
        self._objects = objects
        self._presence = Presence(database, objects, ticks=ticks)
        self._allowance = Allowance(read_bytes, REFILL_SECONDS, ticks)
        self._ticks = ticks
        self._sound: dict[int, float] = {}
        self._still_damaged: dict[int, float] = {}
        self._lock = threading.Lock()

    # -- what commits rely on

    def lost(self, project: ProjectId, wanted: Iterable[RecordedObject]) -> bool:
        """Mark what the store has lost of objects; says whether it has lost anything."""
        unlike = self._presence.unlike(wanted)
        if unlike:
            self._cut(project, unlike)
        return bool(unlike)

    def base_lost(self, base: StoredUpload, file_count: int) -> bool:
        """Mark what the store has lost of the contents of a session that another one builds on."""
        assert base.root is not None
        limit = _FEW_OBJECTS + file_count // _FILES_PER_OBJECT
        with self._database.reading() as work:
            wanted: Collection[RecordedObject] = work.damage.committed(base.project_id, limit + 1)
            if len(wanted) > limit:
                load = load_in(work, base.project_id)
                hashes = {leaf[3] for leaf in marking.leaves(base.root, load)}
                wanted = work.damage.holding(base.project_id, hashes)
        return self.lost(base.project_id, wanted)

    def _cut(self, project: ProjectId, unlike: dict[RecordedObject, int]) -> None:
        with self._database.writing() as work:
            now = work.clock.now()
            numbers = sorted(one.id for one in unlike)
            work.garbage.lock(numbers)  # objects before contents, both by number, as everywhere: no deadlock
            work.damage.suspect(numbers, now, now - RECENT)  # the scrubber reads the rest of them
            for one, size in sorted(unlike.items()):
                count = work.damage.cut(one, max(size, 0))
                if count:
                    work.events.record(project, "blobs_quarantined", one.key)
                    state = "is missing" if size < 0 else f"has {size:,} of {one.size_bytes:,} bytes"
                    _log.warning("Object %s %s in the store: %d contents are lost.", one.key, state, count)

    # -- what readers report

    def report(self, project: ProjectId, report: DamageReport) -> DamageVerdict:
        """Look into files that a reader could not read; returns which of them are damaged."""
        wanted = {(file.path, file.version) for file in report.files}
        with self._database.reading() as work:
            hashes = work.damage.reported(project, wanted)
            copies = work.damage.copies(project, set(hashes.values()))
            recorded = {one.id: one for one in work.damage.holding(project, {copy.sha256 for copy in copies})}
        unlike = self._presence.unlike(recorded.values(), is_new=True)
        if unlike:
            self._cut(project, unlike)
        wrong, later = self._read(copies, recorded)
        if wrong or later:
            with self._database.writing() as work:
                damaged_objects = sorted({copy.object for copy in wrong})
                work.garbage.lock(sorted({*damaged_objects, *later}))
                work.damage.suspect(later, work.clock.now(), work.clock.now() - RECENT)
                work.damage.mark(wrong)
                for number in damaged_objects:
                    work.events.record(project, "blobs_quarantined", recorded[number].key)
        with self._database.reading() as work:
            damaged = work.damage.hashes(project)
        names = [f"{path}:{version}" for (path, version), sha256 in hashes.items() if sha256 in damaged]
        return DamageVerdict(sorted(names), is_pending=bool(later))

    def _read(self, copies: list[Copy], recorded: dict[int, RecordedObject]) -> tuple[list[Copy], list[int]]:
        """Hash copies as far as the allowance goes; returns the damaged ones and the objects left for later."""
        wrong: list[Copy] = []
        later: list[int] = []
        has_gap = False
        now = self._ticks()
        unread = [copy for copy in copies if copy.object in recorded and self._sound.get(copy.blob, now - 1) < now]
        order = attrgetter("object", "offset")
        for number, held in groupby(sorted(unread, key=order), key=attrgetter("object")):
            reader = RangeReader(self._objects, recorded[number].key)
            for copy in held:
                if not self._allowance.take(copy.size_bytes):
                    later.append(number)
                    break
                if reader.hash(copy.offset, copy.size_bytes) != copy.sha256:
                    wrong.append(copy)
                else:
                    self._remember(self._sound, copy.blob, now + SOUND_SECONDS)
            has_gap |= reader.has_gap
        if has_gap:
            confirm_store(self._database, self._objects)
        return wrong, later

    def _remember(self, blobs: dict[int, float], blob: int, until: float) -> None:
        with self._lock:
            if len(blobs) >= _REMEMBERED:
                blobs.clear()
            blobs[blob] = until

    def look_into(self, project: ProjectId, hashes: set[bytes]) -> None:
        """Mark what the store has lost of contents that a job could not read; the scrubber reads the others soon."""
        with self._database.reading() as work:
            recorded = {one.id: one for one in work.damage.holding(project, hashes)}
        unlike = self._presence.unlike(recorded.values(), is_new=True)
        if unlike:
            self._cut(project, unlike)
        with self._database.writing() as work:
            now = work.clock.now()
            work.damage.suspect(recorded, now, now - RECENT)

    def look_again(self, project: ProjectId, hashes: list[bytes]) -> bool:
        """Read contents that are marked as damaged and wanted once more; says whether one of them is sound after all.

        The store may have given wrong bytes only for a moment, or the object was put back. It ends at the first content
        that is still damaged, for which the reader is refused, and after a short time.
        """
        now = self._ticks()
        with self._database.reading() as work:
            marked: dict[bytes, list[tuple[ObjectKey, Copy]]] = {}
            for key, copy in work.damage.marked(project, hashes):
                marked.setdefault(copy.sha256, []).append((key, copy))
        sound: dict[ObjectKey, list[Copy]] = {}
        for sha256 in hashes:
            found = next((one for one in marked.get(sha256, ()) if self._is_sound_again(*one, now)), None)
            if found is None:
                break
            key, copy = found
            sound.setdefault(key, []).append(copy)
            if self._ticks() - now > AGAIN_SECONDS:
                break
        if not sound:
            return False
        with self._database.writing() as work:
            work.garbage.lock(sorted(copy.object for copies in sound.values() for copy in copies))
            for key, copies in sound.items():
                work.damage.mark(copies, as_damaged=False)
                work.events.record(project, "blobs_healed", key)
                _log.info("%d damaged contents in object %s are sound again.", len(copies), key)
        return True

    def _is_sound_again(self, key: ObjectKey, copy: Copy, now: float) -> bool:
        """Read a marked copy, unless that was done a moment ago or the allowance is used up."""
        if self._still_damaged.get(copy.blob, now - 1) >= now or not self._allowance.take(copy.size_bytes):
            return False
        if RangeReader(self._objects, key).hash(copy.offset, copy.size_bytes) == copy.sha256:
            return True
        self._remember(self._still_damaged, copy.blob, now + DAMAGED_SECONDS)
        return False

    def not_found(self, key: ObjectKey) -> None:
        """Mark the contents of an object that this server itself could not find."""
        with self._database.reading() as work:
            found = work.damage.recorded(key)
        if found is not None:
            project, one = found
            unlike = self._presence.unlike([one], is_new=True)
            if unlike:
                self._cut(project, unlike)

    # -- what is known

    def count(self) -> int:
        """Count the damaged contents of all projects."""
        with self._database.asking() as work:
            return work.damage.count()

    def check(self, project: ProjectId, *, sees_all_projects: bool) -> Check:
        """Say for a checkup how many files are damaged, and name some that the caller may see."""
        with self._database.reading() as work:
            total = work.damage.count()
            count = work.damage.file_count(project) if total else 0
            files = work.damage.files(project, NAMED) if count else []
        if not count:
            if not (total and sees_all_projects):
                return Check(CONTENTS, Finding.OK, "no file is known to be damaged")
            said = f"{total:,} damaged contents, none in this project; run acai-server repair to see them."
            return Check(CONTENTS, Finding.FAILED, said)
        named = ", ".join(f"{file.path}:{file.version}" for file in files)
        more = f" and {count - len(files):,} more" if count > len(files) else ""
        said = f"{count:,} damaged {'file' if count == 1 else 'files'}: {named}{more}."
        heal = " Put the same files again to heal them; acai-server repair --heal looks for other copies."
        return Check(CONTENTS, Finding.FAILED, said + heal)


def first_damaged(work: Work, stored: StoredUpload, root: bytes, chunks: dict[bytes, bytes]) -> str | None:
    """Return the path of a file in a session's manifest whose bytes are damaged and were not sent in the session.

    `chunks` are those of the manifest that are not in the database yet.
    """
    project = stored.project_id
    damaged = work.damage.hashes(project)
    if damaged:
        damaged -= {sha256 for sha256, _ in work.blobs.usable(project, stored.id, stored.user_id, damaged)}
    if not damaged:
        return None
    kept = load_in(work, project)

    def load(wanted: list[bytes]) -> dict[bytes, bytes]:
        missing = [key for key in wanted if key not in chunks]
        return {key: chunks[key] for key in wanted if key in chunks} | (kept(missing) if missing else {})

    return next((leaf[0] for leaf in marking.leaves(root, load) if leaf[3] in damaged), None)
