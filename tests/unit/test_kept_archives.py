"""Archives of environments that pods keep for each other: by themselves, and under real attempts."""

from __future__ import annotations

import hashlib
import os
import sys
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.agent.archives import ARCHIVE, Archives
from acai_jupyter.agent.launch import InputFile
from acai_jupyter.client import locks, packed
from tests.agents import Bench, bench_in
from tests.wheels import requirements, wheel

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from acai_jupyter.contract.environments import Lock
    from tests.agents import Outcome

BODY = b"an archive"
FILE = InputFile(ARCHIVE, 0, 0, len(BODY), hashlib.sha256(BODY).hexdigest(), is_code=True)
HERE = "{}.{}".format(*sys.version_info[:2])
GREETS = "import greeter; greeter.main()"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "archives"
    path.mkdir()
    return path


@pytest.fixture
def lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lock:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wheel(tmp_path / "wheels", "greeter", "1.2", "def main():\n    print('hello')\n")
    (tmp_path / "requirements.txt").write_text(requirements(tmp_path / "wheels", "greeter"))
    return locks.lock(tmp_path / "requirements.txt", python=HERE, platform=locks.PLATFORM)


@pytest.fixture
def bench(tmp_path: Path, folder: Path) -> Bench:
    bench = bench_in(tmp_path)
    bench.options = ["--archives", str(folder), "--archives-bytes", "10000000"]
    return bench


def launched(bench: Bench, lock: Lock) -> Path:
    body = packed.archive(lock, sys.executable).read_bytes()
    known = {"requirements": lock.requirements, "python": lock.python, "interpreter": lock.interpreter}
    return bench.launch(["python3", "-c", GREETS], ((ARCHIVE, body, True),), lock=known, lock_key=lock.key)


def ended(bench: Bench, lock: Lock, *, is_in_store: bool = True) -> Outcome:
    """Run a program in the environment of a lock, whose archive may be lost in the store."""
    place = launched(bench, lock)
    if not is_in_store:
        bench.write("in0", b"")
    return bench.end(bench.start(place))


def entry(lock: Lock, folder: Path) -> Path:
    return folder / hashlib.sha256(packed.archive(lock, sys.executable).read_bytes()).hexdigest()


def test_an_environment_is_fetched_once_and_then_taken_from_what_is_kept(
    bench: Bench, lock: Lock, folder: Path
) -> None:
    assert ended(bench, lock).log == b"hello\n"
    assert entry(lock, folder).read_bytes() == packed.archive(lock, sys.executable).read_bytes()
    assert ended(bench, lock, is_in_store=False).log == b"hello\n"
    assert list(folder.iterdir()) == [entry(lock, folder)]


def test_many_bring_the_same_at_once(bench: Bench, lock: Lock, folder: Path) -> None:
    place = launched(bench, lock)
    running = [bench.start(place) for _ in range(5)]
    printed = [process.communicate(timeout=100)[0] for process in running]
    assert [process.returncode for process in running] == [0] * 5
    assert all(b"hello\n" in said for said in printed)
    assert list(folder.iterdir()) == [entry(lock, folder)]


def of_another(path: Path) -> None:
    path.write_bytes(b"x" * path.stat().st_size)


def too_short(path: Path) -> None:
    path.write_bytes(b"x")


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


@pytest.mark.parametrize("spoil", [of_another, too_short, a_pipe, a_link])
def test_what_another_program_has_put_there_is_not_used_and_is_replaced(
    bench: Bench, lock: Lock, folder: Path, spoil: Callable[[Path], None]
) -> None:
    ended(bench, lock)
    spoil(entry(lock, folder))
    assert ended(bench, lock).log == b"hello\n"
    assert not entry(lock, folder).is_symlink()
    assert entry(lock, folder).read_bytes() == packed.archive(lock, sys.executable).read_bytes()


def test_where_nothing_can_be_kept_the_job_runs_and_says_so(bench: Bench, lock: Lock, folder: Path) -> None:
    folder.rmdir()
    done = ended(bench, lock)
    assert (done.status, done.log) == (0, b"hello\n")
    assert done.record["warnings"] == ["its environment could not be kept for others: No such file or directory"]


def test_what_was_not_used_for_longest_goes_first(folder: Path, tmp_path: Path) -> None:
    for number, name in enumerate(["old", "older", "new"]):
        (folder / name).write_bytes(b"12345")
        os.utime(folder / name, (1000 - number if name != "new" else 2000,) * 2)
    (tmp_path / "fetched").write_bytes(BODY)
    archives = Archives(str(folder), 20)
    archives.keep(FILE, str(tmp_path / "fetched"))
    assert sorted(path.name for path in folder.iterdir()) == sorted([FILE.sha256, "new", "old"])
    assert archives.take(FILE, str(tmp_path / "work" / ARCHIVE))
    assert (tmp_path / "work" / ARCHIVE).read_bytes() == BODY


def test_only_environments_are_kept_and_none_that_is_too_large(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "fetched").write_bytes(BODY)
    Archives(str(folder), len(BODY)).keep(FILE._replace(path="train.py"), str(tmp_path / "fetched"))
    Archives(str(folder), len(BODY) - 1).keep(FILE, str(tmp_path / "fetched"))
    assert list(folder.iterdir()) == []
    assert not Archives(str(folder), len(BODY)).take(FILE, str(tmp_path / "work"))
