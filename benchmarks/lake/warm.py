"""Runs in a process that has everything imported: does what lines of JSON say, answers how long each took.

It is run by our Python and by the peers', so it imports nothing of the benchmarks.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import sys
import time
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PACK_BYTES = 32 * 1024 * 1024
PART_BYTES = 1024 * 1024


def acai_put(source: str, dest: str, file_set: str | None = None) -> None:
    import_module("acai_jupyter").put(source, dest=dest, as_=file_set)


def acai_get(spec: str, dest: str) -> None:
    import_module("acai_jupyter").get(spec, dest)


def acai_ls(spec: str) -> None:
    import_module("acai_jupyter").ls(spec)


def mlflow_put(source: str, store: str) -> None:
    mlflow: Any = import_module("mlflow")
    mlflow.set_tracking_uri(f"file://{store}")
    with mlflow.start_run():
        mlflow.log_artifacts(source)


def oxen_init(repository: str) -> None:
    import_module("oxen").Repo(repository).init()


def oxen_put(repository: str, folder: str) -> None:
    repo: Any = import_module("oxen").Repo(repository)
    repo.add(folder)
    repo.commit("bench")


def dvc_add(repository: str, folder: str) -> None:
    os.chdir(repository)
    repo: Any = import_module("dvc.repo").Repo(repository)
    repo.add(folder)
    repo.close()


@cache
def _s3(url: str) -> Any:
    config: Any = import_module("botocore.config").Config(signature_version="s3v4")
    return import_module("boto3").client("s3", endpoint_url=url, config=config)


def boto3_put(url: str, bucket: str, key: str, file: str) -> None:
    _s3(url).upload_file(file, bucket, key)


def presigned_put(url: str, bucket: str, key: str, file: str) -> None:
    target = urlsplit(_s3(url).generate_presigned_url("put_object", Params={"Bucket": bucket, "Key": key}))
    connection = http.client.HTTPConnection(target.netloc, blocksize=PART_BYTES)
    with Path(file).open("rb") as body:
        headers = {"Content-Length": str(Path(file).stat().st_size)}
        connection.request("PUT", f"{target.path}?{target.query}", body=body, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    if answer.status != http.HTTPStatus.OK:
        raise RuntimeError(f"the store answered {answer.status}")


def pack(source: str, dest: str) -> None:
    """Hash, pack and fsync in one thread: the least that anybody has to do who keeps bytes durably and known."""
    folder, number, size = Path(dest), 0, 0
    folder.mkdir()
    out = (folder / "0").open("wb")
    for path in sorted(Path(source).rglob("*")):
        if not path.is_file():
            continue
        if size >= PACK_BYTES:
            _durable(out)
            number, size = number + 1, 0
            out = (folder / str(number)).open("wb")
        content = path.read_bytes()
        hashlib.sha256(content).digest()
        size += out.write(content)
    _durable(out)


def _durable(out: Any) -> None:
    out.flush()
    os.fsync(out.fileno())
    out.close()


def hash_alone(file: str) -> None:
    with Path(file).open("rb") as content:
        hashlib.file_digest(content, "sha256")


def write_and_fsync(file: str, dest: str) -> None:
    with Path(file).open("rb", buffering=0) as content, Path(dest).open("xb", buffering=0) as out:
        while part := content.read(PART_BYTES):
            out.write(part)
        os.fsync(out.fileno())


def stat_all(source: str) -> None:
    for folder, _, names in os.walk(source):
        for name in names:
            os.stat(f"{folder}/{name}")  # noqa: PTH116 (the bare call is what is measured)


ACTIONS = {
    action.__name__: action
    for action in (
        acai_put,
        acai_get,
        acai_ls,
        mlflow_put,
        oxen_init,
        oxen_put,
        dvc_add,
        boto3_put,
        presigned_put,
        pack,
        hash_alone,
        write_and_fsync,
        stat_all,
    )
}


def main() -> None:
    """Answer until there are no more lines. What libraries print goes to the log, not among the answers."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        order = json.loads(line)
        action = ACTIONS[order.pop("do")]
        before = time.perf_counter()
        try:
            action(**order)
        except Exception as error:  # noqa: BLE001 (whatever a peer raises is told, and the others go on)
            answers.write(json.dumps({"error": f"{type(error).__name__}: {error}"}) + "\n")
        else:
            answers.write(json.dumps({"seconds": time.perf_counter() - before}) + "\n")


if __name__ == "__main__":
    main()
