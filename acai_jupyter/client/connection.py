"""Finding the server.

Told by the environment or a file, else the one that started this kernel, else any of this user.
"""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
        token = os.environ.get("ACAI_TOKEN") or config.get("token") or ""
        return Connection(url, token, project)
    found = next(_servers(), None)
    if found is None:
        raise ServerUnreachable(where="")
    return Connection(found["url"], found["token"], project, found.get("version"))


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
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    path = Path(base) / "acai" / "config.toml"
    try:
        return tomllib.loads(path.read_text())
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSetting(name="file", source=str(path), reason=f"it cannot be read ({error})") from error
