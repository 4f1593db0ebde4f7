"""Which settings files of working folders a user trusts, and what such a trust covers. No I/O.

A trust binds the place of a file to the content of that file and of the files next to it that its settings name, such
as a kubeconfig. `acai trust` writes the list, servers read it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import decoding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FILE = "acai.toml"
"""The settings file of a working folder."""
LIST = "trusted.json"
"""The list of trusted files, next to the user's configuration file."""
MAX_BYTES = 1024 * 1024
"""A larger settings file is not read."""


class TrustedFile(msgspec.Struct, frozen=True):
    """One settings file, as its user saw and trusted it."""

    path: str
    sha256: str
    trusted_at: str
    files: dict[str, str] = {}
    """SHA-256 of each file in its folder that its settings name, by path."""


def decoded(data: bytes) -> list[TrustedFile]:
    """Read the list; one that cannot be read trusts nothing."""
    try:
        return decoding.from_json(data, list[TrustedFile])
    except msgspec.MsgspecError:
        return []


def encoded(trusted: Iterable[TrustedFile]) -> str:
    """Write the list."""
    return msgspec.json.format(msgspec.json.encode(list(trusted)), indent=2).decode() + "\n"


def named_files(values: Mapping[str, Any], folder: str) -> list[str]:
    """Return the paths below a folder that its settings may name; whether there are such files is not known here."""
    texts = [value for value in values.values() if isinstance(value, str) and value and "\0" not in value]
    paths = {os.path.normpath(os.path.join(folder, os.path.expanduser(text))) for text in texts}  # noqa: PTH111, PTH118 (no file is touched)
    return sorted(os.path.relpath(path, folder) for path in paths if path.startswith(folder.rstrip("/") + "/"))
