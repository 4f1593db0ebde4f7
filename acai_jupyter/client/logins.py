"""Where a user's tokens are kept: the one in use in `config.toml`, which servers read too; all of them beside it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from acai_jupyter.contract.addresses import is_same_server
from acai_jupyter.contract.errors import NotWritten

_OURS = re.compile(r"\s*(url|token|project)\s*=")


def config_file() -> Path:
    """Return the user's configuration file."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "acai" / "config.toml"


def kept(url: str, project: str) -> str | None:
    """Return the token that was kept for a project of a server."""
    return next((one["token"] for one in _all() if one["project"] == project and is_same_server(one["url"], url)), None)


def keep(url: str, project: str, token: str) -> Path:
    """Use this server, project and token from now on; the file is its owner's alone. Other settings in it stay."""
    others = [one for one in _all() if (one["url"], one["project"]) != (url, project)]
    known = [*others, {"url": url, "project": project, "token": token}]
    path = config_file()
    try:
        write_private(_beside(path), json.dumps(known, indent=2) + "\n")
        before = path.read_text() if path.exists() else ""
        write_private(path, _changed(before, {"url": url, "token": token, "project": project}))
    except (OSError, UnicodeDecodeError) as error:
        raise NotWritten(reason=f"{path} cannot be written ({error})") from error
    return path


def _changed(text: str, values: dict[str, str]) -> str:
    """Put these settings in the place of those that were there; sections of other programs begin with '['."""
    lines = text.splitlines()
    end = next((number for number, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    rest = [line for line in lines[:end] if not _OURS.match(line)] + lines[end:]
    ours = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    return "\n".join([*ours, *rest]) + "\n"


def _beside(path: Path) -> Path:
    return path.with_name("logins.json")


def _all() -> list[dict[str, Any]]:
    try:
        found = json.loads(_beside(config_file()).read_text())
    except (OSError, ValueError):
        return []
    wanted = {"url", "project", "token"}
    return [one for one in found if isinstance(one, dict) and set(one) == wanted] if isinstance(found, list) else []


def write_private(path: Path, text: str) -> None:
    """Write a file that no other user could ever read, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_secret(path: Path, secret: str) -> None:
    """Write a token into a file that only its owner can read."""
    try:
        write_private(path, f"{secret}\n")
    except OSError as error:
        raise NotWritten(reason=f"{path} cannot be written ({error.strerror})") from error
