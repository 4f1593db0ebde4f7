"""The agent: the same bytes from the same sources, and good for the oldest Python that it promises."""

from __future__ import annotations

import io
import json
import os
import pwd
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

import acai_server
from acai_jupyter.agent.build import contents
from acai_jupyter.contract.loglines import split

CARRIED = Path(acai_server.__file__).with_name("agent.pyz")
KEY = "0123456789abcdef"


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
    }


def test_it_runs_an_attempt_on_python_3_8(tmp_path: Path) -> None:
    python = old_python()
    if python is None:
        pytest.skip("this machine has no Python 3.8; `make check` reads the sources instead")
    slots = {name: (tmp_path / name).as_uri() for name in ("log", "pack", "result")}
    program = "import acai_jupyter; acai_jupyter.tag('a', 1); open('output/x', 'w').write('made')"
    launch = {
        "version": 1,
        "key": KEY,
        "job": 1,
        "command": [python, "-c", program],
        "environment": {},
        "inputs": [],
        "code": [],
        "slots": slots,
    }
    (tmp_path / "launch").write_text(json.dumps(launch))
    work = tmp_path / "work"
    work.mkdir()
    agent = tmp_path / "agent.pyz"
    agent.write_bytes(contents())
    command = [python, str(agent), (tmp_path / "launch").as_uri(), str(work)]
    done = subprocess.run(command, cwd=work, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    printed, said, _ = split(done.stdout, KEY)
    assert b"[ACAI_TAG_NUM] job a:1" in printed
    assert [words["state"] for words in said] == ["downloading", "running", "uploading"]
    assert (tmp_path / "pack").read_bytes() == b"made"
    assert json.loads((tmp_path / "result").read_text())["exit_code"] == 0
