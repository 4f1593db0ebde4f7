"""Environments that travel: packed on one machine, unpacked as those of another's Python."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.agent.environments import BuildFailed
from acai_jupyter.agent.packed import unpacked
from acai_jupyter.client import locks, packed
from acai_jupyter.contract.errors import BadRequest
from tests.wheels import requirements, wheel

if TYPE_CHECKING:
    from acai_jupyter.contract.environments import Lock

HERE = "{}.{}".format(*sys.version_info[:2])


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    wheel(tmp_path / "wheels", "greeter", "1.2", "def main():\n    print('hello')\n")
    (tmp_path / "requirements.txt").write_text(requirements(tmp_path / "wheels", "greeter"))
    return tmp_path / "requirements.txt"


def locked(file: Path) -> Lock:
    return locks.lock(file, python=HERE, platform=locks.PLATFORM)


def test_a_packed_environment_is_one_of_the_python_that_is_there(wheels: Path, tmp_path: Path) -> None:
    lock = locked(wheels)
    archive = tmp_path / "archive"
    archive.write_bytes(packed.archive(lock, sys.executable).read_bytes())
    path = unpacked(str(archive), str(tmp_path), {"python": lock.python})
    python = Path(path) / "bin" / "python"
    said = subprocess.check_output([python, "-c", "import greeter, sys; greeter.main(); print(sys.prefix)"], text=True)
    assert said.split() == ["hello", path]
    assert not archive.exists()


def test_the_same_lock_is_packed_once_and_always_the_same(wheels: Path) -> None:
    lock = locked(wheels)
    first = packed.archive(lock, sys.executable)
    body, made = first.read_bytes(), first.stat().st_mtime_ns
    assert packed.archive(lock, sys.executable).stat().st_mtime_ns == made
    first.unlink()
    assert packed.archive(lock, sys.executable).read_bytes() == body


def test_what_cannot_be_had_for_the_image_is_said_before_anything_is_submitted(wheels: Path) -> None:
    wheels.write_text(requirements(wheels.parent / "wheels", "nobody-made-this"))
    with pytest.raises(BadRequest, match="cannot be locked"):
        locked(wheels)


def test_an_environment_for_another_python_is_refused_with_both_versions(tmp_path: Path) -> None:
    with pytest.raises(BuildFailed, match=f"it is for Python 3.7, and the image has Python {HERE}"):
        unpacked(str(tmp_path / "archive"), str(tmp_path), {"python": "3.7.1"})


def test_scripts_are_run_by_the_python_that_is_there_and_nothing_is_written_outside(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("#!/of/who/packed/python3\nprint('run')\n")
    with tarfile.open(tmp_path / "archive", "w:gz") as tar:
        tar.add(tmp_path / "tool", "bin/tool")
    path = unpacked(str(tmp_path / "archive"), str(tmp_path / "a"), {"python": HERE})
    assert (Path(path) / "bin" / "tool").read_text() == f"#!{path}/bin/python\nprint('run')\n"
    with tarfile.open(tmp_path / "evil", "w:gz") as tar:
        tar.add(tmp_path / "tool", "../../tool")
    with pytest.raises(BuildFailed, match=r"has '\.\./\.\./tool' in it"):
        unpacked(str(tmp_path / "evil"), str(tmp_path / "b"), {"python": HERE})
    assert not os.path.lexists(tmp_path / "b" / "tool")
