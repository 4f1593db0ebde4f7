"""Whether objects are in a bucket in full costs few requests: they are counted as they leave, over a real S3 server."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.ids import ObjectKey
from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.blobs import RecordedObject
from acai_server.db.database import Database
from acai_server.lake.integrity.presence import LISTED_FROM, Presence
from acai_server.store_owner import mark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_server.objects.s3 import S3ObjectStore
    from tests.servers.seaweedfs import Seaweedfs

pytestmark = pytest.mark.s3
BODY = b"12345"


@pytest.fixture
def database() -> Iterator[Database]:
    made = Database("sqlite://", Clock())
    schema.migrate(made)
    yield made
    made.close()


@pytest.fixture
def store(database: Database, s3_server: Seaweedfs, s3_bucket: str) -> S3ObjectStore:
    from acai_server.objects.s3 import S3ObjectStore

    made = S3ObjectStore(s3_bucket, endpoint_url=s3_server.url, prefix="of/team/")
    mark.adopt(database, made)
    return made


class Requests:
    """Counts the requests that a store sends, by method."""

    def __init__(self, store: S3ObjectStore) -> None:
        self.methods: list[str] = []
        store._client.meta.events.register("before-send.s3.*", self._note)

    def _note(self, request: Any, **_: Any) -> None:
        self.methods.append(request.method)


def put(store: S3ObjectStore, keys: list[str]) -> list[RecordedObject]:
    """Keep a small object under each key."""
    with ThreadPoolExecutor(16) as pool:
        for _ in pool.map(lambda key: store.put(ObjectKey(key), io.BytesIO(BODY), size_bytes=len(BODY)), keys):
            pass
    return [RecordedObject(number, ObjectKey(key), len(BODY)) for number, key in enumerate(keys)]


def test_twelve_hundred_objects_are_compared_by_two_requests(database: Database, store: S3ObjectStore) -> None:
    recorded = put(store, [f"p1/objects/i0/ab/{number % 7}/{number}" for number in range(1200)])
    requests = Requests(store)
    assert Presence(database, store).unlike(recorded) == {}
    assert requests.methods == ["GET", "GET"]


def test_pages_follow_the_objects_and_skip_what_lies_between(database: Database, store: S3ObjectStore) -> None:
    keys = [f"p1/{folder}/{number}" for folder in ("jobs/i0/1", "objects/i0/ab") for number in range(100)]
    recorded = put(store, [*keys, "p1/objects/xa/new/1"])
    put(store, [f"p1/jobs/i0/2/{number}" for number in range(150)])
    requests = Requests(store)
    assert Presence(database, store, page_keys=20).unlike(recorded) == {}
    assert set(requests.methods) == {"GET"}, "no object was asked for by itself"
    assert len(requests.methods) <= 13


def test_where_the_list_has_few_of_the_objects_they_are_asked_for(database: Database, store: S3ObjectStore) -> None:
    recorded = put(store, [f"p1/objects/i0/{number:03}" for number in range(4 * LISTED_FROM)])
    requests = Requests(store)
    assert Presence(database, store, page_keys=8).unlike(recorded[::4]) == {}
    pages = requests.methods.count("GET")
    assert pages == LISTED_FROM // 8 + 1, "one for every eight wanted objects, each of which showed two of them"
    assert requests.methods.count("HEAD") == LISTED_FROM - 2 * pages


def test_missing_and_cut_objects_are_found_among_many(database: Database, store: S3ObjectStore) -> None:
    recorded = put(store, [f"p1/objects/i0/{number}" for number in range(2 * LISTED_FROM)])
    missing, cut, last = recorded[3], recorded[50], max(recorded, key=lambda one: one.key)
    store.delete(missing.key)
    store.delete(last.key)
    store.put(cut.key, io.BytesIO(b"1"), size_bytes=1)
    requests = Requests(store)
    assert Presence(database, store).unlike(recorded) == {missing: -1, cut: 1, last: -1}
    assert requests.methods.count("HEAD") == 3
    assert requests.methods.count("GET") == 2, "a page of the list, and the store's mark"
