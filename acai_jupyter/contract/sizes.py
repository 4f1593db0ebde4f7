"""Sizes for people, the same wherever they are said."""

from __future__ import annotations

_STEP = 1024


def size(count: float) -> str:
    """1.2 GB, 24 GB; steps of 1024, like JupyterLab's file browser."""
    units = ["B", "KB", "MB", "GB", "TB", "PB"]
    while round(count) >= _STEP and len(units) > 1:
        count /= _STEP
        units.pop(0)
    return f"{number(count)} {units[0]}"


def number(value: float) -> str:
    """One decimal below ten, none above, and no '.0'."""
    return f"{value:.1f}".removesuffix(".0") if value < 9.95 else str(int(value + 0.5))  # noqa: PLR2004 (what rounds to ten)
