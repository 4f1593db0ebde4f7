"""Environments from locks: by the real zipapp and the real uv, over wheels made here."""

from __future__ import annotations

import fcntl
import json
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.client import locks
from acai_jupyter.contract.environments import BUILT, Lock
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.loglines import tags
from tests.agents import Bench, bench_in
from tests.unit.test_agent_attempt import wait_for
from tests.wheels import requirements, wheel

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

TELLS = """
import os, sys, tiny, acai_jupyter
acai_jupyter.tag("value", tiny.VALUE)
print(sys.prefix == os.environ["VIRTUAL_ENV"], os.environ["PATH"].startswith(os.path.dirname(sys.executable)))
print([name for name in os.environ if name.startswith("UV_") or name.endswith("_proxy")])
"""
WAITS = "print('waits', flush=True); import signal; signal.pause()"


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    wheel(folder, "tiny", "1.0", "import tinier\nVALUE = tinier.VALUE\n", "tinier>=1")
    wheel(folder, "tinier", "1.0", "VALUE = 1\n")
    wheel(folder, "tinier", "2.0", "VALUE = 2\n")
    return folder


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = bench_in(tmp_path)
    bench.options += ["--environments", str(tmp_path / "environments"), "--environments-bytes", str(2**30)]
    return bench


def locked(folder: Path, *names: str) -> Lock:
    file = folder / "requirements.txt"
    file.write_text(requirements(folder / "wheels", *names))
    return locks.lock(file)


def start(bench: Bench, lock: Lock, program: str, *, agent: str = "") -> subprocess.Popen[bytes]:
    plain = {"requirements": lock.requirements, "python": lock.python, "interpreter": lock.interpreter}
    place = bench.launch(["python", "-c", program], lock=plain, lock_key=lock.key + agent)
    return bench.start(place)


def built(folder: Path) -> dict[str, Any]:
    return {path.parent.name: json.loads(path.read_text()) for path in (folder / "environments").glob(f"*/{BUILT}")}


@pytest.mark.usefixtures("wheels")
def test_a_program_runs_in_an_environment_that_is_built_once(bench: Bench, tmp_path: Path) -> None:
    lock = locked(tmp_path, "tiny")
    assert lock.packages == {"tiny": "1.0", "tinier": "2.0"}
    bench.environment = {"UV_INDEX_OWN_PASSWORD": "of builds", "https_proxy": "http://127.0.0.1:1"}
    first = bench.end(start(bench, lock, TELLS))
    assert (first.status, first.record["reason"]) == (0, ""), first.log
    log = first.log.decode()
    assert log.startswith("building the environment with uv: Python 3.")
    assert " + tiny==1.0\n" in log
    assert log.endswith("True True\n[]\n")
    assert tags(log, "")["job"] == {"value": 2}
    assert first.record["environment"]["packages"] == lock.packages
    assert list(built(tmp_path)) == [lock.key]
    second = bench.end(start(bench, lock, TELLS))
    assert (second.status, b"uv" in second.log) == (0, False)


def test_a_library_that_caches_compiled_code_does_not_change_the_environment(
    bench: Bench, tmp_path: Path, wheels: Path
) -> None:
    compiles = (
        "import os\n"
        "folder = os.environ.get('NUMBA_CACHE_DIR') or os.path.join(os.path.dirname(__file__), '__pycache__')\n"
        "os.makedirs(folder, exist_ok=True)\n"
        "open(os.path.join(folder, 'index.nbi'), 'w').close()\n"
    )
    wheel(wheels, "compiles", "1.0", compiles)
    lock = locked(tmp_path, "compiles")
    for _ in range(2):
        done = bench.end(start(bench, lock, "import compiles"))
        assert (done.status, done.record["warnings"]) == (0, []), done.log
    assert b"building" not in done.log
    own = str(tmp_path / "own")
    bench.environment = {"NUMBA_CACHE_DIR": own, "PYTHONDONTWRITEBYTECODE": ""}
    done = bench.end(start(bench, lock, "import compiles, sys; print(sys.dont_write_bytecode)"))
    assert (done.status, b"False" in done.log) == (0, True)
    assert (tmp_path / "own" / "index.nbi").exists()


@pytest.mark.usefixtures("wheels")
def test_what_cannot_be_built_fails_the_job_with_the_reason(bench: Bench, tmp_path: Path) -> None:
    lock = locked(tmp_path, "tiny")
    needed = tmp_path / "wheels" / "tinier-2.0-py3-none-any.whl"
    needed.rename(tmp_path / needed.name)
    done = bench.end(start(bench, lock, "print('ran')"))
    assert done.status == 125
    assert done.record["reason"].startswith("its environment could not be built: error: ")
    assert "tinier" in done.record["reason"]
    assert b"ran" not in done.log
    assert built(tmp_path) == {}
    (tmp_path / needed.name).rename(needed)
    assert bench.end(start(bench, lock, "print('ran')")).status == 0


@pytest.mark.usefixtures("wheels")
def test_a_changed_wheel_of_the_same_version_is_not_taken_for_the_one_that_was_locked(
    bench: Bench, tmp_path: Path
) -> None:
    lock = locked(tmp_path, "tinier")
    wheel(tmp_path / "wheels", "tinier", "2.0", "VALUE = 'another'\n")
    done = bench.end(start(bench, lock, "print('ran')"))
    assert (done.status, "ash" in done.record["reason"]) == (125, True), done.record["reason"]
    assert locked(tmp_path, "tinier").key != lock.key


@pytest.mark.usefixtures("wheels")
def test_what_is_in_use_stays_and_what_was_not_used_for_longest_goes(bench: Bench, tmp_path: Path) -> None:
    bench.options[-1] = "1"
    one, other, third = locked(tmp_path, "tiny"), locked(tmp_path, "tinier"), locked(tmp_path, "tinier<2")
    running = start(bench, one, WAITS)
    wait_for(running, b"waits")
    assert bench.end(start(bench, other, "")).status == 0
    assert set(built(tmp_path)) == {one.key, other.key}
    running.send_signal(signal.SIGTERM)
    bench.end(running)
    assert bench.end(start(bench, third, "")).status == 0
    assert set(built(tmp_path)) == {third.key}


@pytest.mark.usefixtures("wheels")
def test_two_that_want_the_same_at_once_build_it_once(bench: Bench, tmp_path: Path) -> None:
    lock = locked(tmp_path, "tiny")
    both = [start(bench, lock, "import tiny") for _ in range(2)]
    logs = [process.communicate(timeout=120)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert sum(b"building the environment" in log for log in logs) == 1


@pytest.mark.usefixtures("wheels")
def test_one_whose_building_was_cut_off_is_built_anew(bench: Bench, tmp_path: Path) -> None:
    lock = locked(tmp_path, "tiny")
    left = tmp_path / "environments" / lock.key
    left.mkdir(parents=True)
    (left / "half").write_text("built")
    assert bench.end(start(bench, lock, "import tiny")).status == 0
    assert not (left / "half").exists()


CHANGES = """
import os, tinier
path = tinier.__file__ if {kind!r} == "module" else tinier.__cached__
before = os.stat(path)
content = open(path, "rb").read()
with open(path, "r+b") as file:
    file.write(content[:-1] + b"#")
os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
"""
READS = "import tinier; print('value', tinier.VALUE)"


@pytest.mark.usefixtures("wheels")
@pytest.mark.parametrize("kind", ["module", "bytecode"])
def test_an_environment_that_a_program_has_changed_is_built_again_for_the_next(
    bench: Bench, tmp_path: Path, kind: str
) -> None:
    lock = locked(tmp_path, "tinier")
    assert bench.end(start(bench, lock, CHANGES.format(kind=kind))).status == 0
    done = bench.end(start(bench, lock, READS))
    assert done.log.startswith(b"a program has changed the environment; it is built again\n")
    assert done.log.endswith(b"value 2\n")
    assert done.record["warnings"] == ["its environment had been changed by a program and was built again"]
    again = bench.end(start(bench, lock, READS))
    assert (again.log, again.record["warnings"]) == (b"value 2\n", [])


@pytest.mark.usefixtures("wheels")
def test_a_changed_environment_that_others_use_is_left_to_them_and_built_for_the_next_alone(
    bench: Bench, tmp_path: Path
) -> None:
    lock = locked(tmp_path, "tinier")
    running = start(bench, lock, CHANGES.format(kind="module") + WAITS)
    wait_for(running, b"waits")
    done = bench.end(start(bench, lock, READS + "; import sys; print(sys.prefix)"))
    assert b"value 2\n" in done.log
    assert str(tmp_path / "environments").encode() not in done.log
    running.send_signal(signal.SIGTERM)
    bench.end(running)


@pytest.mark.usefixtures("wheels")
def test_an_environment_of_an_earlier_version_is_used_and_then_watched(bench: Bench, tmp_path: Path) -> None:
    lock = locked(tmp_path, "tinier")
    assert bench.end(start(bench, lock, READS)).status == 0
    about = tmp_path / "environments" / lock.key / BUILT
    about.write_text('{"size_bytes": 1000, "seconds": 1.0}')
    assert bench.end(start(bench, lock, READS)).log == b"value 2\n"
    assert bench.end(start(bench, lock, CHANGES.format(kind="module"))).log == b""
    assert b"it is built again" in bench.end(start(bench, lock, READS)).log


@pytest.mark.usefixtures("wheels")
def test_who_waits_for_another_to_build_it_can_be_stopped(bench: Bench, tmp_path: Path) -> None:
    lock = locked(tmp_path, "tiny")
    folder = tmp_path / "environments"
    folder.mkdir()
    with (folder / f"{lock.key}.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = start(bench, lock, "print('ran')")
        wait_for(waiting, b"another job is building")
        waiting.send_signal(signal.SIGTERM)
        done = bench.end(waiting)
    assert (done.record["was_stopped"], done.record["reason"]) == (True, "it was stopped")
    assert done.log == b"waiting for the environment, which another job is building\n"


@pytest.mark.usefixtures("wheels")
def test_without_a_place_to_keep_it_each_attempt_builds_its_own(bench: Bench, tmp_path: Path) -> None:
    bench.options.clear()
    lock = locked(tmp_path, "tiny")
    assert bench.end(start(bench, lock, "import tiny")).status == 0
    assert (tmp_path / "attempt0" / "environments" / lock.key / BUILT).exists()
    assert not (tmp_path / "environments").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("no-such-package", "requirements.txt cannot be locked: No solution found"),
        ("-e ./own", "requirements.txt names -e ./own, which is not the same tomorrow"),
        ("./wheels/tinier-1.0-py3-none-any.whl", "requirements.txt names ./wheels/tinier-1.0-py3-none-any.whl"),
        ("--index-url https://me:word@packages.example/simple", "has a password for packages.example in it"),
        ("tiny ===", "requirements.txt cannot be locked: "),
    ],
)
def test_what_cannot_be_locked_is_one_sentence(tmp_path: Path, wheels: Path, line: str, said: str) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "pyproject.toml").write_text('[project]\nname = "own"\nversion = "1"\n')
    file = tmp_path / "requirements.txt"
    file.write_text(f"{line}\n{requirements(wheels, 'tinier')}")
    with pytest.raises(BadRequest) as told:
        locks.lock(file)
    assert said in told.value.message
    assert "word@" not in told.value.message
    assert len(told.value.message.splitlines()) == 1


def test_places_of_wheels_are_named_as_they_are_found_from_everywhere(tmp_path: Path, wheels: Path) -> None:
    (tmp_path / "requirements.txt").write_text("--find-links ./wheels\n--no-index  # nowhere else\ntinier\n")
    lock = locks.lock(tmp_path / "requirements.txt")
    assert lock.requirements.startswith(f"--no-index\n--find-links {wheels}\n")
    assert "--hash=sha256:" in lock.requirements
    assert (lock.python, lock.interpreter) == ("{}.{}.{}".format(*sys.version_info[:3]), sys.executable)


def test_a_lock_for_another_python_names_no_interpreter(tmp_path: Path, wheels: Path) -> None:
    (tmp_path / "requirements.txt").write_text(requirements(wheels, "tinier"))
    other = locks.lock(tmp_path / "requirements.txt", python="3.12")
    assert (other.python, other.interpreter) == ("3.12", "")


def test_without_uv_it_is_said_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "requirements.txt").write_text("")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        BadRequest, match=r"--env needs uv, and there is none beside .*/python; install it there: pip inst"
    ):
        locks.lock(tmp_path / "requirements.txt", str(tmp_path / "python"))
