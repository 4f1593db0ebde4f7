"""Secrets of jobs on this machine: a file each, in a folder that only the server's user can read."""

from __future__ import annotations

import re
import stat
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}\Z")


class SecretFiles:
    """Values are read when an attempt starts, and are kept nowhere else."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def refuses(self, name: str) -> str:
        """Return why there is no such secret here, and what to do; empty when it can be used."""
        if not _NAME.match(name):
            return f"'{name[:80]}' cannot be the name of a secret; use letters, digits, '_', '-' and '.'"
        path = self._folder / name
        try:
            found = path.stat()
        except OSError:
            return f"there is no secret '{name}' on this machine; write it to {path} with mode 0600"
        if not stat.S_ISREG(found.st_mode):
            return f"the secret {path} is not a file"
        if found.st_mode & 0o077:
            return f"the secret {path} can be read by others; set its mode to 0600"
        return ""

    def value(self, name: str) -> str:
        """Return a secret without the new line at its end; what cannot be used raises `Unavailable`."""
        refused = self.refuses(name)
        if refused:
            raise Unavailable(reason=refused)
        try:
            value = (self._folder / name).read_text().removesuffix("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise Unavailable(reason=f"the secret '{name}' cannot be read") from error
        if "\0" in value:
            raise Unavailable(reason=f"the secret '{name}' has a NUL character, which no variable can hold")
        return value
