"""What a user and an operator meet when the store has lost or changed bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.errors import AcaiError, BlobQuarantined
from tests.integration.lakes import FOLDERS, KINDS, Lake, lake

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = {"a": b"alpha" * 100, "b": b"beta" * 100, "c": b"gamma" * 100}


@pytest.fixture(params=KINDS)
def found(request: pytest.FixtureRequest, own_home: Path) -> Iterator[Lake]:
    with lake(request.param, own_home, request) as made:
        yield made


@pytest.fixture(params=FOLDERS)
def on_disk(request: pytest.FixtureRequest, own_home: Path) -> Iterator[Lake]:
    with lake(request.param, own_home, request) as made:
        yield made


def packs(found: Lake) -> list[Path]:
    return sorted(path for path in (found.place.data / "objects").rglob("p*/objects/*/*/*") if path.is_file())


def put(found: Lake) -> None:
    for name, content in FILES.items():
        found.place.write(f"data/{name}", content)
    found.typed("put", "data", "/d", "--as", "d")


def drop_all(found: Lake) -> None:
    """Delete all that was uploaded from the store."""
    for key in (key for key in found.stored() if "/objects/" in key):
        if found.s3 is None:
            (found.place.data / "objects" / key).unlink()
        else:
            found.s3.client().delete_object(Bucket=found.bucket, Key=key)


def test_put_heals_what_the_store_has_lost_and_says_unchanged_only_of_what_is_there(found: Lake) -> None:
    put(found)
    assert found.typed("put", "data", "/d", "--as", "d").value.unchanged_files == 3
    drop_all(found)
    with pytest.raises(BlobQuarantined, match=r"The stored bytes of '/d/a:1'.* are damaged"):
        found.typed("get", "/d", str(found.place.work / "out"))
    result = found.typed("put", "data", "/d", "--as", "d").value
    assert (result.unchanged_files, result.sent_bytes) == (3, sum(map(len, FILES.values())))
    for spec in ("/d", "@d:1"):
        out = found.place.work / spec.strip("/@").replace(":", "")
        found.typed("get", spec, f"{out}/")
        assert {path.name: path.read_bytes() for path in out.rglob("*") if path.is_file()} == FILES


def test_put_over_a_remembered_upload_notices_the_loss_by_itself(on_disk: Lake) -> None:
    put(on_disk)
    (pack,) = packs(on_disk)
    pack.unlink()
    assert on_disk.typed("put", "data", "/d", "--as", "d").value.sent_bytes == 1400
    assert on_disk.cat("/d/a") == FILES["a"]


@pytest.mark.parametrize("reader", ["get", "cat", "open"])
def test_whoever_reads_names_the_damaged_file_and_the_others_stay_readable(on_disk: Lake, reader: str) -> None:
    put(on_disk)
    (pack,) = packs(on_disk)
    body = bytearray(pack.read_bytes())
    body[len(FILES["a"]) + 1] ^= 1
    os.chmod(pack, 0o600)  # noqa: PTH101 (the store may have made it read-only)
    pack.write_bytes(body)
    with pytest.raises((AcaiError, OSError), match=r"'/d/b:1' are damaged\. Put a good copy of the file to heal it"):
        read(on_disk, reader, "/d/b")
    with pytest.raises((AcaiError, OSError), match=r"'/d/b:1', uploaded by .*, are damaged"):
        read(on_disk, reader, "/d/b")
    assert read(on_disk, reader, "/d/c") == FILES["c"]


def read(found: Lake, reader: str, path: str) -> bytes:
    if reader == "cat":
        return found.cat(path)
    if reader == "get":
        out = found.place.work / "read"
        found.typed("get", path, str(out), "--force")
        content: bytes = out.read_bytes()
        return content
    program = f"import fsspec, sys\nsys.stdout.buffer.write(fsspec.open('acai://{path}').open().read())"
    reach = {"ACAI_URL": found.server.root, "ACAI_TOKEN": found.server.token}
    environment = found.place.environment | reach
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, check=False)
    if done.returncode:
        raise OSError(done.stderr.decode())
    return done.stdout


def test_the_doctor_names_damaged_files_and_readiness_counts_them(on_disk: Lake) -> None:
    put(on_disk)
    assert on_disk.server.get("/v1/ready") == {"status": "ok", "damaged_files": 0}
    (pack,) = packs(on_disk)
    pack.unlink()
    with pytest.raises(AcaiError):
        on_disk.cat("/d/a")
    assert on_disk.server.get("/v1/ready") == {"status": "ok", "damaged_files": 3}
    checks = {check["name"]: check for check in on_disk.server.get("/v1/checkup")["checks"]}
    assert checks["contents"]["finding"] == "failed"
    assert checks["contents"]["said"].startswith("3 damaged files: /d/a:1, /d/b:1, /d/c:1.")
