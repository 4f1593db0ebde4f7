"""Objects in parts, in S3: its multipart uploads.

A part's hash is not sent to S3: Amazon takes it only if every part of the object has one and all are told again at the
end, when who sends the parts knows no more than their etags. The size is signed, and the whole is hashed afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, BinaryIO

from botocore.exceptions import ClientError

from acai_jupyter.contract.errors import ObjectNotFound
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.states import StorageClass
from acai_server.objects.keys import checked_new
from acai_server.objects.parts import ArrivedPart, check_part, check_sent, checked_id
from acai_server.objects.s3_bucket import S3Bucket, code_of, s3_errors, storage_class
from acai_server.objects.sources import VerifiedSource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime


class S3Parts(S3Bucket):
    """What an S3 store does with parts."""

    def begin_parts(self, key: ObjectKey, storage: StorageClass = StorageClass.FREQUENT) -> str:
        """See the protocol."""
        with s3_errors(key):
            begun = self._client.create_multipart_upload(**self._at(checked_new(key)), **storage_class(storage))
        return str(begun["UploadId"])

    def sign_part(
        self, key: ObjectKey, parts_id: str, number: int, *, size_bytes: int, sha256: str | None = None
    ) -> tuple[str, dict[str, str]]:
        """See the protocol."""
        del sha256
        check_part(number, size_bytes)
        part = {"UploadId": checked_id(key, parts_id), "PartNumber": number}
        return self._signed("upload_part", checked_new(key), **part, ContentLength=size_bytes), {}

    def put_part(
        self,
        key: ObjectKey,
        parts_id: str,
        number: int,
        source: BinaryIO,
        *,
        size_bytes: int,
        sha256: str | None = None,
    ) -> str:
        """See the protocol."""
        check_part(number, size_bytes)
        return self._put_part(key, parts_id, number, b"".join(VerifiedSource(source, key, size_bytes, sha256)))

    def parts(self, key: ObjectKey, parts_id: str) -> list[ArrivedPart]:
        """See the protocol. Some services list a part that was sent twice twice."""
        pages = self._client.get_paginator("list_parts").paginate(**self._of(key, parts_id))
        with s3_errors(key):
            found = {part["PartNumber"]: part for page in pages for part in page.get("Parts", [])}
        return [ArrivedPart(number, part["Size"], part["ETag"].strip('"')) for number, part in sorted(found.items())]

    def end_parts(self, key: ObjectKey, parts_id: str, parts: Sequence[tuple[int, str]]) -> None:
        """See the protocol."""
        sent = [{"PartNumber": number, "ETag": etag} for number, etag in check_sent(checked_new(key), parts)]
        try:
            with s3_errors(key):
                self._client.complete_multipart_upload(**self._of(key, parts_id), MultipartUpload={"Parts": sent})
        except ObjectNotFound:
            if not self._is_there(key):
                raise

    def drop_parts(self, key: ObjectKey, parts_id: str) -> None:
        """See the protocol."""
        try:
            with s3_errors(key):
                self._client.abort_multipart_upload(**self._of(key, parts_id))
        except ObjectNotFound:
            return

    def drop_leftovers(self, older_than: datetime, is_ours: Callable[[ObjectKey], bool]) -> int:
        """See the protocol. A put that is interrupted leaves nothing."""
        pages = self._client.get_paginator("list_multipart_uploads").paginate(Bucket=self._bucket, Prefix=self._prefix)
        with s3_errors(self._prefix):
            begun_before = [one for page in pages for one in page.get("Uploads", []) if one["Initiated"] < older_than]
            old = [one for one in begun_before if is_ours(ObjectKey(one["Key"].removeprefix(self._prefix)))]
            for begun in old:
                self._abort(begun)
        return len(old)

    def _put_part(self, key: ObjectKey, parts_id: str, number: int, body: bytes) -> str:
        with s3_errors(key):
            answer = self._client.upload_part(**self._of(key, parts_id), PartNumber=number, Body=body)
        return str(answer["ETag"]).strip('"')

    def _of(self, key: ObjectKey, parts_id: str) -> dict[str, Any]:
        return {**self._at(key), "UploadId": checked_id(key, parts_id)}

    def _abort(self, begun: dict[str, Any]) -> None:
        """Drop what was begun under any key, an older one's included."""
        try:
            self._client.abort_multipart_upload(Bucket=self._bucket, Key=begun["Key"], UploadId=begun["UploadId"])
        except ClientError as error:
            if code_of(error) != "NoSuchUpload":
                raise

    def _is_there(self, key: ObjectKey) -> bool:
        try:
            with s3_errors(key):
                self._client.head_object(**self._at(key))
        except ObjectNotFound:
            return False
        return True
