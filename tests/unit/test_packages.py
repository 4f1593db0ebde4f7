"""What the packages show, and what they keep to themselves."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import acai_jupyter
import acai_server

ROOT = Path(__file__).parents[2]
SERVER = Path(acai_server.__file__).parent


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_public_names_are_sorted_and_there() -> None:
    assert acai_jupyter.__all__ == sorted(acai_jupyter.__all__)
    assert all(getattr(acai_jupyter, name) is not None for name in acai_jupyter.__all__)
    assert dir(acai_jupyter) == acai_jupyter.__all__


def test_the_version_is_that_of_the_panel() -> None:
    version = json.loads((ROOT / "package.json").read_text())["version"]
    assert (acai_jupyter.__version__, acai_server.__version__) == (version, version)


def test_only_the_shipped_suites_import_pytest() -> None:
    testing = SERVER / "testing"
    others = [path for path in SERVER.rglob("*.py") if testing not in path.parents]
    for path in [*others, *Path(acai_jupyter.__file__).parent.rglob("*.py")]:
        assert not {name for name in imports(path) if name.split(".")[0] == "pytest"}, path
        assert not {name for name in imports(path) if name.startswith("acai_server.testing")}, path
