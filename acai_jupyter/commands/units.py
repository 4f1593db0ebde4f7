"""Units for people: sizes, durations, money."""

from __future__ import annotations

_STEP = 1024.0
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def size(count: float) -> str:
    """1.2 GB; steps of 1024, like JupyterLab's file browser."""
    for unit in ("B", "KB", "MB", "GB"):
        if count < _STEP:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}".replace(".0 ", " ")  # noqa: PLR2004 (where people change the number of digits)
        count /= _STEP
    return f"{count:.1f} TB"


def duration(seconds: float) -> str:
    """3.2 s, 3 min 20 s, 2 h 5 min."""
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min {seconds % _MINUTE:.0f} s"
    if seconds < _DAY:
        return f"{seconds // _HOUR:.0f} h {seconds % _HOUR // _MINUTE:.0f} min"
    return f"{seconds // _DAY:.0f} d {seconds % _DAY // _HOUR:.0f} h"


def money(usd: float) -> str:
    """$0.03, and as many digits as a small sum needs."""
    if usd == 0 or usd >= 0.01:  # noqa: PLR2004 (where people change the number of digits)
        return f"${usd:,.2f}"
    return f"${usd:.5f}" if usd >= 0.00001 else f"${usd:.1e}"  # noqa: PLR2004 (where people change the number of digits)


def parse_size(text: str) -> int:
    """Read 512Mi, 4Gi, 2G or plain bytes."""
    units = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
    number = text.strip().lower().removesuffix("b").removesuffix("i")
    unit = number[-1:] if number[-1:] in "kmgt" else ""
    try:
        return int(float(number.removesuffix(unit)) * units[unit])
    except ValueError:
        raise ValueError(f"'{text}' is not a size; write it like 512Mi or 4Gi") from None
