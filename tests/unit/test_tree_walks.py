"""Folder trees are walked and removed by `acai_jupyter.trees` only, which does not recurse and follows no links.

Ruff forbids the functions that do (`banned-api` in pyproject.toml); methods of paths are forbidden here.
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(path for folder in ("acai_jupyter", "server_ext") for path in (ROOT / folder).rglob("*.py"))
WALKS_OF_OTHERS = {"ast", "trees"}
"""Modules with a function `walk` that may be called: `ast.walk` goes over a syntax tree."""
FUNCTIONS = (
    "glob.glob",
    "glob.iglob",
    "os.fwalk",
    "os.removedirs",
    "os.renames",
    "os.scandir",
    "os.walk",
    "shutil.copytree",
    "shutil.move",
    "shutil.rmtree",
    "tempfile.TemporaryDirectory",
)


def tree_walks(text: str) -> list[int]:
    """Return the lines that walk a tree by a method of a path."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    return [call.lineno for call in calls if isinstance(call.func, ast.Attribute) and _walks(call, call.func)]


def _walks(call: ast.Call, method: ast.Attribute) -> bool:
    if method.attr == "walk":
        return not (isinstance(method.value, ast.Name) and method.value.id in WALKS_OF_OTHERS)
    if method.attr == "glob":
        if isinstance(method.value, ast.Call) and getattr(method.value.func, "id", "") == "super":
            return False  # of a file system of ours, which is no folder on a disk
        pattern = call.args[0] if call.args else None
        return not (isinstance(pattern, ast.Constant) and "**" not in str(pattern.value))
    return method.attr == "rglob"


@pytest.mark.parametrize(
    "line",
    [
        "folder.rglob('*')",
        "Path('x').walk()",
        "folder.glob('**')",
        "folder.glob('**/*.py')",
        "folder.glob(pattern)",
        "folder.glob(pattern='*')",
        "self.folder.walk()",
    ],
)
def test_a_walk_by_a_method_of_a_path_is_found(line: str) -> None:
    assert tree_walks(f"from x import y\n{line}\n") == [2]


def test_the_names_in_one_folder_and_other_walks_are_no_tree_walks() -> None:
    assert tree_walks("folder.glob('*.json')\nast.walk(node)\ntrees.walk('x')\nwalk('x')\nfolder.iterdir()") == []


def test_no_path_is_walked_by_its_own_methods() -> None:
    assert len(SOURCES) > 400
    found = {path: tree_walks(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert [f"{path}:{line}" for path, lines in found.items() for line in lines] == []


@pytest.mark.parametrize("place", ["acai_jupyter/client", "acai_jupyter/agent", "server_ext/acai_server/runners"])
def test_ruff_forbids_the_functions_that_recurse_or_follow_links(place: str) -> None:
    modules = sorted({name.partition(".")[0] for name in FUNCTIONS})
    lines = [*(f"import {module}" for module in modules), *(f"print({name})" for name in FUNCTIONS)]
    options = ("--no-cache", "--select", "TID251", "--output-format", "concise", "--stdin-filename", f"{place}/new.py")
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", *options, "-"],
        input="\n".join(lines) + "\n",
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert [name for name in FUNCTIONS if f"`{name}` is banned" not in done.stdout] == [], done.stdout + done.stderr


def test_each_exception_has_its_reason() -> None:
    without = []
    for path in SOURCES:
        with tokenize.open(path) as file:
            comments = [token for token in tokenize.generate_tokens(file.readline) if token.type == tokenize.COMMENT]
        for token in comments:
            rest = token.string.partition("TID251")[2]
            if "TID251" in token.string and not (rest.startswith(" (") and rest.endswith(")")):
                without.append(f"{path}:{token.start[0]}")
    assert without == []
