"""Which settings files of working folders this user trusts: looks at them, and keeps the list."""

from __future__ import annotations

import hashlib
import os
import stat
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acai_jupyter.client.logins import config_file, write_private
from acai_jupyter.contract.errors import BadRequest, NotFound, NotWritten
from acai_jupyter.contract.folder_trust import FILE, LIST, MAX_BYTES, TrustedFile, decoded, encoded, named_files
from acai_jupyter.contract.foreign import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Candidate:
    """A settings file as it is now: what it would set, and what a trust would cover."""

    entry: TrustedFile
    values: dict[str, Any]


def look_at(file: str) -> Candidate:
    """Read a settings file, or that of a folder; refuse one that no server would read."""
    path = place_of(file)
    try:
        content = _content(path)
        values = tomllib.loads(content.decode())
    except FileNotFoundError as error:
        raise NotFound(f"There is no {one_line(str(path))}.") from error
    except OSError as error:
        raise BadRequest(f"{one_line(str(path))} cannot be read: {error.strerror}.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadRequest(f"{one_line(str(path))} is not TOML: {one_line(str(error))}.") from error
    now = datetime.now(UTC).isoformat(timespec="seconds")
    digest = hashlib.sha256(content).hexdigest()
    return Candidate(TrustedFile(str(path), digest, now, _digests(path.parent, values)), values)


def place_of(file: str) -> Path:
    """Return where a settings file is, by the name under which servers look for it."""
    path = Path(file).expanduser()
    path = path / FILE if path.is_dir() else path
    if path.name != FILE:
        raise BadRequest(f"Servers read the settings of a folder from {FILE}, not from '{one_line(path.name)}'.")
    return path.absolute().parent.resolve() / FILE


def trusted() -> list[TrustedFile]:
    """Return the trusted files, sorted by path."""
    try:
        return sorted(decoded(_list().read_bytes()), key=lambda one: one.path)
    except OSError:
        return []


def is_unchanged(entry: TrustedFile) -> bool:
    """Whether a trusted file is still there as it was."""
    try:
        now = look_at(entry.path).entry
    except (BadRequest, NotFound):
        return False
    return (now.sha256, now.files) == (entry.sha256, entry.files)


def trust(entry: TrustedFile) -> None:
    """Record a file as it was looked at; this replaces an earlier entry of the same path."""
    _keep([*(one for one in trusted() if one.path != entry.path), entry])


def revoke(file: str) -> TrustedFile:
    """Trust a file no longer, whatever it holds, even where it is gone."""
    path = str(place_of(file))
    known = trusted()
    found = next((one for one in known if one.path == path), None)
    if found is None:
        raise NotFound(f"{one_line(path)} is not trusted.")
    _keep(one for one in known if one.path != path)
    return found


def _keep(entries: Iterable[TrustedFile]) -> None:
    try:
        write_private(_list(), encoded(entries))
    except OSError as error:
        raise NotWritten(reason=f"{_list()} cannot be written ({error.strerror})") from error


def _list() -> Path:
    return config_file().with_name(LIST)


def _content(path: Path) -> bytes:
    """Return the bytes of a regular file of a sensible size; a pipe in its place is not waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(MAX_BYTES + 1) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    if content is None or len(content) > MAX_BYTES:
        reason = "is not a regular file" if content is None else f"is larger than {MAX_BYTES // 1024} KB"
        raise BadRequest(f"{one_line(str(path))} {reason}; it is not read.")
    return content


def _digests(folder: Path, values: dict[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of each file of the folder that the settings name."""
    found = {}
    for name in named_files(values, str(folder)):
        path = folder / name
        if path.is_file():
            with path.open("rb") as file:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found
