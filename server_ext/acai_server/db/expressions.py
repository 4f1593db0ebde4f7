"""Regular expressions for SQLite, by an engine whose time grows with the text and with nothing else."""

from __future__ import annotations

import math
import threading
import time
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MEMORY_BYTES = 64 * 1024 * 1024
"""What the engine may use for one expression, some hundred times of what the largest that we write needs."""


class _Watch(threading.local):
    end: float = math.inf
    interrupt: Callable[[], None] | None = None


_watch = _Watch()


@contextmanager
def watched(end: float, interrupt: Callable[[], None]) -> Iterator[None]:
    """Interrupt this thread's search at the first match after a moment: one may take as long as thousands of steps."""
    _watch.end, _watch.interrupt = end, interrupt
    try:
        yield
    finally:
        _watch.end, _watch.interrupt = math.inf, None


@lru_cache(64)
def _compiled(pattern: str) -> Any:
    """Compile an expression as a set of one: that answers yes or no, in a third of the time of a search for a place."""
    import re2

    options = re2.Options()
    options.max_mem = _MEMORY_BYTES
    compiled = re2.Set.SearchSet(options)
    compiled.Add(pattern)
    compiled.Compile()
    return compiled


def matches(pattern: str, text: str | None) -> bool | None:
    """Whether an expression, as `contract/query/regex.py` writes it for RE2, is found in a text."""
    if _watch.interrupt is not None and time.monotonic() > _watch.end:
        _watch.interrupt()
        return None
    return None if text is None else bool(_compiled(pattern).Match(text))
