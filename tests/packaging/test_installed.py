"""The wheel in an environment without Node: JupyterLab finds it, and heavy libraries wait for their first use."""

from __future__ import annotations

import json
import re
import shutil
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.packaging.distributions import Installation

pytestmark = pytest.mark.timeout(300)  # the first one builds and installs the wheel

HEAVY = {
    "alembic",
    "boto3",
    "ipycytoscape",
    "kubernetes",
    "networkx",
    "numpy",
    "pandas",
    "psycopg",
    "sqlalchemy",
    "statsmodels",
}


def loaded_by(program: str, installed: Installation, home: Path) -> set[str]:
    """Return the names of the top-level modules that are loaded after a program ran."""
    report = "import json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    said = installed.run("python", "-c", f"{program}\n{report}", home=home)
    return set(json.loads(said.splitlines()[-1]))


def test_there_is_no_node_on_its_path(installed: Installation, tmp_path: Path) -> None:
    assert shutil.which("node", path=installed.environment(tmp_path)["PATH"]) is None


def test_the_server_extension_is_enabled_and_ok(installed: Installation, tmp_path: Path) -> None:
    listed = installed.run("jupyter", "server", "extension", "list", home=tmp_path)
    assert re.search(r"^ +acai_server .*enabled", listed, re.MULTILINE)
    assert re.search(r"^ +acai_server \S+ .*OK", listed, re.MULTILINE)


def test_the_lab_extension_is_enabled_and_ok(installed: Installation, tmp_path: Path) -> None:
    listed = installed.run("jupyter", "labextension", "list", home=tmp_path)
    assert re.search(r"^ +acai-jupyter v\S+ .*enabled.*OK.*\(python, acai-jupyter\)", listed, re.MULTILINE)


def test_importing_the_package_loads_nothing_but_itself(installed: Installation, tmp_path: Path) -> None:
    loaded = loaded_by("import acai_jupyter", installed, tmp_path)
    assert "acai_jupyter" in loaded
    assert not loaded & (HEAVY | {"msgspec", "IPython", "urllib3", "jupyter_server", "tornado"})


def test_importing_the_server_extension_loads_no_heavy_library(installed: Installation, tmp_path: Path) -> None:
    loaded = loaded_by("import acai_server.app", installed, tmp_path)
    assert {"acai_server", "jupyter_server"} <= loaded
    assert not loaded & HEAVY


def test_loading_the_magics_loads_no_heavy_library(installed: Installation, tmp_path: Path) -> None:
    program = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
shell.run_line_magic("load_ext", "acai_jupyter")
assert shell.find_line_magic("acai") and shell.find_cell_magic("acai")
"""
    assert not loaded_by(program, installed, tmp_path) & HEAVY


def test_the_commands_explain_themselves(installed: Installation, tmp_path: Path) -> None:
    assert "usage: acai " in installed.run("acai", "--help", home=tmp_path)
    assert "usage: acai-server " in installed.run("acai-server", "--help", home=tmp_path)
    assert "--AcaiApp.data_folder" in installed.run("jupyter", "acai", "--help-all", home=tmp_path)
