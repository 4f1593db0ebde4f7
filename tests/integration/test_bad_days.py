"""Bad days: each is one clear sentence, nothing is lost, JupyterLab goes on, and mending the cause is enough."""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import sqlite3
import subprocess
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.disks import fill, small_disk
from tests.integration.lakes import add_user
from tests.integration.places import Place, Server, until
from tests.integration.test_backups import administer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

JOBS = "/v1/projects/default/jobs"
MIB = 1024**2


def closed_port() -> int:
    with closing(socket.socket()) as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def jupyter_goes_on(server: Server) -> bool:
    return server.ask("GET", "/api/status", base="").status == 200


def says(server: Server, status: int, code: str, *words: str) -> None:
    """Hold what the extension says, twice, against what it should; JupyterLab itself is well."""
    for _ in range(2):
        answer = server.status()
        assert (answer.status, answer.code) == (status, code), answer.body
        message = answer.error["message"]
        assert all(word in message for word in words), message
        assert "\n" not in message
        assert "Traceback" not in message
    assert jupyter_goes_on(server)


def exits(place: Place, *words: str, options: tuple[str, ...] = (), variables: dict[str, str] | None = None) -> None:
    """Hold what `jupyter acai` says on standard error, and that it ends, against what it should."""
    for server in place.servers:  # or it would attach to one
        server.end()
    server = place.spawn(*options, program="acai", **(variables or {}))
    assert server.process.wait(80) == 1
    last = server.log.strip().splitlines()[-1]
    assert all(word in last for word in words), server.log
    assert "Traceback" not in server.log


def config(place: Place, text: str) -> Path:
    path = place.home / "config" / "acai" / "config.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# -- settings


def unknown_in_the_environment(place: Place) -> tuple[tuple[str, ...], dict[str, str]]:
    del place
    return (), {"ACAI_QUOTTA": "2"}


def unknown_on_the_command_line(place: Place) -> tuple[tuple[str, ...], dict[str, str]]:
    del place
    return ("--AcaiApp.quotta=1",), {}


def unknown_in_the_project_file(place: Place) -> tuple[tuple[str, ...], dict[str, str]]:
    place.write("acai.toml", "quotta = 2\n")
    assert place.acai("trust", "--yes").returncode == 0
    return (), {}


def unknown_in_the_users_file(place: Place) -> tuple[tuple[str, ...], dict[str, str]]:
    config(place, "quotta = 2\n")
    return (), {}


def unknown_in_jupyters_configuration(place: Place) -> tuple[tuple[str, ...], dict[str, str]]:
    path = place.home / "jupyter" / "jupyter_server_config.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text("c.AcaiApp.quotta = 2\n")
    return (), {}


UNKNOWN = [
    (unknown_in_the_environment, ("ACAI_QUOTTA", "environment", "ACAI_QUOTA")),
    (unknown_on_the_command_line, ("quotta", "command line", "quota")),
    (unknown_in_the_project_file, ("quotta", "acai.toml", "quota")),
    (unknown_in_the_users_file, ("quotta", "config.toml", "quota")),
    (unknown_in_jupyters_configuration, ("quotta", "Jupyter", "quota")),
]
WRONG = [
    (((), {"ACAI_QUOTA": "many"}), ("quota", "environment")),
    ((("--AcaiApp.quota=many",), {}), ("quota", "command line")),
    (((), {"ACAI_QUOTA": "0"}), ("quota", "environment")),
    (((), {"ACAI_RUNNER": "slurm"}), ("runner", "slurm", "process")),
    (((), {"ACAI_OBJECT_STORE": "tape"}), ("object_store", "tape", "filesystem")),
    (((), {"ACAI_EVENT_BUS": "pigeons"}), ("event_bus", "pigeons", "memory")),
    (((), {"ACAI_OBJECT_STORE": "s3"}), ("s3_bucket",)),
]


@pytest.mark.parametrize(("prepare", "words"), UNKNOWN, ids=lambda value: getattr(value, "__name__", ""))
def test_an_unknown_setting_is_named_with_its_place_and_the_nearest_known(
    place: Place,
    prepare: Callable[[Place], tuple[tuple[str, ...], dict[str, str]]],
    words: tuple[str, ...],
) -> None:
    options, variables = prepare(place)
    says(place.start(*options, **variables), 400, "bad_setting", *words)
    exits(place, *words, options=options, variables=variables)


@pytest.mark.parametrize(("given", "words"), WRONG, ids=[" ".join(words) for _, words in WRONG])
def test_a_setting_of_the_wrong_kind_is_named_with_its_place(
    place: Place, given: tuple[tuple[str, ...], dict[str, str]], words: tuple[str, ...]
) -> None:
    options, variables = given
    says(place.start(*options, **variables), 400, "bad_setting", *words)


@pytest.mark.parametrize(("given", "words"), [WRONG[1], WRONG[-1]], ids=["while reading them", "while opening"])
def test_alone_a_setting_of_the_wrong_kind_ends_it(
    place: Place, given: tuple[tuple[str, ...], dict[str, str]], words: tuple[str, ...]
) -> None:
    options, variables = given
    exits(place, *words, options=options, variables=variables)


@pytest.mark.parametrize("text", ["quota = \n", "quota = 'many'\n", "\xff", "runner = 'slurm'\n", "quotta = 3\n"])
def test_a_mended_file_is_enough(place: Place, text: str) -> None:
    path = config(place, "")
    path.write_bytes(text.encode("latin-1"))
    server = place.start()
    says(server, 400, "bad_setting")
    path.write_text("quota = 3\n")
    assert server.status().status == 200


def test_settings_come_from_the_first_place_that_has_one(place: Place) -> None:
    config(place, "user = 'file'\nproject = 'from-file'\nquota = 3\n")
    place.write("acai.toml", "user = 'project-file'\nproject = 'from-project-file'\n")
    server = place.start("--AcaiApp.user=command-line", ACAI_USER="environment")
    status = server.status().json
    assert (status["user"]["name"], status["project"]) == ("command-line", "from-project-file")


# -- the data folder


def test_a_data_folder_that_cannot_be_is_said(place: Place) -> None:
    place.write("file", "")
    words = (str(place.work / "file" / "data"), "data folder", "ACAI_DATA_FOLDER")
    given = {"ACAI_DATA_FOLDER": str(place.work / "file" / "data")}
    exits(place, *words, variables=given)
    server = place.start(**given)
    says(server, 503, "settings_broken", *words)
    (place.work / "file").unlink()
    assert server.status().json["data_folder"] == given["ACAI_DATA_FOLDER"]


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Make a folder read-only: by its bits, or, for root whom bits do not bind, by a read-only mount."""
    if os.geteuid():
        folder.chmod(0o500)
        yield
        folder.chmod(0o700)
        return
    for command in (["mount", "--bind", str(folder), str(folder)], ["mount", "-o", "remount,ro,bind", str(folder)]):
        if subprocess.run(command, check=False, capture_output=True).returncode:
            pytest.skip("root may not mount here")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def test_a_data_folder_that_cannot_be_written_is_said(place: Place) -> None:
    folder = place.home / "locked"
    folder.mkdir()
    given = {"ACAI_DATA_FOLDER": str(folder)}
    with read_only(folder):
        exits(place, str(folder), "data folder", variables=given)
        server = place.start(**given)
        says(server, 503, "settings_broken", str(folder), "data folder")
    assert server.status().status == 200


# -- the database


def lived_in(place: Place) -> None:
    """Leave a database with a job that has ended in the data folder."""
    server = place.start()
    server.ask("POST", JOBS, {"command": ["true"], "name": "kept"})
    until(lambda: server.get(f"{JOBS}/1")["state"] == "finished", "the job finishing")
    server.end()


def test_a_database_that_is_newer_than_the_code_is_left_alone(place: Place) -> None:
    lived_in(place)
    known = place.sql("SELECT version_num FROM alembic_version")[0][0]
    place.sql("UPDATE alembic_version SET version_num = '9999'")
    server = place.start()
    says(server, 503, "database_newer", "9999", known, "Upgrade acai-jupyter")
    assert place.sql("SELECT count(*) FROM job") == [(1,)]
    exits(place, "9999", "Upgrade acai-jupyter")
    again = place.start()
    says(again, 503, "database_newer")
    place.sql(f"UPDATE alembic_version SET version_num = '{known}'")
    assert again.get(f"{JOBS}/1")["name"] == "kept"


def test_a_damaged_database_is_said_and_not_touched(place: Place) -> None:
    lived_in(place)
    database = place.data / "acai.db"
    place.sql("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = database.read_bytes()
    damaged = b"This is not a database.\n" * 1000
    database.write_bytes(damaged)
    server = place.start()
    says(server, 503, "database_broken", "damaged")
    assert database.read_bytes() == damaged
    database.write_bytes(whole)
    assert server.get(f"{JOBS}/1")["name"] == "kept"
    server.end()
    database.write_bytes(damaged)
    (place.data / "acai.db-wal").unlink(missing_ok=True)
    exits(place, "damaged")


def test_a_postgresql_that_is_away_is_said(place: Place) -> None:
    given = {"ACAI_DATABASE": f"postgresql://user:secret-word@127.0.0.1:{closed_port()}/acai"}
    server = place.start(**given)
    says(server, 503, "database_busy", "refused")
    assert "secret-word" not in server.status().body.decode() + server.log
    exits(place, "refused", variables=given)


def test_a_database_url_that_is_none_is_said(place: Place) -> None:
    given = {"ACAI_DATABASE": "postgresql//typo"}
    says(place.start(**given), 400, "bad_setting", "database")
    exits(place, "database", variables=given)


def test_a_locked_database_is_waited_for_and_then_said(place: Place) -> None:
    lived_in(place)
    server = place.start()
    assert server.status().status == 200
    with closing(sqlite3.connect(place.data / "acai.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = server.ask("POST", JOBS, {"command": ["true"]})
        assert (answer.status, answer.code) == (503, "database_busy")
        assert server.get(f"{JOBS}/1")["name"] == "kept"  # who reads does not wait
        other.execute("ROLLBACK")
    assert server.ask("POST", JOBS, {"command": ["true"]}).status == 201


# -- the clock


def test_a_clock_that_went_back_is_said_and_times_go_on(place: Place) -> None:
    lived_in(place)
    ahead = (datetime.now(UTC) + timedelta(hours=2)).replace(tzinfo=None)
    columns = "project_id, number, kind, subject, details, created_at"
    row = (1, 10_000, "test", "a time to come", "{}", ahead.isoformat(sep=" "))
    place.sql(f"INSERT INTO event ({columns}) VALUES (?, ?, ?, ?, ?, ?)", row)
    server = place.start()
    status = server.status().json
    assert any("clock" in notice and "120 min" in notice for notice in status["notices"])
    assert "clock" in place.acai("status").stdout
    server.ask("POST", JOBS, {"command": ["true"]})
    until(lambda: server.get(f"{JOBS}/2")["state"] == "finished", "the job finishing")
    times = [e["created_at"] for e in server.get("/v1/projects/default/events?since=0")["events"]]
    assert times == sorted(times)
    assert server.get(f"{JOBS}/2")["created_at"] >= ahead.isoformat()


def test_a_clock_that_is_far_ahead_is_named_and_not_followed(place: Place) -> None:
    lived_in(place)
    mark = place.data / "clock.json"
    told = datetime.now(UTC) - timedelta(days=3650)
    mark.write_text(json.dumps({"told": told.isoformat(), "shown": told.isoformat(), "doubted_since": None}))
    server = place.start()
    (notice,) = server.status().json["notices"]
    assert "3,650 days later than it should; set it right." in notice
    assert notice in place.acai("status").stdout
    assert "days later than it should" in place.acai("doctor").stdout
    server.ask("POST", JOBS, {"command": ["true"]})
    until(lambda: server.get(f"{JOBS}/2")["state"] == "finished", "the job finishing")
    job = server.get(f"{JOBS}/2")
    assert job["created_at"][:7] == f"{told:%Y-%m}"
    assert job["created_at"] <= job["ended_at"] < f"{told + timedelta(days=1):%Y-%m-%dT%H:%M}"
    assert 0 <= job["attempts"][0]["cost_usd"] < 1
    server.end()
    assert json.loads(mark.read_text())["doubted_since"] is not None


def test_times_are_right_again_once_the_clock_is(place: Place) -> None:
    lived_in(place)
    now, years = datetime.now(UTC), timedelta(days=3650)
    said = {"told": now, "shown": now + years, "doubted_since": now - timedelta(hours=1)}
    (place.data / "clock.json").write_text(json.dumps({name: at.isoformat() for name, at in said.items()}))
    again = place.start()
    assert again.status().json["notices"][0].startswith("This machine's clock is right again; it was ahead from ")
    number = again.ask("POST", JOBS, {"command": ["true"]}).json["number"]
    assert again.get(f"{JOBS}/{number}")["created_at"][:10] == f"{datetime.now(UTC):%Y-%m-%d}"


def test_an_operator_lets_a_server_whose_records_are_all_ahead_follow_the_clock_again(place: Place) -> None:
    lived_in(place)
    place.sql("UPDATE event SET created_at = '2136-01-01 00:00:00.000000'")
    (place.data / "clock.json").unlink()
    server = place.start()
    assert "behind the newest record" in server.status().json["notices"][0]
    assert "is using" in administer(place, "reset-clock", "--yes", status=6)
    server.end()
    found = administer(place, "reset-clock", status=2)
    assert "The newest record is dated 2136-01-01 00:0" in found
    assert f"this machine's clock shows {datetime.now(UTC):%Y-%m-%d}" in found
    assert "The next start follows the machine's clock." in administer(place, "reset-clock", "--yes")
    again = place.start()
    assert again.status().json["notices"] == []
    number = again.ask("POST", JOBS, {"command": ["true"]}).json["number"]
    assert again.get(f"{JOBS}/{number}")["created_at"][:10] == f"{datetime.now(UTC):%Y-%m-%d}"


def test_records_from_the_future_hold_nothing_back(place: Place) -> None:
    lived_in(place)
    (place.data / "clock.json").unlink()  # the folder is of a version that kept none
    columns = "project_id, number, kind, subject, details, created_at"
    place.sql(
        f"INSERT INTO event ({columns}) VALUES (?, ?, ?, ?, ?, ?)",
        (1, 10_000, "test", "a time to come", "{}", "2136-01-01 00:00:00.000000"),
    )
    server = place.start()
    (notice,) = server.status().json["notices"]
    assert notice == "Some records are dated up to 2136-01-01 00:00 UTC: the clock was ahead then. New ones are right."
    number = server.ask("POST", JOBS, {"command": ["true"]}).json["number"]
    until(lambda: server.get(f"{JOBS}/{number}")["state"] == "finished", "the job finishing")
    assert server.get(f"{JOBS}/{number}")["created_at"][:10] == f"{datetime.now(UTC):%Y-%m-%d}"
    later = server.get("/v1/projects/default/events?since=10000")["events"]
    assert [one["number"] for one in later] == list(range(10_001, 10_001 + len(later)))


# -- ports


def test_a_port_that_is_taken_is_said(place: Place) -> None:
    with closing(socket.socket()) as held:
        held.bind(("127.0.0.1", 0))
        held.listen()
        port = held.getsockname()[1]
        server = place.spawn(f"--ServerApp.port={port}", program="acai")
        assert server.process.wait(80) == 1
        assert f"port {port} is not available" in server.log
    assert not (place.data / "acai.db").exists()


# -- disks that are full


@contextmanager
def small_files_only(server: Server, size: int) -> Iterator[None]:
    """Let the server write no file beyond a size: what a full disk feels like, for any user."""
    whole = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, whole[1]))
    yield
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, whole)


def nothing_half_visible(place: Place, server: Server, name: str) -> None:
    assert server.ask("GET", f"/v1/projects/default/filesets/{name}").code == "file_set_not_found"
    visible = "SELECT count(*) FROM file_version v JOIN upload_session s ON s.id = v.session_id WHERE commit_number > 0"
    assert place.sql(visible) == [(0,)]
    assert not list((place.data / "objects").rglob("*.part"))


def test_a_full_store_is_said_and_the_same_line_works_later(place: Place) -> None:
    server = place.start()
    assert server.status().status == 200
    add_user(place)  # so that the bytes go to the server
    place.write("big/1.bin", os.urandom(4 * MIB))
    line = ("put", "big", "/big", "--as", "big")
    with small_files_only(server, 2 * MIB):
        failed = place.acai(*line)
        assert failed.returncode == 1
        assert "no space left" in failed.stderr
        assert len(failed.stderr.strip().splitlines()) == 1
        nothing_half_visible(place, server, "big")
        assert server.status().status == 200
    done = place.acai(*line)
    assert (done.returncode, "big:1" in done.stdout) == (0, True), done.stderr


def test_a_disk_that_is_full_to_the_last_block_loses_nothing(place: Place) -> None:
    place.write("one/1.txt", "one" * 2000)
    line = ("put", "one", "/one", "--as", "one")
    with small_disk(place.home, "16m") as disk:
        server = place.start(ACAI_DATA_FOLDER=str(disk))
        place.data = disk
        server.ask("POST", JOBS, {"command": ["true"], "name": "kept"})
        until(lambda: server.get(f"{JOBS}/1")["state"] == "finished", "the job finishing")
        fill(disk / "ballast")
        failed = place.acai(*line)
        assert failed.returncode == 1
        assert "no space left" in failed.stderr
        assert server.get(f"{JOBS}/1")["name"] == "kept"
        assert server.status().status == 200
        (disk / "ballast").unlink()
        nothing_half_visible(place, server, "one")
        assert place.acai(*line).returncode == 0
        server.end()


def test_a_job_on_a_full_disk_does_not_finish_and_one_after_it_does(place: Place) -> None:
    with small_disk(place.home, "16m") as disk:
        server = place.start(ACAI_DATA_FOLDER=str(disk))
        place.data = disk
        body = {"command": ["sh", "-c", "head -c 30000000 /dev/zero > output/big"], "output": "big"}
        server.ask("POST", JOBS, body)
        ended = until(lambda: (job := server.get(f"{JOBS}/1"))["state"] in ("failed", "crashed") and job, "its end")
        assert ended["output"] is None
        assert ended["reason"]
        server.ask("POST", JOBS, {"command": ["true"]})
        until(lambda: server.get(f"{JOBS}/2")["state"] == "finished", "the next job finishing")
        server.end()


def test_an_object_that_was_lost_is_said_and_not_made_up(place: Place) -> None:
    server = place.start()
    place.write("a.txt", "a")
    assert place.acai("put", "a.txt", "/a.txt", "--as", "a").returncode == 0
    shutil.rmtree(place.data / "objects")
    server.ask("POST", JOBS, {"command": ["cat", "a.txt"], "inputs": ["a"]})
    ended = until(lambda: (job := server.get(f"{JOBS}/1"))["state"] in ("failed", "crashed") and job, "its end")
    assert "input could not be fetched" in ended["reason"]
