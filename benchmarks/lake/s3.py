"""Beside the S3 server of the tests: one file of 1 GiB there, a folder of small files there and back."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks import peers
from benchmarks.lake.contenders import Contender
from benchmarks.lake.data import make_file, make_files
from benchmarks.lake.folders import SMALL
from benchmarks.lake.ours import OURS, Acai
from benchmarks.lake.programs import timed
from benchmarks.lake.rounds import run_round
from benchmarks.lake.scores import Scores
from tests.servers.seaweedfs import Seaweedfs, seaweedfs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.lake.rounds import Factory, Plan
    from benchmarks.report import Row


class OnS3(Contender):
    """A peer that is handed a bucket of its own."""

    def __init__(self, home: Path, source: Path, *, server: Seaweedfs) -> None:
        super().__init__(home, source)
        self.env |= server.environment
        self.url = server.url
        self.bucket = server.make_bucket()


class S5cmd(OnS3):
    """s5cmd with its defaults."""

    name = "s5cmd (command)"
    steps = ("put", "back")

    def put(self) -> float:
        return self._copy(f"{self.source}/", f"s3://{self.bucket}/data/")

    def back(self) -> float:
        return self._copy(f"s3://{self.bucket}/data/*", f"{self.out}/")

    def _copy(self, source: str, dest: str) -> float:
        return timed([peers.s5cmd(), "--endpoint-url", self.url, "cp", source, dest], env=self.env, cwd=self.home)


class Boto3(OnS3):
    """`upload_file` of boto3, with a client that was used before."""

    name = "boto3 (Python)"
    steps = ("put",)
    python = "ours"
    action = "boto3_put"

    def prepare(self) -> None:
        self._send(self.small() / "file")

    def put(self) -> float:
        return self._send(self.source / "file")

    def _send(self, file: Path) -> float:
        return self.worker.call(self.action, url=self.url, bucket=self.bucket, key=file.parent.name, file=file)


class Presigned(Boto3):
    """One request to a pre-signed URL, which is what S3 itself costs."""

    name = "one raw pre-signed PUT"
    action = "presigned_put"


def measure_large(size_bytes: int, plan: Plan) -> list[Row]:
    """Measure one file there."""
    source = make_file(plan.folder / "source", size_bytes)
    others = (Presigned, S5cmd, Boto3)
    scores = Scores("put")
    for number, folder in plan.rounds_of_large_files():
        _run(scores, number, others, source=source, folder=folder)
    limit, promise = 1.1 * scores.seconds("put", Presigned.name), f"1.1 times {Presigned.name}"
    title = "put 1 GiB to S3"
    return [
        *(scores.row(title, "put", ours.name, Presigned.name).promising(limit, promise) for ours in OURS),
        *(scores.row(title, "put", other.name, Presigned.name) for other in others),
    ]


def measure_small(plan: Plan) -> list[Row]:
    """Measure a folder there and back."""
    source = make_files(plan.folder / "source", SMALL.count, SMALL.size_bytes)
    scores = Scores("put", "back")
    for number, folder in plan.rounds_of_many_files():
        _run(scores, number, (S5cmd,), source=source, folder=folder)
    titles = {"put": f"put {SMALL.title} to S3", "back": f"get {SMALL.title} back from S3"}
    rows = []
    for step, title in titles.items():
        limit, promise = scores.seconds(step, S5cmd.name) / 5, f"a fifth of {S5cmd.name}"
        rows += [scores.row(title, step, ours.name, S5cmd.name).promising(limit, promise) for ours in OURS]
        rows.append(scores.row(title, step, S5cmd.name, S5cmd.name))
    return rows


def _run(scores: Scores, number: int, others: Sequence[type[OnS3]], *, source: Path, folder: Path) -> None:
    with seaweedfs() as server:
        factories: list[Factory] = [partial(_ours, ours, server) for ours in OURS]
        factories += [partial(other, server=server) for other in others]
        run_round(scores, number, factories, source=source, folder=folder)


def _ours(kind: type[Acai], server: Seaweedfs, home: Path, source: Path) -> Acai:
    store = {"ACAI_OBJECT_STORE": "s3", "ACAI_S3_BUCKET": server.make_bucket(), "ACAI_S3_ENDPOINT_URL": server.url}
    return kind(home, source, **server.environment, **store)
