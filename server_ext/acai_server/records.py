"""How kernels and shells of the same user find a server: a small file that only this user can read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from acai_server.objects.durable import flush_folder


def home() -> Path:
    """Return the folder of this user's data, also the default of `data_folder`."""
    base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(base) / "acai"


def write_private(path: Path, text: str, *, durable: bool = False) -> None:
    """Write a file that other users can never read, whole or not at all; a durable one survives a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        partial.replace(path)
        if durable:
            flush_folder(path.parent)
    finally:
        partial.unlink(missing_ok=True)


class ServerRecord:
    """`servers/<pid>.json` in the user's folder: there while this process answers for an address."""

    def __init__(self, pid: int | None = None) -> None:
        self._path = home() / "servers" / f"{pid or os.getpid()}.json"

    def write(self, *, url: str, token: str, data_folder: str, version: str) -> None:
        """Say where clients of this process go. The token is theirs to use, and is in no log."""
        said: dict[str, Any] = {"url": url, "token": token, "data_folder": data_folder, "version": version}
        write_private(self._path, json.dumps(said | {"pid": os.getpid()}))

    def remove(self) -> None:
        """Say no more."""
        self._path.unlink(missing_ok=True)
