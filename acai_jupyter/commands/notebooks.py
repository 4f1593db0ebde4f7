"""A notebook as a program: whether it can be one, and what of its text can be looked through before it runs."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from acai_jupyter.commands import cells
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from acai_jupyter.contract.environments import Lock

SUFFIX = ".ipynb"
NEEDED = ("papermill", "ipykernel")
"""What the Python that runs a notebook must have."""


def program(path: Path) -> str:
    """Return the code as far as it is plain Python: what imports are looked for in. What is no notebook is refused."""
    found = _code_cells(path)
    if not found:
        raise BadRequest(f"{one_line(str(path))} has no code.")
    return "\n\n".join(map(cells.without_ipython, found)) + "\n"


def check_environment(lock: Lock | None, *, is_local: bool) -> None:
    """Refuse to submit a notebook to a Python that cannot run one, as far as that is known here."""
    if lock is not None:
        missing = [name for name in NEEDED if name not in lock.packages]
        where, remedy = "the environment of --env", "add"
    else:
        missing = [name for name in NEEDED if is_local and find_spec(name) is None]
        where, remedy = sys.executable, "pip install"
    if missing:
        names = " and ".join(missing)
        raise BadRequest(
            f"A notebook is run by papermill with ipykernel, and {where} lacks {names}: {remedy} {' '.join(missing)}."
        )


def _code_cells(path: Path) -> list[str]:
    try:
        notebook = json.loads(path.read_text(encoding="utf-8-sig"))
        sources = [_source(cell) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        language = (notebook.get("metadata") or {}).get("kernelspec", {}).get("language", "python")
        is_known = notebook["nbformat"] == 4  # noqa: PLR2004 (the only one with cells)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadRequest(f"{one_line(str(path))} is not a notebook that can be read.") from error
    if not is_known:
        raise BadRequest(f"{one_line(str(path))} is a notebook of another format than 4; save it anew in JupyterLab.")
    if language.lower() != "python":
        raise BadRequest(f"{one_line(str(path))} is in {one_line(language)}; only notebooks in Python run as jobs.")
    return [source for source in sources if source.strip()]


def _source(cell: dict[str, Any]) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)
