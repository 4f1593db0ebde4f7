"""Finding the server.

Told by the environment or a file, else the one that started this kernel, else any of this user.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from acai_jupyter.client import logins
from acai_jupyter.contract.addresses import is_same_server
from acai_jupyter.contract.errors import BadSetting, ServerUnreachable


@dataclass(frozen=True)
class Connection:
    """Where a server is, and who one is there."""

    url: str
    token: str
    project: str | None = None
    version: str | None = None


def find_connection(project: str | None = None) -> Connection:
    """Return the connection to use, or say how to get one."""
    config = _config()
    project = project or os.environ.get("ACAI_PROJECT") or config.get("project")
    url = os.environ.get("ACAI_URL") or config.get("url")
    if url:
        token = os.environ.get("ACAI_TOKEN") or _kept_token(config, url, project) or _token_of_a_server(url)
        return Connection(url, token, project)
    found = next(_servers(), None)
    if found is None:
        raise ServerUnreachable(where="")
    return Connection(found["url"], found["token"], project, found.get("version"))


def _kept_token(config: dict[str, Any], url: str, project: str | None) -> str:
    """Return the token that was kept for a server, and for a project of it if it has its own; of no other server."""
    found = logins.kept(url, project) if project is not None and project != config.get("project") else None
    if found is not None:
        return found
    return str(config.get("token") or "") if is_same_server(str(config.get("url") or ""), url) else ""


def _token_of_a_server(url: str) -> str:
    """Return the token by which a JupyterLab of this user is attached there, as one that signed in by its hub."""
    return str(next((found["token"] for found in _servers() if is_same_server(found["url"], url)), ""))


def setting(name: str) -> str | None:
    """Return what the user has set for this side: in the environment, as `ACAI_NAME`, else in the configuration."""
    found = os.environ.get(f"ACAI_{name.upper()}") or _config().get(name)
    return None if found is None else str(found)


def _servers() -> Any:
    """Iterate over the running servers of this user: the one that started this kernel, then the newest first."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    folder = Path(base) / "acai" / "servers"
    parent = os.environ.get("JPY_PARENT_PID", "")
    paths = sorted(folder.glob("*.json"), key=lambda path: (path.stem != parent, -_changed(path)))
    for path in paths:
        try:
            record = json.loads(path.read_text())
            os.kill(int(record["pid"]), 0)
        except (OSError, ValueError, KeyError):
            continue
        yield record


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _config() -> dict[str, Any]:
    path = logins.config_file()
    if not path.exists():
        return {}
    import tomllib

    try:
        return tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(name="file", source=str(path), reason=f"it cannot be read ({error})") from error
