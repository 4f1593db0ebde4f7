"""A bucket of S3, or of anything that speaks like it: the client, and what its errors mean."""

from __future__ import annotations

import base64
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import boto3
import urllib3
from botocore import exceptions
from botocore.config import Config

from acai_jupyter.contract.errors import (
    AcaiError,
    BadRequest,
    BadSetting,
    HashMismatch,
    ObjectNotFound,
    SettingsBroken,
    StoreFull,
    StoreUnavailable,
)
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.states import StorageClass
from acai_server.objects.keys import checked
from acai_server.objects.parts import not_arrived, too_small

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

STORAGE = {StorageClass.INFREQUENT: "STANDARD_IA", StorageClass.ARCHIVE: "GLACIER_IR"}
"""Without a word it is STANDARD, which services that know no classes take too."""
_CONNECTIONS = 32
_CONNECT_SECONDS = 10
_READ_SECONDS = 60
_TRIES = 4
_HOW = "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile, as boto3 reads them"


def _bad_bytes(key: str, _: str) -> AcaiError:
    return HashMismatch(what=key)


def _missing(key: str, _: str) -> AcaiError:
    return ObjectNotFound(key=key)


def _full(_: str, __: str) -> AcaiError:
    return StoreFull(what="the bucket")


def _refused(_: str, code: str) -> AcaiError:
    return SettingsBroken(reason=f"S3 refuses the credentials it was given ({code}); {_HOW}")


_BY_CODE: dict[str, Callable[[str, str], AcaiError]] = {
    **dict.fromkeys(("NoSuchKey", "404", "NotFound", "NoSuchUpload"), _missing),
    **dict.fromkeys(
        ("BadDigest", "XAmzContentSHA256Mismatch", "InvalidDigest", "IncompleteBody", "XAmzContentChecksumMismatch"),
        _bad_bytes,
    ),
    **dict.fromkeys(("InsufficientStorage", "QuotaExceeded", "XMinioStorageFull"), _full),
    **dict.fromkeys(("AccessDenied", "403", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken"), _refused),
    "NoSuchBucket": lambda _, __: SettingsBroken(reason="the bucket that s3_bucket names does not exist"),
    "InvalidStorageClass": lambda _, __: BadRequest(reason="the S3 service does not know this storage class"),
    "InvalidPart": lambda key, _: not_arrived(key),
    "EntityTooSmall": lambda key, _: too_small(key),
}
_BAD_SETUP = (
    exceptions.NoCredentialsError,
    exceptions.PartialCredentialsError,
    exceptions.CredentialRetrievalError,
    exceptions.ProfileNotFound,
    exceptions.ConfigParseError,
    exceptions.InvalidConfigError,
    exceptions.SSOError,
)


class S3Bucket:
    """A bucket, and a prefix in it. The credentials are found by boto3's own rules."""

    def __init__(
        self, bucket: str, *, endpoint_url: str | None = None, prefix: str = "", url_seconds: int = 24 * 3600
    ) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._url_seconds = url_seconds
        if endpoint_url is not None and urlsplit(endpoint_url).scheme not in ("http", "https"):
            reason = f"'{endpoint_url[:80]}' is not the address of a service, like http://host:8333"
            raise BadSetting(name="s3_endpoint_url", source="the settings", reason=reason)
        with s3_errors(prefix):
            self._client = _client(bucket, endpoint_url)

    def moment(self) -> datetime:
        """Return the time that the service tells, in whole seconds; it tells it in a refusal, too."""
        try:
            with s3_errors(self._prefix):
                answer = self._client.head_bucket(Bucket=self._bucket)
        except AcaiError as error:
            if not isinstance(error.__cause__, exceptions.ClientError):
                raise
            answer = error.__cause__.response
        told = answer["ResponseMetadata"]["HTTPHeaders"].get("date", "")
        try:
            return parsedate_to_datetime(told)
        except ValueError as error:
            raise StoreUnavailable(reason="the S3 service does not tell the time") from error

    def lets_pages_send(self, origin: str) -> bool:
        """Whether the bucket's rules let a page from there send an object, as a browser asks before it does."""
        url = self._signed("put_object", ObjectKey("checkup/page"))
        asks = {"Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "x-amz-checksum-sha256"}
        try:
            with urllib3.PoolManager(timeout=_CONNECT_SECONDS, retries=False) as http:
                answer = http.request("OPTIONS", url, headers={"Origin": origin, **asks}, redirect=False)
        except urllib3.exceptions.HTTPError as error:
            raise StoreUnavailable(reason=str(error)) from error
        methods = answer.headers.get("Access-Control-Allow-Methods", "")
        return answer.headers.get("Access-Control-Allow-Origin") in ("*", origin) and "PUT" in methods

    def _signed(self, operation: str, key: ObjectKey, **covered: Any) -> str:
        parameters = {**self._at(key), **covered}
        with s3_errors(key):
            return str(self._client.generate_presigned_url(operation, Params=parameters, ExpiresIn=self._url_seconds))

    def _at(self, key: ObjectKey) -> dict[str, Any]:
        return {"Bucket": self._bucket, "Key": self._prefix + checked(key)}


def _client(bucket: str, endpoint_url: str | None) -> Any:
    """Make a client whose signed URLs lead to the bucket's own region: a redirection would lose what is being sent."""
    session = boto3.session.Session()
    if session.get_credentials() is None:
        raise SettingsBroken(reason=f"there are no credentials for S3; {_HOW}")
    if endpoint_url is None and session.region_name is None:
        raise SettingsBroken(reason="the bucket's region is not known; set AWS_DEFAULT_REGION")
    style = "path" if endpoint_url or "." in bucket else "virtual"
    config = Config(
        signature_version="s3v4",
        s3={"addressing_style": style},
        retries={"mode": "standard", "total_max_attempts": _TRIES},
        max_pool_connections=_CONNECTIONS,
        connect_timeout=_CONNECT_SECONDS,
        read_timeout=_READ_SECONDS,
        request_checksum_calculation="when_required",  # others than Amazon's do not know the checksums boto3 would add
        response_checksum_validation="when_required",  # the hash is checked by whoever reads
    )
    region = session.region_name or "us-east-1"  # which services that have no regions take
    return session.client("s3", endpoint_url=endpoint_url, region_name=region, config=config)


def storage_class(storage: StorageClass) -> dict[str, str]:
    """Return what boto3 is told of a storage class."""
    return {"StorageClass": STORAGE[storage]} if storage in STORAGE else {}


def checksum(sha256: str) -> str:
    """Return a hash as S3 writes it."""
    return base64.b64encode(bytes.fromhex(sha256)).decode()


@contextmanager
def s3_errors(key: str) -> Iterator[None]:
    """Turn what boto3 says into our errors."""
    try:
        yield
    except exceptions.ClientError as error:
        raise named(key, code_of(error)) from error
    except _BAD_SETUP as error:
        raise SettingsBroken(reason=f"S3 cannot be asked: {str(error).rstrip('.')}; {_HOW}") from error
    except exceptions.InvalidRegionError as error:
        raise SettingsBroken(reason=f"S3 cannot be asked: {str(error).rstrip('.')}; set AWS_DEFAULT_REGION") from error
    except exceptions.BotoCoreError as error:
        raise StoreUnavailable(reason=str(error)) from error


def code_of(error: exceptions.ClientError) -> str:
    """Return S3's own word for what is wrong; for a request without a body it is the HTTP status."""
    return str(error.response.get("Error", {}).get("Code"))


def named(key: str, code: str) -> AcaiError:
    """Return our error for a word of S3's."""
    kind = _BY_CODE.get(code)
    return kind(key, code) if kind else StoreUnavailable(reason=f"S3 answered {code}")
