"""The object store suites over each store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from acai_server.objects.filesystem import FilesystemObjectStore
from acai_server.objects.memory import MemoryObjectStore
from acai_server.objects.s3 import S3ObjectStore
from acai_server.objects.signing import UrlSigner
from acai_server.testing.objects import DirectUrlSuite, ObjectStoreSuite, SignedUrlSuite, put
from acai_server.testing.parts import ObjectPartsSuite, SignedPartsSuite

if TYPE_CHECKING:
    from pathlib import Path

    from acai_server.objects.protocol import ObjectStore
    from tests.servers.seaweedfs import Seaweedfs

SIGNER = UrlSigner(b"secret", lambda: "http://127.0.0.1:1", lambda: 0.0)


class TestMemory(ObjectStoreSuite, ObjectPartsSuite):
    @pytest.fixture
    def store(self) -> ObjectStore:
        return MemoryObjectStore(SIGNER)


class TestFilesystem(ObjectStoreSuite, ObjectPartsSuite, DirectUrlSuite):
    @pytest.fixture
    def store(self, tmp_path: Path) -> ObjectStore:
        return FilesystemObjectStore(tmp_path / "objects", SIGNER)


class TestS3(ObjectStoreSuite, ObjectPartsSuite, SignedUrlSuite, SignedPartsSuite):
    @pytest.fixture
    def store(self, s3_server: Seaweedfs, s3_bucket: str) -> ObjectStore:
        return S3ObjectStore(s3_bucket, endpoint_url=s3_server.url)


def test_the_prefix_of_a_store_in_a_bucket_is_its_own_affair(s3_server: Seaweedfs, s3_bucket: str) -> None:
    ours, theirs = (S3ObjectStore(s3_bucket, endpoint_url=s3_server.url, prefix=f"{who}/") for who in ("a", "b"))
    put(ours, "p1/x", b"ours")
    put(theirs, "p1/x", b"theirs")
    assert (ours.get(put(ours, "p1/y", b"")), list(ours.keys(""))) == (b"", ["p1/x", "p1/y"])
    assert list(theirs.keys("")) == ["p1/x"]
