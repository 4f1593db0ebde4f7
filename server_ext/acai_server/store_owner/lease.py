"""The lease of an object store: of several copies of one database, the one that may delete objects.

All copies of a database have its identity, so the mark of the store cannot tell them apart. The lease can: each renewal
writes a new nonce into the store and into the database, and a copy does not learn it. Servers that share one database
share its nonce, and with it the lease. A database that does not know the nonce lacks records of what the other copy did
since, so it never takes the lease by itself: an operator decides that (`hand_over`).

A lease expires for an observer that has seen it unchanged for `EXPIRY_INTERVALS` intervals by its clock; clocks are
not compared. Then any server whose database knows the nonce may take it over, as after a failover to a standby. A
server that stops writes a last nonce and releases the lease.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import AcaiError, DeletionPaused, ObjectNotFound, StoreUnavailable
from acai_jupyter.contract.ids import ObjectKey
from acai_server.clock import boot_seconds
from acai_server.loops import Periodic
from acai_server.objects.protocol import MAX_NOTE_BYTES
from acai_server.store_owner import mark

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.db.database import Database
    from acai_server.objects.protocol import ObjectStore

KEY = ObjectKey("store/lease")
INTERVAL_SECONDS = 300.0
EXPIRY_INTERVALS = 5
_STOP_SECONDS = 5.0
_NOT_SURE = "it is not known yet whether a copy of this database uses the object store; try again in a few minutes"
_COPY = (
    "another copy of this database used the object store last, and only one of them may delete; stop one of them, and "
    "if this is the one to keep, run 'acai-server adopt-store'"
)
_OTHER = (
    "the object store belongs to another database now; stop one of the two servers, or restore a backup of this "
    "database into another object store"
)
_log = logging.getLogger(__name__)


class LeaseNote(msgspec.Struct, frozen=True):
    """What the store says of the lease. `holder` is the place of the server that renewed it."""

    nonce: str
    holder: str
    renewed_at: datetime
    is_released: bool = False


def read(objects: ObjectStore) -> tuple[bytes | None, LeaseNote | None]:
    """Return the lease of a store, if it has one: as it is stored, and what it says.

    Raises `StoreUnavailable` for a lease that cannot be decoded.
    """
    body = _body(objects)
    return body, None if body is None else _decoded(body)


def find(objects: ObjectStore) -> tuple[bytes | None, LeaseNote | None]:
    """Return the lease of a store as it is stored, and what it says; None if it cannot be decoded."""
    body = _body(objects)
    note = None
    if body is not None:
        with suppress(StoreUnavailable):
            note = _decoded(body)
    return body, note


def _body(objects: ObjectStore) -> bytes | None:
    try:
        return objects.get(KEY, 0, MAX_NOTE_BYTES)
    except ObjectNotFound:
        return None


def _decoded(body: bytes) -> LeaseNote:
    try:
        return decoding.from_json(body, LeaseNote)
    except msgspec.MsgspecError as error:
        raise StoreUnavailable(reason=mark.undecodable("lease", KEY, error)) from error


def hand_over(database: Database, objects: ObjectStore) -> None:
    """Let the next server of this database take the lease from any other one: an operator decides so.

    A lease that cannot be decoded is replaced; one that cannot be read is an error.
    """
    body, note = find(objects)
    if body is not None and note is None:
        objects.delete(KEY)
        body = None
    if _write(database, objects, body, place="", is_released=True) is None:
        raise StoreUnavailable(reason="a server renewed its lease at the same moment")


def _write(
    database: Database, objects: ObjectStore, body: bytes | None, *, place: str, is_released: bool = False
) -> LeaseNote | None:
    """Replace a lease by one with a new nonce; None where it has changed.

    The database takes the nonce as the next one, then the store, then the database as the present one: a server that
    is killed on the way leaves a nonce in the store that the database knows as present or next.
    """
    with database.writing() as work:
        nonce, now = work.identity.begin_renewal(), work.clock.now()
    note = LeaseNote(nonce, place, now, is_released)
    new = msgspec.json.encode(note)
    if not (objects.create(KEY, new) if body is None else objects.swap(KEY, new, expected=body)):
        return None
    with database.writing() as work:
        work.identity.end_renewal(nonce)
    return note


class Lease(Periodic):
    """Renews the lease while the server runs, and says whether objects may be deleted. Thread-safe."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        place: str,
        *,
        interval_seconds: float = INTERVAL_SECONDS,
        monotonic: Callable[[], float] = boot_seconds,
    ) -> None:
        super().__init__("lease of the store", interval_seconds)
        self._database = database
        self._objects = objects
        self._place = place
        self._interval = interval_seconds
        self._expiry = EXPIRY_INTERVALS * interval_seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._seen: LeaseNote | None = None
        self._seen_since = 0.0
        self._has_changed = False
        """Whether the nonce was renewed, by this server or another one of this database, since the lease was seen."""
        self._held_at: float | None = None
        self._reason = _NOT_SURE

    @property
    def notices(self) -> list[str]:
        """What an operator has to know, in sentences."""
        if self._reason in (_COPY, _OTHER):
            return [f"This server deletes no objects: {self._reason}."]
        return []

    def check(self) -> None:
        """Raise `DeletionPaused` unless objects may be deleted. A fresh lease is not read again."""
        if self._stopped.is_set():
            raise DeletionPaused(reason="the server is stopping")
        held_at = self._held_at
        if held_at is None or self._monotonic() - held_at > self._interval / 2:
            self.look()
        if self._held_at is None:
            raise DeletionPaused(reason=self._reason)

    def step(self) -> bool:
        """Look at the lease, and renew it if that is this server's turn."""
        try:
            self.look()
        except AcaiError as error:
            _log.warning("The lease of the object store could not be renewed: %s", error.message)
        return False

    def look(self) -> None:
        """Read the lease, renew or take it over if this server may, and note whether this database holds it."""
        with self._lock:
            before = self._reason
            with self._database.reading() as work:
                own = work.identity.get()
            found = mark.read(self._objects)
            if found is None or found.identity != own.name:
                self._lose(_OTHER)
            else:
                body, note = read(self._objects)
                self._observe(note)
                if self._may_renew(note, is_ours=note is not None and own.has(note.nonce)):
                    self._renew(body)
                elif note is None or not own.has(note.nonce):
                    self._lose(_COPY)
                elif self._has_changed:
                    self._held_at, self._reason = self._monotonic(), ""
                else:
                    self._lose(_NOT_SURE)
            if self._reason != before and self._reason in (_COPY, _OTHER):
                _log.warning("This server deletes no objects: %s.", self._reason)

    def release(self) -> None:
        """Let another server take the lease at once, if this one has renewed it last."""
        with self._lock:
            body, note = read(self._objects)
            with self._database.reading() as work:
                own = work.identity.get()
            is_holder = note is not None and note.holder == self._place and own.has(note.nonce)
            if is_holder and self._held_at is not None:
                _write(self._database, self._objects, body, place=self._place, is_released=True)
            self._held_at = None

    def stop(self) -> None:
        """End the loop and release the lease; a store that does not answer is not waited for."""
        super().stop()
        thread = threading.Thread(target=self._release_quietly, name="acai-lease-release", daemon=True)
        thread.start()
        thread.join(_STOP_SECONDS)

    def _release_quietly(self) -> None:
        with suppress(AcaiError):
            self.release()

    def _observe(self, note: LeaseNote | None) -> None:
        if self._seen is not None and (note is None or note.nonce != self._seen.nonce):
            self._has_changed = True
        if note != self._seen:
            self._seen, self._seen_since = note, self._monotonic()

    def _may_renew(self, note: LeaseNote | None, *, is_ours: bool) -> bool:
        """Whether there is no lease, or one of this database that is released, expired, or this server's to renew."""
        if note is None:
            return True
        if not is_ours:
            return False
        if note.is_released or self._monotonic() - self._seen_since >= self._expiry:
            return True
        is_due = self._held_at is None or self._monotonic() - self._seen_since >= self._interval / 2
        return note.holder == self._place and is_due

    def _renew(self, body: bytes | None) -> None:
        note = _write(self._database, self._objects, body, place=self._place)
        if note is None:  # another server was faster: the next look says of which database
            self._lose(_NOT_SURE)
            return
        self._seen, self._seen_since, self._has_changed = note, self._monotonic(), True
        self._held_at, self._reason = self._monotonic(), ""

    def _lose(self, reason: str) -> None:
        self._held_at, self._reason = None, reason
