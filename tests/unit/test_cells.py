"""What of a cell is refused before it becomes a job, and what is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.commands import cells, notebooks
from acai_jupyter.contract.environments import Lock
from acai_jupyter.contract.errors import BadRequest

if TYPE_CHECKING:
    from pathlib import Path


def refused(text: str) -> str:
    with pytest.raises(BadRequest) as told:
        cells.check(text)
    assert len(told.value.message.splitlines()) == 1
    return told.value.message


@pytest.mark.parametrize(
    ("text", "number", "instead"),
    [
        ("!ls", 1, "subprocess.run('ls', shell=True, check=True)"),
        ("x = 1\n%time x", 2, "perf_counter"),
        ("import os\n\nif True:\n    !ls {x}", 4, "subprocess.run('ls {x}'"),
        ("%matplotlib inline", 1, "figures are shown without it"),
        ("files = !ls 'a b'", 1, "subprocess.getoutput(\"ls 'a b'\")"),
        ("a['x'] = !ls", 1, "getoutput"),
        ("x = %pwd", 1, "os.getcwd"),
        ("%%time\nx = 1", 1, "perf_counter"),
        ("%%bash\nfor a in 'b; do", 1, "bash"),
        ("%%html\n<b>it's</b>", 1, "another cell"),
        ("print(1)\n?print", 2, "help"),
        ("print?", 1, "help"),
        ("x.y??", 1, "help"),
        ("%pip install numpy", 1, "where the kernel runs"),
        ("pip install numpy", 1, "where the kernel runs"),
        ("cd data", 1, "os.chdir"),
        ("!!ls", 1, "subprocess.run('ls'"),
        ("!echo '\nx = 'open", 1, "subprocess"),
        ("for x in y:\n    %run other.py", 2, "submit"),
        ("x = [\n  1,\n]\n!ls", 4, "subprocess"),
        ('"""\n!not this\n"""\n!ls', 4, "subprocess"),
        ("/print 1", 1, "parentheses"),
    ],
)
def test_what_is_ipythons_is_refused_with_its_line_and_the_way_to_do_it(text: str, number: int, instead: str) -> None:
    message = refused(text)
    assert message.startswith(f"Line {number} ")
    assert "plain Python" in message
    assert instead in message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "await x",
        "async for a in b:\n    pass",
        "x = 3 %2",
        "x = (1\n  %time)",
        "a = b \\\n  %c",
        "'''\n!ls\n%time\nwhat?\n'''",
        "ls -la",
        "x != y",
        "print('%s' % x)",
        "'\\d'",
        "1 is 1",
        "def f():\n    return 1\n\n\nf()",
        "match x:\n    case 1:\n        pass",
        "# !ls\n# %time",
    ],
)
def test_what_is_python_is_not_refused(text: str) -> None:
    cells.check(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("x = 1\nx = = 2", 2),
        ("x = = 2\n!ls", 1),
        ("print 'a'", 1),
        ("x = (1,\n!ls", 1),
        ("if x:\npass", 2),
        ("x\0", 1),
        ("(" * 500, 1),
    ],
)
def test_what_is_not_python_is_refused_with_its_line(text: str, number: int) -> None:
    assert refused(text).startswith(f"Line {number} is not Python: ")


# -- notebooks


def notebook(folder: Path, *cells: Any, **metadata: Any) -> Path:
    path = folder / "analysis.ipynb"
    whole = [
        cell if isinstance(cell, dict) else {"cell_type": "code", "source": cell, "metadata": {}} for cell in cells
    ]
    path.write_text(json.dumps({"cells": whole, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}))
    return path


def test_what_imports_are_looked_for_in_is_the_plain_python_of_a_notebook(tmp_path: Path) -> None:
    markdown = {"cell_type": "markdown", "source": "!ls", "metadata": {}}
    path = notebook(
        tmp_path, ["x = 1\n", "y = 2"], markdown, "", "import lib\nfiles = !ls\n%time x", "%%bash\nls", "x +"
    )
    assert notebooks.program(path) == "x = 1\ny = 2\n\nimport lib\npass\npass\n\npass\nls\n\n\n"


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"cells": 1}', '{"cells": [{}]}', "\udcff", "[" * 100_000])
def test_what_is_no_notebook_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "no.ipynb"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadRequest, match="not a notebook that can be read"):
        notebooks.program(path)


def test_a_notebook_in_another_language_or_without_code_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="is in R"):
        notebooks.program(notebook(tmp_path, "x <- 1", kernelspec={"language": "R"}))
    with pytest.raises(BadRequest, match="has no code"):
        notebooks.program(notebook(tmp_path))


def test_a_notebook_of_an_old_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps({"cells": [], "nbformat": 3}))
    with pytest.raises(BadRequest, match="another format than 4"):
        notebooks.program(path)


@pytest.mark.parametrize(
    ("packages", "missing"),
    [("", "papermill and ipykernel"), ("papermill==2.7\n", "ipykernel"), ("ipykernel==7", "papermill")],
)
def test_an_environment_that_cannot_run_a_notebook_is_told_before(packages: str, missing: str) -> None:
    with pytest.raises(BadRequest, match=rf"the environment of --env lacks {missing}: add "):
        notebooks.check_environment(Lock(packages, "3.12"), is_local=True)


def test_what_is_elsewhere_is_not_known_here() -> None:
    notebooks.check_environment(None, is_local=False)
    notebooks.check_environment(Lock("ipykernel==7\npapermill==2.7\n", "3.12"), is_local=True)
