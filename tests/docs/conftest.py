"""The documentation, built once as people build it."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import BUILT, ROOT

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def site() -> Path:
    """Run `make docs` from nothing; what is set up already is not set up again."""
    shutil.rmtree(BUILT.parent, ignore_errors=True)
    command = ["make", "--no-print-directory", "--old-file=setup", "docs"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    assert not built.stderr
    return BUILT
