"""Whether JupyterLab finds our extension: what is installed where this server would serve it from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.checkups import Check, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

EXTENSION = "acai-jupyter"
_NAME = "browser extension"


def look(version: str, data: Iterable[str], config: Iterable[str]) -> Check:
    """Compare the extension in Jupyter's data folders, the first of which counts, with the server's version."""
    found = next(
        filter(None, (_read(Path(folder, "labextensions", EXTENSION, "package.json")) for folder in data)), None
    )
    if found is None:
        said = "It is not installed where JupyterLab looks; pip install acai-jupyter in JupyterLab's environment."
        return Check(_NAME, Finding.FAILED, said)
    theirs = found.get("version")
    if theirs != version:
        said = f"It is {theirs} and the server {version}; install one version for both, and reload the page."
        return Check(_NAME, Finding.FAILED, said)
    if any(_is_disabled(Path(folder, "labconfig", "page_config.json")) for folder in config):
        return Check(_NAME, Finding.FAILED, f"It is disabled; jupyter labextension enable {EXTENSION}")
    return Check(_NAME, Finding.OK, str(theirs))


def _is_disabled(path: Path) -> bool:
    disabled = (_read(path) or {}).get("disabledExtensions", {})
    names = disabled if isinstance(disabled, list) else [name for name, is_so in dict(disabled).items() if is_so]
    return any(str(name).partition(":")[0] == EXTENSION for name in names)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        said = json.loads(path.read_text())
    except (OSError, ValueError):
        return None
    return said if isinstance(said, dict) else None
