"""The colours of a log: what a sequence of SGR codes leaves switched on, as codes that switch it on from nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_PALETTE, _RGB = "5", "2"
_OF_MORE = {38: "ink", 48: "ground", 58: "line"}
"""Colours that further codes choose."""
_ON = (
    dict.fromkeys((*range(30, 38), *range(90, 98)), "ink")
    | dict.fromkeys((*range(40, 48), *range(100, 108)), "ground")
    | {1: "bold", 2: "faint", 3: "italic", 4: "under", 5: "blink", 6: "blink", 7: "inverse", 9: "struck", 21: "under"}
    | {53: "over"}
)
"""Text that is there and cannot be seen (8) is shown."""
_OFF = {
    22: ("bold", "faint"),
    23: ("italic",),
    24: ("under",),
    25: ("blink",),
    27: ("inverse",),
    29: ("struck",),
    39: ("ink",),
    49: ("ground",),
    55: ("over",),
    59: ("line",),
}


@lru_cache(maxsize=4096)
def after(pen: str, codes: str) -> str:
    """Return the pen that is left when codes follow a pen. A pen is codes too; the plain one is empty."""
    found = dict(_kinds(pen)) if pen else {}
    for kind, code in _kinds(codes):
        if kind == "reset":
            found.clear()
        elif kind == "off":
            for one in _OFF[int(code)]:
                found.pop(one, None)
        else:
            found[kind] = code
    return ";".join(found.values())


def _kinds(codes: str) -> Iterator[tuple[str, str]]:
    """Say of each code what it changes; what is none is left out."""
    words = iter(codes.split(";"))
    for word in words:
        first = word.partition(":")[0]
        code = int(first) if first.isascii() and first.isdecimal() else 0 if not word else -1
        if code == 0:
            yield "reset", word
        elif code in _OF_MORE and word == first:
            chosen = next(words, "")
            rest = [next(words, "") for _ in range({_PALETTE: 1, _RGB: 3}.get(chosen, 0))]
            if rest and all(one.isascii() and one.isdecimal() for one in rest):
                yield _OF_MORE[code], ";".join([word, chosen, *rest])
        elif kind := _OF_MORE.get(code) or _ON.get(code):
            yield ("off", "24") if word == "4:0" else (kind, word)
        elif code in _OFF:
            yield "off", first
