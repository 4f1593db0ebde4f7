"""Moves what lives in packs that are mostly dead into new ones, hashed on the way. The old ones stay for a while.

The new pack belongs to an upload session of its own, which is there before the bytes: whoever looks for leftovers
meanwhile, on any server, leaves them alone, and of a move that was cut off they are dropped with the session.
"""

from __future__ import annotations

import hashlib
import io
import logging
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, BinaryIO, cast
from uuid import uuid4

import msgspec

from acai_jupyter.contract.errors import AcaiError, ObjectNotFound
from acai_jupyter.contract.garbage import GarbageKind
from acai_jupyter.contract.states import UploadState
from acai_jupyter.contract.uploads import UploadResult
from acai_server.db.garbage import Bare
from acai_server.lake.collecting import EXAMPLES
from acai_server.lake.integrity.store_mark import confirm_store
from acai_server.lake.tidying import object_key

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.db.garbage import Pack, Piece
    from acai_server.db.uploads import StoredUpload
    from acai_server.lake.collecting import Run, Terms
    from acai_server.lake.freeing import Round, Sparing
    from acai_server.lake.tidying import Tidying
    from acai_server.objects.protocol import ObjectStore

LABEL = "moved by acai gc"
Moving = tuple["Pack", int]
"""A pack, and how many bytes of it live."""
_log = logging.getLogger(__name__)


def is_mostly_dead(size_bytes: int, live_bytes: int, terms: Terms) -> bool:
    """Whether to move what lives in a pack gains enough."""
    dead_bytes = size_bytes - live_bytes
    return dead_bytes >= terms.dead_bytes and dead_bytes > live_bytes


def is_worth_moving(one: Sparing, terms: Terms) -> bool:
    """Whether a pack is mostly dead; one with a content that nobody may have, and no right one for it, stays."""
    return one.is_sound and is_mostly_dead(one.pack.size_bytes, one.live_bytes, terms)


class WrongContent(Exception):
    """A content is not what was announced."""

    def __init__(self, piece: Piece) -> None:
        super().__init__(piece)
        self.piece = piece


class Repacking:
    """Moves packs of one collection."""

    def __init__(self, run: Run, tidying: Tidying) -> None:
        self._run = run
        self._tidying = tidying

    def run(self, found: Round, packs: list[Moving]) -> None:
        """Move them."""
        for ids in _groups(packs, self._run.terms.pack_bytes):
            self._run.go_on()
            with self._run.database.reading() as work:
                plan = [one for one in found.spared(work, ids) if is_worth_moving(one, self._run.terms)]
            if plan and self._moved(found, plan):
                self.tell(plan)

    def tell(self, plan: list[Sparing]) -> None:
        """Say what moving them gains."""
        gained = sum(one.pack.size_bytes - one.live_bytes for one in plan)
        self._run.report.add(GarbageKind.PACKS, len(plan), gained, [one.pack.key for one in plan[:EXAMPLES]])

    def _moved(self, found: Round, plan: list[Sparing]) -> bool:
        """Move what lives in some packs into one; says whether that could be done."""
        first = plan[0].pack
        pieces = [piece for one in plan for piece in one.living]
        with self._run.database.writing() as work:
            how = {"storage": first.storage.value, "label": LABEL}
            stored = work.uploads.create(uuid4().hex, self._run.project, first.user_id, work.clock.now(), **how)
        bare = Bare(0, object_key(stored, 1), sum(piece.size_bytes for piece in pieces))
        keys = {one.pack.id: one.pack.key for one in plan}
        done = False
        try:
            source = cast("BinaryIO", _Living(self._run.objects, keys, pieces))
            self._run.objects.put(bare.key, source, size_bytes=bare.size_bytes, storage=first.storage)
            done = self._record(found, plan, stored, bare)
        except WrongContent as wrong:
            if isinstance(wrong.__cause__, ObjectNotFound):
                confirm_store(self._run.database, self._run.objects)
            with self._run.database.writing() as work:
                work.garbage.found_wrong(wrong.piece)
            key = keys[wrong.piece.object]
            _log.warning("A content in object %s is not what was announced; its pack is not moved.", key)
        finally:
            if not done:
                self._give_up(stored)
        return done

    def _record(self, found: Round, plan: list[Sparing], stored: StoredUpload, bare: Bare) -> bool:
        """Let records name the new pack, unless something of the old ones has come to life, or was marked, since."""
        old = [one.pack.id for one in plan]
        with self._run.database.writing() as work:
            work.uploads.lock_project(self._run.project)
            found.catch_up(work, self._run)
            work.garbage.lock(old)
            if list(found.spared(work, old)) != plan:
                return False
            now = work.clock.now()
            target = work.garbage.add_checked(self._run.project, stored.id, bare, now)
            work.garbage.move(list(_placed(target, (piece for one in plan for piece in one.living))))
            work.garbage.empty(old, now)
            work.uploads.commit(stored, None, msgspec.to_builtins(UploadResult(stored.key, 0, 0, 0)), now)
        return True

    def _give_up(self, stored: StoredUpload) -> None:
        """Drop what was written; if that fails, it is dropped when the session has been left alone for long enough."""
        try:
            with self._run.database.writing() as work:
                work.uploads.lock_project(self._run.project)
                work.uploads.give_up(stored.id)
            self._tidying.tidy(replace(stored, state=UploadState.ABORTED), for_good=True)
        except AcaiError as error:
            _log.warning("What a move that failed had written could not be dropped yet: %s", error.message)


def _groups(packs: list[Moving], size_bytes: int) -> Iterator[list[int]]:
    """Put packs of one user and storage class together, until what lives in them fills a new one."""
    ordered = sorted(packs, key=lambda one: (one[0].user_id, one[0].storage, one[0].id))
    for _, alike in groupby(ordered, key=lambda one: (one[0].user_id, one[0].storage)):
        group: list[int] = []
        held = 0
        for pack, live_bytes in alike:
            if group and held + live_bytes > size_bytes:
                yield group
                group, held = [], 0
            group.append(pack.id)
            held += live_bytes
        yield group


def _placed(target: int, pieces: Iterable[Piece]) -> Iterator[tuple[int, int, Piece]]:
    """Put contents into an object, one behind the other."""
    offset = 0
    for piece in pieces:
        yield target, offset, piece
        offset += piece.size_bytes


class _Living(io.RawIOBase):
    """Contents of objects one behind the other, hashed while they are read."""

    def __init__(self, objects: ObjectStore, keys: dict[int, ObjectKey], pieces: list[Piece]) -> None:
        super().__init__()
        self._parts = self._read(objects, keys, pieces)
        self._rest = memoryview(b"")

    def read(self, size: int = -1) -> bytes:
        """Return some bytes, at most so many; none at the end."""
        if not self._rest:
            self._rest = memoryview(next(self._parts, b""))
        part, self._rest = self._rest[:size], self._rest[size:]
        return bytes(part)

    def _read(
        self, objects: ObjectStore, keys: dict[int, ObjectKey], pieces: list[Piece]
    ) -> Generator[bytes, None, None]:
        for piece in pieces:
            digest = hashlib.sha256()
            try:
                for part in objects.stream(keys[piece.object], piece.offset, piece.size_bytes):
                    digest.update(part)
                    yield part
            except ObjectNotFound as error:
                raise WrongContent(piece) from error
            if digest.digest() != piece.sha256:
                raise WrongContent(piece)
