"""What a user and an operator meet when the store has lost or changed bytes."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.client.sessions import Plan
from acai_jupyter.client.uploads import PAGE_FILES, found_file
from acai_jupyter.client.uploads import put as upload
from acai_jupyter.contract.errors import AcaiError, BlobQuarantined
from tests.integration.lakes import FOLDERS, KINDS, Lake, lake
from tests.integration.places import BIN, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acai_jupyter.client.walking import Found
    from tests.integration.places import Place

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
    return sorted(path for path in (found.place.data / "objects").glob("p*/objects/**/*") if path.is_file())


def put(found: Lake) -> None:
    for name, content in FILES.items():
        found.place.write(f"data/{name}", content)
    found.typed("put", "data", "/d", "--as", "d")


def objects_in_the_store(found: Lake) -> set[str]:
    """Return the keys of the uploaded objects."""
    return {key for key in found.stored() if "/objects/" in key}


def drop(found: Lake, key: str) -> None:
    """Delete an object from the store."""
    if found.s3 is None:
        (found.place.data / "objects" / key).unlink()
    else:
        found.s3.client().delete_object(Bucket=found.bucket, Key=key)


def drop_all(found: Lake) -> None:
    """Delete the uploaded objects from the store."""
    for key in objects_in_the_store(found):
        drop(found, key)


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


class LosingFiles:
    """The files of an upload. The store loses those that it knew while they are gone through for the first time."""

    def __init__(self, found: Lake, sources: list[Path], last: Path) -> None:
        self.times = 0
        self._found = found
        self._sources = sources
        self._last = last

    def __iter__(self) -> Iterator[Found]:
        self.times += 1
        for source in self._sources:
            yield found_file(str(source), f"/many/{source.name}")
        if self.times == 1:
            is_staged = partial(self._is_staged, len(self._sources))
            until(is_staged, "the first page being staged")
            self._found.place.sql("UPDATE blob SET is_wrong = 1")  # as the scrubber does
            drop_all(self._found)
        yield found_file(str(self._last), f"/many/{self._last.name}")

    def _is_staged(self, count: int) -> bool:
        return any(one["staged_files"] >= count for one in self._found.pending())


def test_what_the_store_loses_during_an_upload_is_sent_in_a_second_attempt(on_disk: Lake) -> None:
    sources = [on_disk.place.write(f"many/{number:04}", b"%d" % number) for number in range(PAGE_FILES)]
    on_disk.typed("put", "many", "/many")
    files = LosingFiles(on_disk, sources, on_disk.place.write("many/last", b"last"))
    result = upload(on_disk.client(), files, Plan())
    assert files.times == 2
    assert (result.new_files, result.unchanged_files) == (1, PAGE_FILES)
    assert on_disk.cat("/many/0007:1") == b"7"


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
    assert on_disk.server.get("/v1/ready")["damaged_files"] == 0
    (pack,) = packs(on_disk)
    pack.unlink()
    with pytest.raises(AcaiError):
        on_disk.cat("/d/a")
    assert on_disk.server.get("/v1/ready")["damaged_files"] == 3
    checks = {check["name"]: check for check in on_disk.server.get("/v1/checkup")["checks"]}
    assert checks["stored files"]["finding"] == "failed"
    assert checks["stored files"]["said"].startswith("3 damaged files: /d/a:1, /d/b:1, /d/c:1.")


def test_a_running_server_finds_damage_that_no_reader_met(place: Place) -> None:
    only_scrubbing = {"ACAI_SCRUB_DAYS": "0.00001", "ACAI_CHECK_DELAY_SECONDS": "100000"}
    found = Lake(place.start(), "direct")
    put(found)
    found.server.end()
    second = place.start(**only_scrubbing)
    second.status()
    until(lambda: place.sql("SELECT 1 FROM scrub_pass WHERE total_bytes > 0"), "the beginning of a pass")
    second.end()
    (pack,) = packs(found)
    flip_first_byte(pack)
    third = place.start(**only_scrubbing)
    until(lambda: third.get("/v1/ready").get("damaged_files") == 1, "the scrubber reading the pack")


def flip_first_byte(path: Path) -> None:
    body = bytearray(path.read_bytes())
    body[0] ^= 1
    path.chmod(0o600)  # the store may have made it read-only
    path.write_bytes(body)


def repair(found: Lake, *words: str, status: int) -> str:
    """Run `acai-server repair` while the server runs; returns what it said."""
    command = [str(BIN / "acai-server"), "repair", *words]
    environment = found.place.environment
    if found.s3 is not None:
        environment = environment | found.s3.environment
        environment |= {"ACAI_OBJECT_STORE": "s3", "ACAI_S3_BUCKET": found.bucket, "ACAI_S3_ENDPOINT_URL": found.s3.url}
    done = subprocess.run(
        command, env=environment, cwd=found.place.work, capture_output=True, text=True, check=False, timeout=200
    )
    assert done.returncode == status, (done.stdout, done.stderr)
    return done.stdout + done.stderr


@pytest.fixture(params=["direct", pytest.param("s3", marks=pytest.mark.s3)])
def repaired(request: pytest.FixtureRequest, own_home: Path) -> Iterator[Lake]:
    with lake(request.param, own_home, request) as made:
        yield made


def test_repair_names_damaged_files_and_heals_them_from_a_folder(repaired: Lake) -> None:
    put(repaired)
    assert "No content is damaged." in repair(repaired, status=0)
    drop_all(repaired)
    said = repair(repaired, "default", status=6)
    assert "3 contents are damaged" in said
    assert "/d/b:1 (400 bytes" in said
    assert "in file sets d:1" in said
    assert "3 contents are still damaged. Put the same files again" in said
    copies = repaired.place.work / "copies"
    for name in ("a", "b"):
        repaired.place.write(f"copies/deep/{name}.copy", FILES[name])
    repaired.place.write("copies/c", b"delta" * 100)  # of the same size
    said = repair(repaired, "--heal", "--from", str(copies), status=6)
    assert f"default: healed from {copies}: 2." in said
    assert "1 content is still damaged" in said
    assert (repaired.cat("/d/a@d:1"), repaired.cat("/d/b")) == (FILES["a"], FILES["b"])
    repaired.typed("put", "data", "/d")
    assert "No content is damaged." in repair(repaired, status=0)


def test_repair_finds_what_was_restored_and_with_read_what_has_rotted(repaired: Lake) -> None:
    if repaired.s3 is not None:
        pytest.skip("bytes are changed on the disk")
    put(repaired)
    (pack,) = packs(repaired)
    body = pack.read_bytes()
    pack.write_bytes(body[:-1] + b"?")
    assert "No content is damaged." in repair(repaired, status=0)
    assert "/d/c:1" in repair(repaired, "--read", status=6)
    pack.write_bytes(body)
    assert "No content is damaged." in repair(repaired, status=0)
    assert repaired.cat("/d/c") == FILES["c"]


def test_repair_heals_from_a_backup_and_from_the_cache_of_job_inputs(on_disk: Lake) -> None:
    put(on_disk)
    backup = on_disk.place.home / "backup"
    made = subprocess.run(
        [str(BIN / "acai-server"), "backup", str(backup)],
        env=on_disk.place.environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert made.returncode == 0, made.stderr
    drop_all(on_disk)
    name = hashlib.sha256(FILES["a"]).hexdigest()
    cached = on_disk.place.data / "cache" / name[:2] / name
    cached.parent.mkdir(parents=True, exist_ok=True)
    cached.write_bytes(FILES["a"])
    said = repair(on_disk, "--heal", "--from", str(backup), status=0)
    assert "healed from the cache of job inputs: 1." in said
    assert f"healed from {backup}: 2." in said
    for path, content in FILES.items():
        assert on_disk.cat(f"/d/{path}") == content


def test_repair_heals_from_a_copy_in_another_project(repaired: Lake) -> None:
    put(repaired)
    (own,) = objects_in_the_store(repaired)
    made = repaired.server.ask("POST", "/v1/projects", {"name": "lab", "admin": "ann"})
    assert made.status == 201, made.body
    for name in ("a", "b"):
        repaired.place.write(f"of-lab/{name}", FILES[name])
    theirs = {"ACAI_URL": repaired.server.root, "ACAI_TOKEN": made.json["issued"]["secret"]}
    done = repaired.place.acai("put", "of-lab", "/copies", **theirs)
    assert done.returncode == 0, done.stderr
    (other,) = objects_in_the_store(repaired) - {own}
    drop(repaired, own)
    said = repair(repaired, "default", "--heal", status=6)
    assert "default: healed from another copy in the store: 2." in said
    assert "1 content is still damaged" in said
    assert "/d/c:1" in said
    drop(repaired, other)
    assert (repaired.cat("/d/a@d:1"), repaired.cat("/d/b")) == (FILES["a"], FILES["b"]), "they are copies"
    assert "lab: healed from another copy in the store: 2." in repair(repaired, "--heal", status=6)
    read = repaired.place.acai("cat", "/copies/a", **theirs)
    assert read.stdout.encode() == FILES["a"]


def test_repair_heals_from_folders_of_failed_jobs_and_from_environments(place: Place) -> None:
    found = Lake(place.start(ACAI_FAILED_FOLDER_HOURS="1"), "direct")
    put(found)
    place.write("of-package", b"delta" * 100)
    found.typed("put", "of-package", "/package")
    ended = run(found, 1, "--input", "d", "--", "python", "-c", "import os; os.remove('d/c'); raise SystemExit(3)")
    assert ended["state"] == "failed", ended
    failed = place.data / "failed"
    until(lambda: any(path.name == "a" for path in failed.glob("**/*")), "the job's folder being kept")
    kept = place.data / "environments" / "of-a-lock" / "lib" / "package.py"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"delta" * 100)
    shutil.rmtree(place.data / "cache", ignore_errors=True)
    drop_all(found)
    said = repair(found, "--heal", status=6)
    assert f"default: healed from {failed}: 2." in said
    assert f"default: healed from {place.data / 'environments'}: 1." in said
    assert "/d/c:1" in said
    assert "1 content is still damaged" in said
    assert (found.cat("/d/a"), found.cat("/d/b"), found.cat("/package")) == (FILES["a"], FILES["b"], b"delta" * 100)


def test_a_job_whose_input_is_lost_fails_and_repair_says_how_to_make_it_again(repaired: Lake) -> None:
    make = "import pathlib; pathlib.Path('output/made').write_text('made' * 500)"
    assert run(repaired, 1, "--output", "made", "--", "python", "-c", make)["state"] == "finished"
    drop_made(repaired)
    use = ("--input", "made", "--", "python", "-c", "print('never')")
    assert "an input could not be fetched" in run(repaired, 2, *use)["reason"]
    until(lambda: repaired.server.get("/v1/ready")["damaged_files"] == 1, "the job's report")
    assert (
        "the stored bytes of its input '/made/made:1' are damaged; put a good copy" in run(repaired, 3, *use)["reason"]
    )
    said = repair(repaired, status=6)
    assert "in file sets made:1" in said
    assert "input of jobs 2, 3" in said
    assert "made by job 1; make it again with: acai replay 1 --project default" in said
    reach = {"ACAI_URL": repaired.server.root, "ACAI_TOKEN": repaired.server.token}
    replayed = repaired.place.acai("replay", "1", "--project", "default", **reach)
    assert replayed.returncode == 0, replayed.stderr
    assert repaired.cat("/made/made@made:1") == b"made" * 500
    assert "No content is damaged." in repair(repaired, status=0)


def run(found: Lake, number: int, *words: str) -> dict[str, Any]:
    """Submit a job, wait for its end and return it."""
    found.shell("submit", "--detach", *words)

    def ended() -> Any:
        job = found.server.get(f"/v1/projects/default/jobs/{number}")
        return job if job["ended_at"] else None

    job: dict[str, Any] = until(ended, f"the end of job {number}")
    return job


def drop_made(found: Lake) -> None:
    """Delete what the job kept as its output."""
    keys = [key for key in found.stored() if "/jobs/" in key and "/1_" in key and "/pack" in key]
    assert keys, found.stored()
    for key in keys:
        drop(found, key)
