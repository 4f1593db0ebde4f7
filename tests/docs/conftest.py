"""The documentation, built once as people build it."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import BUILT, ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run `make docs` from nothing, once for all processes of a run; what is set up already is not set up again."""
    of_run = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        of_run = of_run.parent
    is_built = of_run / "docs-are-built"
    with (of_run / "docs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_built.exists():
            _build()
            is_built.touch()
    return BUILT


def _build() -> None:
    shutil.rmtree(BUILT.parent, ignore_errors=True)
    command = ["make", "--no-print-directory", "--old-file=setup", "docs"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert not built.stderr
