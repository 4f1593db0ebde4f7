"""Whose turn it is on a cluster: tests run beside each other, but not beside one that stops a part of it.

It counts for all test runs of this machine that use the same cluster.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def turn(*, alone: bool) -> Iterator[None]:
    """Wait for a turn, and have it while the context lasts. Who wants to be alone goes before whoever comes later."""
    folder = Path(os.environ.get("KUBECONFIG", "")).parent / "run"
    if not folder.is_dir():  # no part of it can be stopped from here
        yield
        return
    kind = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
    with (folder / "tests-door").open("a") as door, (folder / "tests-room").open("a") as room, _locked(room):
        with _locked(door):
            fcntl.flock(door, kind)
            fcntl.flock(room, kind)
        yield


@contextmanager
def _locked(file: IO[str]) -> Iterator[None]:
    """Unlock it at the end: processes that were forked meanwhile have it open, too, and would hold the lock."""
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
