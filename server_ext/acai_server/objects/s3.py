"""Objects in a bucket of S3, or of anything that speaks like it."""

from __future__ import annotations

import hashlib
import re
from contextlib import closing, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from botocore.exceptions import ClientError

from acai_jupyter.contract.errors import AcaiError, ObjectNotFound, StoreUnavailable
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.states import StorageClass
from acai_server.objects.keys import checked_new
from acai_server.objects.parts import MAX_PARTS
from acai_server.objects.protocol import MAX_NOTE_BYTES, ListedObject
from acai_server.objects.s3_bucket import STORAGE, checksum, code_of, named, s3_errors, storage_class
from acai_server.objects.s3_parts import S3Parts
from acai_server.objects.sources import PIECE_BYTES, VerifiedSource

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from acai_server.objects.protocol import ObjectStore, Within

_WHOLE_BYTES = 32 * 1024**2
"""Up to here `put` sends an object whole; this is what it holds of a larger one."""
_DELETED_AT_ONCE = 1000
_REFUSED_CONDITION = ("PreconditionFailed", "ConditionalRequestConflict", "412", "409")
_NO_CONDITIONS = ("NotImplemented", "501")
_BEYOND = ("InvalidRange", "416")
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+)\Z")


class S3ObjectStore(S3Parts):
    """A bucket, and a prefix in it. The credentials are found by boto3's own rules."""

    name = "s3"
    max_put_bytes: int | None = 5 * 1024**3

    def put(
        self,
        key: ObjectKey,
        source: BinaryIO,
        *,
        size_bytes: int,
        sha256: str | None = None,
        storage: StorageClass = StorageClass.FREQUENT,
        durable: bool = True,
    ) -> None:
        """See the protocol: S3 checks the hash, which is a signed header; of a large object it is checked here."""
        del durable
        checked_new(key)
        verified = VerifiedSource(source, key, size_bytes, sha256)
        if size_bytes > _WHOLE_BYTES:
            self._put_in_parts(key, verified, max(_WHOLE_BYTES, size_bytes // MAX_PARTS + 1), storage)
            return
        body = b"".join(verified)
        hashed = {"ChecksumSHA256": checksum(verified.sha256)}
        with s3_errors(key):
            self._client.put_object(**self._at(key), Body=body, **hashed, **storage_class(storage))

    def get(self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None) -> bytes:
        """See the protocol."""
        return b"".join(self.stream(key, offset, size_bytes))

    def stream(
        self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None, piece_bytes: int = PIECE_BYTES
    ) -> Generator[bytes, None, None]:
        """See the protocol: one request. What boto3 reads is checked against the length that was announced."""
        if size_bytes == 0:
            self.size(key)
            return
        with s3_errors(key):
            body = self._open(key, offset, size_bytes)
            if body is not None:
                with closing(body):
                    while piece := body.read(piece_bytes):
                        yield piece

    def size(self, key: ObjectKey) -> int:
        """See the protocol."""
        with s3_errors(key):
            return int(self._client.head_object(**self._at(key))["ContentLength"])

    def delete(self, key: ObjectKey) -> None:
        """See the protocol."""
        with s3_errors(key):
            self._client.delete_object(**self._at(key))

    def delete_all(self, keys: Iterable[ObjectKey]) -> None:
        """See the protocol."""
        left = iter(keys)
        while names := [{"Key": self._at(key)["Key"]} for key in islice(left, _DELETED_AT_ONCE)]:
            with s3_errors(self._prefix):
                answer = self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": names, "Quiet": True})
            for error in answer.get("Errors", []):
                raise named(str(error.get("Key")), str(error.get("Code")))

    def keys(self, prefix: str) -> Iterator[ObjectKey]:
        """See the protocol."""
        for item in self._items(prefix):
            yield ObjectKey(item["Key"].removeprefix(self._prefix))

    def listed(self, prefix: str, after: str = "") -> Iterator[ListedObject]:
        """See the protocol."""
        for item in self._items(prefix, after):
            yield ListedObject(ObjectKey(item["Key"].removeprefix(self._prefix)), item["Size"], item["LastModified"])

    def create(self, key: ObjectKey, body: bytes) -> bool:
        """See the protocol. Services that know no conditions get a plain put, and the result is read again."""
        if self._note(checked_new(key)) is not None:
            return False
        return self._put_if(key, body, IfNoneMatch="*")

    def swap(self, key: ObjectKey, body: bytes, *, expected: bytes) -> bool:
        """See the protocol."""
        found = self._note(checked_new(key))
        if found is None or found[0] != expected:
            return False
        return self._put_if(key, body, IfMatch=found[1])

    def sign_get(self, key: ObjectKey, *, direct: bool = False, within: Within | None = None) -> str:
        """See the protocol; no disk is shared."""
        del direct
        if within is None:
            return self._signed("get_object", key)
        return self._signed("get_object", key, Range=f"bytes={within[0]}-{within[0] + within[1] - 1}")

    def sign_put(
        self,
        key: ObjectKey,
        *,
        size_bytes: int | None = None,
        sha256: str | None = None,
        storage: StorageClass = StorageClass.FREQUENT,
        direct: bool = False,
    ) -> tuple[str, dict[str, str]]:
        """See the protocol."""
        del direct
        covered: dict[str, Any] = {**storage_class(storage)}
        headers = {"x-amz-storage-class": STORAGE[storage]} if storage in STORAGE else {}
        if size_bytes is not None:
            covered["ContentLength"] = size_bytes
        if sha256 is not None:
            covered["ChecksumSHA256"] = headers["x-amz-checksum-sha256"] = checksum(sha256)
        return self._signed("put_object", checked_new(key), **covered), headers

    def _items(self, prefix: str, after: str = "") -> Iterator[dict[str, Any]]:
        start = {"StartAfter": self._prefix + after} if after else {}
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self._bucket, Prefix=self._prefix + prefix, **start
        )
        with s3_errors(prefix):
            for page in pages:
                yield from page.get("Contents", [])

    def _note(self, key: ObjectKey) -> tuple[bytes, str] | None:
        """Return a small object with its ETag, if there is one."""
        try:
            with s3_errors(key):
                answer = self._client.get_object(**self._at(key))
                with closing(answer["Body"]) as body:
                    return body.read(MAX_NOTE_BYTES), str(answer["ETag"])
        except ObjectNotFound:
            return None

    def _put_if(self, key: ObjectKey, body: bytes, **condition: str) -> bool:
        """Put a small object on a condition; says whether it is there afterwards."""
        hashed = {"ChecksumSHA256": checksum(hashlib.sha256(body).hexdigest())}
        with s3_errors(key):
            try:
                self._client.put_object(**self._at(key), Body=body, **hashed, **condition)
            except ClientError as error:
                if code_of(error) in _NO_CONDITIONS:
                    self._client.put_object(**self._at(key), Body=body, **hashed)
                elif code_of(error) not in _REFUSED_CONDITION:
                    raise
        found = self._note(key)  # a refused one may be ours: boto3 sends again what was not answered
        return found is not None and found[0] == body

    def _open(self, key: ObjectKey, offset: int, size_bytes: int | None) -> Any | None:
        """Ask for a range; nothing comes back where the object has none of it."""
        last = "" if size_bytes is None else offset + size_bytes - 1
        wanted = {"Range": f"bytes={offset}-{last}"} if offset or last != "" else {}
        try:
            answer = self._client.get_object(**self._at(key), **wanted)
        except ClientError as error:
            if code_of(error) in _BEYOND:
                return None
            raise
        if wanted and answer["ContentLength"] and not _is_range(answer, offset, size_bytes):
            answer["Body"].close()
            raise StoreUnavailable(reason="S3 answered with another range than was asked for")
        return answer["Body"]

    def _put_in_parts(self, key: ObjectKey, source: VerifiedSource, part_bytes: int, storage: StorageClass) -> None:
        """Send a large object without holding it. It is not ended before its hash is known to be right."""
        parts_id = self.begin_parts(key, storage)
        sent: list[tuple[int, str]] = []
        try:
            for number, body in enumerate(_gathered(source, part_bytes), 1):
                sent.append((number, self._put_part(key, parts_id, number, body)))
            self.end_parts(key, parts_id, sent)
        except BaseException:
            with suppress(AcaiError):
                self.drop_parts(key, parts_id)
            raise


def _gathered(pieces: Iterable[bytes], size_bytes: int) -> Iterator[bytes]:
    """Join pieces to bodies of a size; the last one may be smaller."""
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) >= size_bytes:
            yield bytes(body[:size_bytes])
            del body[:size_bytes]
    if body:
        yield bytes(body)


def _is_range(answer: dict[str, Any], offset: int, size_bytes: int | None) -> bool:
    """Whether a service understood the range: some send the whole object instead."""
    match = _CONTENT_RANGE.match(answer.get("ContentRange", ""))
    if match is None:
        return False
    first, last, size = map(int, match.groups())
    end = size if size_bytes is None else min(size, offset + size_bytes)
    return (first, last + 1, last + 1 - first) == (offset, end, answer["ContentLength"])


if TYPE_CHECKING:
    _proof: type[ObjectStore] = S3ObjectStore
