"""What a server may do with its object store: each thing that it will need is done once; what it may not is named."""

from __future__ import annotations

import io
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from uuid import uuid4

from acai_jupyter.contract.checkups import Check, Finding
from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.contract.ids import ObjectKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_server.objects.protocol import ObjectStore

NAME = "object store"
FOLDER = "checkup/"
PROBE = ObjectKey("checkup/probe")
"""What a client fetches to find out whether it reaches the store; the same bytes each time, so it stays."""
PROBE_BYTES = b"acai\n"


def look(objects: ObjectStore) -> Check:
    """Say whether all goes that the server will do."""
    begun = time.monotonic()
    key, other = (ObjectKey(f"{FOLDER}{uuid4().hex}") for _ in range(2))
    try:
        for what, act in _acts(objects, key, other):
            try:
                is_well = act()
            except AcaiError as error:
                return Check(NAME, Finding.FAILED, f"{objects.name} does not let the server {what}: {error.message}")
            if not is_well:
                said = f"{objects.name} gives other bytes than it was given; look into the store before you trust it."
                return Check(NAME, Finding.FAILED, said)
    finally:
        for left in (key, other):
            with suppress(AcaiError):
                objects.delete(left)
    milliseconds = (time.monotonic() - begun) * 1000
    said = f"{objects.name}, keeps, gives back, lists and deletes, whole and in parts, in {milliseconds:.0f} ms"
    return Check(NAME, Finding.OK, said)


def _acts(objects: ObjectStore, key: ObjectKey, other: ObjectKey) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Give what is done, in words that go on with 'let the server', and whether it went as it should."""
    yield "put objects", lambda: _put(objects, PROBE, durable=False) and _put(objects, key, durable=True)
    yield "get objects", lambda: objects.get(key) == PROBE_BYTES
    yield "list objects", lambda: key in set(objects.keys(FOLDER))
    yield "put objects in parts", lambda: _put_in_parts(objects, other)
    yield "give up parts", lambda: _drop_parts(objects, other)
    yield "delete objects", lambda: _delete(objects, key)


def _put(objects: ObjectStore, key: ObjectKey, *, durable: bool) -> bool:
    objects.put(key, io.BytesIO(PROBE_BYTES), size_bytes=len(PROBE_BYTES), durable=durable)
    return True


def _delete(objects: ObjectStore, key: ObjectKey) -> bool:
    objects.delete(key)
    return True


def _drop_parts(objects: ObjectStore, key: ObjectKey) -> bool:
    objects.drop_parts(key, objects.begin_parts(key))
    return True


def _put_in_parts(objects: ObjectStore, key: ObjectKey) -> bool:
    parts_id = objects.begin_parts(key)
    try:
        etag = objects.put_part(key, parts_id, 1, io.BytesIO(PROBE_BYTES), size_bytes=len(PROBE_BYTES))
        objects.end_parts(key, parts_id, [(1, etag)])
    except BaseException:
        with suppress(AcaiError):
            objects.drop_parts(key, parts_id)
        raise
    return objects.get(key) == PROBE_BYTES
