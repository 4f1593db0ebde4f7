"""`acai-server backup`, `restore`, `export`, `import`: beside servers that work, over real stores, and killed."""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import threading
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

import pytest

from acai_server.admin import main
from acai_server.backups import form
from tests.integration.lakes import Lake
from tests.integration.places import BIN, Place, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.servers.postgres import Postgres
    from tests.servers.seaweedfs import Seaweedfs

MIB = 1024**2
PROGRAM = (
    "import os; open('output/model', 'wb').write(os.urandom(9)); print('trained'); print('[ACAI_TAG_NUM] job a:1')"
)


def administer(place: Place, *words: str, status: int = 0, given: dict[str, str] | None = None) -> str:
    """Do what `acai-server` does with these words, in this process; returns what it said."""
    said = {0: io.StringIO(), 1: io.StringIO()}
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said[0]), redirect_stderr(said[1]):
        for name in [name for name in os.environ if name.startswith(("ACAI_", "AWS_", "XDG_"))]:
            patch.delenv(name)
        for name, value in (place.environment | (given or {})).items():
            patch.setenv(name, value)
        patch.chdir(place.work)
        assert main(words) == status, said[1].getvalue()
    return said[1 if status else 0].getvalue()


def test_the_configuration_of_a_server_is_that_of_its_administration(place: Place) -> None:
    """As of `jupyter acai --config …`: else another database would be brought further, backed up or filled."""
    (place.home / "jupyter").mkdir()
    (place.home / "jupyter" / "jupyter_server_config.py").write_text("c.AcaiApp.data_folder = '~/of-jupyter'\n")
    assert f"{place.home}/of-jupyter/acai.db is now at" in administer(place, "migrate")
    file = place.write("acai_config.py", f"c = get_config()\nc.AcaiApp.data_folder = '{place.home}/named'\n")
    server = place.start(f"--config={file}", program="acai")
    token = (place.home / "named" / "token").read_text()
    assert server.ask("POST", "/v1/projects", {"name": "lab", "admin": "ann"}, token=token).status == 201
    assert f"{place.home}/named/acai.db is at" in administer(place, "--config", str(file), "migrate")
    assert "name lab admin ann" in administer(place, "--config", "acai_config.py", "audit")
    assert not (place.data / "acai.db").exists()
    assert "there is no" in administer(place, "--config", "missing.py", "migrate", status=2)
    place.write("broken.py", "c.AcaiApp.data_folder = nowhere")
    assert "'nowhere' is not defined" in administer(place, "--config", "broken.py", "migrate", status=2)


def recorded(place: Place, folder: Path, given: dict[str, str] | None = None) -> dict[str, Any]:
    """Make a backup, and return all that is in it."""
    administer(place, "backup", str(folder), given=given)
    note = form.read_note(folder)
    names = [*note.tables, form.OBJECTS]
    return {name: [row for _, rows in form.pages(folder / note.records, name) for row in rows] for name in names}


@pytest.fixture(scope="module")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A laptop with files, sets, a job and its log."""
    with closing(Place(tmp_path_factory.mktemp("laptop"))) as place:
        place.write("digits/large.bin", os.urandom(12 * MIB))
        place.write("digits/small.txt", "small")
        place.write("train.py", PROGRAM)
        server = place.start()
        found = Lake(server, "direct")
        found.shell("put", "digits", "/digits", "--as", "digits")
        found.shell("submit", "train.py", "--input", "digits", "--output", "model", "-p", "lr=0.1")
        found.shell("wait", "1")
        found.shell("put", "train.py", "/digits/train.py", "--as", "digits")
        yield found


@pytest.fixture(scope="module")
def team(s3_server: Seaweedfs, postgres_server: Postgres, postgres_template: str) -> dict[str, str]:
    """The settings of a server of a team, whose database and bucket are empty."""
    return s3_server.environment | {
        "ACAI_OBJECT_STORE": "s3",
        "ACAI_S3_BUCKET": s3_server.make_bucket(),
        "ACAI_S3_ENDPOINT_URL": s3_server.url,
        "ACAI_DATABASE": postgres_server.create_database(postgres_template),
    }


def contents(lake: Lake) -> dict[str, str]:
    """The hashes of all that there is, by reading it, and what is said of it."""
    sets = lake.server.get("/v1/projects/default/filesets")["file_sets"]
    found = {}
    for one in sets:
        for entry in lake.server.get(f"/v1/projects/default/filesets/{one['name']}/entries")["entries"]:
            body = lake.cat(f"{entry['path']}:{entry['version']}")
            assert hashlib.sha256(body).hexdigest() == entry["sha256"]
            found[f"{one['name']}{entry['path']}"] = entry["sha256"]
    found["job"] = str(lake.server.get("/v1/projects/default/jobs/1"))
    found["log"] = lake.server.get("/v1/projects/default/jobs/1/log")["text"]
    found["graph"] = str(lake.server.get("/v1/projects/default/provenance/model:1?back=3"))
    found["metadata"] = lake.shell("find", "jobs", "params.lr = 0.1")
    return found


@contextmanager
def busy(lake: Lake) -> Iterator[None]:
    """Let somebody put new files all the time."""
    over, failures = threading.Event(), []

    def work() -> None:
        number = 0
        while not over.is_set():
            lake.place.write(f"busy/{number % 7}.txt", f"{number}")
            try:
                lake.typed("put", "busy", "/busy", "--as", "busy")
            except Exception as error:  # noqa: BLE001 (told below)
                failures.append(error)
            number += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    assert failures == []


@pytest.mark.s3
@pytest.mark.postgres
def test_a_laptop_that_works_becomes_a_team_and_back(
    laptop: Lake, team: dict[str, str], tmp_path: Path, s3_server: Seaweedfs
) -> None:
    before = contents(laptop)
    folder, second = tmp_path / "backup", tmp_path / "second"
    with busy(laptop):
        until(lambda: laptop.server.ask("GET", "/v1/projects/default/filesets/busy").status == 200, "somebody's work")
        said = administer(laptop.place, "backup", str(folder))
    assert said.endswith(f"are in {folder}.\n")
    with closing(Place(tmp_path / "team")) as place:
        administer(place, "restore", str(folder), given=team)
        assert "not empty" in administer(place, "restore", str(folder), status=6, given=team)
        there = Lake(place.start(program="acai", **team), "s3", s3_server, team["ACAI_S3_BUCKET"])
        after = contents(there)
        assert {name: after[name] for name in before} == before
        assert min(name for name in after if name not in before).startswith("busy/")
        there.server.end()
        moved = recorded(place, second, team)
    with closing(Place(tmp_path / "again")) as place:
        administer(place, "restore", str(second))
        assert recorded(place, tmp_path / "third") == moved
    assert "a server has" in administer(laptop.place, "restore", str(second), status=5)


def test_one_project_moves_to_a_server_that_works(laptop: Lake, tmp_path: Path) -> None:
    before = contents(laptop)
    administer(laptop.place, "export", "default", str(tmp_path / "lab"))
    with closing(Place(tmp_path / "other")) as place:
        place.write("own.txt", "own")
        server = place.start()
        assert place.acai("put", "own.txt", "/own.txt").returncode == 0
        said = administer(place, "import", str(tmp_path / "lab"), "--project", "lab")
        assert "in the project 'lab'" in said
        token = administer(place, "token", "lab", laptop.server.status().json["user"]["name"]).strip()
        found = place.acai("cat", "/digits/small.txt", ACAI_URL=server.root, ACAI_TOKEN=token, ACAI_PROJECT="lab")
        assert found.stdout == "small"
        job = server.ask("GET", "/v1/projects/lab/jobs/1", token=None, headers={"Authorization": f"Bearer {token}"})
        assert str(job.json) == before["job"]
        assert "already" in administer(place, "import", str(tmp_path / "lab"), "--project", "lab", status=6)


def killed_in_the_middle(place: Place, words: list[str], begun: Callable[[], bool]) -> None:
    """Start `acai-server`, and kill it as soon as something is there."""
    command = [str(BIN / "acai-server"), *words]
    with subprocess.Popen(command, env=place.environment, cwd=place.work) as process:
        until(lambda: begun() or process.poll() is not None, "its beginning")
        process.kill()


def test_a_backup_and_a_restore_that_are_killed_are_done_again_by_the_same_lines(laptop: Lake, tmp_path: Path) -> None:
    folder = tmp_path / "backup"
    line = ["backup", str(folder)]
    killed_in_the_middle(laptop.place, line, lambda: any(folder.glob("objects/**/*")))
    with closing(Place(tmp_path / "place")) as place:
        if not (folder / "backup.json").exists():  # else it was quicker
            assert "no whole backup" in administer(place, "restore", str(folder), status=2)
        whole = recorded(laptop.place, folder)
        killed_in_the_middle(place, ["restore", str(folder)], lambda: any(place.data.glob("objects/p*/**/*")))
        administer(place, "restore", str(folder))
        assert recorded(place, tmp_path / "again") == whole
