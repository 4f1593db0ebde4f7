"""A server's hold on its data folder."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from acai_server.api.proxy import Upstream
from acai_server.host import Host
from acai_server.settings import NAMES, Settings

if TYPE_CHECKING:
    from acai_server.services import Services


class Opened:
    """What the composition root would have opened."""

    def close(self) -> None:
        """Nothing was."""


def settings(folder: Path) -> Settings:
    fields: dict[str, Any] = dict.fromkeys(NAMES, "")
    return Settings(**fields | {"data_folder": folder, "spare_disk_mib": 0})


def test_a_copy_of_the_lock_in_a_program_that_is_being_started_is_not_another_server(tmp_path: Path) -> None:
    async def go() -> object:
        host = Host(lambda: settings(tmp_path), lambda *_: cast("Services", Opened()))
        await host.start("http://127.0.0.1:1")
        copy = os.dup(_open_at(tmp_path / "lock"))  # as a child has it between fork and exec
        try:
            return await host.connect()
        finally:
            os.close(copy)
            await host.stop()

    with ThreadPoolExecutor(1) as own_thread:  # a browser's test leaves its loop running in the main one
        found = own_thread.submit(asyncio.run, go()).result()
    assert not isinstance(found, Upstream)


def _open_at(path: Path) -> int:
    """Return this process's open file at a path."""
    return next(int(fd.name) for fd in Path("/proc/self/fd").iterdir() if _leads_to(fd, path))


def _leads_to(descriptor: Path, path: Path) -> bool:
    try:
        return descriptor.readlink() == path
    except OSError:
        return False
