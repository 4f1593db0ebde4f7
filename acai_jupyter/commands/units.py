"""Units for people: sizes, durations, money. The panel counts the same way, in labextension/src/core/format.ts."""

from __future__ import annotations

_STEP = 1024
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def size(count: float) -> str:
    """1.2 GB, 24 GB; steps of 1024, like JupyterLab's file browser."""
    units = ["B", "KB", "MB", "GB", "TB", "PB"]
    while round(count) >= _STEP and len(units) > 1:
        count /= _STEP
        units.pop(0)
    return f"{_number(count)} {units[0]}"


def duration(seconds: float) -> str:
    """3.2 s, 12 s, 3 min 20 s, 2 h 5 min; never more than two units."""
    if seconds < _MINUTE - 0.5:
        return f"{_number(seconds)} s"
    whole = round(seconds)
    if whole < _HOUR:
        return _pair(whole, (_MINUTE, "min"), (1, "s"))
    if whole < _DAY:
        return _pair(whole, (_HOUR, "h"), (_MINUTE, "min"))
    return _pair(whole, (_DAY, "d"), (_HOUR, "h"))


def _number(value: float) -> str:
    """One decimal below ten, none above, and no '.0'."""
    return f"{value:.1f}".removesuffix(".0") if value < 9.95 else str(int(value + 0.5))  # noqa: PLR2004 (what rounds to ten)


def _pair(seconds: int, large: tuple[int, str], small: tuple[int, str]) -> str:
    first, rest = divmod(seconds, large[0])
    second = rest // small[0]
    return f"{first} {large[1]} {second} {small[1]}" if second else f"{first} {large[1]}"


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
        count = int(float(number.removesuffix(unit)) * units[unit])
    except (ValueError, OverflowError):
        count = -1
    if count < 0:
        raise ValueError(f"'{text}' is not a size; write it like 512Mi or 4Gi")
    return count
