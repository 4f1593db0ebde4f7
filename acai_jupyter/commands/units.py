"""Units for people: sizes, durations, money. The panel counts the same way, in labextension/src/core/format.ts."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from math import inf

from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.sizes import number, size

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_LEAST_USD = 0.00001
__all__ = ["ago", "columns", "duration", "files_of", "money", "parse_duration", "parse_size", "size"]


def duration(seconds: float) -> str:
    """3.2 s, 12 s, 3 min 20 s, 2 h 5 min; never more than two units."""
    if seconds < _MINUTE - 0.5:
        return f"{number(seconds)} s"
    whole = round(seconds)
    if whole < _HOUR:
        return _pair(whole, (_MINUTE, "min"), (1, "s"))
    if whole < _DAY:
        return _pair(whole, (_HOUR, "h"), (_MINUTE, "min"))
    return _pair(whole, (_DAY, "d"), (_HOUR, "h"))


def _pair(seconds: int, large: tuple[int, str], small: tuple[int, str]) -> str:
    first, rest = divmod(seconds, large[0])
    second = rest // small[0]
    return f"{first} {large[1]} {second} {small[1]}" if second else f"{first} {large[1]}"


def money(usd: float) -> str:
    """$0.03, for a small sum $0.00003; of less nobody counts the digits."""
    if usd == 0 or usd >= 0.01:  # noqa: PLR2004 (where people change the number of digits)
        return f"${usd:,.2f}"
    return f"${usd:.5f}" if usd >= _LEAST_USD else f"under ${_LEAST_USD:.5f}"


def files_of(count: int) -> str:
    """1 file, 1,797 files."""
    return f"{count:,} file{'s' if count != 1 else ''}"


def ago(moment: datetime, now: datetime | None = None) -> str:
    """Just now, 2 min ago, 3 d 4 h ago."""
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    return f"{duration(seconds)} ago" if seconds >= _MINUTE else "just now"


def columns(rows: list[list[str]], sides: str) -> str:
    """Aligned columns: '<' or '>' for each, further ones to the left. A cell stays on its line."""
    if not rows:
        return ""
    rows = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = sides.ljust(len(widths), "<")
    lines = ("  ".join(f"{c:{s}{w}}" for c, s, w in zip(row, sides, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


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


def parse_duration(text: str) -> float:
    """Read 30s, 20m, 1h30m, 2d or plain seconds; the largest unit first."""
    written = text.strip().lower()
    match = _DURATION.match(f"{written}s" if _SECONDS.match(written) else written)
    seconds = sum(float(match[unit] or 0) * factor for unit, factor in _UNITS.items()) if match else 0.0
    if not 0 < seconds < inf:
        raise ValueError(f"'{text}' is not a time; write it like 30s, 20m or 1h30m")
    return seconds


_UNITS = {"d": _DAY, "h": _HOUR, "m": _MINUTE, "s": 1}
_DURATION = re.compile("".join(rf"(?:(?P<{unit}>\d+(?:\.\d*)?){unit})?" for unit in _UNITS) + r"\Z")
_SECONDS = re.compile(r"\d+(\.\d*)?\Z")
