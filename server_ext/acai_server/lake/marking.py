"""Walking manifests for what lives: chunks, and those of some contents that are in them. No I/O but `load`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_server.lake import manifests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Load = Callable[[list[bytes]], dict[bytes, bytes]]

AT_ONCE = 500


def mark(root: bytes, load: Load, seen: set[bytes]) -> list[bytes]:
    """Add all chunks of a manifest to those seen, whose own chunks are not looked at again; returns the new ones.

    The lowest level, which is nearly all of them, is not read. A chunk that is missing has nothing below it.
    """
    found = level = [] if root in seen else [root]
    seen.update(level)
    while level and any(manifests.opened(body)[1] for body in load(level[:1]).values()):
        below: dict[bytes, None] = {}
        for body in _loaded(level, load):
            below |= dict.fromkeys(chunk for _, chunk in manifests.opened(body)[1] if chunk not in seen)
        level = list(below)
        seen.update(level)
        found = [*found, *level]
    return found


def take_out(root: bytes, load: Load, seen: set[bytes], wanted: set[bytes]) -> None:
    """Take contents that a manifest holds out of those wanted."""
    level = [] if root in seen else [root]
    while level:
        seen.update(level)
        below: dict[bytes, None] = {}
        for body in _loaded(level, load):
            leaves, branches = manifests.opened(body)
            wanted.difference_update(leaf[3] for leaf in leaves)
            below |= dict.fromkeys(chunk for _, chunk in branches if chunk not in seen)
        level = list(below)


def holds(root: bytes, load: Load, clean: set[bytes], wanted: set[bytes]) -> bool:
    """Whether a manifest holds any of these contents; chunks below which none is are added to the clean ones."""
    level = [] if root in clean else [root]
    passed: list[bytes] = []
    while level:
        below: dict[bytes, None] = {}
        for start in range(0, len(level), AT_ONCE):
            page = level[start : start + AT_ONCE]
            for chunk, body in load(page).items():
                leaves, branches = manifests.opened(body)
                if any(leaf[3] in wanted for leaf in leaves):
                    return True
                if not branches:
                    clean.add(chunk)
                below |= dict.fromkeys(child for _, child in branches if child not in clean)
        passed += level
        level = list(below)
    clean.update(passed)
    return False


def _loaded(chunks: list[bytes], load: Load) -> Iterator[bytes]:
    for start in range(0, len(chunks), AT_ONCE):
        page = chunks[start : start + AT_ONCE]
        yield from load(page).values()


def leaves(root: bytes, load: Load) -> Iterator[manifests.Leaf]:
    """Iterate over the entries of a manifest, in no order; a missing chunk has none."""
    seen, level = {root}, [root]
    while level:
        below: dict[bytes, None] = {}
        for body in _loaded(level, load):
            found, branches = manifests.opened(body)
            yield from found
            below |= dict.fromkeys(chunk for _, chunk in branches if chunk not in seen)
        seen.update(below)
        level = list(below)
