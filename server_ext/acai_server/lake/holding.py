"""Which files manifests hold, asked of many manifests at once: chunks are loaded in pages, and shared ones once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

from acai_server.db.batches import pages
from acai_server.lake import manifests

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acai_jupyter.contract.filesets import Entry

Load = Callable[[list[bytes]], dict[bytes, bytes]]
"""Loads chunks by their hashes."""
FileVersion = tuple[str, int]
"""A path and a number."""


def held(roots: Iterable[bytes], wanted: Iterable[FileVersion], load: Load) -> dict[FileVersion, bytes]:
    """Return which of these file versions manifests hold, each with the root of one that does.

    Only chunks in whose stretch of paths a wanted one lies are read.
    """
    numbers: dict[str, set[int]] = {}
    for path, number in wanted:
        numbers.setdefault(path, set()).add(number)
    paths = sorted(numbers)
    found: dict[FileVersion, bytes] = {}
    level = {root: root for root in roots} if paths else {}
    seen = set(level)
    while level:
        below: dict[bytes, bytes] = {}
        for chunk, (leaves, branches) in _opened(level, load):
            for path, number, _, _ in leaves:
                if number in numbers.get(path, ()):
                    found.setdefault((path, number), level[chunk])
            below.update((child, level[chunk]) for child in _reached(branches, paths) if child not in seen)
            seen.update(below)
        level = below
    return found


def own_entries(roots: list[bytes], others: Iterable[bytes], load: Load) -> Iterator[Entry]:
    """Iterate over the entries of manifests, but not over the chunks that they share with others."""
    seen = _shared(_chunks(roots, load), others, load)
    for root in dict.fromkeys(roots):
        if root not in seen:
            loaded = _Ahead(load)
            yield from manifests.entries(root, loaded, ahead=loaded.ahead, seen=seen)
            seen.add(root)


class _Ahead:
    def __init__(self, load: Load) -> None:
        self._load = load
        self._next: dict[bytes, bytes] = {}

    def __call__(self, chunk: bytes) -> bytes:
        return self._next.pop(chunk, None) or self._load([chunk])[chunk]

    def ahead(self, chunks: list[bytes]) -> None:
        self._next |= self._load(chunks)


def _reached(branches: list[manifests.Branch], paths: list[str]) -> Iterator[bytes]:
    """The chunks in which one of the paths, which are sorted, could be."""
    start = 0
    for last, chunk in branches:
        end = bisect_right(paths, last, start)
        if end > start:
            yield chunk
        start = end


def _chunks(roots: Iterable[bytes], load: Load) -> set[bytes]:
    """All chunks of manifests. The lowest, which are nearly all, are not read."""
    level = _heights(roots, load)
    found = set(level)
    while level:
        entered = [chunk for chunk, height in level.items() if height]
        level = {child: level[chunk] - 1 for chunk, child in _children(entered, load) if child not in found}
        found.update(level)
    return found


def _shared(mine: set[bytes], others: Iterable[bytes], load: Load) -> set[bytes]:
    """Those of my chunks that others have too; what is below one of them is not looked for."""
    level = _heights(others, load)
    found: set[bytes] = set()
    passed: set[bytes] = set()
    while level:
        found.update(mine.intersection(level))
        entered = [chunk for chunk, height in level.items() if height and chunk not in mine and chunk not in passed]
        passed.update(entered)
        # Of the lowest chunks only mine are kept: those of all others may be too many.
        level = {
            child: level[chunk] - 1 for chunk, child in _children(entered, load) if level[chunk] > 1 or child in mine
        }
    return found


def _heights(roots: Iterable[bytes], load: Load) -> dict[bytes, int]:
    """How many levels of chunks are below each root."""
    heights = dict.fromkeys(roots, 0)
    level: dict[bytes, list[bytes]] = {root: [root] for root in heights}
    while level:
        below: dict[bytes, list[bytes]] = {}
        for chunk, (_, branches) in _opened(level, load):
            if branches:
                below.setdefault(branches[0][1], []).extend(level[chunk])
        for roots_there in below.values():
            for root in roots_there:
                heights[root] += 1
        level = below
    return heights


def _children(chunks: Iterable[bytes], load: Load) -> Iterator[tuple[bytes, bytes]]:
    for chunk, (_, branches) in _opened(chunks, load):
        for _, child in branches:
            yield chunk, child


def _opened(
    chunks: Iterable[bytes], load: Load
) -> Iterator[tuple[bytes, tuple[list[manifests.Leaf], list[manifests.Branch]]]]:
    for page in pages(chunks):
        for chunk, body in load(page).items():
            yield chunk, manifests.opened(body)
