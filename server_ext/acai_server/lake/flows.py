"""Leaves as they flow by, in the order of their paths and in pieces as large as possible.

A piece is a run of leaves, or a whole chunk of a manifest that nobody has looked into yet. What is made of several
flows: `joining.py`.
"""

from __future__ import annotations

from bisect import bisect_left
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from acai_server.lake.manifests import opened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_server.lake.manifests import Branch, Leaf

FIRST = "\x01"
"""Comes before every character that a path can have."""
LAST = "\U0010ffff"
"""Comes after every character that a path can have."""
RUN = 256
_RUN_HEIGHT = -1
_AHEAD = 32
_WAITING = 4000
path_of = itemgetter(0)


class Range(NamedTuple):
    """The paths from a first one on, up to but without an end."""

    start: str = ""
    end: str = LAST

    def within(self, other: Range) -> Range:
        """Return what both have."""
        return Range(max(self.start, other.start), min(self.end, other.end))


class Piece(NamedTuple):
    """What comes next: leaves, or a chunk. Its paths are not before `first` and not after `last`."""

    first: str
    last: str
    height: int = _RUN_HEIGHT
    """Of a chunk: 0 where its items are leaves."""
    leaves: list[Leaf] = []  # noqa: RUF012 (nobody adds to one)
    chunk: bytes = b""
    is_tail: bool = False
    """Of a chunk: whether it is the last of its height in its manifest, and so may end anywhere."""
    root: bytes = b""
    """Of a chunk: the manifest it is from."""

    @property
    def is_run(self) -> bool:
        """Whether it is leaves."""
        return self.height == _RUN_HEIGHT


def run_of(leaves: list[Leaf]) -> Piece:
    """Return leaves as a piece."""
    return Piece(leaves[0][0], leaves[-1][0], _RUN_HEIGHT, leaves)


class Chunks:
    """Chunks by hash, opened. What is likely to come next is loaded many at a time."""

    def __init__(self, load: Callable[[bytes], bytes], load_many: Callable[[list[bytes]], dict[bytes, bytes]]) -> None:
        self._load = load
        self._load_many = load_many
        self._next: dict[bytes, bytes] = {}

    def read(self, chunk: bytes) -> tuple[list[Leaf], list[Branch]]:
        """Return the leaves or the branches in a chunk."""
        body = self._next.pop(chunk, None)
        return opened(self._load(chunk) if body is None else body)

    def ahead(self, chunks: list[bytes]) -> None:
        """Load what comes next."""
        if len(self._next) > _WAITING:
            self._next.clear()
        self._next |= self._load_many(chunks)

    def height(self, root: bytes) -> int:
        """Return how far a root stands above the leaves."""
        height = 0
        _, branches = self.read(root)
        while branches:
            height += 1
            _, branches = self.read(branches[0][1])
        return height


class Flow:
    """Pieces one after the other. `piece` is the one that comes next, none at the end."""

    piece: Piece | None = None

    def __init__(self) -> None:
        self._rest: list[Leaf] = []
        self._advance()

    def next(self) -> None:
        """Go past the piece."""
        if self._rest:
            self.piece, self._rest = run_of(self._rest), []
        else:
            self._advance()

    def open(self) -> None:
        """Look into the piece, which is a chunk."""
        raise NotImplementedError

    def split(self, bound: str) -> None:
        """Let the piece, which is a run that begins before a bound, end there; the rest comes next."""
        assert self.piece is not None
        leaves = self.piece.leaves
        if self.piece.last >= bound:
            place = bisect_left(leaves, bound, key=path_of)
            self.piece, self._rest = run_of(leaves[:place]), leaves[place:] + self._rest

    def leaves(self) -> Iterator[Leaf]:
        """Iterate over all that is left, one by one."""
        while self.piece is not None:
            if self.piece.is_run:
                yield from self.piece.leaves
                self.next()
            else:
                self.open()

    def _advance(self) -> None:
        """Find the next piece."""
        raise NotImplementedError


class Paged(Flow):
    """Leaves that come in lists."""

    def __init__(self, runs: Iterator[list[Leaf]]) -> None:
        self._runs = runs
        super().__init__()

    def _advance(self) -> None:
        leaves = next(self._runs, None)
        self.piece = run_of(leaves) if leaves else None


def listed(leaves: list[Leaf], within: Range) -> Flow:
    """Let leaves flow that are at hand, by path."""
    start, end = (bisect_left(leaves, bound, key=path_of) for bound in within)
    return Paged(leaves[place : min(place + RUN, end)] for place in range(start, end, RUN))


class _Level:
    """Where in a chunk's branches a manifest's flow is."""

    def __init__(self, branches: list[Branch], height: int, below: str, *, is_tail: bool) -> None:
        self.branches = branches
        self.height = height
        self.below = below
        self.is_tail = is_tail
        self.at = -1
        self.opened = -2
        self.loaded = 0

    def piece(self, root: bytes) -> Piece:
        """Return the branch's piece."""
        last, chunk = self.branches[self.at]
        before = self.branches[self.at - 1][0] if self.at else self.below
        is_tail = self.is_tail and self.at == len(self.branches) - 1
        return Piece(before + FIRST if before else "", last, self.height, [], chunk, is_tail, root)


class Tree(Flow):
    """The leaves of a manifest in a range."""

    def __init__(self, chunks: Chunks, root: bytes, within: Range | None = None) -> None:
        self._chunks = chunks
        self._root = root
        self._within = within or Range()
        leaves, branches = chunks.read(root)
        last = branches[-1][0] if branches else leaves[-1][0] if leaves else ""
        self._levels = [_Level([(last, root)] if last else [], chunks.height(root), "", is_tail=True)]
        super().__init__()

    def open(self) -> None:
        """Look into the piece's chunk."""
        assert self.piece is not None
        self._open(self.piece)
        if self.piece is None:
            self._advance()

    def _advance(self) -> None:
        start, end = self._within
        self.piece = None
        while self.piece is None and self._levels:
            level = self._levels[-1]
            level.at += 1
            if level.at == len(level.branches):
                self._levels.pop()
            elif level.branches[level.at][0] >= start:
                piece = level.piece(self._root)
                if piece.first >= end:
                    self._levels.clear()
                elif piece.first >= start and piece.last < end:
                    self.piece = piece
                else:
                    self._open(piece)

    def _open(self, piece: Piece) -> None:
        """Go down a level, or come to leaves; none of them may be in the range."""
        self._look_ahead(self._levels[-1])
        leaves, branches = self._chunks.read(piece.chunk)
        self.piece = None
        if branches:
            below = piece.first.removesuffix(FIRST)
            self._levels.append(_Level(branches, piece.height - 1, below, is_tail=piece.is_tail))
            return
        start, end = self._within
        found = (
            leaves if piece.first >= start and piece.last < end else [one for one in leaves if start <= one[0] < end]
        )
        self.piece = run_of(found) if found else None

    def _look_ahead(self, level: _Level) -> None:
        """Who opens one chunk after the other will open those that follow."""
        if level.opened == level.at - 1 and level.at >= level.loaded:
            level.loaded = level.at + _AHEAD
            wanted = level.branches[level.at : level.loaded]
            self._chunks.ahead([chunk for last, chunk in wanted if last < self._within.end] or [wanted[0][1]])
        level.opened = level.at


def among(tree: Tree, paths: list[str]) -> dict[str, Leaf]:
    """Return which of these paths, given in order, a manifest has."""
    found: dict[str, Leaf] = {}
    for path in paths:
        while tree.piece is not None and tree.piece.first <= path:
            if tree.piece.last < path:
                tree.next()
            elif not tree.piece.is_run:
                tree.open()
            else:
                leaves = tree.piece.leaves
                place = bisect_left(leaves, path, key=path_of)
                if leaves[place][0] == path:
                    found[path] = leaves[place]
                break
    return found
