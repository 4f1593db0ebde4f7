"""Attempts in a container: its limits are the program's, and the agent is its first process. Runs on Python 3.8."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.loglines import split
from tests.agents import KEY, Bench, bench_in

if TYPE_CHECKING:
    from tests.agents import Outcome

ALONE = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child")
"""The first process of a process namespace, as the agent is in a container."""
ODD_USER = 54321


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return bench_in(tmp_path)


def container(tmp_path: Path, **files: str) -> list[str]:
    """Control groups as they are seen in a container; `__` in names is a slash, `_dot_` a dot."""
    root = tmp_path / "groups"
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return ["--container", str(root)]


def contained(bench: Bench, program: str, *first: str) -> Outcome:
    """Run a program to its end, as the first process where that can be had."""
    place = bench.launch([bench.python, "-c", program])
    work = bench.folder / "attempt"
    work.mkdir(exist_ok=True)
    command = [*first, bench.python, "-I", "-S", str(bench.agent()), str(place), str(work), *bench.options]
    environment = {"PATH": os.environ["PATH"]}
    done = subprocess.run(command, cwd=str(work), env=environment, capture_output=True, timeout=120, check=False)
    return bench.outcome(done.returncode, done.stdout, done.stderr)


def can_be_alone() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode == 0


alone = pytest.mark.skipif(not can_be_alone(), reason="this user cannot make process namespaces")


@pytest.mark.parametrize(
    "files",
    [
        {"memory_dot_max": "536870912\n", "cpu_dot_max": "50000 100000\n", "pids_dot_max": "99\n"},
        {
            "memory__memory_dot_limit_in_bytes": "536870912\n",
            "cpu__cpu_dot_cfs_quota_us": "50000\n",
            "cpu__cpu_dot_cfs_period_us": "100000\n",
            "pids__pids_dot_max": "99\n",
        },
    ],
)
def test_the_containers_limits_are_the_programs_and_no_others(bench: Bench, files: dict[str, str]) -> None:
    bench.options = container(bench.folder, **files)
    limits = "import resource, os; print(resource.getrlimit(resource.RLIMIT_DATA)[0], len(os.sched_getaffinity(0)))"
    done = bench.run(limits, memory_bytes=1024**2)
    assert done.record["held"] == [
        "memory at most 512 MB (container)",
        "CPU at most 0.5 (container)",
        "at most 99 processes (container)",
    ]
    assert done.log == b"-1 %d\n" % len(os.sched_getaffinity(0))


def test_a_share_of_the_cpu_is_no_choice_of_processors(bench: Bench) -> None:
    bench.options = container(bench.folder, memory_dot_max=f"{1280 * 1024**2}\n", cpu_dot_max="max 100000\n")
    done = bench.run("import os; print(len(os.sched_getaffinity(0)))")
    assert "memory at most 1.25 GB (container)" in done.record["held"]
    assert "CPU is not limited, but shared (container)" in done.record["held"]
    assert done.log == b"%d\n" % len(os.sched_getaffinity(0))


def test_a_program_that_the_kernel_ended_for_memory_is_told_apart(bench: Bench) -> None:
    bench.options = container(bench.folder, memory_dot_max="536870912\n", memory_dot_events="oom_kill 0\n")
    events = bench.folder / "groups" / "memory.events"
    done = bench.run(f"import os; open({str(events)!r}, 'w').write('oom_kill 1'); os.kill(os.getpid(), 9)")
    assert (done.status, done.record["ran_out_of_memory"], done.record["reason"]) == (137, True, "it ran out of memory")


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ("oom 1\noom_kill 1", "1 process of this job was killed because the memory limit of 512 MB was reached"),
        ("oom 3\noom_kill 2", "2 processes of this job were killed because the memory limit of 512 MB was reached"),
        ("oom 0\noom_kill 1", "1 process of this job was killed because the machine ran out of memory"),
    ],
)
def test_a_program_that_ends_well_although_a_child_was_killed_for_memory_has_a_warning(
    bench: Bench, events: str, said: str
) -> None:
    bench.options = container(bench.folder, memory_dot_max="536870912\n", memory_dot_events="oom 0\noom_kill 0\n")
    file = bench.folder / "groups" / "memory.events"
    done = bench.run(f"open({str(file)!r}, 'w').write({events!r})")
    assert (done.status, done.record["reason"]) == (0, "")
    assert "ran_out_of_memory" not in done.record
    assert done.record["warnings"] == [f"{said}; its results may be incomplete"]


def test_what_was_killed_for_memory_before_a_program_began_is_not_its_own(bench: Bench) -> None:
    bench.options = container(bench.folder, memory_dot_max="536870912\n", memory_dot_events="oom 4\noom_kill 3\n")
    assert bench.run("pass").record["warnings"] == []


def test_the_program_is_to_end_before_the_agent_when_memory_is_short(bench: Bench) -> None:
    bench.options = container(bench.folder, memory_dot_max="536870912\n")
    scores = "import os\nfor pid in (os.getpid(), os.getppid()): print(open(f'/proc/{pid}/oom_score_adj').read())"
    own, agents = map(int, bench.run(scores).log.split())
    assert own > agents or agents == 1000


def test_what_does_not_end_a_line_is_shown_at_once_and_its_place_is_told(bench: Bench) -> None:
    bench.options = container(bench.folder, memory_dot_max="536870912\n")
    done = bench.run("import sys; sys.stdout.write('half'); sys.stdout.flush()")
    assert (done.log, done.printed) == (b"half", b"half")
    assert {"log": 4} in done.said


def test_a_long_log_tells_its_place_now_and_then(bench: Bench) -> None:
    bench.options = container(bench.folder, memory_dot_max="536870912\n")
    place = bench.launch([sys.executable, "-c", "for n in range(300000): print('%09d' % n)"])
    printed, _ = bench.start(place).communicate(timeout=120)
    text, said, _ = split(printed, KEY)
    places = [words["log"] for words in said if "log" in words]
    assert len(text) == 3000000
    assert places[0] <= 2 * 1024**2
    for told in places:
        mark = printed.index(b'{"log":%d}' % told)
        assert len(split(printed[: printed.rindex(b"\x1e", 0, mark)], KEY)[0]) == told


@alone
def test_what_detached_is_gone_before_outputs_are_kept(bench: Bench) -> None:
    bench.options = container(bench.folder, memory_dot_max="536870912\n")
    child = "import time; open('output/here', 'w').write('x'); time.sleep(600)"
    program = f"""
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, '-c', {child!r}], start_new_session=True, env={{}}, stdout=subprocess.DEVNULL)
while not os.path.exists('output/here'): time.sleep(0.01)
print(os.getppid())
"""
    done = contained(bench, program, *ALONE)
    assert (done.status, done.log, done.outputs, done.errors) == (0, b"1\n", {"here": b"x"}, b"")


@alone
def test_orphans_that_have_ended_take_no_place(bench: Bench) -> None:
    bench.options = container(bench.folder, memory_dot_max="536870912\n")
    program = """
import os, time
for _ in range(50):
    if os.fork() == 0:
        os._exit(0 if os.fork() else 0)
    os.wait()
def is_dead(number):
    try:
        return ') Z ' in open('/proc/%s/stat' % number).read()
    except (FileNotFoundError, ProcessLookupError):
        return False
def dead():
    return [p for p in os.listdir('/proc') if p.isdigit() and is_dead(p)]
end = time.monotonic() + 20
while dead() and time.monotonic() < end: time.sleep(0.01)
print(len(dead()))
"""
    done = contained(bench, program, *ALONE)
    assert (done.status, done.log) == (0, b"0\n")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_user_without_a_name_or_a_home_can_run_it() -> None:
    become = f"import os, sys; os.setgid({ODD_USER}); os.setuid({ODD_USER}); os.execv(sys.argv[1], sys.argv[1:])"
    words = (sys.executable, "-c", become)
    pythons = [sys.executable, *filter(None, [shutil.which("python3", path="/usr/bin")])]
    usable = [p for p in pythons if subprocess.run([*words, p, "-V"], capture_output=True, check=False).returncode == 0]
    if not usable:
        pytest.skip("others can run no Python of this machine")
    with tempfile.TemporaryDirectory() as folder:  # pytest's own folders are closed to others
        bench = bench_in(Path(folder))
        bench.python = usable[0]
        (bench.folder / "attempt").mkdir()
        bench.agent()
        for path in (bench.folder, *bench.folder.rglob("*")):
            os.chown(str(path), ODD_USER, ODD_USER)
        program = "import os; print(os.getuid(), os.environ.get('HOME')); open('output/x', 'w').write('made')"
        done = contained(bench, program, *words)
        assert (done.status, done.log, done.outputs) == (0, b"%d None\n" % ODD_USER, {"x": b"made"})
