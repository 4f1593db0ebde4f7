"""What an object store owes to who sends an object in parts."""

from __future__ import annotations

import hashlib
import io
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, BinaryIO, cast

import pytest

from acai_jupyter.contract.errors import BadRequest, Conflict, HashMismatch, ObjectNotFound
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.states import StorageClass
from acai_server.objects.parts import MIN_PART_BYTES, ArrivedPart
from acai_server.testing.objects import BODY, Torn, put, send

if TYPE_CHECKING:
    from acai_server.objects.protocol import ObjectStore

KEY = ObjectKey("p1/objects/large")
FIRST = b"1" * MIN_PART_BYTES
SECOND = b"2" * (MIN_PART_BYTES + 7)
LAST = BODY
BAD_IDS = ("", ".", "..", "../x", "a/../b", "a/b", "nul\0", "line\nbreak", "\u00fcmlaut", "a" * 1025, "deadbeef")


def put_part(store: ObjectStore, parts_id: str, number: int, body: bytes) -> tuple[int, str]:
    """Keep a part as announced; returns what `end_parts` wants to know."""
    digest = hashlib.sha256(body).hexdigest()
    return number, store.put_part(KEY, parts_id, number, io.BytesIO(body), size_bytes=len(body), sha256=digest)


def begun(store: ObjectStore, *bodies: bytes) -> tuple[str, list[tuple[int, str]]]:
    """Begin an object and keep its parts."""
    parts_id = store.begin_parts(KEY)
    return parts_id, [put_part(store, parts_id, number, body) for number, body in enumerate(bodies, 1)]


class ObjectPartsSuite:
    """Derive from this with a fixture `store` that gives an empty one."""

    @pytest.fixture
    def store(self) -> ObjectStore:
        raise NotImplementedError

    def test_parts_become_one_object(self, store: ObjectStore) -> None:
        parts_id, sent = begun(store, FIRST, SECOND, LAST)
        store.end_parts(KEY, parts_id, sent)
        assert hashlib.sha256(store.get(KEY)).digest() == hashlib.sha256(FIRST + SECOND + LAST).digest()
        assert (store.size(KEY), list(store.keys(""))) == (len(FIRST + SECOND + LAST), [KEY])

    def test_one_part_may_be_small(self, store: ObjectStore) -> None:
        parts_id, sent = begun(store, LAST)
        store.end_parts(KEY, parts_id, sent)
        assert store.get(KEY) == LAST

    @pytest.mark.parametrize("storage", StorageClass)
    def test_an_object_in_parts_may_have_any_storage_class(self, store: ObjectStore, storage: StorageClass) -> None:
        parts_id = store.begin_parts(KEY, storage)
        store.end_parts(KEY, parts_id, [put_part(store, parts_id, 1, LAST)])
        assert store.get(KEY) == LAST

    def test_parts_may_arrive_in_any_order_and_at_once(self, store: ObjectStore) -> None:
        parts_id = store.begin_parts(KEY)
        bodies = {1: FIRST, 2: SECOND, 3: LAST}
        with ThreadPoolExecutor(3) as pool:
            sent = list(pool.map(lambda number: put_part(store, parts_id, number, bodies[number]), (3, 1, 2)))
        store.end_parts(KEY, parts_id, sorted(sent))
        assert store.get(KEY) == FIRST + SECOND + LAST

    def test_nothing_is_visible_before_the_end(self, store: ObjectStore) -> None:
        begun(store, FIRST, LAST)
        with pytest.raises(ObjectNotFound, match=KEY):
            store.get(KEY)
        with pytest.raises(ObjectNotFound, match=KEY):
            store.size(KEY)
        assert list(store.keys("")) == []
        assert list(store.keys("p1/objects/large")) == []

    def test_who_comes_back_sees_which_parts_have_arrived(self, store: ObjectStore) -> None:
        parts_id = store.begin_parts(KEY)
        assert store.parts(KEY, parts_id) == []
        third, first = put_part(store, parts_id, 3, LAST), put_part(store, parts_id, 1, FIRST)
        assert store.parts(KEY, parts_id) == [
            ArrivedPart(1, len(FIRST), first[1]),
            ArrivedPart(3, len(LAST), third[1]),
        ]
        second = put_part(store, parts_id, 2, SECOND)
        assert [(part.number, part.etag) for part in store.parts(KEY, parts_id)] == [first, second, third]
        store.end_parts(KEY, parts_id, [first, second, third])
        assert store.size(KEY) == len(FIRST + SECOND + LAST)

    def test_more_parts_than_one_answer_may_hold_are_listed_in_their_order(self, store: ObjectStore) -> None:
        parts_id, sent = begun(store, *(b"%d" % number for number in range(12)))
        assert [(part.number, part.etag) for part in store.parts(KEY, parts_id)] == sent

    def test_parts_can_be_listed_while_others_arrive(self, store: ObjectStore) -> None:
        parts_id = store.begin_parts(KEY)
        with ThreadPoolExecutor(3) as pool:
            arriving = [pool.submit(put_part, store, parts_id, number, BODY) for number in range(1, 61)]
            while not all(part.done() for part in arriving):
                arrived = {number for number, part in enumerate(arriving, 1) if part.done()}
                assert arrived <= {part.number for part in store.parts(KEY, parts_id)}
        assert [(part.number, part.etag) for part in store.parts(KEY, parts_id)] == [part.result() for part in arriving]

    def test_a_part_may_be_sent_again(self, store: ObjectStore) -> None:
        parts_id, sent = begun(store, FIRST, LAST)
        assert put_part(store, parts_id, 1, FIRST) == sent[0]
        assert [part.number for part in store.parts(KEY, parts_id)] == [1, 2]
        store.end_parts(KEY, parts_id, sent)
        assert store.get(KEY) == FIRST + LAST

    def test_of_a_part_that_was_sent_twice_the_last_stands(self, store: ObjectStore) -> None:
        parts_id, sent = begun(store, SECOND, LAST)
        again = put_part(store, parts_id, 1, FIRST)
        assert again != sent[0]
        store.end_parts(KEY, parts_id, [again, sent[1]])
        assert store.get(KEY) == FIRST + LAST

    def test_an_etag_may_be_quoted_as_in_a_header(self, store: ObjectStore) -> None:
        parts_id, sent = begun(store, FIRST, LAST)
        store.end_parts(KEY, parts_id, [(number, f'"{etag}"') for number, etag in sent])
        assert store.get(KEY) == FIRST + LAST

    def test_to_end_again_is_to_end_once(self, store: ObjectStore) -> None:
        parts_id, sent = begun(store, FIRST, LAST)
        store.end_parts(KEY, parts_id, sent)
        store.end_parts(KEY, parts_id, sent)
        store.drop_parts(KEY, parts_id)
        store.end_parts(KEY, parts_id, sent)
        assert store.get(KEY) == FIRST + LAST

    def test_many_may_end_the_same_parts_at_once(self, store: ObjectStore) -> None:
        parts_id, sent = begun(store, FIRST, SECOND, LAST)
        with ThreadPoolExecutor(4) as pool:
            for ended in [pool.submit(store.end_parts, KEY, parts_id, sent) for _ in range(4)]:
                ended.result()
        assert store.get(KEY) == FIRST + SECOND + LAST

    def test_a_part_that_has_not_arrived_is_missed(self, store: ObjectStore) -> None:
        parts_id, sent = begun(store, FIRST, SECOND)
        for wrong in ([*sent, (3, sent[1][1])], [sent[0], (2, sent[0][1])], [sent[0], (2, "no etag")]):
            with pytest.raises(Conflict, match="has not arrived"):
                store.end_parts(KEY, parts_id, wrong)
        assert list(store.keys("")) == []
        store.end_parts(KEY, parts_id, sent)
        assert store.get(KEY) == FIRST + SECOND

    def test_an_object_that_is_sent_anew_is_replaced_at_the_end(self, store: ObjectStore) -> None:
        put(store, KEY)
        parts_id, sent = begun(store, FIRST, LAST)
        assert store.get(KEY) == BODY
        store.end_parts(KEY, parts_id, sent)
        assert store.get(KEY) == FIRST + LAST

    @pytest.mark.parametrize("numbers", [[], [2], [1, 3], [2, 1], [1, 1], [0, 1]])
    def test_a_list_of_parts_has_no_gaps(self, store: ObjectStore, numbers: list[int]) -> None:
        parts_id, sent = begun(store, FIRST, SECOND, LAST)
        etags = {0: "0", **dict(sent)}
        with pytest.raises(BadRequest, match="without gaps"):
            store.end_parts(KEY, parts_id, [(number, etags[number]) for number in numbers])
        assert list(store.keys("")) == []
        assert len(store.parts(KEY, parts_id)) == 3

    def test_only_the_last_part_may_be_small(self, store: ObjectStore) -> None:
        parts_id, sent = begun(store, FIRST[1:], LAST)
        with pytest.raises(BadRequest, match="not the last"):
            store.end_parts(KEY, parts_id, sent)
        assert list(store.keys("")) == []

    @pytest.mark.parametrize("number", [-1, 0, 10_001])
    def test_a_part_has_a_number_that_every_store_takes(self, store: ObjectStore, number: int) -> None:
        parts_id = store.begin_parts(KEY)
        with pytest.raises(BadRequest, match="from 1 to 10000"):
            put_part(store, parts_id, number, LAST)
        with pytest.raises(BadRequest, match="from 1 to 10000"):
            store.sign_part(KEY, parts_id, number, size_bytes=5)

    @pytest.mark.parametrize("size_bytes", [-1, 0, 5 * 1024**3 + 1])
    def test_a_part_has_a_size_that_every_store_takes(self, store: ObjectStore, size_bytes: int) -> None:
        parts_id = store.begin_parts(KEY)
        with pytest.raises(BadRequest, match="it must have 1 to"):
            store.sign_part(KEY, parts_id, 1, size_bytes=size_bytes)
        with pytest.raises(BadRequest, match="it must have 1 to"):
            store.put_part(KEY, parts_id, 1, io.BytesIO(b""), size_bytes=size_bytes)

    def test_other_bytes_than_announced_are_no_part(self, store: ObjectStore) -> None:
        parts_id = store.begin_parts(KEY)
        other = hashlib.sha256(b"other").hexdigest()
        for size, digest in ((len(BODY) - 1, None), (len(BODY) + 1, None), (len(BODY), other)):
            with pytest.raises(HashMismatch, match=KEY):
                store.put_part(KEY, parts_id, 1, io.BytesIO(BODY), size_bytes=size, sha256=digest)
        with pytest.raises(ConnectionResetError):
            store.put_part(KEY, parts_id, 1, cast("BinaryIO", Torn(BODY[:9])), size_bytes=len(BODY))
        assert store.parts(KEY, parts_id) == []

    def test_parts_can_be_dropped_twice(self, store: ObjectStore) -> None:
        parts_id, sent = begun(store, FIRST, LAST)
        store.drop_parts(KEY, parts_id)
        store.drop_parts(KEY, parts_id)
        with pytest.raises(ObjectNotFound, match=KEY):
            store.end_parts(KEY, parts_id, sent)
        with pytest.raises(ObjectNotFound, match=KEY):
            store.parts(KEY, parts_id)
        with pytest.raises(ObjectNotFound, match=KEY):
            put_part(store, parts_id, 1, LAST)
        assert list(store.keys("")) == []

    def test_an_object_can_be_begun_twice(self, store: ObjectStore) -> None:
        given_up, _ = begun(store, SECOND, LAST)
        parts_id, sent = begun(store, FIRST, LAST)
        assert parts_id != given_up
        store.end_parts(KEY, parts_id, sent)
        assert store.get(KEY) == FIRST + LAST
        store.drop_parts(KEY, given_up)
        assert store.get(KEY) == FIRST + LAST

    def test_the_parts_of_one_object_are_not_those_of_another(self, store: ObjectStore) -> None:
        parts_id, sent = begun(store, FIRST, LAST)
        other = ObjectKey("p1/objects/other")
        with pytest.raises(ObjectNotFound, match=other):
            store.parts(other, parts_id)
        with pytest.raises(ObjectNotFound, match=other):
            store.end_parts(other, parts_id, sent)
        store.drop_parts(other, parts_id)
        assert len(store.parts(KEY, parts_id)) == 2

    @pytest.mark.parametrize("name", BAD_IDS, ids=ascii)
    def test_a_hostile_id_leads_nowhere(self, store: ObjectStore, name: str) -> None:
        put(store, "p1/objects/x")
        parts_id = name
        for use in (
            lambda: store.parts(KEY, parts_id),
            lambda: put_part(store, parts_id, 1, LAST),
            lambda: store.end_parts(KEY, parts_id, [(1, "etag")]),
        ):
            with pytest.raises(ObjectNotFound, match=KEY):
                use()
        store.drop_parts(KEY, parts_id)
        assert list(store.keys("")) == ["p1/objects/x"]

    def test_parts_that_nobody_ends_are_found_and_dropped(self, store: ObjectStore) -> None:
        put(store, "p1/x")
        parts_id, _ = begun(store, FIRST, LAST)
        now = datetime.now(UTC)
        assert store.drop_leftovers(now - timedelta(days=1), lambda _: True) == 0
        assert store.drop_leftovers(now + timedelta(days=1), lambda key: key != KEY) == 0
        assert len(store.parts(KEY, parts_id)) == 2
        assert store.drop_leftovers(now + timedelta(days=1), lambda key: key == KEY) == 1
        with pytest.raises(ObjectNotFound):
            store.parts(KEY, parts_id)
        assert list(store.keys("")) == ["p1/x"]


class SignedPartsSuite:
    """For a store that answers its signed URLs itself."""

    @pytest.fixture
    def store(self) -> ObjectStore:
        raise NotImplementedError

    def test_signed_urls_send_parts_whose_etags_come_back(self, store: ObjectStore) -> None:
        parts_id = store.begin_parts(KEY)
        sent = [(number, _sent(store, parts_id, number, body)) for number, body in ((1, FIRST), (2, LAST))]
        assert [(part.number, part.etag) for part in store.parts(KEY, parts_id)] == [
            (number, etag.strip('"')) for number, etag in sent
        ]
        store.end_parts(KEY, parts_id, sent)
        assert store.get(KEY) == FIRST + LAST

    def test_a_signed_part_has_its_size_and_its_number(self, store: ObjectStore) -> None:
        parts_id = store.begin_parts(KEY)
        url, headers = store.sign_part(KEY, parts_id, 1, size_bytes=len(BODY))
        assert send(url, headers, BODY + b"!") in (400, 403)
        assert send(url, headers, BODY[1:]) in (400, 403)
        assert send(url.replace("partNumber=1", "partNumber=2"), headers, BODY) == 403
        assert store.parts(KEY, parts_id) == []

    def test_parts_are_not_taken_after_they_were_dropped(self, store: ObjectStore) -> None:
        parts_id = store.begin_parts(KEY)
        url, headers = store.sign_part(KEY, parts_id, 1, size_bytes=len(BODY))
        store.drop_parts(KEY, parts_id)
        assert send(url, headers, BODY) == 404


def _sent(store: ObjectStore, parts_id: str, number: int, body: bytes) -> str:
    url, headers = store.sign_part(KEY, parts_id, number, size_bytes=len(body))
    request = urllib.request.Request(url, data=body, method="PUT", headers=headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(answer.headers["ETag"])
