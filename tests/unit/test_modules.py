"""Which modules of a project go along with a program: those that Python would import from there, and no others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acai_jupyter.client.modules import imported

PACKAGES = ["ma", "mb", "ma/sub", "mb/deep"]
MODULES = [f"{package}/{name}.py" for package in ("", *PACKAGES) for name in ("x", "y", "z")]
LOADED = """
import sys, os
sys.path.insert(0, os.getcwd())
try:
    exec(compile(open(sys.argv[1]).read(), sys.argv[1], "exec"), {"__name__": "__main__"})
except ImportError:
    sys.exit(3)
here = os.getcwd() + os.sep
files = (getattr(module, "__file__", None) for module in list(sys.modules.values()))
print("\\n".join(sorted(file[len(here):] for file in files if file and file.startswith(here))))
"""


def laid_out(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name.lstrip("/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def names(text: str, folder: Path) -> list[str]:
    return [str(one) for one in imported(text, folder)]


STATEMENTS = st.sampled_from(
    [
        *(f"import {path.strip('/').removesuffix('.py').replace('/', '.')}" for path in MODULES),
        *(f"from {package.replace('/', '.')} import {name}" for package in PACKAGES for name in ("x", "y", "z")),
        "import json, os",
        "from ma.sub.x import *",
        "import importlib; importlib.import_module('mb.deep.y')",
    ]
)
TEXTS = st.lists(STATEMENTS, max_size=2).map("\n".join)


@settings(max_examples=25, deadline=None)
@given(
    st.dictionaries(st.sampled_from(MODULES), TEXTS, max_size=8),
    st.sets(st.sampled_from(PACKAGES)),
    st.lists(STATEMENTS, min_size=1, max_size=4).map("\n".join),
)
def test_all_that_python_loads_from_the_project_goes_along(
    files: dict[str, str], packages: set[str], program: str
) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name).resolve()
        laid_out(folder, {**files, **{f"{package}/__init__.py": "" for package in packages}})
        found = names(program, folder)
        assert all((folder / one).is_file() for one in found)
        (folder / "program.txt").write_text(program)
        done = subprocess.run(
            [sys.executable, "-I", "-c", LOADED, "program.txt"],
            cwd=folder, capture_output=True, text=True, check=False, env={"PYTHONDONTWRITEBYTECODE": "1"},
        )  # fmt: skip
        if done.returncode != 3:  # what fails for want of a module fails in the job as well
            assert done.returncode == 0, done.stderr
            assert set(done.stdout.split()) <= set(found)


def test_packages_above_and_what_modules_import_themselves_are_found(tmp_path: Path) -> None:
    laid_out(tmp_path, {
        "lib/__init__.py": "from . import base",
        "lib/base.py": "from ..outside import no",
        "lib/nets/__init__.py": "",
        "lib/nets/mlp.py": "from ..losses import mse\nfrom .parts import Layer",
        "lib/nets/parts.py": "import plain",
        "lib/losses.py": "import json",
        "lib/unused.py": "",
        "plain.py": "",
    })  # fmt: skip
    assert names("from lib.nets.mlp import MLP\nimport numpy", tmp_path) == [
        "lib/__init__.py", "lib/base.py", "lib/losses.py", "lib/nets/__init__.py", "lib/nets/mlp.py",
        "lib/nets/parts.py", "plain.py",
    ]  # fmt: skip


def test_modules_that_import_each_other_come_once(tmp_path: Path) -> None:
    laid_out(tmp_path, {"a.py": "import b", "b.py": "import a"})
    assert names("import a", tmp_path) == ["a.py", "b.py"]


@pytest.mark.parametrize(
    "text", ["not python (", "", "import", "x = 'import a'", "import sys, time", "from .. import a"]
)
def test_other_texts_name_nothing(tmp_path: Path, text: str) -> None:
    laid_out(tmp_path, {"a.py": "", "sys.py": "", "time.py": ""})
    assert names(text, tmp_path) == []


def test_what_lies_elsewhere_stays_there(tmp_path: Path) -> None:
    laid_out(tmp_path, {"outside/secret.py": "", "project/venv/lib/site-packages/dep.py": ""})
    project = tmp_path / "project"
    (project / "link.py").symlink_to(tmp_path / "outside" / "secret.py")
    assert names("import link\nimport venv.lib", project) == []
