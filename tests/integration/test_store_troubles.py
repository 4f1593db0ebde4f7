"""Stores that are slow, broken, lying, away or full: said in one sentence, never recorded, and later the line works."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from acai_server.spare import SpareRoom
from tests.disks import fill, small_disk
from tests.integration.lakes import Lake, add_user, lake
from tests.servers.proxy import Proxy, Trouble, proxied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from subprocess import CompletedProcess

    from tests.integration.places import Place, Server
    from tests.servers.seaweedfs import Seaweedfs

MIB = 1024**2
KEPT = {"a": b"kept a", "b": b"kept b"}


# -- S3 behind a proxy that misbehaves


@dataclass
class Troubled:
    """A lake whose S3 can be told to misbehave, with the set kept:1 in it."""

    lake: Lake
    s3: Proxy

    def acai(self, *words: str) -> CompletedProcess[str]:
        return self.lake.place.acai(*words)

    def nothing_half_visible(self, name: str) -> None:
        """Hold what can be seen against what was there before."""
        server = self.lake.server
        assert server.ask("GET", f"/v1/projects/default/filesets/{name}").code == "file_set_not_found"
        assert server.ask("GET", f"/v1/projects/default/folder?path=/{name}").code == "file_not_found"
        assert self.lake.cat("/kept/a") == KEPT["a"]


@pytest.fixture(scope="module")
def troubled(
    s3_server: Seaweedfs, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Troubled]:
    with proxied(s3_server.url) as s3, lake("s3", tmp_path_factory.mktemp("home"), request, s3.url) as found:
        for name, content in KEPT.items():
            found.place.write(f"kept/{name}", content)
        assert found.place.acai("put", "kept", "/kept", "--as", "kept").returncode == 0
        yield Troubled(found, s3)


@pytest.fixture(autouse=True)
def well_again(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let a proxy behave after each test."""
    yield
    if "troubled" in request.fixturenames:
        request.getfixturevalue("troubled").s3.behave()


PASSING = [
    (Trouble.SLOW, 3),
    (Trouble.BROKEN, 2),
    (Trouble.CLOSED, 2),
    (Trouble.ANSWER_LOST, 1),
]


@pytest.mark.parametrize(("trouble", "times"), PASSING, ids=lambda value: getattr(value, "name", ""))
@pytest.mark.parametrize("size", [1000, 70 * MIB], ids=["small", "large"])
def test_what_passes_is_waited_for_while_putting(troubled: Troubled, size: int, trouble: Trouble, times: int) -> None:
    name = f"passing-{trouble.name}-{size}".lower()
    content = os.urandom(1000) * (size // 1000)
    troubled.lake.place.write(f"{name}/file", content)
    for method in ("PUT", "HEAD", "POST"):
        troubled.s3.misbehave(trouble, method, times=times)
    done = troubled.acai("put", name, f"/{name}", "--as", name)
    assert (done.returncode, done.stderr) == (0, ""), done
    troubled.s3.behave()
    assert troubled.lake.cat(f"/{name}/file") == content


@pytest.mark.parametrize(
    ("trouble", "times"),
    [*PASSING, (Trouble.TRUNCATED, 2), (Trouble.WRONG, 1)],
    ids=lambda value: getattr(value, "name", ""),
)
@pytest.mark.parametrize("size", [1000, 70 * MIB], ids=["small", "large"])
def test_what_passes_is_waited_for_while_getting(
    troubled: Troubled, tmp_path: Path, size: int, trouble: Trouble, times: int
) -> None:
    content = os.urandom(1000) * (size // 1000)
    name = f"fetched-{trouble.name}-{size}".lower()
    troubled.lake.place.write(f"{name}/file", content)
    assert troubled.acai("put", name, f"/{name}").returncode == 0
    troubled.s3.misbehave(trouble, "GET", times=times)
    done = troubled.acai("get", f"/{name}", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, ""), done
    assert (tmp_path / "file").read_bytes() == content


@pytest.mark.parametrize("trouble", [Trouble.BROKEN, Trouble.CLOSED])
@pytest.mark.parametrize("method", ["PUT", "HEAD"])
def test_what_stays_is_said_while_putting_and_the_same_line_works_afterwards(
    troubled: Troubled, trouble: Trouble, method: str
) -> None:
    name = f"stays-{trouble.name}-{method}".lower()
    troubled.lake.place.write(f"{name}/file", os.urandom(1000))
    line = ("put", name, f"/{name}", "--as", name)
    troubled.s3.misbehave(trouble, method)
    failed = troubled.acai(*line)
    assert (failed.returncode, failed.stdout) == (5, "")
    assert len(failed.stderr.strip().splitlines()) == 1
    assert "The object store does not answer" in failed.stderr
    assert "X-Amz" not in failed.stderr
    troubled.nothing_half_visible(name)
    troubled.s3.behave()
    done = troubled.acai(*line)
    assert (done.returncode, f"{name}:1" in done.stdout) == (0, True), done


@pytest.mark.parametrize("trouble", [Trouble.BROKEN, Trouble.CLOSED, Trouble.TRUNCATED, Trouble.WRONG])
@pytest.mark.parametrize("size", [1000, 20 * MIB], ids=["small", "large"])
def test_what_stays_is_said_while_getting_and_the_same_line_works_afterwards(
    troubled: Troubled, tmp_path: Path, size: int, trouble: Trouble
) -> None:
    name = f"unfetched-{trouble.name}-{size}".lower()
    content = os.urandom(1000) * (size // 1000)
    troubled.lake.place.write(f"{name}/file", content)
    assert troubled.acai("put", name, f"/{name}").returncode == 0
    out = tmp_path / "out"
    line = ("get", f"/{name}", str(out))
    troubled.s3.misbehave(trouble, "GET")
    failed = troubled.acai(*line)
    assert failed.returncode == (6 if trouble is Trouble.WRONG else 5), failed
    assert len(failed.stderr.strip().splitlines()) == 1
    assert "X-Amz" not in failed.stderr
    assert not [path for path in out.rglob("*") if path.is_file()]  # not even a part
    troubled.s3.behave()
    assert troubled.acai(*line).returncode == 0
    assert (out / "file").read_bytes() == content


@pytest.mark.parametrize("trouble", [Trouble.BROKEN, Trouble.CLOSED, Trouble.TRUNCATED])
def test_a_file_is_not_shown_when_its_bytes_do_not_come(troubled: Troubled, trouble: Trouble) -> None:
    troubled.s3.misbehave(trouble, "GET")
    failed = troubled.acai("cat", "/kept/a")
    assert failed.returncode == 5
    assert failed.stdout == ""
    assert len(failed.stderr.strip().splitlines()) == 1


def test_wrong_bytes_are_not_shown_as_a_file(troubled: Troubled) -> None:
    troubled.s3.misbehave(Trouble.WRONG, "GET")
    failed = troubled.acai("cat", "/kept/a")
    assert (failed.returncode, failed.stdout) == (6, "")
    assert "are not those that were recorded" in failed.stderr


def test_an_s3_that_refuses_connections_is_said_and_the_same_line_works_afterwards(troubled: Troubled) -> None:
    troubled.lake.place.write("away/file", os.urandom(1000))
    line = ("put", "away", "/away", "--as", "away")
    troubled.s3.shut()
    try:
        failed = troubled.acai(*line)
        assert failed.returncode == 5
        assert len(failed.stderr.strip().splitlines()) == 1
        unread = troubled.acai("cat", "/kept/a")
        assert (unread.returncode, unread.stdout) == (5, "")
        listed = troubled.acai("ls", "/kept")
        assert (listed.returncode, listed.stdout) == (0, "a\nb\n")  # what needs no bytes goes on
        assert troubled.lake.server.status().status == 200
    finally:
        troubled.s3.open()
    troubled.nothing_half_visible("away")
    done = troubled.acai(*line)
    assert (done.returncode, "away:1" in done.stdout) == (0, True), done


def test_aborting_while_s3_is_away_is_finished_later(troubled: Troubled) -> None:
    troubled.lake.place.write("half/file", os.urandom(1000))
    troubled.s3.misbehave(Trouble.BROKEN, "HEAD")
    assert troubled.acai("put", "half", "/half").returncode == 5
    (pending,) = troubled.lake.pending()
    troubled.s3.shut()
    try:
        assert troubled.acai("uploads", "--abort", pending["id"]).returncode == 5
    finally:
        troubled.s3.open()
    troubled.s3.behave()
    assert troubled.lake.pending() == []
    assert troubled.acai("uploads", "--abort", pending["id"]).returncode == 0
    assert not [key for key in troubled.lake.stored() if pending["id"] in key]


# -- full disks


@contextmanager
def over(disk: Path, folder: Path) -> Iterator[None]:
    """Let a folder be on another disk."""
    folder.mkdir(parents=True)
    folder.rmdir()
    folder.symlink_to(disk)
    yield
    folder.unlink()


@contextmanager
def full_place(place: Place, kind: str) -> Iterator[tuple[Lake, Path]]:
    """Run a server whose objects are on a small disk; returns what fills it."""
    with ExitStack() as stack:
        disk = stack.enter_context(small_disk(place.home, "33m"))
        stack.enter_context(over(disk, place.data / "objects"))
        server = place.start()
        stack.callback(server.end)
        assert server.status().status == 200
        if kind == "signed":
            add_user(place)
        yield Lake(server, kind), disk / "ballast"


@pytest.mark.parametrize("size", [6000, 20 * MIB], ids=["small", "large"])
@pytest.mark.parametrize("kind", ["direct", "signed"])
def test_a_store_whose_disk_is_full_is_said_and_the_same_line_works_after_room_was_made(
    place: Place, kind: str, size: int
) -> None:
    content = os.urandom(size)
    place.write("one/file", content)
    line = ("put", "one", "/one", "--as", "one")
    with full_place(place, kind) as (found, ballast):
        fill(ballast)
        failed = place.acai(*line)
        assert failed.returncode == 1, failed
        assert "There is no space left" in failed.stderr
        assert len(failed.stderr.strip().splitlines()) == 1
        assert found.server.ask("GET", "/v1/projects/default/filesets/one").code == "file_set_not_found"
        assert place.sql("SELECT count(*) FROM blob") == [(0,)]
        assert [name for name in found.stored() if name != "ballast"] == []
        ballast.unlink()
        done = place.acai(*line)
        assert (done.returncode, "one:1" in done.stdout) == (0, True), done
        assert found.cat("/one/file") == content


def test_a_database_whose_disk_is_full_is_said_and_the_same_line_works_after_room_was_made(place: Place) -> None:
    contents = {f"{number:04}": f"content {number}" for number in range(5000)}
    for name, content in contents.items():
        place.write(f"many/{name}", content)
    line = ("put", "many", "/many", "--as", "many")
    with small_disk(place.home, "8m") as disk:
        objects = place.home / "objects"
        objects.mkdir()
        (disk / "objects").symlink_to(objects)
        server = place.start(ACAI_DATA_FOLDER=str(disk))
        assert server.status().status == 200
        place.data = disk
        fill(disk / "ballast")
        failed = place.acai(*line)
        assert failed.returncode == 1, failed
        assert "There is no space left" in failed.stderr
        assert len(failed.stderr.strip().splitlines()) == 1
        (disk / "ballast").unlink()
        assert server.ask("GET", "/v1/projects/default/filesets/many").code == "file_set_not_found"
        assert place.sql("PRAGMA integrity_check") == [("ok",)]
        done = place.acai(*line)
        assert (done.returncode, "many:1" in done.stdout) == (0, True), done
        assert Lake(server, "direct").cat("/many/0042") == b"content 42"
        server.end()


@contextmanager
def full_disk(place: Place, **settings: str) -> Iterator[tuple[Server, Path]]:
    """A server whose data folder has not a free byte, with the set kept:1 in it and an upload that was begun."""
    with small_disk(place.home, "48m") as disk:
        place.data = disk
        started = {"ACAI_DATA_FOLDER": str(disk), **settings}
        server = place.start(**started)
        assert server.status().status == 200
        for number in range(300):
            place.write(f"kept/{number}", f"content {number}")
        assert place.acai("put", "kept", "/kept", "--as", "kept").returncode == 0
        assert place.acai("put", "kept/7", "/loose").returncode == 0
        assert server.ask("POST", "/v1/projects/default/uploads", {}).status == 201
        server.end()
        fill(disk / "ballast")
        yield place.start(**started), disk
        for one in place.servers:
            one.end()


def free_bytes(disk: Path) -> int:
    found = os.statvfs(disk)
    return found.f_bavail * found.f_frsize


FULL = "The disk of the data folder is full."


def test_a_server_on_a_full_disk_starts_reads_and_says_so(place: Place) -> None:
    with full_disk(place) as (server, disk):
        assert free_bytes(disk) < MIB
        ready = server.ask("GET", "/v1/ready", token=None)
        assert (ready.status, ready.json["status"]) == (200, "ok")
        assert ready.json["warning"].startswith(FULL)
        assert place.acai("cat", "/kept/7").stdout == "content 7"
        assert len(place.acai("ls", "/kept").stdout.splitlines()) == 300
        doctor = place.acai("doctor")
        assert FULL in doctor.stdout + doctor.stderr


def test_on_a_full_disk_new_uploads_are_refused_and_what_makes_room_works(place: Place) -> None:
    with full_disk(place, ACAI_GRACE_DAYS="0.0001") as (server, disk):
        found = Lake(server, "direct")
        place.write("more/file", os.urandom(100_000))
        refused = place.acai("put", "more", "/more")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "There is no space left" in refused.stderr
        assert len(refused.stderr.strip().splitlines()) == 1
        for _ in range(3):  # the room is there each time
            (pending,) = found.pending()
            for line in (
                ("rm", "/loose"),
                ("gc",),
                ("rm", "--undo", "/loose"),
                ("uploads", "--abort", pending["id"]),
            ):
                done = place.acai(*line)
                assert (done.returncode, done.stderr) == (0, ""), (line, done)
            (disk / "ballast").unlink()
            assert server.ask("GET", "/v1/ready").json["warning"] == ""
            assert server.ask("POST", "/v1/projects/default/uploads", {}).status == 201
            fill(disk / "ballast")
        assert server.ask("GET", "/v1/ready").json["warning"].startswith(FULL)
        (disk / "ballast").unlink()
        assert place.acai("put", "more", "/more").returncode == 0


def test_the_spare_room_is_allocated_given_back_and_held_again(tmp_path: Path) -> None:
    with small_disk(tmp_path, "32m") as disk:
        room = SpareRoom(disk, 3 * MIB)
        room.hold()
        assert (disk / "spare").stat().st_blocks * 512 == 3 * MIB
        assert free_bytes(disk) == 29 * MIB
        with room.lent():
            assert free_bytes(disk) == 29 * MIB  # the disk is not full
        fill(disk / "ballast")
        assert room.warning().startswith(FULL)
        with room.lent(), room.lent():
            assert free_bytes(disk) == 3 * MIB
            (disk / "needed").write_bytes(b"x" * MIB)
        assert (free_bytes(disk), (disk / "spare").stat().st_blocks * 512) == (0, 2 * MIB)
        (disk / "ballast").unlink()
        with room.lent():
            pass
        assert (disk / "spare").stat().st_blocks * 512 == 3 * MIB
        assert room.warning() == ""


def test_the_spare_room_is_lent_while_less_than_its_size_is_free(tmp_path: Path) -> None:
    with small_disk(tmp_path, "64m") as disk:
        room = SpareRoom(disk, 8 * MIB)
        room.hold()
        fill(disk / "ballast")
        os.truncate(disk / "ballast", (disk / "ballast").stat().st_size - 3 * MIB)
        assert free_bytes(disk) == 3 * MIB
        with room.lent():
            assert free_bytes(disk) == 11 * MIB
        assert (disk / "spare").stat().st_blocks * 512 == 8 * MIB
        assert free_bytes(disk) == 3 * MIB, "no more is taken than was held"


@pytest.mark.parametrize(("size", "held"), [("4m", MIB // 2), ("256k", 0)])
def test_of_a_small_disk_only_a_part_is_held(tmp_path: Path, size: str, held: int) -> None:
    with small_disk(tmp_path, size) as disk:
        SpareRoom(disk, 16 * MIB).hold()
        spare = disk / "spare"
        assert (spare.stat().st_blocks * 512 if spare.exists() else 0) == held


@pytest.mark.parametrize("kind", ["direct", "signed"])
def test_a_disk_that_is_full_while_getting_is_said_and_nothing_half_is_left(place: Place, kind: str) -> None:
    server = place.start()
    place.write("three/1", os.urandom(400_000))
    place.write("three/2", os.urandom(400_000))
    place.write("three/3", os.urandom(400_000))
    assert place.acai("put", "three", "/three").returncode == 0
    if kind == "signed":
        add_user(place)
    with small_disk(place.home, "1m") as disk:
        failed = place.acai("get", "/three", str(disk / "out"))
        assert failed.returncode == 1, failed
        assert "disk is full" in failed.stderr
        assert "Nothing was recorded" not in failed.stderr
        assert len(failed.stderr.strip().splitlines()) == 1
        assert {path.stat().st_size for path in (disk / "out").iterdir()} <= {400_000}
        assert not list((disk / "out").glob(".acai-*"))
    server.end()


# -- memory

PEAK = """
import sys
from acai_jupyter.commands import verbs
import acai_jupyter.commands.put, acai_jupyter.commands.files
for words in sys.argv[1:]:
    verbs.run(verbs.parse("acai", words.split("|")))
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM:")))
"""
"""Its own peak in KiB: what `getrusage` says begins with that of the process it was started from."""
MOST_MIB = 256


def peak_mib(place: Place, *words: str) -> float:
    line = ["|".join(words)] if words else []
    command = [sys.executable, "-c", PEAK, *line]
    ran = subprocess.run(command, env=place.environment, cwd=place.work, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return int(ran.stdout.split()[-1]) / 1024


def written(path: Path, size_mib: int) -> None:
    """Write a file whose mebibytes all differ."""
    path.parent.mkdir(parents=True, exist_ok=True)
    block = os.urandom(MIB)
    with path.open("wb") as stream:
        for number in range(size_mib):
            stream.write(number.to_bytes(8, "big") + block[8:])


def one_large(folder: Path) -> None:
    written(folder / "large.bin", 400)


def just_below_parts(folder: Path) -> None:
    for number in range(8):
        written(folder / f"{number}.bin", 60)
        with (folder / f"{number}.bin").open("r+b") as stream:
            stream.write(f"another {number}".encode())


def many_small(folder: Path) -> None:
    folder.mkdir()
    for number in range(20_000):
        (folder / f"{number}.txt").write_bytes(b"%d" % number * 20)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("kind", "make"),
    [
        ("direct", one_large),
        ("direct", many_small),
        ("signed", just_below_parts),
        pytest.param("s3", one_large, marks=pytest.mark.s3),
        pytest.param("s3", many_small, marks=pytest.mark.s3),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_memory_is_bounded_whatever_the_sizes(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, make: Callable[[Path], None]
) -> None:
    with lake(kind, tmp_path, request) as found:
        place = found.place
        base = peak_mib(place, "status")
        make(place.work / "source")
        put = peak_mib(place, "put", "source", "/source") - base
        get = peak_mib(place, "get", "/source", "out") - base
        assert (put <= MOST_MIB, get <= MOST_MIB) == (True, True), f"put {put:.0f} MiB, get {get:.0f} MiB"
        compared = subprocess.run(["diff", "-r", "source", "out"], cwd=place.work, check=False)
        assert compared.returncode == 0
        for name in ("source", "out"):  # gigabytes that nobody wants to look at
            shutil.rmtree(place.work / name)
