"""What sets up a machine that has less than this one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).with_name("uv")


@pytest.mark.timeout(300)
def test_a_machine_without_node_gets_it_from_a_wheel(tmp_path: Path) -> None:
    venv, tools = tmp_path / "venv", tmp_path / "tools"
    subprocess.run([UV, "venv", "--quiet", "--python", sys.executable, venv], check=True)
    tools.mkdir()
    for name in ("sh", "ln", "chmod", "cat"):
        (tools / name).symlink_to(shutil.which(name) or name)
    bare = os.environ | {"PATH": f"{venv / 'bin'}:{tools}"}
    assert shutil.which("node", path=bare["PATH"]) is None
    subprocess.run(["sh", ROOT / ".ci" / "node.sh", UV, venv / "bin"], env=bare, check=True)
    for program in ("node", "npm"):
        assert subprocess.run([venv / "bin" / program, "--version"], env=bare, check=True, capture_output=True).stdout
