"""What only the S3 store owes: classes, regions and credentials, and an answer to services that misbehave."""

from __future__ import annotations

import hashlib
import io
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

from acai_jupyter.contract.errors import (
    AcaiError,
    BadRequest,
    HashMismatch,
    SettingsBroken,
    StoreFull,
    StoreUnavailable,
)
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.states import StorageClass
from acai_server.objects.s3 import S3ObjectStore
from acai_server.testing.objects import BODY, OLD, Torn, put, send
from acai_server.testing.parts import KEY, LAST, begun, put_part
from tests.servers.answers import Answer, service
from tests.servers.process import free_ports

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.servers.seaweedfs import Seaweedfs

X = ObjectKey("p1/x")
CLASSES = {StorageClass.FREQUENT: None, StorageClass.INFREQUENT: "STANDARD_IA", StorageClass.ARCHIVE: "GLACIER_IR"}
LARGE = bytes(range(256)) * (33 * 4096)


@pytest.fixture
def store(s3_server: Seaweedfs, s3_bucket: str) -> S3ObjectStore:
    return S3ObjectStore(s3_bucket, endpoint_url=s3_server.url)


def head(server: Seaweedfs, bucket: str, key: str) -> dict[str, Any]:
    found: dict[str, Any] = server.client().head_object(Bucket=bucket, Key=key)
    return found


# -- with a real server


@pytest.mark.parametrize("storage", StorageClass)
def test_each_way_into_the_store_gives_the_storage_class(
    s3_server: Seaweedfs, s3_bucket: str, store: S3ObjectStore, storage: StorageClass
) -> None:
    store.put(ObjectKey("p1/put"), io.BytesIO(BODY), size_bytes=len(BODY), storage=storage)
    url, headers = store.sign_put(ObjectKey("p1/signed"), size_bytes=len(BODY), storage=storage)
    assert send(url, headers, BODY) == 200
    parts_id = store.begin_parts(KEY, storage)
    store.end_parts(KEY, parts_id, [put_part(store, parts_id, 1, LAST)])
    for key in ("p1/put", "p1/signed", KEY):
        assert head(s3_server, s3_bucket, key).get("StorageClass") == CLASSES[storage]


def test_the_storage_class_is_a_header_that_the_signature_covers(store: S3ObjectStore) -> None:
    assert store.sign_put(X, size_bytes=5)[1] == {}
    url, headers = store.sign_put(X, size_bytes=len(BODY), storage=StorageClass.ARCHIVE)
    assert headers == {"x-amz-storage-class": "GLACIER_IR"}
    assert send(url, {}, BODY) == 403
    assert send(url, {"x-amz-storage-class": "STANDARD"}, BODY) == 403
    assert list(store.keys("")) == []


@pytest.mark.parametrize("key", OLD)
def test_an_object_under_an_older_key_is_still_an_object(
    s3_server: Seaweedfs, s3_bucket: str, store: S3ObjectStore, key: str
) -> None:
    s3_server.client().put_object(Bucket=s3_bucket, Key=key, Body=BODY)
    assert (store.get(ObjectKey(key)), store.size(ObjectKey(key)), list(store.keys("p1/"))) == (BODY, len(BODY), [key])
    store.delete_all([ObjectKey(key)])
    assert list(store.keys("")) == []


def test_a_large_object_goes_in_parts(s3_server: Seaweedfs, s3_bucket: str, store: S3ObjectStore) -> None:
    put(store, X, LARGE)
    assert hashlib.sha256(store.get(X)).digest() == hashlib.sha256(LARGE).digest()
    assert head(s3_server, s3_bucket, X)["ETag"].endswith('-2"')


def test_a_large_object_that_is_refused_leaves_nothing(
    s3_server: Seaweedfs, s3_bucket: str, store: S3ObjectStore
) -> None:
    with pytest.raises(HashMismatch):
        store.put(X, io.BytesIO(LARGE), size_bytes=len(LARGE), sha256="0" * 64)
    torn: Any = Torn(LARGE)
    with pytest.raises(ConnectionResetError):
        store.put(X, torn, size_bytes=len(LARGE) + 1)
    assert list(store.keys("")) == []
    assert s3_server.client().list_multipart_uploads(Bucket=s3_bucket).get("Uploads", []) == []


def test_a_bucket_that_does_not_exist_is_a_wrong_setting(s3_server: Seaweedfs, store: S3ObjectStore) -> None:
    del store  # which puts the credentials into the environment
    nowhere = S3ObjectStore("there-is-no-such-bucket", endpoint_url=s3_server.url)
    with pytest.raises(SettingsBroken, match="s3_bucket"):
        nowhere.get(X)


def test_credentials_that_are_refused_are_a_wrong_setting(
    s3_server: Seaweedfs, s3_bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    store = S3ObjectStore(s3_bucket, endpoint_url=s3_server.url)
    for use in (lambda: put(store, X), lambda: store.get(X), lambda: store.size(X), lambda: list(store.keys(""))):
        with pytest.raises(SettingsBroken, match="refuses the credentials"):
            use()


def test_leftovers_of_another_prefix_are_left(s3_server: Seaweedfs, s3_bucket: str) -> None:
    ours, theirs = (S3ObjectStore(s3_bucket, endpoint_url=s3_server.url, prefix=f"{who}/") for who in ("a", "b"))
    parts_id, _ = begun(theirs, LAST)
    assert ours.drop_leftovers(datetime.now(UTC) + timedelta(days=1), lambda _: True) == 0
    assert len(theirs.parts(KEY, parts_id)) == 1


# -- without credentials, a region or a service


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    return monkeypatch


WRONG: dict[str, tuple[Callable[[pytest.MonkeyPatch], None], str]] = {
    "no region": (lambda patch: patch.delenv("AWS_DEFAULT_REGION"), "set AWS_DEFAULT_REGION"),
    "a bad region": (lambda patch: patch.setenv("AWS_DEFAULT_REGION", "not a region!"), "set AWS_DEFAULT_REGION"),
    "half of the credentials": (lambda patch: patch.delenv("AWS_SECRET_ACCESS_KEY"), "set AWS_ACCESS_KEY_ID"),
    "no such profile": (lambda patch: patch.setenv("AWS_PROFILE", "nobody"), "nobody"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_store_that_is_set_up_wrongly_says_what_to_set(credentials: pytest.MonkeyPatch, what: str) -> None:
    spoil, said = WRONG[what]
    spoil(credentials)
    with pytest.raises(SettingsBroken, match=said):
        S3ObjectStore("bucket")


def test_a_store_without_credentials_says_what_to_set(credentials: pytest.MonkeyPatch) -> None:
    credentials.delenv("AWS_ACCESS_KEY_ID")
    credentials.delenv("AWS_SECRET_ACCESS_KEY")
    for endpoint_url in (None, "http://127.0.0.1:1"):
        with pytest.raises(SettingsBroken, match="no credentials for S3; set AWS_ACCESS_KEY_ID"):
            S3ObjectStore("bucket", endpoint_url=endpoint_url)


@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize("bucket", ["bucket", "a.bucket"])
def test_a_signed_url_leads_to_the_region_of_the_bucket(bucket: str) -> None:
    store = S3ObjectStore(bucket)
    for url in (store.sign_get(X), store.sign_put(X)[0], store.sign_part(X, "1", 1, size_bytes=5)[0]):
        assert "s3.eu-west-1.amazonaws.com" in (urlsplit(url).hostname or "")
        assert "eu-west-1" in urlsplit(url).query


# -- with a service that misbehaves


def error(status: int, code: str) -> Answer:
    return Answer(status, f"<Error><Code>{code}</Code></Error>".encode(), {"Content-Type": "application/xml"})


def ranged(body: bytes, first: int, size: int, missing: int = 0) -> Answer:
    last = first + len(body) + missing - 1
    return Answer(206, body, {"Content-Range": f"bytes {first}-{last}/{size}"}, missing)


@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize("trouble", [error(503, "SlowDown"), error(500, "InternalError"), Answer(502)])
def test_a_service_in_trouble_is_asked_again(trouble: Answer) -> None:
    with service(trouble, Answer(200, BODY)) as s3:
        assert S3ObjectStore("bucket", endpoint_url=s3.url).get(X) == BODY
        assert s3.asked == ["GET", "GET"]


@pytest.mark.usefixtures("credentials")
def test_a_service_that_stays_in_trouble_is_not_available() -> None:
    with service(error(503, "SlowDown")) as s3:
        store = S3ObjectStore("bucket", endpoint_url=s3.url)
        with pytest.raises(StoreUnavailable, match="SlowDown"):
            put(store, X)
        assert s3.asked == ["PUT"] * 4


@pytest.mark.usefixtures("credentials")
def test_no_service_is_not_available() -> None:
    (port,) = free_ports(1)
    store = S3ObjectStore("bucket", endpoint_url=f"http://127.0.0.1:{port}")
    with pytest.raises(StoreUnavailable, match="127"):
        store.size(X)


@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("InsufficientStorage", 507, StoreFull),
        ("AccessDenied", 403, SettingsBroken),
        ("InvalidStorageClass", 400, BadRequest),
        ("BadDigest", 400, HashMismatch),
        ("SomethingNew", 400, StoreUnavailable),
    ],
)
def test_what_a_service_refuses_is_one_of_our_errors(code: str, status: int, kind: type[AcaiError]) -> None:
    with service(error(status, code)) as s3, pytest.raises(kind):
        put(S3ObjectStore("bucket", endpoint_url=s3.url), X)


@pytest.mark.usefixtures("credentials")
def test_a_get_is_one_request() -> None:
    with service(
        ranged(BODY[3:10], 3, len(BODY)), ranged(BODY[3:], 3, len(BODY)), error(416, "InvalidRange"), Answer(200, BODY)
    ) as s3:
        store = S3ObjectStore("bucket", endpoint_url=s3.url)
        assert store.get(X, 3, 7) == BODY[3:10]
        assert store.get(X, 3) == BODY[3:]
        assert store.get(X, 10**9) == b""
        assert store.get(X) == BODY
        assert s3.asked == ["GET bytes=3-9", "GET bytes=3-", "GET bytes=1000000000-", "GET"]


TRUNCATED = {
    "an object": (Answer(200, BODY, missing=1), 0, None),
    "an object of which nothing came": (Answer(200, b"", missing=100), 0, None),
    "a range": (ranged(BODY[3:], 3, len(BODY) + 9, missing=9), 3, None),
}


@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize("what", TRUNCATED)
def test_a_truncated_body_is_never_short_bytes(what: str) -> None:
    answer, offset, size_bytes = TRUNCATED[what]
    with service(answer) as s3:
        store = S3ObjectStore("bucket", endpoint_url=s3.url)
        with pytest.raises(StoreUnavailable):
            store.get(X, offset, size_bytes)
        with pytest.raises(StoreUnavailable):
            list(store.stream(X, offset, size_bytes, 1000))


OTHER_RANGES = {
    "the whole object": Answer(200, BODY),
    "a range that begins elsewhere": ranged(BODY[4:11], 4, len(BODY)),
    "a shorter range": ranged(BODY[3:9], 3, len(BODY)),
    "a longer range": ranged(BODY[3:11], 3, len(BODY)),
    "a range that is not said": Answer(206, BODY[3:10]),
    "a range of another length than it says": Answer(206, BODY[3:9], {"Content-Range": f"bytes 3-9/{len(BODY)}"}),
}


@pytest.mark.usefixtures("credentials")
@pytest.mark.parametrize("what", OTHER_RANGES)
def test_another_range_than_was_asked_for_is_refused(what: str) -> None:
    with service(OTHER_RANGES[what]) as s3:
        store = S3ObjectStore("bucket", endpoint_url=s3.url)
        with pytest.raises(StoreUnavailable, match="another range"):
            store.get(X, 3, 7)


@pytest.mark.usefixtures("credentials")
def test_of_many_deletions_one_that_failed_is_said() -> None:
    failed = b"<DeleteResult><Error><Key>p1/x</Key><Code>InternalError</Code></Error></DeleteResult>"
    with service(Answer(200, failed, {"Content-Type": "application/xml"})) as s3:
        store = S3ObjectStore("bucket", endpoint_url=s3.url)
        with pytest.raises(StoreUnavailable, match="InternalError"):
            store.delete_all([X])


@pytest.mark.usefixtures("credentials")
def test_many_deletions_are_few_requests() -> None:
    with service(Answer(200, b"<DeleteResult/>", {"Content-Type": "application/xml"})) as s3:
        store = S3ObjectStore("bucket", endpoint_url=s3.url)
        store.delete_all(ObjectKey(f"p1/{number}") for number in range(2001))
        assert s3.asked == ["POST"] * 3
