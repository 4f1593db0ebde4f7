"""A progress bar on a terminal and in a notebook, for what takes longer than a moment; nothing in logs."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from types import TracebackType

PATIENCE_SECONDS = 0.7


class Progress:
    """Counts bytes. What is over soon shows nothing, and loads nothing."""

    def __init__(
        self, *, quiet: bool = False, total: int | None = None, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        self._quiet = quiet or not is_seen()
        self._total = total
        self._patience_seconds = patience_seconds
        self._began = time.monotonic()
        self._done = 0
        self._bar: Any = None

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()

    def advance(self, size_bytes: int) -> None:
        """Count some bytes; negative when they have to come again."""
        self._done += size_bytes
        if self._quiet:
            return
        if self._bar is None:
            if time.monotonic() - self._began < self._patience_seconds:
                return
            self._bar = _bar(self._total)
            self._bar.update(self._done)
        else:
            self._bar.update(size_bytes)


def _bar(total: int | None) -> Any:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tqdm warns where ipywidgets are missing, and shows text instead
        from tqdm.auto import tqdm
    how: dict[str, Any] = {"total": total, "unit": "B", "unit_scale": True, "unit_divisor": 1024, "leave": False}
    from tqdm.std import tqdm as of_a_terminal

    is_text = tqdm.status_printer is of_a_terminal.status_printer
    return tqdm(**how) if is_text else _WidgetBar(tqdm(**how, display=False))


class _WidgetBar:
    """A bar in a notebook. When it closes nothing of it is left, also in the file that is kept of the notebook."""

    def __init__(self, bar: Any) -> None:
        from IPython.display import display

        self._bar = bar
        self._bar.displayed = True
        self._shown: Any = display(bar.container, display_id=True)
        self.update = bar.update

    def close(self) -> None:
        self._bar.close()
        self._shown.update({"text/plain": ""}, raw=True)


def is_seen() -> bool:
    """Whether somebody looks: a terminal, or a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules
