"""The mark of an object store: the identity of the database that it belongs to, written at first use.

A store without a mark was never used, was emptied, or was used by version 0.1. It is marked when records of this
database name objects in it, or when it is empty and the database names none. Every other store is refused, so that no
database reads, writes or deletes what is another's, or takes its own content for lost.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from itertools import chain, islice
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import ObjectNotFound, StoreMismatch, StoreUnavailable, StoreUnclaimed
from acai_jupyter.contract.ids import ObjectKey
from acai_server.db import schema
from acai_server.lake.ownership import is_owned
from acai_server.objects.keys import is_content_key, project_prefix
from acai_server.objects.protocol import MAX_NOTE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_server.db.database import Database
    from acai_server.objects.protocol import ObjectStore

KEY = ObjectKey("store/mark")
_SAMPLES = 50
_DIGITS = "123456789"


class Mark(msgspec.Struct, frozen=True):
    """What the mark says. `before` are the databases that the store belonged to before it was adopted."""

    identity: str
    marked_at: datetime
    before: list[str] = []


def read(objects: ObjectStore) -> Mark | None:
    """Return the mark of a store, if it has one. Raises `StoreUnavailable` for a mark that cannot be decoded."""
    body = _body(objects)
    return None if body is None else _decoded(body)


def find(objects: ObjectStore) -> tuple[bytes | None, Mark | None]:
    """Return the mark of a store as it is stored, and what it says; None if there is none, or it cannot be decoded."""
    body = _body(objects)
    found = None
    if body is not None:
        with suppress(StoreUnavailable):
            found = _decoded(body)
    return body, found


def claim(database: Database, objects: ObjectStore) -> None:
    """Make sure that the store belongs to the database; mark it if it belongs to none. Raises where it does not."""
    with database.reading() as work:
        identity, now = work.identity.get().name, work.clock.now()
    found = read(objects)
    if found is None:
        _refuse_unclaimed(database, objects)
        objects.create(KEY, msgspec.json.encode(Mark(identity, now)))
        found = read(objects)  # another database may have been faster
    if found is None:
        raise StoreUnavailable(reason="it does not give back the mark that it was given")
    if found.identity != identity:
        raise StoreMismatch(owner=found.identity, identity=identity)


def _refuse_unclaimed(database: Database, objects: ObjectStore) -> None:
    """Refuse an unmarked store that holds other content than the database's, or none of what it should hold.

    The memory of a server is empty at each start.
    """
    with database.reading() as work:
        has_records = bool(work.sweeping.sample_objects(1))
    if names_objects_in(database, objects):
        return
    if has_content(objects):
        raise StoreUnclaimed(state="holds other content")
    if has_records and objects.name != "memory":
        raise StoreUnclaimed(state="is empty")


def refuse_foreign(database: Database, objects: ObjectStore) -> None:
    """Refuse a store that is marked for another database. The database may have no tables yet."""
    found = read(objects)
    if found is None:
        return
    with database.connect() as connection:
        has_tables = schema.revision(connection) == schema.HEAD
    identity = "a new one"
    if has_tables:
        with database.reading() as work:
            identity = work.identity.get().name
    if found.identity != identity:
        raise StoreMismatch(owner=found.identity, identity=identity)


def adopt(database: Database, objects: ObjectStore) -> bool:
    """Mark the store as the database's, also one of another database; says whether that changed anything.

    A mark that cannot be decoded is replaced; one that cannot be read is an error.
    """
    with database.reading() as work:
        identity, now = work.identity.get().name, work.clock.now()
    body, found = find(objects)
    if body is None:
        return objects.create(KEY, msgspec.json.encode(Mark(identity, now)))
    if found is None:
        objects.delete(KEY)
        is_marked = objects.create(KEY, msgspec.json.encode(Mark(identity, now)))
    elif found.identity == identity:
        return False
    else:
        mark = Mark(identity, now, [found.identity, *found.before][:10])
        is_marked = objects.swap(KEY, msgspec.json.encode(mark), expected=body)
    if not is_marked:
        raise StoreUnavailable(reason="another server has marked it at the same moment")
    return True


def has_content(objects: ObjectStore) -> bool:
    """Whether the store has an object of any project of any database."""
    return next(content(objects), None) is not None


def content(objects: ObjectStore) -> Iterator[ObjectKey]:
    """Iterate over the keys of all objects of projects."""
    return (key for key in chain.from_iterable(objects.keys(f"p{digit}") for digit in _DIGITS) if is_content_key(key))


def names_objects_in(database: Database, objects: ObjectStore) -> bool:
    """Whether records of the database name an object that is in the store; the newest and the oldest are tried.

    Where no object has a record, what pending uploads have sent may be there: no other database knows their ids.
    """
    with database.reading() as work:
        samples = work.sweeping.sample_objects(_SAMPLES)
        projects = [number for number, _ in work.damage.projects()]
    if samples:
        return any(_has(objects, key, size) for key, size in samples)
    for project in projects:
        sent = list(islice(objects.keys(f"{project_prefix(project)}objects/"), _SAMPLES))
        with database.reading() as work:
            if any(is_owned(work, key) for key in sent):
                return True
    return False


def _has(objects: ObjectStore, key: ObjectKey, size_bytes: int) -> bool:
    try:
        return objects.size(key) == size_bytes
    except ObjectNotFound:
        return False


def _body(objects: ObjectStore) -> bytes | None:
    try:
        return objects.get(KEY, 0, MAX_NOTE_BYTES)
    except ObjectNotFound:
        return None


def _decoded(body: bytes) -> Mark:
    try:
        return decoding.from_json(body, Mark)
    except msgspec.MsgspecError as error:
        raise StoreUnavailable(reason=undecodable("mark", KEY, error)) from error


def undecodable(kind: str, key: ObjectKey, error: Exception) -> str:
    """Return the reason for refusing a store whose mark or lease cannot be decoded."""
    return f"its {kind} '{key}' is not readable ({error}); if it is the right store, run 'acai-server adopt-store'"
