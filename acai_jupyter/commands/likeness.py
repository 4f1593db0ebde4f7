"""How alike two contents are: identical, equal but for small differences of numbers, or different, and how."""

from __future__ import annotations

import io
import json
import math
import re
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from acai_jupyter.commands.replay_options import TOLERANCE
from acai_jupyter.commands.units import size

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_SHOWN = 60
_PIECE = 64 * 1024
_NUMBER = re.compile(r"(?<![\w.])([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])")


@dataclass(frozen=True)
class Likeness:
    """Whether two contents are equal within the tolerance, and in what they differ."""

    is_equal: bool
    how: str


def compare(path: str, before: bytes, after: bytes, tolerance: float = TOLERANCE) -> Likeness:
    """Compare contents that are not the same bytes, by what the path says that they are."""
    suffix = path.rpartition(".")[2].lower()
    by_kind: dict[str, Callable[[bytes, bytes, float], Likeness]] = {"json": _json, "npy": _arrays, "npz": _arrays}
    for look in (by_kind.get(suffix, _texts), _texts):
        with suppress(ValueError, OSError, RecursionError):  # it is not what its name says
            return look(before, after, tolerance)
    return Likeness(is_equal=False, how=_bytes(before, after))


def is_near(one: Any, other: Any, tolerance: float) -> bool:
    """Whether two values are the same, or numbers that are as good as the same."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance)
    return type(one) is type(other) and one == other


def _json(before: bytes, after: bytes, tolerance: float) -> Likeness:
    found = _first_difference("", json.loads(before), json.loads(after), tolerance)
    if found is None:
        return Likeness(is_equal=True, how="")
    place, one, other = found
    return Likeness(is_equal=False, how=f"{place or 'all of it'}: {_shown(one)} → {_shown(other)}")


_NOTHING = object()


def _first_difference(place: str, one: Any, other: Any, tolerance: float) -> tuple[str, Any, Any] | None:
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [*one, *(key for key in other if key not in one)]
        pairs = ((f"{place}.{key}".lstrip("."), one.get(key, _NOTHING), other.get(key, _NOTHING)) for key in keys)
    elif isinstance(one, list) and isinstance(other, list):
        both = zip_longest(one, other, fillvalue=_NOTHING)
        pairs = ((f"{place}[{at}]", *pair) for at, pair in enumerate(both))
    else:
        return None if is_near(one, other, tolerance) else (place, one, other)
    return next(filter(None, (_first_difference(*pair, tolerance) for pair in pairs)), None)


def _shown(value: Any) -> str:
    text = "nothing" if value is _NOTHING else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"


def _texts(before: bytes, after: bytes, tolerance: float) -> Likeness:
    """Compare line by line; what looks like a number counts as one. A UnicodeDecodeError says that it is no text."""
    lines = zip_longest(before.decode().splitlines(), after.decode().splitlines())
    for number, (one, other) in enumerate(lines, start=1):
        if one != other and not (one is not None and other is not None and _near_lines(one, other, tolerance)):
            return Likeness(is_equal=False, how=f"line {number}: {_line(one)} → {_line(other)}")
    return Likeness(is_equal=True, how="")


def _near_lines(one: str, other: str, tolerance: float) -> bool:
    words, others = _NUMBER.split(one), _NUMBER.split(other)
    if len(words) != len(others) or words[::2] != others[::2]:
        return False
    return all(map(is_near, map(float, words[1::2]), map(float, others[1::2]), [tolerance] * len(words)))


def _line(text: str | None) -> str:
    return "nothing" if text is None else _shown(text.strip())


def _arrays(before: bytes, after: bytes, tolerance: float) -> Likeness:
    import numpy as np

    try:
        arrays, others = (_loaded(np, content) for content in (before, after))
    except Exception as error:  # numpy raises what its parts do at contents that are no arrays
        raise ValueError("not arrays") from error
    if arrays.keys() != others.keys():
        return Likeness(is_equal=False, how=f"arrays {', '.join(arrays)} → {', '.join(others)}"[: 2 * MAX_SHOWN])
    for name, one in arrays.items():
        other, called = others[name], f"{name}: " if name else ""
        if one.shape != other.shape or one.dtype.kind != other.dtype.kind:
            return Likeness(is_equal=False, how=f"{called}{one.dtype}{one.shape} → {other.dtype}{other.shape}")
        is_number = one.dtype.kind in "fciu"
        if is_number and not np.allclose(one, other, rtol=tolerance, atol=tolerance, equal_nan=True):
            wide = np.result_type(one.dtype, float)
            most = np.nanmax(np.abs(one.astype(wide) - other.astype(wide)))
            return Likeness(is_equal=False, how=f"{called}numbers differ by up to {most:.3g}")
        if not is_number and not np.array_equal(one, other):
            return Likeness(is_equal=False, how=f"{called}{int((one != other).sum())} values differ")
    return Likeness(is_equal=True, how="")


def _loaded(np: Any, content: bytes) -> dict[str, Any]:
    """Arrays by their names; what is pickled is not opened."""
    found = np.load(io.BytesIO(content), allow_pickle=False)
    return {"": found} if isinstance(found, np.ndarray) else {name: found[name] for name in sorted(found.files)}


def _bytes(before: bytes, after: bytes) -> str:
    starts = range(0, min(len(before), len(after)), _PIECE)
    start = next((at for at in starts if before[at : at + _PIECE] != after[at : at + _PIECE]), 0)
    pairs = enumerate(zip(before[start : start + _PIECE], after[start : start + _PIECE], strict=False), start)
    at = next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))
    return f"other bytes from {at:,} on ({size(len(before))} → {size(len(after))})"
