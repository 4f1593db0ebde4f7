"""Runs attempts that belong to this server: they end with it, and nothing of them is left. For embedded use and tests.

An attempt is a process all the same, as nothing else can be limited, stopped and watched; its folder is temporary, and
its keeper ends it when the server ends, however that ended.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter import trees
from acai_server.runners.process import ProcessRunner, ProcessSettings

if TYPE_CHECKING:
    from collections.abc import Callable


class MemoryRunner(ProcessRunner):
    """A runner of processes in a folder of its own, which goes with it."""

    name = "memory"

    def __init__(
        self,
        agent: Path,
        settings: ProcessSettings | None = None,
        *,
        may_run: Callable[[], bool] = lambda: True,
    ) -> None:
        self._temporary = Path(tempfile.mkdtemp(prefix="acai-attempts-"))
        super().__init__(self._temporary, agent, settings, bound=True, may_run=may_run)

    def close(self) -> None:
        """See the protocol; what still runs is ended."""
        for attempt in list(self._given):
            self.clean(attempt)
        super().close()
        trees.remove(str(self._temporary))
