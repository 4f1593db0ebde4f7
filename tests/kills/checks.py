"""What must hold of the records and the object store, however many were killed. Nobody works while it is checked."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING

from acai_server.lake.collecting import Terms
from acai_server.lake.repacking import LABEL as MOVED
from tests.kills.records import Records, Session, read
from tests.kills.stores import by_session, is_finished

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kills.backends import Backend
    from tests.kills.oracle import Attempt, Oracle

WORTH_MOVING = Terms().dead_bytes
Manifest = dict[str, str]
"""Hash by path."""


class RecordChecks:
    """Checks of one campaign; an object whose bytes were read is read again only at the end."""

    def __init__(self, backend: Backend, oracle: Oracle) -> None:
        self._backend = backend
        self._oracle = oracle
        self._read: set[str] = set()
        self._looked_at: set[str] = set()
        self.versions = 0
        self.commits = 0
        self.checked_bytes = 0
        self.garbage_bytes = 0

    def run(self, *, final: bool) -> Records:
        """Check everything; returns what was read."""
        records = read(self._backend.database)
        sizes = self._backend.objects.sizes()
        if final:
            self._read.clear()
        for found in (
            self._backend.database.faults(),
            _numbers(records),
            self._known(records),
            self._sessions(records),
            self._answers(records),
            _sets(records),
            self._graph(),
            self._buried_sets(records),
            self._places(records, sizes),
            self._left(records, sizes),
            self._bytes(records, sizes),
        ):
            for wrong in found:
                self._oracle.wrong(wrong)
        self.versions = len(records.visible)
        self.commits = sum(len(attempt.answers) > 0 for attempt in self._oracle.attempts)
        return records

    def _graph(self) -> Iterator[str]:
        """Each version of a set has what made it, and no upload or creation is known that made none."""
        for (number,) in self._backend.database.rows(
            "SELECT id FROM file_set_version WHERE id NOT IN (SELECT file_set_version_id FROM action_output)"
        ):
            yield f"the file set version with the id {number} is in no action"
        for number, kind in self._backend.database.rows(
            "SELECT id, kind FROM action WHERE job_id IS NULL AND id NOT IN (SELECT action_id FROM action_output)"
        ):
            yield f"the {kind} with the id {number} is known and made nothing"

    def _known(self, records: Records) -> Iterator[str]:
        """Every version is a content that somebody meant for that path, and stays what it was; none vanishes."""
        visible = {(one.path, one.number or 0): one for one in records.visible}
        self._oracle.tell([(*version, one.sha256) for version, one in visible.items()], "the database")
        for version in self._oracle.versions():
            if version not in visible:
                yield f"{version} was told to somebody and is not there any more"
        for one in visible.values():
            origin = self._oracle.origins.get(one.sha256)
            if origin is None or origin.length != one.size_bytes:
                yield f"{one} is what nobody sent"
        sets = [one for one in records.sets if one.ref in self._oracle.brought_back]
        gone = any(one.is_collected for one in sets)  # then nobody knows which files it brought
        back = {(path, n) for one in sets if not one.is_collected for path, n, *_ in records.manifest(one.root)}
        for version, buried in self._oracle.buried.items():
            unknown = gone or version in back if buried else self._oracle.files_go
            if version in visible and visible[version].is_buried != buried and not unknown:
                yield f"{version} {'is not' if buried else 'is'} deleted, its user was told otherwise"

    def _sessions(self, records: Records) -> Iterator[str]:
        """A committed session holds all of what one client meant, or it is not committed."""
        by_label = defaultdict(list)
        for attempt in self._oracle.attempts:
            by_label[attempt.label].append(attempt)
        made: dict[int, Manifest] = defaultdict(dict)
        for one in records.visible:
            made[one.session_id][one.path] = one.sha256
        for session in records.sessions.values():
            if session.commit_number is None or session.label == MOVED:
                continue
            meant = [a for label, attempts in by_label.items() if label in session.label for a in attempts]
            yield from _session(records, session, meant, made[session.id])

    def _answers(self, records: Records) -> Iterator[str]:
        """What was answered is so."""
        by_key = {session.key: session for session in records.sessions.values()}
        for attempt in self._oracle.attempts:
            for answer in attempt.answers:
                session = by_key.get(answer["id"])
                if session is None or session.commit_number is None:
                    yield f"the commit {answer} was answered to {attempt.writer} and is lost"
                elif session.result != answer:
                    yield f"the commit {answer} was answered to {attempt.writer}, and is {session.result}"
                elif answer["id"] not in self._looked_at and attempt.base is None and session.root is not None:
                    self._looked_at.add(answer["id"])
                    if _manifest(records, session) != attempt.hashes:
                        yield f"{attempt.writer} was told {answer} for files that its session does not hold"
            for key in attempt.aborted:
                if by_key[key].state != "aborted":
                    yield f"the session {key} was aborted, as {attempt.writer} was told, and is {by_key[key].state}"

    def _buried_sets(self, records: Records) -> Iterator[str]:
        """A set is deleted if its user was told so, and there if they were told that."""
        for one in records.sets:
            told = self._oracle.buried_sets.get(one.ref, one.is_buried)
            if told is not one.is_buried:
                yield f"the file set {one.ref} {'is' if one.is_buried else 'is not'} deleted, as nobody was told"

    def collected(self, records: Records) -> Iterator[str]:
        """When all that was deleted has been so for long, and was collected: nothing is kept that is not needed.

        An abort that was cut short is finished a day later by who tidies up.
        """
        unfinished = {session.key for session in records.sessions.values() if session.ended_at is None}
        sizes = {
            key: size
            for key, size in self._backend.objects.sizes().items()
            if is_finished(key) and key.split("/")[-2] not in unfinished
        }
        recorded = {key: size for key, size, _ in records.objects if key.split("/")[-2] not in unfinished}
        states = {session.key: session.state for session in records.sessions.values()}
        for key in sorted(sizes.keys() - recorded.keys()):
            yield f"the object {key} has no record; its session is {states.get(key.split('/')[-2])}"
        living = {one.sha256 for one in records.visible if not one.is_buried}
        live_bytes: dict[str, int] = defaultdict(int)
        for blob in records.blobs:
            if blob.sha256 in living:
                live_bytes[blob.key] += blob.size_bytes
        for key, size in recorded.items():
            dead_bytes = size - live_bytes.get(key, 0)
            if key not in live_bytes or (dead_bytes > live_bytes[key] and dead_bytes >= WORTH_MOVING):
                yield f"the object {key} of {size} bytes is kept for {live_bytes[key]} bytes of it"
        roots = {one.root for one in records.sets if not one.is_collected}
        roots |= {one.root for one in records.sessions.values() if one.root is not None}
        needed = {chunk for root in roots for chunk in records.pieces(root)}
        if needed != records.chunks.keys():
            yield f"of {len(records.chunks)} pieces of lists {len(needed)} are needed"

    def _places(self, records: Records, sizes: dict[str, int]) -> Iterator[str]:
        """No record without its bytes."""
        for key, size, _ in records.objects:
            if sizes.get(key) != size:
                yield f"the object {key} of {size} bytes has {sizes.get(key)}"
        there = set()
        for blob in records.blobs:
            if blob.key is None or blob.offset + blob.size_bytes > blob.object_bytes:
                yield f"{blob} lies outside of its object"
            elif records.sessions[blob.session_id].commit_number is not None:
                there.add((blob.sha256, blob.size_bytes))
        for one in records.visible:
            if (one.sha256, one.size_bytes) not in there and not one.is_buried:
                yield f"{one} has no bytes"

    def _left(self, records: Records, sizes: dict[str, int]) -> Iterator[str]:
        """Nothing is left of what was aborted; what is left of what was committed is counted."""
        by_key = {session.key: session for session in records.sessions.values()}
        recorded = {key for key, _, _ in records.objects}
        self.garbage_bytes = 0
        for key, keys in by_session(iter(sizes)).items():
            session = by_key.get(key)
            if session is None:
                yield f"objects are left of a session {key} that there is not: {keys[:3]}"
            elif session.state == "aborted" and session.ended_at is not None:
                yield f"objects are left of the aborted session {key}: {keys[:3]}"
            elif session.state == "committed":
                self.garbage_bytes += sum(sizes[one] for one in keys if one not in recorded)
        holding = {one.session_id for one in records.versions} | {session for _, _, session in records.objects}
        for number in holding | set(records.entries):
            session = records.sessions[number]
            if session.state == "aborted" and session.ended_at is not None:
                yield f"records are left of the aborted session {session.key}"

    def _bytes(self, records: Records, sizes: dict[str, int]) -> Iterator[str]:
        """Every committed byte reads back with its hash."""
        wanted = defaultdict(list)
        for blob in records.blobs:
            if blob.key in sizes and blob.key not in self._read and is_finished(blob.key):
                wanted[blob.key].append(blob)
        for key, blobs in wanted.items():
            data = memoryview(self._backend.objects.read(key))
            self.checked_bytes += len(data)
            for blob in blobs:
                piece = data[blob.offset : blob.offset + blob.size_bytes]
                if hashlib.sha256(piece).hexdigest() != blob.sha256:
                    yield f"{blob} holds other bytes"
            self._read.add(key)


def _numbers(records: Records) -> Iterator[str]:
    """No version's number is missing or double, nor is a commit's."""
    for path, numbers in records.numbers().items():
        if sorted(number or 0 for number in numbers) != list(range(1, len(numbers) + 1)):
            yield f"{path} has the versions {sorted(number or 0 for number in numbers)}"
    commits = sorted(s.commit_number for s in records.sessions.values() if s.commit_number is not None)
    if len(set(commits)) < len(commits) or not all(1 <= number <= records.last_commit for number in commits):
        yield f"the commits are {commits}, the last is {records.last_commit}"


def _manifest(records: Records, session: Session) -> Manifest:
    assert session.root is not None
    return {path: sha256.hex() for path, _, _, sha256 in records.manifest(session.root)}


def _session(records: Records, session: Session, meant: list[Attempt], made: Manifest) -> Iterator[str]:
    if session.state != "committed" or session.ended_at is None or not session.result:
        yield f"{session} is half committed"
        return
    if session.root is None:  # collected: nobody may be based on it
        if len(made) != session.result["new_files"]:
            yield f"{session.key} has {len(made)} new files and says {session.result}"
        return
    try:
        held = _manifest(records, session)
    except KeyError as missing:
        yield f"the manifest of {session.key} lacks the chunk {missing}"
        return
    base = None if session.base_id is None else records.sessions[session.base_id]
    is_known = base is None or base.root is not None
    if is_known and not any(held == _expected(records, session, attempt) for attempt in meant):
        nearest = min(meant, key=lambda attempt: len(attempt.hashes.items() ^ held.items()), default=None)
        differ = sorted(nearest.hashes.items() ^ held.items())[:6] if nearest else held
        yield f"{session.key} ({session.label}) holds what nobody meant; it differs from the nearest in {differ}"
    if not session.only_changed and made != held:
        yield f"{session.key} has not made a version of each of its files"
    if made.items() - held.items():
        yield f"{session.key} has made versions that it does not hold: {sorted(made.items() - held.items())[:3]}"
    if len(made) != session.result["new_files"] or len(held) - len(made) != session.result["unchanged_files"]:
        yield f"{session.key} has {len(made)} new files of {len(held)} and says {session.result}"


def _expected(records: Records, session: Session, attempt: Attempt) -> Manifest:
    if attempt.base is None:
        return attempt.hashes
    below: Manifest = {}
    if session.base_id is not None:
        below = _manifest(records, records.sessions[session.base_id])
    return {path: sha256 for path, sha256 in below.items() if path not in attempt.removed} | attempt.hashes


def _sets(records: Records) -> Iterator[str]:
    """Every set that is not deleted for good can be read, and what one lists that is not deleted is there."""
    there = {(one.path, one.number, one.size_bytes, one.sha256) for one in records.visible}
    buried = {(one.path, one.number) for one in records.visible if one.is_buried}
    numbers = defaultdict(list)
    for one in records.sets:
        numbers[one.name, one.last].append(one.number)
        if one.is_collected:
            continue
        try:
            leaves = records.manifest(one.root)
        except KeyError as missing:
            yield f"the file set {one.name}:{one.number} lacks the chunk {missing}"
            continue
        for path, number, size, sha256 in leaves:
            is_gone = (path, number) in buried and not one.is_buried
            if (path, number, size, sha256.hex()) not in there or is_gone:
                yield f"the file set {one.ref} lists {path}:{number}, which is not there"
        if (len(leaves), sum(leaf[2] for leaf in leaves)) != (one.file_count, one.size_bytes):
            yield f"the file set {one.name}:{one.number} says {one.file_count} files, {one.size_bytes} bytes"
    for (name, last), found in numbers.items():
        if sorted(found) != list(range(1, last + 1)):
            yield f"the file set {name} has the versions {sorted(found)}, the last is {last}"
