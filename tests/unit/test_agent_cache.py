"""The machine's cache of inputs: by itself, and under real attempts. Runs on Python 3.8: so does what it tests."""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from acai_jupyter.agent.cache import SETTLED_NS, Cache, Identity
from tests.agents import Bench, bench_in

BODY = b"x" * 1_100_000
"""Smaller files are not cached where the store is on the same disk."""
SHA256 = hashlib.sha256(BODY).hexdigest()
READ = "print(len(open('data').read()))"


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = bench_in(tmp_path)
    bench.options = ["--cache", str(tmp_path / "cache"), "--cache-bytes", "10000000"]
    return bench


def entry(bench: Bench, sha256: str = SHA256) -> Path:
    return bench.folder / "cache" / sha256[:2] / sha256


def kept(cache: Cache, body: bytes, used_at: float | None = None) -> str:
    """Make an entry, one that was verified and last used at a moment if that is given."""
    sha256 = hashlib.sha256(body).hexdigest()
    path = Path(cache.place(sha256))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(body)
    cache.settle(sha256)
    if used_at is not None:
        verified(path).write_text(str(Identity.of(path.stat(), cache.boot)))
        os.utime(verified(path), (used_at, used_at))
    return sha256


def verified(entry: Path) -> Path:
    return entry.with_name(entry.name + ".verified")


def age(entry: Path) -> None:
    """Wait until an entry's last change is long enough ago for it to be trusted: only the kernel sets that time."""
    pause = threading.Event()
    while time.time_ns() < entry.stat().st_ctime_ns + SETTLED_NS + 10**8:
        pause.wait(0.05)


def run(bench: Bench, program: str = READ, body: bytes = BODY) -> object:
    return bench.run(program, (("data", body, False),))


def test_an_input_is_kept_for_the_next_job_which_fetches_nothing(bench: Bench) -> None:
    assert bench.run(READ, (("data", BODY, False),)).log == b"1100000\n"
    assert entry(bench).read_bytes() == BODY
    place = bench.launch([sys.executable, "-c", READ], (("data", BODY, False),))
    bench.write("in0", b"gone")
    done = bench.end(bench.start(place))
    assert (done.status, done.log) == (0, b"1100000\n")


def test_code_and_small_neighbours_are_not_kept(bench: Bench) -> None:
    bench.run("pass", (("code", BODY, True), ("small", b"s", False)))
    assert [path for path in (bench.folder / "cache").rglob("*") if path.is_file() and path.name != "lock"] == []


def test_the_same_content_at_two_paths_is_fetched_once(bench: Bench) -> None:
    done = bench.run("print(open('a').read() == open('b/c').read())", (("a", BODY, False), ("b/c", BODY, False)))
    assert done.log == b"True\n"


CHANGED = "the copy of /data in this machine's cache had been changed; the file was fetched again"


@pytest.mark.parametrize("change", [b"y" + BODY[1:], BODY + b"y", b""], ids=["other", "longer", "empty"])
def test_an_entry_that_was_changed_is_never_used_and_that_is_said(bench: Bench, change: bytes) -> None:
    run(bench)
    path = entry(bench)
    path.chmod(0o644)
    path.write_bytes(change)
    done = bench.run("print(open('data').read() == 'x' * 1100000)", (("data", BODY, False),))
    assert (done.log, done.record["warnings"]) == (b"True\n", [CHANGED])
    assert done.record["damaged_inputs"] == ["/data"]
    assert entry(bench).read_bytes() == BODY


HIDING = """
import os
path = {path!r}
before = os.stat(path)
os.chmod(path, 0o644)
with open(path, "r+") as file:
    file.write("changed")
os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
os.chmod(path, before.st_mode)
"""


@pytest.mark.parametrize("times_used", [1, 2, 3])
def test_a_program_that_writes_to_the_cache_and_restores_times_and_mode_harms_no_other_job(
    bench: Bench, times_used: int
) -> None:
    run(bench)
    for _ in range(times_used - 1):
        age(entry(bench))
        assert bench.run(READ, (("data", BODY, False),)).record["warnings"] == []
    assert verified(entry(bench)).exists() == (times_used > 1)
    bench.run(HIDING.format(path=str(entry(bench))))
    assert entry(bench).read_bytes() != BODY
    done = bench.run("print(open('data').read() == 'x' * 1100000)", (("data", BODY, False),))
    assert (done.log, done.record["warnings"]) == (b"True\n", [CHANGED])
    assert entry(bench).read_bytes() == BODY
    again = bench.run("print(open('data').read() == 'x' * 1100000)", (("data", BODY, False),))
    assert (again.log, again.record["warnings"]) == (b"True\n", [])


def test_a_program_that_changes_its_input_and_hides_that_is_told_and_changes_only_its_own(bench: Bench) -> None:
    run(bench)
    done = bench.run(HIDING.format(path="data"), (("data", BODY, False),))
    assert done.record["warnings"] == ["the program changed its input /data"]
    again = bench.run("print(open('data').read() == 'x' * 1100000)", (("data", BODY, False),))
    assert (again.log, again.record["warnings"]) == (b"True\n", [])


def test_no_job_has_a_file_of_the_cache_or_of_the_store(bench: Bench) -> None:
    small = b"small"
    program = "import os; print(*(os.stat(name).st_nlink == 1 and os.stat(name).st_ino for name in ('data', 'small')))"
    for _ in range(2):
        done = bench.run(program, (("data", BODY, False), ("small", small, False)))
        kept = [path for folder in ("cache", "store") for path in (bench.folder / folder).rglob("*")]
        inodes = [int(word) for word in done.log.split()]
        assert len(inodes) == 2
        assert {path.stat().st_ino for path in kept}.isdisjoint(inodes)


def test_an_entry_is_trusted_only_when_it_was_verified_a_while_after_its_last_change(tmp_path: Path) -> None:
    sha256 = kept(Cache(str(tmp_path / "cache"), 1000), b"right")
    path = Path(Cache(str(tmp_path / "cache"), 1000).place(sha256))
    for settled in (False, True):
        if settled:
            age(path)
        assert Cache(str(tmp_path / "cache"), 1000).lend(sha256, 5, str(tmp_path / "lent"))
        assert verified(path).exists() == settled


@pytest.mark.parametrize("change", ["touched", "restored", "restarted", "record"])
def test_an_entry_whose_identity_is_another_is_hashed_again_and_kept_when_its_content_is_right(
    tmp_path: Path, change: str
) -> None:
    """A backup that was restored, a machine that was restarted, a record that says nothing."""
    cache = Cache(str(tmp_path / "cache"), 1000, boot="first")
    sha256 = kept(cache, b"right")
    path = Path(cache.place(sha256))
    age(path)
    assert Cache(str(tmp_path / "cache"), 1000, boot="first").lend(sha256, 5, str(tmp_path / "lent"))
    before = verified(path).read_text()
    if change == "touched":
        path.touch()
    elif change == "restored":
        copy = path.with_name("copy")
        copy.write_bytes(path.read_bytes())
        copy.replace(path)
    elif change == "record":
        verified(path).write_text("nonsense")
    age(path)
    after = Cache(str(tmp_path / "cache"), 1000, boot="second" if change == "restarted" else "first")
    assert after.lend(sha256, 5, str(tmp_path / "lent"))
    assert after.damaged == set()
    assert (verified(path).read_text() == before) == (change == "record")


def test_a_file_in_the_place_of_a_folder_of_the_cache_is_no_cache(bench: Bench) -> None:
    entry(bench).parent.parent.mkdir()
    entry(bench).parent.write_text("a file")
    done = bench.run(READ, (("data", BODY, False),))
    assert (done.log, done.record["warnings"]) == (b"1100000\n", [])


def test_a_folder_in_the_place_of_an_entry_is_replaced(bench: Bench) -> None:
    (entry(bench) / "deep").mkdir(parents=True)
    done = bench.run(READ, (("data", BODY, False),))
    assert (done.log, done.record["warnings"]) == (b"1100000\n", [CHANGED])
    assert entry(bench).read_bytes() == BODY


def test_touching_or_replacing_an_input_harms_nobody(bench: Bench) -> None:
    program = "import os; os.utime('a'); os.remove('b'); open('b', 'w').write('mine')"
    other = BODY + b"2"
    done = bench.run(program, (("a", BODY, False), ("b", other, False)))
    assert done.record["warnings"] == ["the program changed its input /b"]
    assert entry(bench).read_bytes() == BODY
    assert bench.run(READ, (("data", BODY, False),)).record["warnings"] == []


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path), 100)
    old, older, new = kept(cache, b"o" * 40, 2000), kept(cache, b"O" * 40, 1000), kept(cache, b"n" * 20, 3000)
    cache.make_room(30)
    there: dict[str, bool] = {name: Path(cache.place(name)).exists() for name in (old, older, new)}
    assert there == {old: True, older: False, new: True}


def test_being_lent_is_being_used(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path / "cache"), 100)
    first, second = kept(cache, b"1" * 50, 1000), kept(cache, b"2" * 50, 2000)
    assert cache.lend(first, 50, str(tmp_path / "lent"))
    cache.make_room(50)
    assert Path(cache.place(first)).exists()
    assert not Path(cache.place(second)).exists()
    assert (tmp_path / "lent").read_bytes() == b"1" * 50


def test_one_agent_makes_room_at_a_time_and_nobody_waits(tmp_path: Path) -> None:
    cache = Cache(str(tmp_path), 10)
    sha256 = kept(cache, b"x" * 20)
    with (tmp_path / "lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        cache.make_room(0)
        assert Path(cache.place(sha256)).exists()
    cache.make_room(0)
    assert not Path(cache.place(sha256)).exists()


def test_what_is_larger_than_the_cache_is_not_kept_in_it(bench: Bench) -> None:
    bench.options[-1] = "1000"
    assert bench.run(READ, (("data", BODY, False),)).log == b"1100000\n"
    assert not entry(bench).exists()


def test_what_was_kept_before_the_machine_started_is_hashed_first(tmp_path: Path) -> None:
    """A record of an earlier run of the machine stands for what a power cut leaves next to a file without its bytes."""
    cache = Cache(str(tmp_path / "cache"), 1000, boot="first")
    sha256 = kept(cache, b"right")
    path = Path(cache.place(sha256))
    path.chmod(0o644)
    path.write_bytes(b"wrong")
    state = path.stat()
    verified(path).write_text(f"{state.st_ctime_ns} {state.st_ino} 5 first\n")
    later = Cache(str(tmp_path / "cache"), 1000, boot="second")
    assert not later.lend(sha256, 5, str(tmp_path / "lent"))
    assert later.damaged == {sha256}
    assert not path.exists()


def test_a_cache_that_cannot_be_made_is_no_cache(bench: Bench) -> None:
    (bench.folder / "cache").write_text("a file")
    assert bench.run(READ, (("data", BODY, False),)).log == b"1100000\n"


def test_many_agents_share_it_at_once(bench: Bench) -> None:
    place = bench.launch([sys.executable, "-c", READ], (("data", BODY, False),))
    running = [bench.start(place) for _ in range(4)]
    assert [bench.end(process).log for process in running] == [b"1100000\n"] * 4
    assert entry(bench).read_bytes() == BODY
