"""Objects in a bucket of S3, or of anything that speaks like it."""

from __future__ import annotations

import base64
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from acai_jupyter.contract.errors import AcaiError, HashMismatch, ObjectNotFound, StoreFull, StoreUnavailable
from acai_jupyter.contract.ids import ObjectKey
from acai_server.objects.keys import checked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_server.objects.protocol import ObjectStore

_MISSING = ("NoSuchKey", "404", "NotFound")
_BAD_BYTES = (
    "BadDigest",
    "XAmzContentSHA256Mismatch",
    "InvalidDigest",
    "IncompleteBody",
    "XAmzContentChecksumMismatch",
)
_FULL = ("InsufficientStorage", "QuotaExceeded", "XMinioStorageFull")


class S3ObjectStore:
    """A bucket, and a prefix in it. The credentials are found by boto3's own rules."""

    name = "s3"

    def __init__(
        self, bucket: str, *, endpoint_url: str | None = None, prefix: str = "", url_seconds: int = 24 * 3600
    ) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._url_seconds = url_seconds
        style = {"addressing_style": "path" if endpoint_url else "auto"}
        config = Config(signature_version="s3v4", s3=style, retries={"mode": "standard", "max_attempts": 4})
        self._client = boto3.client("s3", endpoint_url=endpoint_url, config=config)

    def put(self, key: ObjectKey, source: BinaryIO, *, size_bytes: int, sha256: str | None = None) -> None:
        """See the protocol: S3 checks the hash, which is a signed header."""
        body = source.read(size_bytes + 1)
        if len(body) != size_bytes:
            raise HashMismatch(what=key)
        checksum = {"ChecksumSHA256": _base64(sha256)} if sha256 else {}
        with _translated(key):
            self._client.put_object(Bucket=self._bucket, Key=self._key(key), Body=body, **checksum)

    def get(self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None) -> bytes:
        """See the protocol."""
        size = self.size(key)
        if size_bytes == 0 or offset >= size:
            return b""
        last = size if size_bytes is None else min(size, offset + size_bytes)
        with _translated(key):
            answer = self._client.get_object(
                Bucket=self._bucket, Key=self._key(key), Range=f"bytes={offset}-{last - 1}"
            )
            return bytes(answer["Body"].read())

    def size(self, key: ObjectKey) -> int:
        """See the protocol."""
        with _translated(key):
            return int(self._client.head_object(Bucket=self._bucket, Key=self._key(key))["ContentLength"])

    def delete(self, key: ObjectKey) -> None:
        """See the protocol."""
        with _translated(key):
            self._client.delete_object(Bucket=self._bucket, Key=self._key(key))

    def keys(self, prefix: str) -> Iterator[ObjectKey]:
        """See the protocol."""
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=self._prefix + prefix
        )
        with _translated(prefix):
            for page in pages:
                for item in page.get("Contents", []):
                    yield ObjectKey(item["Key"].removeprefix(self._prefix))

    def sign_get(self, key: ObjectKey, *, direct: bool = False) -> str:
        """See the protocol; no disk is shared."""
        del direct
        return self._signed("get_object", key)

    def sign_put(
        self, key: ObjectKey, *, size_bytes: int | None = None, sha256: str | None = None, direct: bool = False
    ) -> tuple[str, dict[str, str]]:
        """See the protocol."""
        del direct
        checksum = {"ChecksumSHA256": _base64(sha256)} if sha256 else {}
        length = {} if size_bytes is None else {"ContentLength": size_bytes}
        url = self._signed("put_object", key, **checksum, **length)
        return url, {"x-amz-checksum-sha256": _base64(sha256)} if sha256 else {}

    def _signed(self, operation: str, key: ObjectKey, **covered: Any) -> str:
        parameters = {"Bucket": self._bucket, "Key": self._key(key), **covered}
        return str(self._client.generate_presigned_url(operation, Params=parameters, ExpiresIn=self._url_seconds))

    def _key(self, key: ObjectKey) -> str:
        return self._prefix + checked(key)


def _base64(sha256: str) -> str:
    return base64.b64encode(bytes.fromhex(sha256)).decode()


@contextmanager
def _translated(key: str) -> Iterator[None]:
    try:
        yield
    except AcaiError:
        raise
    except ClientError as error:
        raise _named(key, str(error.response.get("Error", {}).get("Code"))) from error
    except BotoCoreError as error:
        raise StoreUnavailable(reason=str(error)) from error


def _named(key: str, code: str) -> AcaiError:
    if code in _MISSING:
        return ObjectNotFound(key=key)
    if code in _BAD_BYTES:
        return HashMismatch(what=key)
    if code in _FULL:
        return StoreFull(what="the bucket")
    return StoreUnavailable(reason=f"S3 answered {code}")


if TYPE_CHECKING:
    _proof: type[ObjectStore] = S3ObjectStore
