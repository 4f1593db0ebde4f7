"""The agent: the same bytes from the same sources, and good for the oldest Python that it promises."""

from __future__ import annotations

import io
import os
import pwd
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import acai_server
from acai_jupyter.agent.build import contents
from tests.agents import bench_in

CARRIED = Path(acai_server.__file__).with_name("agent.pyz")


def files(archive: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def old_python() -> str | None:
    """A Python 3.8 of this machine, also one of pyenv's, whose programs on the PATH answer only for some."""
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)  # tests have another HOME
    places = [str(path) for path in home.glob(".pyenv/versions/3.8.*/bin/python3.8")]
    found = [*places, *filter(None, [shutil.which("python3.8")])]
    return next((path for path in found if _answers(path)), None)


def _answers(python: str) -> bool:
    return subprocess.run([python, "-V"], capture_output=True, check=False).returncode == 0


def test_the_same_sources_give_the_same_bytes() -> None:
    assert contents() == contents()


@pytest.mark.parametrize("word", ["--help", "--no-such-option"])
def test_an_option_of_its_build_is_no_file_to_write(tmp_path: Path, word: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "acai_jupyter.agent.build", word], cwd=tmp_path, capture_output=True, check=False
    )
    assert b"usage: " in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_its_build_writes_where_it_is_told_to(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "acai_jupyter.agent.build", "agent.pyz"], cwd=tmp_path, check=True)
    assert (tmp_path / "agent.pyz").read_bytes() == contents()


def test_the_server_carries_the_agent_of_these_sources() -> None:
    assert files(CARRIED.read_bytes()) == files(contents()), "run `make setup`"


def test_it_carries_only_what_runs_without_us() -> None:
    names = set(files(contents()))
    assert {"__main__.py", "acai_jupyter/__init__.py", "acai_jupyter/contract/loglines.py"} <= names
    assert {Path(name).parent.as_posix() for name in names} == {
        ".",
        "acai_jupyter",
        "acai_jupyter/agent",
        "acai_jupyter/contract",
        "acai_jupyter/transfer",
        "stand_in/acai_jupyter",
        "stand_in/acai_jupyter/contract",
    }


def test_it_runs_an_attempt_on_python_3_8(tmp_path: Path) -> None:
    python = old_python()
    if python is None:
        pytest.skip("this machine has no Python 3.8; `make check` reads the sources instead")
    bench = bench_in(tmp_path)
    bench.python = python
    done = bench.run("import acai_jupyter; acai_jupyter.tag('a', 1); open('output/x', 'w').write('made')")
    assert (done.status, done.errors) == (0, b"")
    assert b"[ACAI_TAG_NUM] job a:1" in done.log
    assert done.outputs == {"x": b"made"}
    assert done.record["environment"]["python"].startswith("3.8.")


def test_it_runs_a_cell_on_python_3_8(tmp_path: Path) -> None:
    python = old_python()
    if python is None:
        pytest.skip("this machine has no Python 3.8; `make check` reads the sources instead")
    bench = bench_in(tmp_path)
    bench.python = python
    assert bench.run_cell("import asyncio\nawait asyncio.sleep(0, 5)").status == 0
    assert [shown["data"] for shown in bench.displays()] == [{"text/plain": "5"}]


def test_with_bytecode_it_is_the_same_agent(tmp_path: Path) -> None:
    bench = bench_in(tmp_path)
    plain = bench.agent()
    subprocess.run([bench.python, str(plain), "compile", str(tmp_path / "compiled")], check=True)
    sources = files(plain.read_bytes())
    both = files((tmp_path / "compiled").read_bytes())
    assert {name: both[name] for name in sources} == sources
    assert {name + "c" for name in sources} == set(both) - set(sources)
    plain.write_bytes((tmp_path / "compiled").read_bytes())
    assert bench.run("print('said')").log == b"said\n"


def test_it_is_small(tmp_path: Path) -> None:
    assert bench_in(tmp_path).agent().stat().st_size < 1024**2
