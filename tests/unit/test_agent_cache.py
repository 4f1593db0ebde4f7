"""The machine's cache of inputs: by itself, and under real attempts. Runs on Python 3.8: so does what it tests."""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
from pathlib import Path

import pytest

from acai_jupyter.agent.cache import PRISTINE_NS, Cache
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


def kept(cache: Cache, body: bytes, used_at: float = 1e9) -> str:
    """Make an entry that was last used at a moment."""
    sha256 = hashlib.sha256(body).hexdigest()
    path = Path(cache.place(sha256))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(body)
    cache.settle(sha256)
    os.utime(path, ns=(int(used_at * 1e9), PRISTINE_NS))
    return sha256


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


@pytest.mark.parametrize("change", [b"y" + BODY[1:], BODY + b"y", b""], ids=["other", "longer", "empty"])
def test_an_entry_that_was_changed_is_never_used(bench: Bench, change: bytes) -> None:
    run(bench)
    path = entry(bench)
    path.chmod(0o644)
    path.write_bytes(change)
    done = bench.run("print(open('data').read() == 'x' * 1100000)", (("data", BODY, False),))
    assert (done.log, done.record["warnings"]) == (b"True\n", [])
    assert entry(bench).read_bytes() == BODY


def test_a_program_that_changes_its_input_is_told_and_the_next_job_is_not_harmed(bench: Bench) -> None:
    program = "import os; os.chmod('data', 0o644); open('data', 'r+').write('changed')"
    done = bench.run(program, (("data", BODY, False),))
    assert done.record["warnings"] == ["the program changed its input /data"]
    assert not entry(bench).exists()
    again = bench.run("print(open('data').read() == 'x' * 1100000)", (("data", BODY, False),))
    assert (again.log, again.record["warnings"]) == (b"True\n", [])


def test_touching_or_replacing_an_input_harms_nobody(bench: Bench) -> None:
    program = "import os; os.utime('a'); os.remove('b'); open('b', 'w').write('mine')"
    other = BODY + b"2"
    done = bench.run(program, (("a", BODY, False), ("b", other, False)))
    assert done.record["warnings"] == []
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
    """An entry's content without its time of change stands for what a power cut leaves."""
    cache = Cache(str(tmp_path / "cache"), 1000)
    sha256 = kept(cache, b"right")
    path = Path(cache.place(sha256))
    path.chmod(0o644)
    path.write_bytes(b"wrong")
    os.utime(path, ns=(PRISTINE_NS, PRISTINE_NS))
    later = Cache(str(tmp_path / "cache"), 1000, booted=path.stat().st_ctime + 1)
    assert not later.lend(sha256, 5, str(tmp_path / "lent"))
    assert not path.exists()


def test_a_cache_that_cannot_be_made_is_no_cache(bench: Bench) -> None:
    (bench.folder / "cache").write_text("a file")
    assert bench.run(READ, (("data", BODY, False),)).log == b"1100000\n"


def test_many_agents_share_it_at_once(bench: Bench) -> None:
    place = bench.launch([sys.executable, "-c", READ], (("data", BODY, False),))
    running = [bench.start(place) for _ in range(4)]
    assert [bench.end(process).log for process in running] == [b"1100000\n"] * 4
    assert entry(bench).read_bytes() == BODY
