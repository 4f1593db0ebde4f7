"""The settings file `acai.toml` of the folder that the Jupyter server shows.

The folder may come from another person: a cloned repository, an unpacked archive. Until the user trusts the file's
content, only harmless preferences are read from it, and nothing in it can keep the server from starting.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import BadSetting
from acai_jupyter.contract.folder_trust import FILE, LIST, MAX_BYTES, TrustedFile, decoded, named_files
from acai_jupyter.contract.foreign import one_line
from acai_server.settings import Source, from_text, user_config

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MOST_NAMES = 8
"""A notice names at most this many settings."""


@dataclass(frozen=True)
class FolderFile:
    """What is read from the file, and what the user should know about the rest."""

    source: Source
    notices: tuple[str, ...] = ()


class FolderReader:
    """Reads the file of a folder.

    `preferences` are the settings that an untrusted file may set, `paths` those that name a file, and `check` raises
    `BadSetting` for a value that its setting cannot have.
    """

    def __init__(
        self,
        known: frozenset[str],
        *,
        preferences: frozenset[str],
        paths: frozenset[str],
        check: Callable[[str, Source], object],
    ) -> None:
        self._known = known
        self._preferences = preferences
        self._paths = paths
        self._check = check

    def read(self, folder: Path) -> FolderFile:
        """Return what counts of the file; a missing file has nothing."""
        path = folder.absolute() / FILE
        nothing = Source(str(path), {})
        try:
            content = _content(path)
        except FileNotFoundError:
            return FolderFile(nothing)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            return FolderFile(nothing, notices=(f"{_shown(path)} is not read: {reason}.",))
        trust = _trust_of(path, content)
        if trust is not None and _is_as_trusted(path, content, trust):
            source = from_text(path, content, self._known)
            return FolderFile(Source(source.name, self._with_whole_paths(source.values, path.parent)))
        try:
            values = tomllib.loads(content.decode())
        except (UnicodeDecodeError, tomllib.TOMLDecodeError):
            return FolderFile(nothing, notices=(f"{_shown(path)} is not read: it is not TOML.",))
        return self._untrusted(path, values, was_trusted=trust is not None)

    def _untrusted(self, path: Path, values: dict[str, Any], *, was_trusted: bool) -> FolderFile:
        source = Source(str(path), {})
        notices = []
        for name in self._preferences & values.keys():
            try:
                self._check(name, Source(str(path), {name: values[name]}))
            except BadSetting as error:
                notices.append(error.message)
            else:
                source.values[name] = values[name]
        others = [name for name in values if name not in self._preferences]
        if others:
            reason = "it has changed since it was trusted" if was_trusted else "this file is not trusted"
            said = f"{_shown(path)} sets {_listed(others)}, which is ignored: {reason}."
            command = one_line(f"acai trust {shlex.quote(str(path))}")
            notices.append(f"{said} If you trust what it says, run `{command}` and start the server again.")
        return FolderFile(source, notices=tuple(notices))

    def _with_whole_paths(self, values: dict[str, Any], folder: Path) -> dict[str, Any]:
        """Let relative paths count from the file's folder, where `acai trust` has looked at them."""
        named = {name: values[name] for name in self._paths & values.keys() if isinstance(values[name], str)}
        return values | {name: str(folder / Path(text).expanduser()) for name, text in named.items() if text}


def _content(path: Path) -> bytes:
    """Return the bytes of a regular file of a sensible size; a pipe in its place is not waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("it is not a regular file")
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise ValueError(f"it is larger than {MAX_BYTES // 1024} KB")
    return content


def _trust_of(path: Path, content: bytes) -> TrustedFile | None:
    """Return what the user's list says about a file at this place, preferring an entry for this content."""
    try:
        known = decoded(user_config().with_name(LIST).read_bytes())
    except OSError:
        return None
    place = str(path.parent.resolve() / path.name)
    entries = [one for one in known if one.path == place]
    digest = hashlib.sha256(content).hexdigest()
    return next((one for one in entries if one.sha256 == digest), entries[0] if entries else None)


def _is_as_trusted(path: Path, content: bytes, trust: TrustedFile) -> bool:
    """Whether the file, and each file of its folder that it names, is what the user saw."""
    if hashlib.sha256(content).hexdigest() != trust.sha256:
        return False
    try:
        values = tomllib.loads(content.decode())
    except (UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False
    return _digests(path.parent, values) == trust.files


def _digests(folder: Path, values: dict[str, Any]) -> dict[str, str]:
    """Return the SHA-256 of each file of the folder that the settings name."""
    found = {}
    place = folder.resolve()
    for name in named_files(values, str(place)):
        path = place / name
        if path.is_file():
            with path.open("rb") as file:
                found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _shown(path: Path) -> str:
    return one_line(str(path))


def _listed(names: Iterable[str]) -> str:
    shown = [one_line(name)[:40] for name in names]
    more = len(shown) - MOST_NAMES
    return ", ".join(shown[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
