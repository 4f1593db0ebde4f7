"""Where settings come from.

The first that has one wins: command line, `ACAI_*` environment, the project's file `acai.toml`, the user's
configuration, the site's configuration, the default.
"""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from acai_jupyter.contract.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Mapping

PREFIX = "ACAI_"
OF_CLIENTS = frozenset({"URL", "TOKEN", "PROJECT", "JOB", "INPUT", "OUTPUT"})
"""Variables that tell a client where to go, or a program inside a job what it is."""
PARAMETER = "ACAI_PARAM_"


@dataclass(frozen=True)
class Source:
    """Values from one place, and how to name that place to a person."""

    name: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """All settings of a server, as read."""

    data_folder: Path
    url: str
    token: str
    project: str
    user: str
    database: str
    object_store: str
    s3_bucket: str
    s3_prefix: str
    s3_endpoint_url: str
    runner: str
    event_bus: str
    slow_reader_seconds: float
    quota: int


def from_environment(known: frozenset[str]) -> Source:
    """Return the settings in the environment; an unknown one is an error, as it is most likely a typing slip."""
    values: dict[str, Any] = {}
    for variable, value in os.environ.items():
        if not variable.startswith(PREFIX) or variable.startswith(PARAMETER):
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name in known:
            values[name] = value
        elif variable.removeprefix(PREFIX) not in OF_CLIENTS:
            raise BadSetting(name=variable, source="the environment", reason=_nearest(name, known, PREFIX))
    return Source("the environment", values)


def from_mapping(place: str, values: Mapping[str, Any], known: frozenset[str]) -> Source:
    """Return the settings that Jupyter has read from a place."""
    for name in values:
        if name not in known:
            raise BadSetting(name=name, source=place, reason=_nearest(name, known, ""))
    return Source(place, dict(values))


def from_file(path: Path, known: frozenset[str]) -> Source:
    """Return the settings in a TOML file; a missing file has none."""
    try:
        values = tomllib.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError):
        return Source(str(path), {})
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(name="file", source=str(path), reason="it cannot be read") from error
    except tomllib.TOMLDecodeError as error:
        raise BadSetting(name="file", source=str(path), reason=f"it is not TOML ({error})") from error
    for name in values:
        if name not in known:
            raise BadSetting(name=name, source=str(path), reason=_nearest(name, known, ""))
    return Source(str(path), values)


def checked(settings: Settings) -> Settings:
    """Refuse settings that each are well formed but cannot be meant."""
    address = urlsplit(settings.url)
    if settings.url and (address.scheme not in ("http", "https") or not address.hostname):
        raise _refused("url", f"'{settings.url[:80]}' is not the address of a server, like https://acai.example.org")
    if settings.database and not settings.database.startswith(("postgresql://", "postgres://")):
        raise _refused("database", "it is the URL of a PostgreSQL database, postgresql://…, or empty for SQLite")
    if settings.event_bus == "postgres" and not settings.database:
        raise _refused("event_bus", "'postgres' needs a PostgreSQL database, and `database` is empty")
    return settings


def _refused(name: str, reason: str) -> BadSetting:
    return BadSetting(name=name, source="the settings", reason=reason)


def user_config() -> Path:
    """Return the user's configuration file."""
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "acai" / "config.toml"


def site_config() -> Path:
    """Return the site's configuration file."""
    return Path("/etc/acai/config.toml")


def _nearest(name: str, known: frozenset[str], prefix: str) -> str:
    near = get_close_matches(name, sorted(known), n=1)
    spelled = f"{prefix}{near[0].upper()}" if near and prefix else (near[0] if near else "")
    return f"there is no such setting; the nearest is {spelled}" if near else "there is no such setting"
