"""Counts files and bytes of flows without looking into the chunks that go by whole, as far as that can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_server.lake.flows import Tree
from acai_server.lake.manifests import AVERAGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acai_server.lake.flows import Chunks, Flow, Piece

Amount = tuple[int, int]
"""Files and bytes."""


class Count:
    """What went by. The chunks of one manifest are given by path, each once."""

    def __init__(self) -> None:
        self._files = 0
        self._bytes = 0
        self._whole: dict[bytes, list[Piece]] = {}

    def add(self, piece: Piece) -> None:
        """Take what goes by."""
        if piece.is_run:
            self._files += len(piece.leaves)
            self._bytes += sum(leaf[2] for leaf in piece.leaves)
        else:
            self._whole.setdefault(piece.root, []).append(piece)

    def amount(self, chunks: Chunks, known: dict[bytes, Amount]) -> Amount:
        """Return how much it was, given how much there is in each manifest that chunks came from.

        Read is what is less: the chunks that went by, or the others.
        """
        files, size = self._files, self._bytes
        for root, whole in self._whole.items():
            total = known[root]
            if sum(AVERAGE ** (piece.height + 1) for piece in whole) * 2 < total[0]:
                more = _sum(_inside(chunks, piece) for piece in whole)
            else:
                others = _outside(chunks, root, whole)
                more = total[0] - others[0], total[1] - others[1]
            files, size = files + more[0], size + more[1]
        return files, size


def _inside(chunks: Chunks, piece: Piece) -> Amount:
    return _without(Tree(chunks, piece.chunk), [])


def _outside(chunks: Chunks, root: bytes, whole: list[Piece]) -> Amount:
    return _without(Tree(chunks, root), whole)


def _without(flow: Flow, whole: list[Piece]) -> Amount:
    """Count the leaves of a flow, those in some of its chunks not."""
    skipped = {piece.chunk for piece in whole}
    files = size = 0
    while flow.piece is not None:
        if flow.piece.chunk in skipped:
            flow.next()
        elif flow.piece.is_run:
            files += len(flow.piece.leaves)
            size += sum(leaf[2] for leaf in flow.piece.leaves)
            flow.next()
        else:
            flow.open()
    return files, size


def _sum(amounts: Iterable[Amount]) -> Amount:
    files = size = 0
    for more in amounts:
        files, size = files + more[0], size + more[1]
    return files, size
