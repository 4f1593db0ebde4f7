"""How two flows of leaves differ. What both have in the same chunk is never looked at."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from acai_jupyter.contract.filesets import Difference, DifferenceKind
from acai_server.lake.joining import Pair, Step
from acai_server.lake.manifests import entry_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_server.lake.flows import Flow
    from acai_server.lake.manifests import Leaf

MOST_UNMATCHED = 200_000
"""When more files than that were added or removed, none is taken for renamed: to pair them would take memory."""
HELD = 50_000
Change = tuple["Leaf | None", "Leaf | None"]
"""What was under a path, and what is."""


@dataclass
class Summary:
    """How many differences there are, and which files were renamed."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    renamed: int = 0
    renumbered: int = 0
    origins: dict[str, Leaf] = field(default_factory=dict)
    """By new path: what a renamed file was."""
    left: set[str] = field(default_factory=set)
    """The old paths of renamed files."""


def changes(before: Flow, after: Flow) -> Iterator[Change]:
    """Iterate over the paths, in order, that do not have the same file version on both sides."""
    pair = Pair(before, after)
    while before.piece is not None or after.piece is not None:
        step = pair.step()
        if step is Step.BOTH:
            yield from _of_runs(*pair.both())
        elif step is Step.SAME:
            before.next()
            after.next()
        else:
            yield from _of_one(before if step is Step.LEFT else after, is_before=step is Step.LEFT)


def compare(look: Callable[[], Iterator[Change]], start: int, limit: int) -> tuple[Summary, list[Difference], bool]:
    """Return the summary, a page of the differences by path, and whether there are more.

    `look` gives the changes anew each time: they are gone through twice when there are too many to hold. A file that
    was removed and one that was added with the same bytes are one that was renamed: of several, the first by path
    belongs to the first. When more than `MOST_UNMATCHED` were added or removed, none is taken for renamed.
    """
    summary = Summary()
    held = _summed_up(look(), summary)
    found = _named(look() if held is None else iter(held), summary)
    page = list(islice(found, start, start + limit + 1))
    return summary, [_difference(*one) for one in page[:limit]], len(page) > limit


def _of_runs(before: list[Leaf], after: list[Leaf]) -> Iterator[Change]:
    if before == after:
        return
    old, new = ({leaf[0]: leaf for leaf in leaves} for leaves in (before, after))
    for path in sorted(old.keys() | new.keys()):
        change = old.get(path), new.get(path)
        if change[0] != change[1]:
            yield change


def _of_one(flow: Flow, *, is_before: bool) -> Iterator[Change]:
    assert flow.piece is not None
    if not flow.piece.is_run:
        flow.open()
        return
    for leaf in flow.piece.leaves:
        yield (leaf, None) if is_before else (None, leaf)
    flow.next()


def _summed_up(found: Iterator[Change], summary: Summary) -> list[Change] | None:
    """Count, pair, and return the changes if they are few."""
    held: list[Change] | None = []
    added: list[Leaf] = []
    removed: list[Leaf] = []
    for change in found:
        before, after = change
        if before is not None and after is not None:
            if before[3] == after[3]:
                summary.renumbered += 1
                continue
            summary.changed += 1
        elif after is not None:
            summary.added += 1
            _hold(added, after)
        elif before is not None:
            summary.removed += 1
            _hold(removed, before)
        if held is not None:
            held.append(change)
            held = held if len(held) <= HELD else None
    if summary.added + summary.removed <= MOST_UNMATCHED:
        _pair(removed, added, summary)
    return held


def _hold(leaves: list[Leaf], leaf: Leaf) -> None:
    if len(leaves) <= MOST_UNMATCHED:
        leaves.append(leaf)


def _pair(removed: list[Leaf], added: list[Leaf], summary: Summary) -> None:
    by_hash: dict[bytes, deque[Leaf]] = {}
    for leaf in removed:
        by_hash.setdefault(leaf[3], deque()).append(leaf)
    for leaf in added:
        if origins := by_hash.get(leaf[3]):
            origin = origins.popleft()
            summary.origins[leaf[0]] = origin
            summary.left.add(origin[0])
    summary.renamed = len(summary.left)
    summary.added -= summary.renamed
    summary.removed -= summary.renamed


def _named(found: Iterator[Change], summary: Summary) -> Iterator[tuple[DifferenceKind, Leaf | None, Leaf | None]]:
    """Name the differences among changes."""
    for before, after in found:
        if before is not None and after is not None:
            if before[3] != after[3]:
                yield DifferenceKind.CHANGED, before, after
        elif after is not None:
            origin = summary.origins.get(after[0])
            yield (DifferenceKind.ADDED if origin is None else DifferenceKind.RENAMED), origin, after
        elif before is not None and before[0] not in summary.left:
            yield DifferenceKind.REMOVED, before, None


def _difference(kind: DifferenceKind, before: Leaf | None, after: Leaf | None) -> Difference:
    old, new = (None if leaf is None else entry_of(leaf) for leaf in (before, after))
    return Difference(kind, old, new)
