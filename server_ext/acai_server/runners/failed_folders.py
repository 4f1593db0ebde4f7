"""Folders of attempts that did not succeed, kept for a while so that a person can look into them."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from acai_server.runners.folders import AttemptFolder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class FailedFolders:
    """Keeps what is handed to it for some seconds, 0 for not at all."""

    def __init__(self, folder: Path, seconds: float, *, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._seconds = seconds
        self._clock = clock

    def take(self, attempt: AttemptFolder) -> bool:
        """Take over the folder of an attempt, if it is to be kept; says whether it did."""
        end = attempt.ended()
        if not self._seconds or end is None or end.exit_code == 0:
            return False
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            attempt.launch.unlink(missing_ok=True)  # it opens the attempt's objects
            attempt.path.replace(self._folder / attempt.name)
        except OSError:
            return False
        return True

    def forget(self) -> None:
        """Remove what was kept for long enough."""
        if not self._folder.is_dir():
            return
        for path in self._folder.iterdir():
            kept = AttemptFolder(path)
            with suppress(OSError):
                if kept.ended_file.stat().st_mtime + self._seconds <= self._clock():
                    kept.remove()
