"""What an object store owes."""

from __future__ import annotations

import hashlib
import io
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, BinaryIO, cast

import pytest

from acai_jupyter.contract.errors import BadRequest, HashMismatch, ObjectNotFound
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.states import StorageClass

if TYPE_CHECKING:
    from acai_server.objects.protocol import ObjectStore

BODY = bytes(range(256)) * 41
THREADS = 16
HOSTILE = (
    "",
    "/",
    "/etc/passwd",
    "..",
    "../escape",
    "p1/../../escape",
    "p1/..",
    "p1//x",
    "p1/x/",
    "p1/./x",
    ".hidden",
    "p1/UPPER",
    "p1/with space",
    "p1/nul\0",
    "p1/line\nbreak",
    "p1/\u00fcmlaut",
    "p1/%2e%2e/x",
    "p1\\x",
    "p1/x.part",
    "p1/x.parts",
    "p1/x.parts/1",
    "p1/" + "a" * 241,
    "a" * 257,
    "a/" * 128 + "a",
)
OLD = ("p1/a-1", "p1/a.1", "p1/a-b/c.d")
"""Keys that an object cannot get any more. Where it has one, it keeps it."""


def put(store: ObjectStore, key: str, body: bytes = BODY) -> ObjectKey:
    """Keep bytes under a key, announced as they are."""
    store.put(ObjectKey(key), io.BytesIO(body), size_bytes=len(body), sha256=hashlib.sha256(body).hexdigest())
    return ObjectKey(key)


class Torn(io.RawIOBase):
    """A source that breaks off, as a connection does."""

    def __init__(self, body: bytes) -> None:
        self._pieces = [body]

    def read(self, size: int = -1) -> bytes:
        """Give some bytes, then fail."""
        del size
        if not self._pieces:
            raise ConnectionResetError("the other side is gone")
        return self._pieces.pop()


class Endless(io.RawIOBase):
    """A source without an end."""

    def read(self, size: int = -1) -> bytes:
        """Give as much as is asked for, and never too much at a time."""
        assert 0 < size <= 8 * 1024**2, "nobody needs that much at once"
        return b"x" * size


class ObjectStoreSuite:
    """Derive from this with a fixture `store` that gives an empty one."""

    @pytest.fixture
    def store(self) -> ObjectStore:
        raise NotImplementedError

    def test_what_is_put_is_got(self, store: ObjectStore) -> None:
        key = put(store, "p1/objects/ab/abcd")
        assert (store.get(key), store.size(key)) == (BODY, len(BODY))

    def test_an_object_without_bytes_is_an_object(self, store: ObjectStore) -> None:
        key = put(store, "p1/empty", b"")
        assert (store.get(key), store.size(key), list(store.keys("p1/"))) == (b"", 0, [key])

    def test_bytes_larger_than_a_buffer_are_kept_whole(self, store: ObjectStore) -> None:
        body = BODY * 500
        assert store.get(put(store, "p1/large", body)) == body

    def test_an_object_is_created_once(self, store: ObjectStore) -> None:
        key = ObjectKey("mark/one")
        assert (store.create(key, b"first"), store.create(key, b"second"), store.get(key)) == (True, False, b"first")
        assert list(store.keys("")) == [key]

    def test_of_many_who_create_an_object_at_once_one_does(self, store: ObjectStore) -> None:
        key = ObjectKey("mark/one")
        bodies = [b"body %d" % number for number in range(THREADS)]
        with ThreadPoolExecutor(THREADS) as pool:
            made = list(pool.map(lambda body: store.create(key, body), bodies))
        assert [body for body, has_made in zip(bodies, made, strict=True) if has_made] == [store.get(key)]

    def test_an_object_is_swapped_only_for_what_is_expected(self, store: ObjectStore) -> None:
        key = ObjectKey("mark/one")
        assert not store.swap(key, b"new", expected=b"old")
        store.create(key, b"old")
        assert not store.swap(key, b"new", expected=b"other")
        assert store.get(key) == b"old"
        assert store.swap(key, b"new", expected=b"old")
        assert (store.get(key), list(store.keys(""))) == (b"new", [key])

    def test_of_many_who_swap_an_object_at_once_one_does(self, store: ObjectStore) -> None:
        key = ObjectKey("mark/one")
        store.create(key, b"old")
        bodies = [b"body %d" % number for number in range(THREADS)]
        with ThreadPoolExecutor(THREADS) as pool:
            made = list(pool.map(lambda body: store.swap(key, body, expected=b"old"), bodies))
        assert [body for body, has_made in zip(bodies, made, strict=True) if has_made] == [store.get(key)]

    def test_a_list_tells_sizes_and_ages(self, store: ObjectStore) -> None:
        before = datetime.now(UTC) - timedelta(minutes=1)
        put(store, "p1/objects/x", b"123")
        store.create(ObjectKey("p1/objects/y"), b"12345")
        put(store, "p2/objects/x")
        found = list(store.listed("p1/"))
        assert [(one.key, one.size_bytes) for one in found] == [("p1/objects/x", 3), ("p1/objects/y", 5)]
        assert all(before < one.modified_at < before + timedelta(minutes=2) for one in found)

    def test_a_hash_need_not_be_announced(self, store: ObjectStore) -> None:
        store.put(ObjectKey("p1/x"), io.BytesIO(BODY), size_bytes=len(BODY))
        assert store.get(ObjectKey("p1/x")) == BODY

    @pytest.mark.parametrize("announced", [0, len(BODY) - 1, len(BODY) + 1])
    def test_bytes_of_another_size_are_refused_and_leave_nothing(self, store: ObjectStore, announced: int) -> None:
        with pytest.raises(HashMismatch, match="p1/x"):
            store.put(ObjectKey("p1/x"), io.BytesIO(BODY), size_bytes=announced)
        self._assert_nothing(store)

    def test_bytes_of_another_hash_are_refused_and_leave_nothing(self, store: ObjectStore) -> None:
        other = hashlib.sha256(b"other").hexdigest()
        with pytest.raises(HashMismatch, match="p1/x"):
            store.put(ObjectKey("p1/x"), io.BytesIO(BODY), size_bytes=len(BODY), sha256=other)
        self._assert_nothing(store)

    def test_a_refused_put_leaves_the_object_that_was_there(self, store: ObjectStore) -> None:
        key = put(store, "p1/x")
        with pytest.raises(HashMismatch):
            store.put(key, io.BytesIO(b"shorter"), size_bytes=len(BODY))
        assert store.get(key) == BODY

    def test_a_source_that_breaks_off_says_so_itself_and_leaves_nothing(self, store: ObjectStore) -> None:
        with pytest.raises(ConnectionResetError, match="the other side is gone"):
            store.put(ObjectKey("p1/x"), cast("BinaryIO", Torn(BODY[:100])), size_bytes=len(BODY))
        self._assert_nothing(store)

    def test_a_source_that_never_ends_is_not_read_to_its_end(self, store: ObjectStore) -> None:
        with pytest.raises(HashMismatch, match="p1/x"):
            store.put(ObjectKey("p1/x"), cast("BinaryIO", Endless()), size_bytes=3 * 1024**2)
        self._assert_nothing(store)

    @pytest.mark.parametrize("storage", StorageClass)
    def test_every_storage_class_can_be_read_at_once(self, store: ObjectStore, storage: StorageClass) -> None:
        store.put(ObjectKey("p1/x"), io.BytesIO(BODY), size_bytes=len(BODY), storage=storage)
        assert store.get(ObjectKey("p1/x")) == BODY

    def test_the_same_bytes_may_be_put_again(self, store: ObjectStore) -> None:
        put(store, "p1/x")
        assert store.get(put(store, "p1/x")) == BODY

    @pytest.mark.parametrize(
        ("offset", "size_bytes"),
        [(0, 1), (0, len(BODY)), (100, 0), (100, 57), (len(BODY) - 1, 1), (len(BODY) - 3, 10), (7, None), (0, None)],
    )
    def test_a_range_is_what_a_slice_is(self, store: ObjectStore, offset: int, size_bytes: int | None) -> None:
        end = None if size_bytes is None else offset + size_bytes
        assert store.get(put(store, "p1/x"), offset, size_bytes) == BODY[offset:end]

    @pytest.mark.parametrize(
        ("offset", "size_bytes", "piece_bytes"),
        [
            (0, None, 1000),
            (0, len(BODY), len(BODY)),
            (7, 2000, 1000),
            (7, 2001, 1000),
            (len(BODY) - 5, 10, 3),
            (3, 0, 1),
        ],
    )
    def test_a_stream_is_a_range_in_pieces(
        self, store: ObjectStore, offset: int, size_bytes: int | None, piece_bytes: int
    ) -> None:
        key = put(store, "p1/x")
        pieces = list(store.stream(key, offset, size_bytes, piece_bytes))
        assert b"".join(pieces) == store.get(key, offset, size_bytes)
        assert {len(piece) for piece in pieces[:-1]} <= {piece_bytes}
        assert all(0 < len(piece) <= piece_bytes for piece in pieces)

    def test_a_stream_beyond_the_end_is_empty(self, store: ObjectStore) -> None:
        assert list(store.stream(put(store, "p1/x"), len(BODY))) == []
        assert list(store.stream(put(store, "p1/empty", b""))) == []

    @pytest.mark.parametrize("size_bytes", [None, 0, 5])
    def test_a_stream_of_a_missing_key_is_not_found(self, store: ObjectStore, size_bytes: int | None) -> None:
        with pytest.raises(ObjectNotFound, match="p1/missing"):
            next(store.stream(ObjectKey("p1/missing"), 0, size_bytes), None)

    def test_a_stream_may_be_left_early(self, store: ObjectStore) -> None:
        stream = store.stream(put(store, "p1/large", BODY * 500))
        next(stream)
        stream.close()
        assert next(stream, None) is None

    @pytest.mark.parametrize("offset", [len(BODY), len(BODY) + 1, 10**9])
    def test_a_range_beyond_the_end_is_empty(self, store: ObjectStore, offset: int) -> None:
        key = put(store, "p1/x")
        assert (store.get(key, offset, 10), store.get(key, offset)) == (b"", b"")

    @pytest.mark.parametrize("size_bytes", [None, 0, 5])
    def test_a_missing_key_is_not_found(self, store: ObjectStore, size_bytes: int | None) -> None:
        with pytest.raises(ObjectNotFound, match="p1/missing"):
            store.get(ObjectKey("p1/missing"), 0, size_bytes)
        with pytest.raises(ObjectNotFound, match="p1/missing"):
            store.size(ObjectKey("p1/missing"))

    def test_the_beginning_of_a_key_is_no_object(self, store: ObjectStore) -> None:
        put(store, "p1/objects/x")
        for key in (ObjectKey("p1"), ObjectKey("p1/objects"), ObjectKey("p1/objects/x/y")):
            with pytest.raises(ObjectNotFound):
                store.get(key)
            with pytest.raises(ObjectNotFound):
                store.size(key)
            store.delete(key)
        assert list(store.keys("")) == ["p1/objects/x"]

    def test_an_object_can_be_deleted_twice(self, store: ObjectStore) -> None:
        key = put(store, "p1/x")
        kept = put(store, "p1/y")
        store.delete(key)
        store.delete(key)
        with pytest.raises(ObjectNotFound):
            store.get(key)
        assert list(store.keys("p1/")) == [kept]

    def test_many_objects_can_be_deleted_at_once(self, store: ObjectStore) -> None:
        kept = put(store, "p1/kept")
        keys = [ObjectKey(f"p1/x/{number}") for number in range(1200)]
        for key in keys[::100]:
            put(store, key, b"x")
        store.delete_all(iter(keys))
        store.delete_all([])
        assert list(store.keys("")) == [kept]

    def test_keys_come_in_their_order_and_only_with_their_prefix(self, store: ObjectStore) -> None:
        for key in ("p1/b", "p1/a/2", "p1/a/1", "p1/a0", "p10/a", "p2/a"):
            put(store, key, b"x")
        assert list(store.keys("p1/")) == ["p1/a/1", "p1/a/2", "p1/a0", "p1/b"]
        assert list(store.keys("p1")) == ["p1/a/1", "p1/a/2", "p1/a0", "p1/b", "p10/a"]
        assert list(store.keys("p1/a")) == ["p1/a/1", "p1/a/2", "p1/a0"]
        assert list(store.keys("p1/a/")) == ["p1/a/1", "p1/a/2"]
        assert list(store.keys("p3/")) == []

    def test_a_list_begins_after_a_text_which_need_not_be_a_key(self, store: ObjectStore) -> None:
        keys = ["p1/a/b/1", "p1/a/b/10", "p1/a/b/2", "p1/a/c/1", "p1/a/c/1_/x", "p1/a0", "p2/a"]
        for key in keys:
            put(store, key, b"x")
        for prefix in ("", "p1/", "p1/a/", "p1/a/b/"):
            for after in ("", "p1/", "p1/a/", "p1/a/b/", "p1/a/b/1", "p1/a/b/11", "p1/a/c/", "p1/b", "p3"):
                wanted = [key for key in keys if key.startswith(prefix) and key > after]
                assert [one.key for one in store.listed(prefix, after)] == wanted, (prefix, after)

    def test_keys_of_all_signs_come_in_the_order_of_their_signs(self, store: ObjectStore) -> None:
        keys = ["p1/a/1", "p1/a/1_/x", "p1/a/1a", "p1/a/z/0", "p1/a0", "p1/a_/1", "p1/a_1", "p1/aa/b", "p1/ab"]
        for key in reversed(keys):
            put(store, key, b"x")
        assert list(store.keys("p1/a")) == sorted(keys) == keys

    @pytest.mark.parametrize("key", OLD)
    def test_a_new_object_gets_no_key_that_stores_list_in_different_orders(self, store: ObjectStore, key: str) -> None:
        for refused in (store.sign_put, store.begin_parts, lambda key: put(store, key)):
            with pytest.raises(BadRequest, match="a-z, 0-9, '_' and '/'"):
                refused(ObjectKey(key))
        assert list(store.keys("")) == []

    def test_more_keys_than_one_answer_holds_are_listed(self, store: ObjectStore) -> None:
        wanted = sorted(f"p1/{number}" for number in range(1100))
        with ThreadPoolExecutor(THREADS) as pool:
            list(pool.map(lambda key: put(store, key, b"x"), wanted))
        assert list(store.keys("p1/")) == wanted

    @pytest.mark.parametrize("key", HOSTILE, ids=ascii)
    def test_a_hostile_key_leads_nowhere(self, store: ObjectStore, key: str) -> None:
        with pytest.raises(ObjectNotFound):
            put(store, key)
        with pytest.raises(ObjectNotFound):
            store.get(ObjectKey(key))
        with pytest.raises(ObjectNotFound):
            store.sign_get(ObjectKey(key))
        with pytest.raises(ObjectNotFound):
            store.sign_put(ObjectKey(key))
        with pytest.raises(ObjectNotFound):
            store.begin_parts(ObjectKey(key))
        with pytest.raises(ObjectNotFound):
            store.sign_part(ObjectKey(key), "1", 1, size_bytes=1)

    def test_many_threads_may_use_it_at_once(self, store: ObjectStore) -> None:
        def use(number: int) -> bytes:
            key = put(store, f"p1/{number % 5}", b"%d" % (number % 5) * 5000)
            return store.get(key)[:1]

        with ThreadPoolExecutor(THREADS) as pool:
            assert list(pool.map(use, range(80))) == [b"%d" % (number % 5) for number in range(80)]

    def test_a_reader_never_sees_a_part(self, store: ObjectStore) -> None:
        bodies = {letter * 200_000 for letter in (b"a", b"b")}
        key = put(store, "p1/x", b"a" * 200_000)

        def write(letter: bytes) -> None:
            put(store, key, letter * 200_000)

        with ThreadPoolExecutor(THREADS) as pool:
            writes = [pool.submit(write, letter) for letter in (b"a", b"b") * 10]
            seen = {pool.submit(store.get, key).result() for _ in range(40)}
            for done in writes:
                done.result()
        assert seen <= bodies

    @staticmethod
    def _assert_nothing(store: ObjectStore) -> None:
        with pytest.raises(ObjectNotFound):
            store.get(ObjectKey("p1/x"))
        assert list(store.keys("")) == []


class SignedUrlSuite:
    """For a store that answers its signed URLs itself."""

    @pytest.fixture
    def store(self) -> ObjectStore:
        raise NotImplementedError

    def test_a_signed_url_sends_and_one_fetches(self, store: ObjectStore) -> None:
        key = ObjectKey("p1/x")
        url, headers = store.sign_put(key, size_bytes=len(BODY), sha256=hashlib.sha256(BODY).hexdigest())
        assert send(url, headers, BODY) == 200
        assert store.get(key) == BODY
        with urllib.request.urlopen(store.sign_get(key), timeout=30) as answer:
            assert answer.read() == BODY

    def test_a_signed_url_fetches_a_range(self, store: ObjectStore) -> None:
        request = urllib.request.Request(store.sign_get(put(store, "p1/x")), headers={"Range": "bytes=10-29"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert (answer.status, answer.read()) == (206, BODY[10:30])

    def test_a_url_for_some_bytes_gives_no_others(self, store: ObjectStore) -> None:
        url = store.sign_get(put(store, "p1/x"), within=(10, 20))
        with urllib.request.urlopen(_ranged(url, "bytes=10-29"), timeout=30) as answer:
            assert (answer.status, answer.read()) == (206, BODY[10:30])
        for other in ("bytes=0-29", "bytes=10-30", "bytes=0-", "bytes=10-29,40-49", None):
            with pytest.raises(urllib.error.HTTPError, match=r"400|403"):
                urllib.request.urlopen(_ranged(url, other), timeout=30)

    def test_other_bytes_than_those_signed_for_are_refused(self, store: ObjectStore) -> None:
        url, headers = store.sign_put(ObjectKey("p1/x"), size_bytes=len(BODY), sha256=hashlib.sha256(BODY).hexdigest())
        assert send(url, headers, BODY[::-1]) in (400, 403)
        assert list(store.keys("")) == []

    def test_a_slot_takes_bytes_whose_size_nobody_knew(self, store: ObjectStore) -> None:
        url, headers = store.sign_put(ObjectKey("p1/slot"))
        assert send(url, headers, BODY) == 200
        assert store.get(ObjectKey("p1/slot")) == BODY

    def test_a_signed_url_does_one_thing_to_one_object(self, store: ObjectStore) -> None:
        put(store, "p1/x")
        put(store, "p1/y")
        fetches = store.sign_get(ObjectKey("p1/x"))
        assert send(fetches, {}, b"other") == 403
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(fetches.replace("p1/x", "p1/y"), timeout=30)
        assert store.get(ObjectKey("p1/x")) == BODY


class DirectUrlSuite:
    """For a store whose files may be used by whoever shares its disk."""

    @pytest.fixture
    def store(self) -> ObjectStore:
        raise NotImplementedError

    def test_a_direct_url_names_the_bytes_themselves(self, store: ObjectStore) -> None:
        with urllib.request.urlopen(store.sign_get(put(store, "p1/x"), direct=True)) as file:
            assert file.read() == BODY

    def test_a_direct_url_says_where_bytes_may_be_left(self, store: ObjectStore) -> None:
        url, headers = store.sign_put(ObjectKey("p1/jobs/1/1/log"), direct=True)
        assert (url.startswith("file:///"), headers) == (True, {})


def _ranged(url: str, wanted: str | None) -> urllib.request.Request:
    return urllib.request.Request(url, headers={} if wanted is None else {"Range": wanted})


def send(url: str, headers: dict[str, str], body: bytes) -> int:
    """Send bytes to a signed URL; returns the status."""
    request = urllib.request.Request(url, data=body, method="PUT", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code
