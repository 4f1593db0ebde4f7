"""A database that is missing, new or another one: the store refuses it, and keeps all content for the right one."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.client.connection import Connection
from acai_jupyter.client.http import Client
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import NotAllowed
from acai_jupyter.contract.garbage import CollectGarbage, GarbageKind
from tests.integration.lakes import FOLDERS, S3, Lake, lake
from tests.integration.places import BIN, Place, until
from tests.integration.test_backups import administer
from tests.integration.test_garbage import collect, freed, let_time_pass
from tests.servers.process import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.places import Server
    from tests.servers.seaweedfs import Seaweedfs

PROGRAM = "print('the log of job 1'); open('output/made', 'w').write('made')"
DATABASE = ("acai.db", "acai.db-wal", "acai.db-shm")
NOTES = ("store/mark", "store/lease")
REQUESTS = (
    ("GET", "/v1/status"),
    ("GET", "/v1/projects"),
    ("GET", "/v1/projects/default/files"),
    ("GET", "/v1/projects/default/jobs"),
    ("POST", "/v1/projects/default/uploads"),
    ("DELETE", "/v1/projects/default/uploads/none"),
)
IMPATIENT = {"ACAI_COLLECT_DAYS": "0.00001"}
"""A server that collects garbage as soon as it runs, and all the time."""


def variables(where: Lake) -> dict[str, str]:
    """The environment of a server or command that uses the same store."""
    if where.s3 is None:
        return {}
    return where.s3.environment | {
        "ACAI_OBJECT_STORE": "s3",
        "ACAI_S3_BUCKET": where.bucket,
        "ACAI_S3_ENDPOINT_URL": where.s3.url,
    }


@pytest.fixture(params=[*FOLDERS[:1], *S3])
def used(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lake]:
    """A server over a store with a file set, and a job with its log and output."""
    with lake(request.param, tmp_path / "home", request) as found:
        found.place.write("data/x.txt", "content")
        found.place.write("job.py", PROGRAM)
        found.shell("put", "data", "/data", "--as", "data")
        run_job(found.server)
        yield found


def run_job(server: Server) -> None:
    Lake(server, "direct").shell("submit", "job.py", "--input", "data", "--output", "made")
    ended = until(lambda: _last(server), "the job's end")
    assert ended["state"] == "finished", ended


def _last(server: Server) -> dict[str, str] | None:
    job: dict[str, str] = server.get("/v1/projects/default/jobs?limit=1")["jobs"][0]
    return job if job["state"] in ("finished", "failed", "crashed") else None


def check_content(server: Server) -> None:
    """Assert that the content of the used store can be read."""
    found = Lake(server, "direct")
    assert (found.cat("/data/x.txt@data"), found.cat("/made/made@made")) == (b"content", b"made")
    assert "the log of job 1" in found.shell("logs", "1")


def move_database(place: Place, to: Path) -> None:
    """Move the database away, as the sentence about a damaged one once said."""
    to.mkdir(exist_ok=True)
    for path in (place.data / name for name in DATABASE):
        if path.exists():
            shutil.move(path, to / path.name)


def put_back(place: Place, found: Path) -> None:
    for name in DATABASE:
        (place.data / name).unlink(missing_ok=True)
        if (found / name).exists():
            shutil.move(found / name, place.data / name)


def test_a_new_database_is_refused_and_the_right_one_finds_everything_later(used: Lake, tmp_path: Path) -> None:
    used.server.end()
    before = used.stored()
    move_database(used.place, tmp_path / "away")
    assert used.place.start(**variables(used), **IMPATIENT).status().code == "store_mismatch"
    used.place.servers[-1].end()
    assert used.stored() == before
    put_back(used.place, tmp_path / "away")
    check_content(used.place.start(**variables(used), **IMPATIENT))
    assert used.stored() == before


def write_note(where: Lake, key: str, body: bytes | None) -> None:
    """Write or delete the mark or the lease of a store."""
    if where.s3 is None:
        path = where.place.data / "objects" / key
        if body is None:
            path.unlink()
        else:
            path.write_bytes(body)
    elif body is None:
        where.s3.client().delete_object(Bucket=where.bucket, Key=key)
    else:
        where.s3.client().put_object(Bucket=where.bucket, Key=key, Body=body)


def refuse(used: Lake, away: Path, case: str) -> None:
    """Bring a store and its database into a state in which the database must not use the store."""
    used.server.end()
    if case == "the mark of another database":
        move_database(used.place, away)
        return
    for key in NOTES:
        write_note(used, key, None)
    if case == "other content":
        move_database(used.place, away)
    elif used.s3 is None:
        (used.place.data / "objects").rename(away)
    else:
        client = used.s3.client()
        for key in used.stored():
            client.delete_object(Bucket=used.bucket, Key=key)


REFUSED = {
    "the mark of another database": (
        "store_mismatch",
        "The object store belongs to another database, and nothing in it was changed.",
    ),
    "other content": (
        "store_unclaimed",
        "The object store holds other content, and nothing that this database names is in it.",
    ),
    "nothing": ("store_unclaimed", "The object store is empty, and nothing that this database names is in it."),
}
"""What a store may hold, and the code and sentence with which a server refuses it."""


@pytest.mark.parametrize("case", REFUSED)
def test_a_server_without_its_store_answers_503_and_alone_exits_with_status_1(
    used: Lake, tmp_path: Path, case: str
) -> None:
    refuse(used, tmp_path / "away", case)
    before = used.stored()
    server = used.place.start(**variables(used), **IMPATIENT)
    code, sentence = REFUSED[case]
    for method, path in REQUESTS:
        answer = server.ask(method, path)
        assert (answer.status, answer.code) == (503, code), (method, path)
    message = str(server.status().error["message"])
    assert message.startswith(sentence)
    assert "Put the right database back" in message
    assert "acai-server adopt-store" in message
    server.end()
    done = subprocess.run(
        [BIN / "jupyter-acai", "--ServerApp.port=0", "--ServerApp.allow_root=True"],
        env=used.place.environment | variables(used),
        cwd=used.place.work,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    said = done.stderr.strip().splitlines()[-1]
    assert said.startswith(sentence)
    assert "acai-server adopt-store" in said
    assert used.stored() == before
    assert code == "store_mismatch" or not any(exists(used, key) for key in NOTES), "the store was marked"


def exists(where: Lake, key: str) -> bool:
    if where.s3 is None:
        return (where.place.data / "objects" / key).exists()
    listed = where.s3.client().list_objects_v2(Bucket=where.bucket, Prefix=key)
    return bool(listed.get("Contents"))


def test_a_mark_and_a_lease_that_cannot_be_decoded_are_replaced_when_an_operator_confirms_it(used: Lake) -> None:
    used.server.end()
    before = used.stored()
    for key in NOTES:
        write_note(used, key, b"\x00garbage")
    answer = used.place.start(**variables(used)).status()
    used.place.servers[-1].end()
    assert (answer.status, answer.code) == (503, "store_unavailable")
    assert "its mark 'store/mark' is not readable" in str(answer.error["message"])
    assert "run 'acai-server adopt-store'" in str(answer.error["message"])
    said = administer(used.place, "adopt-store", given=variables(used), status=2)
    assert "It is not known which database uses the object store: 'store/mark' and 'store/lease' cannot be" in said
    assert f"It holds {len(before)} objects; this database knows some of them." in said
    assert "belongs to this database now" in administer(used.place, "adopt-store", "--yes", given=variables(used))
    check_content(used.place.start(**variables(used)))
    assert used.stored() == before


def test_a_mark_that_the_disk_cannot_read_is_not_replaced(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    with lake("direct", tmp_path / "home", request) as found:
        found.server.end()
        path = found.place.data / "objects" / NOTES[0]
        path.unlink()
        path.symlink_to(path.name)  # opening it is an error of this file alone
        for words in (("adopt-store",), ("adopt-store", "--yes")):
            assert "symbolic links" in administer(found.place, *words, status=5)
        assert path.is_symlink()


@pytest.mark.s3
def test_a_second_server_with_an_empty_database_and_the_same_bucket_deletes_nothing(
    s3_server: Seaweedfs, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    del s3_server  # which `lake` asks for by name
    with lake("s3", tmp_path / "one", request) as first:
        first.place.write("data/x.txt", "content")
        first.place.write("job.py", PROGRAM)
        first.shell("put", "data", "/data", "--as", "data")
        run_job(first.server)
        before = first.stored()
        other = Place(tmp_path / "other")
        try:
            second = other.start(**variables(first), **IMPATIENT)
            assert second.status().code == "store_mismatch"
            assert "adopt-store" in administer(other, "backup", str(tmp_path / "b"), given=variables(first), status=5)
        finally:
            other.close()
        assert first.stored() == before
        check_content(first.server)


@pytest.mark.s3
def test_a_copy_of_a_running_database_reads_and_writes_and_deletes_nothing(
    s3_server: Seaweedfs, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    del s3_server  # which `lake` asks for by name
    with lake("s3", tmp_path / "one", request) as first:
        first.place.write("data/x.txt", "content")
        first.place.write("job.py", PROGRAM)
        first.shell("put", "data", "/data", "--as", "data")
        run_job(first.server)
        first.place.write("gone/y.txt", "gone")
        first.shell("put", "gone", "/gone")
        first.shell("rm", "/gone/y.txt")
        let_time_pass(first.place)
        before = first.stored()
        other = Place(tmp_path / "other")
        try:
            other.data.mkdir(parents=True)
            first.place.sql(f"VACUUM INTO '{other.data / 'acai.db'}'")
            second = Lake(other.start(**variables(first), **IMPATIENT), "s3", first.s3, first.bucket)
            check_content(second.server)
            assert GarbageKind.DELETED_FILES in freed(collect(second, dry_run=True))
            refused = other.acai("gc", ACAI_URL=second.server.root, ACAI_TOKEN=second.server.token)
            assert refused.returncode == 1, refused
            assert (
                "The collection failed. No object was deleted: it is not known yet whether a copy of this database"
                in refused.stdout
            )
            other.write("new/z.txt", "new")
            second.shell("put", "new", "/new")
            assert second.cat("/new/z.txt") == b"new"
        finally:
            other.close()
        assert first.stored().items() >= before.items()
        check_content(first.server)
        found = freed(collect(first))
        assert found[GarbageKind.DELETED_FILES] == (1, 4)
        assert found[GarbageKind.UNKNOWN][0] == len(first.stored()) - len(before) + 1
        check_content(first.server)


def test_a_store_that_is_adopted_keeps_what_it_held_and_reuses_no_key(used: Lake, tmp_path: Path) -> None:
    used.server.end()
    before = used.stored()
    move_database(used.place, tmp_path / "away")
    assert used.place.start(**variables(used)).status().code == "store_mismatch"
    used.place.servers[-1].end()
    said = administer(used.place, "adopt-store", given=variables(used), status=2)
    assert "--yes" in said
    assert f"{len(before)} objects" in said
    assert "belongs to this database now" in administer(used.place, "adopt-store", "--yes", given=variables(used))
    server = used.place.start(**variables(used))
    new = Lake(server, used.kind, used.s3, used.bucket)
    new.shell("put", "data", "/data", "--as", "data")
    run_job(server)
    assert freed(collect(new))[GarbageKind.UNKNOWN][0] == len(before)
    assert new.stored().items() >= before.items()
    server.end()
    put_back(used.place, tmp_path / "away")
    assert used.place.start(**variables(used)).status().code == "store_mismatch"
    used.place.servers[-1].end()
    administer(used.place, "adopt-store", "--yes", given=variables(used))
    check_content(used.place.start(**variables(used)))


def test_unknown_objects_are_deleted_by_their_number_and_only_by_a_global_admin(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    with lake("direct", tmp_path / "home", request) as found:
        found.place.write("data/x.txt", "content")
        found.shell("put", "data", "/data")
        unknown = found.place.data / "objects" / "p7" / "objects" / "of-another" / "database"
        unknown.parent.mkdir(parents=True)
        unknown.write_bytes(b"unknown")
        assert "unknown" not in found.shell("gc"), "it is of no project that there is"
        said = found.shell("gc", "--unknown")
        assert "p7/objects/of-another/database" in said
        assert "just now" in said
        assert "acai gc --unknown --yes 1" in said
        assert "--yes is for objects" in found.shell("gc", "--yes", "1", status=2)
        assert "1 object is unknown now, and" in found.place.acai("gc", "--unknown", "--yes", "2").stdout
        assert unknown.exists()
        answer = found.server.ask("POST", "/v1/projects/default/users", {"name": "ann", "role": "admin"})
        assert answer.status == 201, answer.body
        client = Client(Connection(found.server.root, answer.json["issued"]["secret"]))
        for request_body in (CollectGarbage(unknown=True), CollectGarbage(unknown=True, confirmed_count=1)):
            with pytest.raises(NotAllowed, match="no project owns"):
                client.call(endpoints.COLLECT_GARBAGE, request_body)
        assert "7 B freed" in found.shell("gc", "--unknown", "--yes", "1")
        assert not unknown.exists()
        assert found.cat("/data/x.txt") == b"content"


def test_alone_a_server_whose_store_does_not_answer_yet_waits_for_it(place: Place) -> None:
    (port,) = free_ports(1)
    server = place.start(
        program="acai",
        ACAI_OBJECT_STORE="s3",
        ACAI_S3_BUCKET="bucket",
        ACAI_S3_ENDPOINT_URL=f"http://127.0.0.1:{port}",
        AWS_ACCESS_KEY_ID="id",
        AWS_SECRET_ACCESS_KEY="secret",
        AWS_DEFAULT_REGION="us-east-1",
    )
    assert server.status().code == "store_unavailable"
    assert server.process.poll() is None
