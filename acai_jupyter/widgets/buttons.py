"""Buttons of views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ipywidgets

if TYPE_CHECKING:
    from collections.abc import Callable


def button(words: str, act: Callable[[], None]) -> Any:
    """Make a button that is as wide as its words."""
    made = ipywidgets.Button(description=words, layout=ipywidgets.Layout(width="auto"))
    made.on_click(lambda _: act())
    return made
