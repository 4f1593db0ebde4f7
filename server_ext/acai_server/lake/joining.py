"""Flows made of other flows: laid over each other, taken from each other, chosen from.

Where two flows do not touch, or have the same chunk, pieces go by as they are; elsewhere they are opened until leaves
stand beside leaves. So what is made of two sets, or said of their differences, costs what differs.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from acai_server.lake.flows import FIRST, Flow, Paged, path_of, run_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.lake.flows import Piece
    from acai_server.lake.manifests import Leaf

    Join = Callable[[Flow, Flow], Flow]


class Step(Enum):
    """Whose the next piece is."""

    LEFT = auto()
    RIGHT = auto()
    SAME = auto()
    """Both have the same chunk."""
    BOTH = auto()
    """Runs of both, which end together."""


class Pair:
    """Two flows side by side. Each step says where they stand to each other."""

    def __init__(self, left: Flow, right: Flow) -> None:
        self.left = left
        self.right = right

    def step(self) -> Step:
        """Open and split what comes next until it is the one's alone, or the same, or runs of both."""
        while True:
            one, other = self.left.piece, self.right.piece
            if one is None or other is None:
                return Step.RIGHT if one is None else Step.LEFT
            step = self._seen(one, other)
            if step is not None:
                return step
            (self.left if one.height >= other.height else self.right).open()

    def both(self) -> tuple[list[Leaf], list[Leaf]]:
        """Take the runs of both."""
        assert self.left.piece is not None
        assert self.right.piece is not None
        found = self.left.piece.leaves, self.right.piece.leaves
        self.left.next()
        self.right.next()
        return found

    def _seen(self, one: Piece, other: Piece) -> Step | None:
        if one.last < other.first or other.last < one.first:
            return Step.LEFT if one.last < other.first else Step.RIGHT
        if one.is_run and other.is_run:
            border = min(one.last, other.last) + FIRST
            self.left.split(border)
            self.right.split(border)
            return Step.BOTH
        if one.chunk == other.chunk:
            return Step.SAME
        return self._split(one, other)

    def _split(self, one: Piece, other: Piece) -> Step | None:
        """What of a run comes before the other's chunk is the run's alone."""
        if one.is_run and one.first < other.first:
            self.left.split(other.first)
            return Step.LEFT
        if other.is_run and other.first < one.first:
            self.right.split(one.first)
            return Step.RIGHT
        return None


class _Joined(Flow):
    """A flow made of two; pieces that are the one's alone go by as they are."""

    def __init__(self, left: Flow, right: Flow) -> None:
        self._pair = Pair(left, right)
        self._from: Flow | None = None
        super().__init__()

    def open(self) -> None:
        """Look into the piece's chunk."""
        assert self._from is not None
        self._from.open()
        self.piece = self._from.piece

    def _advance(self) -> None:
        if self._from is not None:
            self._from.next()
            self._from = None
        self.piece = None
        while self.piece is None and not self._find(self._pair):
            pass

    def _pass_on(self, flow: Flow) -> bool:
        self._from, self.piece = flow, flow.piece
        return True

    def _find(self, pair: Pair) -> bool:
        """Make a step; says whether there is nothing more to find."""
        raise NotImplementedError


class Union(_Joined):
    """The leaves of two flows; where both have a path, the right one's."""

    def _find(self, pair: Pair) -> bool:
        step = pair.step()
        if step is Step.SAME:
            pair.left.next()
        if step is not Step.BOTH:
            return self._pass_on(pair.left if step is Step.LEFT else pair.right)
        self.piece = run_of(self._laid(*pair.both()))
        return True

    def _laid(self, left: list[Leaf], right: list[Leaf]) -> list[Leaf]:
        laid = {leaf[0]: leaf for leaf in left} | {leaf[0]: leaf for leaf in right}
        return sorted(laid.values())


class Agreement(Union):
    """The leaves of two flows. Where they have different contents at a path, `differ` is called with it."""

    def __init__(self, left: Flow, right: Flow, differ: Callable[[str], None]) -> None:
        self._differ = differ
        super().__init__(left, right)

    def _laid(self, left: list[Leaf], right: list[Leaf]) -> list[Leaf]:
        contents = {path: content for path, _, _, content in left}
        for path, _, _, content in right:
            if contents.get(path, content) != content:
                self._differ(path)
        return super()._laid(left, right)


class Difference(_Joined):
    """The leaves of the left flow whose paths the right one does not have."""

    def _find(self, pair: Pair) -> bool:
        step = pair.step()
        if step is Step.LEFT or pair.left.piece is None:
            return self._pass_on(pair.left)
        if step is Step.SAME:
            pair.left.next()
        if step is not Step.BOTH:
            pair.right.next()
            return False
        left, right = pair.both()
        gone = set(map(path_of, right))
        if left := [leaf for leaf in left if leaf[0] not in gone]:
            self.piece = run_of(left)
        return False


class Filtered(Flow):
    """The leaves of a flow whose paths pass a test."""

    def __init__(self, flow: Flow, passes: Callable[[str], bool]) -> None:
        self._flow = flow
        self._passes = passes
        super().__init__()

    def _advance(self) -> None:
        self.piece = None
        while self.piece is None and self._flow.piece is not None:
            if not self._flow.piece.is_run:
                self._flow.open()
                continue
            if found := [leaf for leaf in self._flow.piece.leaves if self._passes(leaf[0])]:
                self.piece = run_of(found)
            self._flow.next()


def united(flows: list[Flow], join: Join = Union) -> Flow:
    """Join flows two by two; with unions the later one wins."""
    if not flows:
        return Paged(iter(()))
    if len(flows) == 1:
        return flows[0]
    middle = len(flows) // 2
    return join(united(flows[:middle], join), united(flows[middle:], join))
