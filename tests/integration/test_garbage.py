"""Collections of garbage in a real server: what is freed, and what those notice who are at work."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.files import FetchFiles
from acai_jupyter.contract.garbage import CollectGarbage, CollectionState, GarbageKind
from acai_jupyter.contract.uploads import CommitUpload, CreateUpload, NewFile
from acai_jupyter.transfer.connections import Connections
from acai_jupyter.transfer.fetching import fetch_bytes
from acai_jupyter.transfer.hashing import hash_bytes
from tests.integration.lakes import FOLDERS, S3, Lake, add_user, lake, remove_user
from tests.integration.places import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.garbage import Collection
    from acai_jupyter.contract.uploads import UploadResult
    from tests.integration.places import Place

COLLECTIONS = "/v1/projects/default/collections"
LONG_AGO = "2020-01-01 00:00:00.000000"
KIB = 1024


@pytest.fixture(scope="module", params=[*FOLDERS, *S3])
def old_lake(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A server over SQLite and each kind of store, which the tests of this module share."""
    with lake(request.param, tmp_path_factory.mktemp("home"), request) as found:
        yield found


def collect(where: Lake, *, dry_run: bool = False) -> Collection:
    """Collect, and wait for the end."""
    client = where.client()
    found = client.call(endpoints.COLLECT_GARBAGE, CollectGarbage(dry_run))
    while found.state is CollectionState.RUNNING:
        found = client.call(endpoints.GET_COLLECTION, query={"wait_seconds": 20}, collection=found.id)
    assert found.state is CollectionState.FINISHED, found.reason
    return found


def freed(found: Collection) -> dict[GarbageKind, tuple[int, int]]:
    return {one.kind: (one.count, one.size_bytes) for one in found.garbage}


def let_time_pass(place: Place) -> None:
    """Let all that was deleted or moved so far have been so long ago."""
    for table, column in (("file_version", "deleted_at"), ("file_set_version", "deleted_at"), ("object", "emptied_at")):
        place.sql(f"UPDATE {table} SET {column} = ? WHERE {column} IS NOT NULL", (LONG_AGO,))
    place.sql("UPDATE chunk SET used_at = ?", (LONG_AGO,))


def put(where: Lake, folder: str, files: dict[str, bytes], *words: str) -> UploadResult:
    for name, content in files.items():
        where.place.write(f"{folder}/{name}", content)
    result: UploadResult = where.typed("put", folder, f"/{folder}", *words).value
    return result


def body(name: str, size_bytes: int = 64 * KIB) -> bytes:
    """A content of one's own."""
    return hashlib.shake_128(name.encode()).digest(size_bytes)


def test_what_was_deleted_is_freed_after_a_while(old_lake: Lake) -> None:
    put(old_lake, "freed", {"x": body("x")})
    put(old_lake, "kept", {"y": body("y")})
    old_lake.typed("rm", "/freed/x")
    assert GarbageKind.DELETED_FILES not in freed(collect(old_lake))
    let_time_pass(old_lake.place)
    before = old_lake.stored()
    announced = collect(old_lake, dry_run=True)
    assert freed(announced)[GarbageKind.DELETED_FILES] == (1, 64 * KIB)
    assert old_lake.stored() == before
    done = collect(old_lake)
    assert freed(done) == freed(announced)
    assert sum(before.values()) - old_lake.stored_bytes() == 64 * KIB
    said = old_lake.shell("rm", "--undo", "/freed/x", status=6)
    assert "the bytes of '/freed/x:1' were freed" in said or "all versions of '/freed/x' were freed" in said
    assert old_lake.cat("/kept/y") == body("y")


def test_the_same_line_again_puts_again_what_was_freed(old_lake: Lake) -> None:
    files = {f"{number}": body(f"again {number}", 100) for number in range(20)}
    put(old_lake, "again", files)
    assert put(old_lake, "again", files).sent_bytes == 0
    for name in files:
        old_lake.typed("rm", f"/again/{name}")
    let_time_pass(old_lake.place)
    assert freed(collect(old_lake))[GarbageKind.DELETED_FILES] == (20, 2000)
    again = put(old_lake, "again", {})
    assert (again.new_files, again.sent_bytes) == (20, 2000)
    assert put(old_lake, "again", {}).new_files == 0
    assert old_lake.cat("/again/7") == files["7"]


def test_what_was_moved_can_be_read_by_who_was_told_of_it_before(old_lake: Lake) -> None:
    names = [f"{number}" for number in range(4)]
    put(old_lake, "moved", {name: body(f"moved {name}") for name in names})
    for name in names[:3]:
        old_lake.typed("rm", f"/moved/{name}")
    let_time_pass(old_lake.place)
    page = old_lake.client().call(endpoints.FETCH_FILES, FetchFiles("/moved/3"))
    place, url = page.files[0], page.objects[0]
    assert freed(collect(old_lake))[GarbageKind.PACKS] == (1, 3 * 64 * KIB)
    assert old_lake.cat("/moved/3") == body("moved 3")
    with Connections() as connections:
        assert fetch_bytes(url, place.offset, place.size_bytes, connections) == body("moved 3")
    let_time_pass(old_lake.place)
    before = old_lake.stored_bytes()
    assert freed(collect(old_lake))[GarbageKind.MOVED] == (1, 4 * 64 * KIB)
    assert before - old_lake.stored_bytes() == 4 * 64 * KIB
    assert old_lake.cat("/moved/3") == body("moved 3")


def test_an_upload_that_was_broken_off_is_continued_after_a_collection(old_lake: Lake) -> None:
    put(old_lake, "dead", {"x": body("leaned on")})
    old_lake.typed("rm", "/dead/x")
    let_time_pass(old_lake.place)
    client = old_lake.client()
    leaning = NewFile("/leaning", 64 * KIB, hash_bytes(body("leaned on")))
    begun = client.call(endpoints.CREATE_UPLOAD, CreateUpload([leaning]))
    assert begun.missing == []
    collect(old_lake)
    assert client.call(endpoints.COMMIT_UPLOAD, CommitUpload(), upload=begun.id).new_files == 1
    assert old_lake.cat("/leaning") == body("leaned on")


def _ended(where: Lake, number: int) -> dict[str, Any] | None:
    job: dict[str, Any] = where.server.get(f"/v1/projects/default/jobs/{number}")
    return job if job["state"] in ("finished", "failed", "crashed") else None


def test_a_job_reads_its_inputs_from_where_they_were_moved(old_lake: Lake) -> None:
    names = [f"{number}" for number in range(4)]
    put(old_lake, "of-job", {name: body(f"job {name}") for name in names})
    for name in names[:3]:
        put(old_lake, "of-job", {name: b"small"})
        old_lake.typed("rm", f"/of-job/{name}:1")
    old_lake.typed("fileset", "create", "of-job", "/of-job/")
    let_time_pass(old_lake.place)
    assert freed(collect(old_lake))[GarbageKind.PACKS] == (1, 3 * 64 * KIB)
    program = "import pathlib; pathlib.Path('output/out').write_bytes(pathlib.Path('of-job/3').read_bytes())\n"
    old_lake.place.write("job.py", program)
    if old_lake.kind == "signed":
        remove_user(old_lake.place)  # jobs of this machine are for one user alone
    job = old_lake.typed("submit", "job.py", "--input", "of-job", "--output", "made").value
    ended = until(lambda: _ended(old_lake, job.number), "the job's end")
    assert ended["state"] == "finished", ended
    if old_lake.kind == "signed":
        add_user(old_lake.place)
    assert old_lake.cat("/made/out@made") == body("job 3")
    collect(old_lake)
    assert old_lake.cat("/made/out@made") == body("job 3")


def test_a_collection_that_there_is_not_is_said_so_in_a_sentence(old_lake: Lake) -> None:
    answer = old_lake.server.ask("GET", f"{COLLECTIONS}/nothing")
    assert (answer.status, answer.code) == (404, "not_found")
    assert answer.error["message"].startswith("There is no collection 'nothing'")


@pytest.mark.parametrize("body", [b"", b"[]", b'{"dry_run": "yes"}', b'{"all": true}'])
def test_what_is_not_understood_begins_nothing(old_lake: Lake, body: bytes) -> None:
    assert old_lake.server.ask("POST", COLLECTIONS, body).status == 400


def test_the_server_collects_by_itself(place: Place) -> None:
    server = place.start(ACAI_COLLECT_DAYS="0.00001", ACAI_GRACE_DAYS="0.0001")
    where = Lake(server, "direct")
    put(where, "x", {"x": b"one"})
    where.typed("rm", "/x/x")
    until(lambda: not where.stored(), "what was deleted being freed")
    assert "Traceback" not in server.log
