"""Sphinx builds the documentation with this. What the code knows better than we do is written in by `fill`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from acai_jupyter._version import __version__
from acai_jupyter.contract.endpoints import ALL, Access
from acai_jupyter.contract.states import Role, Scope
from acai_server.app import AcaiApp
from acai_server.cluster import ClusterSettings
from acai_server.credentials.permissions import ALLOWED, GLOBAL_ADMIN, SCOPES
from acai_server.runners.kubernetes import calls
from acai_server.team import TeamSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sphinx.application import Sphinx

project = "ACAI for Jupyter"
author = "ACAI for Jupyter developers"
copyright = "2026, ACAI for Jupyter developers"
version = release = __version__

extensions = ["myst_parser"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline"]
nitpicky = True
smartquotes = False  # quotes belong to messages and values, and are copied

html_theme = "pydata_sphinx_theme"
html_title = f"{project} {version}"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": project},
    "navbar_end": ["theme-switcher"],
    "primary_sidebar_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
}


def endpoints() -> str:
    """Return the table of routes."""
    found = sorted(ALL, key=lambda endpoint: (endpoint.path, endpoint.method))
    rows = ((f"`{e.method} {e.path}`", f"{e.summary} Needs {e.access.value}. `{e.name}`") for e in found)
    return _table(("Route", "What"), rows)


def settings() -> str:
    """Return the table of settings."""
    traits = AcaiApp.class_own_traits(config=True)
    for part in (TeamSettings, ClusterSettings):
        traits |= part.class_own_traits(config=True)
    rows = (
        (
            f"`{name}`",
            f"{trait.help} Default `{trait.default_value!r}`; `ACAI_{name.upper()}` in the environment."
            + (" An `acai.toml` that is not trusted may set it." if trait.metadata.get("in_working_folder") else ""),
        )
        for name, trait in traits.items()
    )
    return _table(("Setting", "Meaning"), rows)


def permissions() -> str:
    """Return the table of roles and needs."""
    columns = {role.value: ALLOWED[role] for role in Role} | {"global admin": GLOBAL_ADMIN}
    return _granted("Need, by role", columns)


def scopes() -> str:
    """Return the table of scopes and needs."""
    return _granted("Need, by scope", {scope.value: SCOPES[scope] for scope in Scope})


def _granted(first: str, columns: dict[str, frozenset[Access]]) -> str:
    """A row for each need; what is signed asks for nobody."""
    needs = [access for access in Access if access not in (Access.NOTHING, Access.SIGNATURE)]
    rows = ([f"`{need.value}`", *("yes" if need in granted else "" for granted in columns.values())] for need in needs)
    return _table((first, *columns), rows)


def cluster_role() -> str:
    """Return the Role that a server needs in a cluster, as a block."""
    made = calls.role("default", ClusterSettings.kubernetes_secrets.default_value)
    return f"```yaml\n{yaml.safe_dump(made, sort_keys=False)}```"


TABLES: dict[str, Callable[[], str]] = {
    "endpoints": endpoints,
    "settings": settings,
    "permissions": permissions,
    "scopes": scopes,
    "cluster_role": cluster_role,
}
_MARK = re.compile(r"^<!-- table: (\w+) -->$", re.MULTILINE)


def fill(text: str) -> str:
    """Put the tables where a page asks for them."""
    return _MARK.sub(lambda mark: TABLES[mark[1]](), text)


def setup(app: Sphinx) -> None:
    """Fill pages as they are read; a page with a table is read anew in each build."""

    def read(_app: Sphinx, _page: str, source: list[str]) -> None:
        source[0] = fill(source[0])

    def outdated(_app: Sphinx, env: Any, *_changes: object) -> list[str]:
        return [page for page in env.found_docs if _MARK.search(Path(env.doc2path(page)).read_text())]

    app.connect("source-read", read)
    app.connect("env-get-outdated", outdated)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head), *(list(row) for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
