"""What a machine gives, which secrets it has, who fills its disk, what is kept of attempts: without any process."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from acai_jupyter import trees
from acai_jupyter.contract.errors import Unavailable
from acai_jupyter.contract.jobs import Resources
from acai_server.runners.admission import Capacity
from acai_server.runners.disk_guard import DiskGuard, held_bytes
from acai_server.runners.failed_folders import FailedFolders
from acai_server.runners.folders import AttemptFolder, Given
from acai_server.runners.process import ProcessRunner
from acai_server.runners.secret_files import SecretFiles
from tests.nested import nest

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1024**2
GIB = 1024**3
MACHINE = Capacity(2.0, 4 * GIB, (0, 1))


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Resources(vcpu=2, memory_bytes=4 * GIB, gpus=2), ""),
        (Resources(vcpu=2.5), "it asks for 2.5 vCPU and jobs on this machine have no more than 2"),
        (Resources(memory_bytes=5 * GIB), "it asks for 5 GB and jobs on this machine have no more than 4 GB"),
        (Resources(gpus=3), "it asks for 3 GPU and this machine has 2"),
    ],
)
def test_what_a_machine_can_never_hold_is_named(wanted: Resources, said: str) -> None:
    assert MACHINE.refuses(wanted) == said


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Resources(vcpu=0.5, memory_bytes=512 * MIB, gpus=1), ""),
        (Resources(vcpu=1, memory_bytes=512 * MIB), "it asks for 1 vCPU and 0.5 of 2 are free"),
        (Resources(vcpu=0.5, memory_bytes=2 * GIB), "it asks for 2 GB of memory and 1.5 GB of 4 GB are free"),
        (Resources(vcpu=0.5, memory_bytes=512 * MIB, gpus=2), "it asks for 2 GPU and 1 of 2 are free"),
    ],
)
def test_what_is_missing_now_is_named(wanted: Resources, said: str) -> None:
    assert MACHINE.fits(wanted, [Given(1.5, 2560 * MIB, [0])]) == said


def test_a_machine_that_became_smaller_has_nothing_free_rather_than_less() -> None:
    said = MACHINE.fits(Resources(vcpu=0.5), [Given(3.0, 8 * GIB)])
    assert said == "it asks for 0.5 vCPU and 0 of 2 are free"


def test_the_gpus_that_others_have_are_not_given_again() -> None:
    assert MACHINE.free_gpus([Given(1, MIB, [0])]) == [1]


def secret(folder: Path, value: str, mode: int = 0o600, name: str = "key") -> SecretFiles:
    (folder / name).write_text(value)
    (folder / name).chmod(mode)
    return SecretFiles(folder)


def test_the_value_of_a_secret_is_its_file_without_the_last_new_line(tmp_path: Path) -> None:
    assert secret(tmp_path, "one\ntwo\n").value("key") == "one\ntwo"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_secret_that_others_can_touch_is_refused_with_what_to_do(tmp_path: Path, mode: int) -> None:
    secrets = secret(tmp_path, "value", mode)
    assert secrets.refuses("key") == f"the secret {tmp_path / 'key'} can be read by others; set its mode to 0600"
    with pytest.raises(Unavailable, match="0600"):
        secrets.value("key")


@pytest.mark.parametrize("name", ["", ".", "..", "../key", "/etc/passwd", "a/b", ".hidden", "k" * 101, "key\n", "k y"])
def test_what_is_no_name_is_never_looked_up(tmp_path: Path, name: str) -> None:
    assert "cannot be the name of a secret" in secret(tmp_path, "value").refuses(name)


def test_a_folder_is_no_secret(tmp_path: Path) -> None:
    (tmp_path / "key").mkdir(mode=0o700)
    assert SecretFiles(tmp_path).refuses("key") == f"the secret {tmp_path / 'key'} is not a file"


def test_a_secret_that_no_variable_can_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="NUL"):
        secret(tmp_path, "a\0b").value("key")


class Disk:
    """Attempts that hold some of a disk, and a guard over them."""

    def __init__(self, folder: Path, free_bytes: int) -> None:
        self.folder = folder
        self.free_bytes = free_bytes
        self.now = 0.0
        self.looks = 0
        self.blamed: list[tuple[str, str]] = []
        self.guard = DiskGuard(
            folder, MIB, lambda *blamed: self.blamed.append(blamed), free_bytes=self._free, clock=lambda: self.now
        )

    def hold(self, attempt: str, size_bytes: int) -> None:
        (self.folder / attempt / "work").mkdir(parents=True)
        (self.folder / attempt / "work" / "file").write_bytes(b"x" * size_bytes)

    def _free(self, folder: Path) -> int:
        assert folder == self.folder
        self.looks += 1
        return self.free_bytes


def test_who_holds_most_of_a_full_disk_is_blamed(tmp_path: Path) -> None:
    disk = Disk(tmp_path, 0)
    disk.hold("job-1", 2 * MIB)
    disk.hold("job-2", 3 * MIB)
    disk.guard.search(["job-1", "job-2", "job-3"])
    said = "it held 3 MB of the disk when less than 1 MB were left, and was ended"
    assert disk.blamed == [("job-2", said)]


def test_nobody_is_blamed_who_holds_little(tmp_path: Path) -> None:
    disk = Disk(tmp_path, 0)
    disk.hold("job-1", MIB // 2)
    disk.guard.search(["job-1"])
    disk.guard.search([])
    assert disk.blamed == []


def test_the_disk_is_looked_at_once_a_second(tmp_path: Path) -> None:
    disk = Disk(tmp_path, 2 * MIB)
    for disk.now in (0.0, 0.25, 0.5, 1.0, 1.5):
        disk.guard.look(["job-1"])
    assert disk.looks == 2


def test_what_has_another_name_is_not_held(tmp_path: Path) -> None:
    disk = Disk(tmp_path, 0)
    disk.hold("job-1", 2 * MIB)
    (tmp_path / "cached").hardlink_to(tmp_path / "job-1" / "work" / "file")
    assert held_bytes(tmp_path / "job-1") == 0


def attempt(folder: Path, exit_code: int) -> AttemptFolder:
    found = AttemptFolder(folder / "attempts" / f"job-{exit_code}")
    found.create("https://signed", Given(1, MIB))
    found.write("ended", json.dumps({"exit_code": exit_code, "asked": False, "forced": False}))
    return found


def test_the_folder_of_a_failure_is_kept_without_its_address_and_forgotten_in_time(tmp_path: Path) -> None:
    now = [0.0]
    failed = FailedFolders(tmp_path / "failed", 3600, clock=lambda: now[0])
    found = attempt(tmp_path, 3)
    assert failed.take(found)
    kept = tmp_path / "failed" / "job-3"
    assert (found.path.exists(), kept.exists(), (kept / "launch").exists()) == (False, True, False)
    now[0] = kept.joinpath("ended").stat().st_mtime + 3599
    failed.forget()
    assert kept.exists()
    now[0] += 1
    failed.forget()
    assert not kept.exists()


@pytest.mark.parametrize(("exit_code", "seconds"), [(0, 3600.0), (3, 0.0)])
def test_other_folders_are_not_kept(tmp_path: Path, exit_code: int, seconds: float) -> None:
    assert not FailedFolders(tmp_path / "failed", seconds).take(attempt(tmp_path, exit_code))


def test_what_an_attempt_was_given_is_known_to_the_next_server(tmp_path: Path) -> None:
    given = Given(1.5, 600 * MIB, [1], 3.0, ["/sys/fs/cgroup/acai/job-1"])
    AttemptFolder(tmp_path / "job-1").create("https://signed", given)
    assert AttemptFolder(tmp_path / "job-1").given() == given


def test_files_of_an_attempt_are_for_their_owner_only(tmp_path: Path) -> None:
    AttemptFolder(tmp_path / "job-1").create("https://signed", Given(1, MIB))
    modes = {path.name: path.stat().st_mode & 0o077 for path in [tmp_path / "job-1", *(tmp_path / "job-1").iterdir()]}
    assert modes == {"job-1": 0, "launch": 0, "given": 0}


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pid": "x"}', '{"pid": 1, "started": "1", "boot": "?"}'])
def test_a_record_that_says_nothing_names_no_process(tmp_path: Path, text: str) -> None:
    (tmp_path / "process").write_text(text)
    assert AttemptFolder(tmp_path).keeper() == 0


def test_a_machine_without_gpus_refuses_those_who_ask_for_one() -> None:
    assert Capacity(2.0, GIB).refuses(Resources(vcpu=1, memory_bytes=MIB, gpus=1)) == (
        "it asks for 1 GPU and this machine has none"
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[" * 100_000,
        "[]",
        "{}",
        '{"vcpu": "many"}',
        '{"vcpu": 1, "unknown": 2}',
        '{"exit_code": "x", "pid": []}',
        "\0",
    ],
)
def test_records_that_a_program_has_overwritten_count_as_missing(tmp_path: Path, text: str) -> None:
    folder = AttemptFolder(tmp_path)
    for name in ("given", "process", "ended"):
        (tmp_path / name).write_text(text)
    assert folder.given().cgroups == []
    assert (folder.keeper(), folder.ended()) == (0, None)


def test_a_runner_starts_over_whatever_attempts_left_and_removes_it(tmp_path: Path) -> None:
    """As after a server was killed: folders deeper than paths, without permissions, with overwritten records."""
    attempts = tmp_path / "attempts"
    nest(attempts / "deep" / "work")
    (attempts / "locked" / "work").mkdir(parents=True)
    (attempts / "locked" / "given").write_text("[" * 100_000)
    (attempts / "locked").chmod(0)
    with closing(ProcessRunner(attempts, tmp_path / "agent.pyz")) as runner:
        assert sorted(runner.known()) == ["deep", "locked"]
        for name in runner.known():
            assert runner.ended(name) is not None
            runner.clean(name)
    assert list(attempts.iterdir()) == []


def test_what_a_program_hides_deeper_than_paths_counts_as_held(tmp_path: Path) -> None:
    nest(tmp_path / "attempt", content=b"x" * MIB)
    assert held_bytes(tmp_path / "attempt") >= MIB
    assert trees.remove(str(tmp_path / "attempt")) is None
