"""Manifests: the stored list behind a file set version, as a tree of chunks cut by content.

Entries are kept by path. Where a chunk ends depends only on the entry there, so two versions that differ in one file
share all chunks but the few on the way to it, and the tree's shape tells nothing of how it came to be. No I/O.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.filesets import Entry
from acai_jupyter.contract.ids import Sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

AVERAGE = 32
LARGEST = 4 * AVERAGE
_AHEAD = 32

Leaf = tuple[str, int, int, bytes]
"""Path, version, size and hash of a file."""
Branch = tuple[str, bytes]
"""The last path below a chunk, and its hash."""
Item = tuple[Any, ...]
"""A leaf or a branch: what they begin with orders them."""

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = decoding.msgpack_decoder(tuple[list[Leaf], list[Branch]])


class Builder:
    """Cuts leaves, given by ascending path, into chunks, and hands each to `store` by its hash.

    Chunks of other manifests are taken over whole where they fit, which is where nothing waits for an end below them.
    """

    def __init__(self, store: Callable[[bytes, bytes], None]) -> None:
        self._store = store
        self._parts: list[list[Item]] = [[]]
        """By height: what waits for the end of its chunk."""
        self._given = [0]
        """By height: how many items there were, or at least whether more than one."""

    def add(self, leaf: Leaf) -> None:
        """Take the next leaf."""
        self._put(0, leaf)

    def extend(self, leaves: list[Leaf]) -> None:
        """Take the next leaves."""
        part = self._parts[0]
        self._given[0] += len(leaves)
        for leaf in leaves:
            part.append(leaf)
            length = len(part)
            # As `_ends` says, but a million times in half a second.
            if length > 1 and (zlib.crc32(leaf[0].encode()) % AVERAGE == 0 or length == LARGEST):
                self._close(0)
                part = self._parts[0]

    def fits(self, height: int) -> bool:
        """Whether a chunk of another manifest, not the last at this height there, would be cut the same here."""
        return not any(self._parts[: height + 1])

    def take(self, height: int, branch: Branch) -> None:
        """Take over a chunk that fits."""
        for below in range(height + 1):
            self._grow(below)
            self._given[below] += 2
        self._put(height + 1, branch)

    def root(self) -> bytes:
        """Store the rest, and return the root's hash."""
        if not any(self._given):
            return _stored([], 0, self._store)[1]
        height = 0
        while height == 0 or self._given[height] != 1:
            if self._parts[height]:
                self._close(height)
            height += 1
        mark: bytes = self._parts[height][0][1]
        return mark

    def _put(self, height: int, item: Item) -> None:
        self._grow(height)
        part = self._parts[height]
        part.append(item)
        self._given[height] += 1
        if _ends(item, len(part)):
            self._close(height)

    def _close(self, height: int) -> None:
        part, self._parts[height] = self._parts[height], []
        self._put(height + 1, _stored(part, height, self._store))

    def _grow(self, height: int) -> None:
        if height == len(self._parts):
            self._parts.append([])
            self._given.append(0)


def build(entries: Iterable[Entry], store: Callable[[bytes, bytes], None]) -> bytes:
    """Store a manifest of entries, given by ascending path; returns its root."""
    builder = Builder(store)
    for entry in entries:
        builder.add(leaf_of(entry))
    return builder.root()


def edit(
    root: bytes,
    changes: dict[str, Entry | None],
    load: Callable[[bytes], bytes],
    store: Callable[[bytes, bytes], None],
) -> bytes:
    """Store the manifest that differs from another in these paths; none takes a path out. Returns its root.

    Only the chunks on the way to a change are read and written; the result is what `build` would make.
    """
    if not changes:
        return root
    written: dict[bytes, bytes] = {}

    def keep(key: bytes, body: bytes) -> None:
        written[key] = body

    tree = _Tree(root, load)
    pending: dict[str, Item | None] = {
        path: None if entry is None else leaf_of(entry) for path, entry in sorted(changes.items())
    }
    for height in range(tree.height):
        pending = _edited(tree, height, pending, keep)
    top = _topped([(key, item[1]) for key, item in pending.items() if item is not None], keep)
    _, branches = _read(top, lambda chunk: written.get(chunk) or load(chunk))
    while len(branches) == 1:  # a root of one child is not what `build` makes
        written.pop(top, None)
        top = branches[0][1]
        _, branches = _read(top, lambda chunk: written.get(chunk) or load(chunk))
    for key, body in written.items():
        store(key, body)
    return top


def entries(
    root: bytes,
    load: Callable[[bytes], bytes],
    after: str = "",
    *,
    ahead: Callable[[list[bytes]], None] = lambda _: None,
    seen: set[bytes] | None = None,
) -> Iterator[Entry]:
    """Iterate over the entries whose path is greater than `after`, loading only the chunks that hold them.

    `ahead` is told which chunks come next. With `seen`, chunks in it are left out, and those that were read added.
    """
    leaves, branches = _read(root, load)
    wanted = [chunk for last_path, chunk in branches if last_path > after and chunk not in (seen or ())]
    for start in range(0, len(wanted), _AHEAD):
        ahead(wanted[start : start + _AHEAD])
        for chunk in wanted[start : start + _AHEAD]:
            yield from entries(chunk, load, after, ahead=ahead, seen=seen)
            if seen is not None:
                seen.add(chunk)
    for path, version, size, sha256 in leaves:
        if path > after:
            yield Entry(path, version, size, Sha256(sha256.hex()))


def find(root: bytes, load: Callable[[bytes], bytes], path: str) -> Entry | None:
    """Return the entry of a path, if there is one."""
    leaves, branches = _read(root, load)
    while branches:
        chunk = next((chunk for last_path, chunk in branches if last_path >= path), None)
        if chunk is None:
            return None
        leaves, branches = _read(chunk, load)
    return next((Entry(p, version, size, Sha256(sha.hex())) for p, version, size, sha in leaves if p == path), None)


def last_path(root: bytes, load: Callable[[bytes], bytes]) -> str:
    """Return the last path of a manifest; '' of an empty one."""
    leaves, branches = _read(root, load)
    if branches:
        return branches[-1][0]
    return leaves[-1][0] if leaves else ""


def leaf_of(entry: Entry) -> Leaf:
    """Return an entry as it is stored."""
    return entry.path, entry.version, entry.size_bytes, bytes.fromhex(entry.sha256)


def entry_of(leaf: Leaf) -> Entry:
    """Return a leaf as it is shown."""
    path, version, size, sha256 = leaf
    return Entry(path, version, size, Sha256(sha256.hex()))


def opened(chunk: bytes) -> tuple[list[Leaf], list[Branch]]:
    """Return what a chunk as it is stored holds: leaves, or branches."""
    return _DECODER.decode(zlib.decompress(chunk))


class _Tree:
    """Finds the chunks of a level. Leaves are at height 0, the root below `height`."""

    def __init__(self, root: bytes, load: Callable[[bytes], bytes]) -> None:
        self._root = root
        self._load = load
        self.height = 1
        _, branches = _read(root, load)
        while branches:
            self.height += 1
            _, branches = _read(branches[0][1], load)

    def chunk(self, height: int, key: str) -> tuple[list[Item], bool]:
        """Return the items of the chunk at a height where a key belongs, and whether it is the last of its level."""
        chunk, last = self._root, True
        for _ in range(self.height - 1 - height):
            _, branches = _read(chunk, self._load)
            position = next((n for n, branch in enumerate(branches) if branch[0] >= key), len(branches) - 1)
            last = last and position == len(branches) - 1
            chunk = branches[position][1]
        leaves, branches = _read(chunk, self._load)
        return [*leaves, *branches], last


def _edited(
    tree: _Tree, height: int, changes: dict[str, Item | None], store: Callable[[bytes, bytes], None]
) -> dict[str, Item | None]:
    """Cut the chunks of a level anew where it changes; returns what that changes in the level above."""
    above: dict[str, Item | None] = {}
    keys = list(changes)
    done = 0
    while done < len(keys):
        part: list[Item] = []
        key = keys[done]
        while True:
            items, is_last = tree.chunk(height, key)
            border = items[-1][0] if items else ""
            upto = len(keys) if is_last else _first_above(keys, border, done)
            above[border] = None
            part = _cut(part, _merged(items, keys[done:upto], changes), height, above, store)
            done = upto
            if is_last or not part:
                break
            key = border + "\0"
        if part:
            _put(above, _stored(part, height, store))
    if tree.height == height + 1 and not any(above.values()):
        _put(above, _stored([], height, store))
    return dict(sorted(above.items()))


def _first_above(keys: list[str], border: str, start: int) -> int:
    while start < len(keys) and keys[start] <= border:
        start += 1
    return start


def _merged(items: list[Item], keys: list[str], changes: dict[str, Item | None]) -> Iterator[Item]:
    found: dict[str, Item | None] = {item[0]: item for item in items}
    for key in keys:
        found[key] = changes[key]
    yield from (item for _, item in sorted(found.items()) if item is not None)


def _cut(
    part: list[Item],
    items: Iterator[Item],
    height: int,
    above: dict[str, Item | None],
    store: Callable[[bytes, bytes], None],
) -> list[Item]:
    for item in items:
        part.append(item)
        if _ends(item, len(part)):
            _put(above, _stored(part, height, store))
            part = []
    return part


def _put(above: dict[str, Item | None], branch: Branch) -> None:
    above[branch[0]] = branch


def _topped(level: list[Branch], store: Callable[[bytes, bytes], None]) -> bytes:
    """Store levels above chunks until there is one root."""
    if not level:
        return _stored([], 0, store)[1]
    height = 1
    while len(level) > 1:
        above: dict[str, Item | None] = {}
        part = _cut([], iter(level), height, above, store)
        if part:
            _put(above, _stored(part, height, store))
        level = [(key, item[1]) for key, item in above.items() if item is not None]
        height += 1
    return level[0][1]


def _ends(item: Item, length: int) -> bool:
    """Whether a chunk ends with this item. A level of single children would never come to an end, so it has two."""
    mark: Any = item[1]
    number = int.from_bytes(mark[:4], "big") if isinstance(mark, bytes) else zlib.crc32(item[0].encode())
    return length > 1 and (number % AVERAGE == 0 or length == LARGEST)


def _stored(items: list[Item], height: int, store: Callable[[bytes, bytes], None]) -> Branch:
    body = _ENCODER.encode(([], items) if height else (items, []))
    key = hashlib.sha256(body).digest()
    store(key, zlib.compress(body, 1))
    return (items[-1][0] if items else "", key)


def _read(chunk: bytes, load: Callable[[bytes], bytes]) -> tuple[list[Leaf], list[Branch]]:
    return opened(load(chunk))
