"""Manifests: the stored list behind a file set version, as a tree of chunks cut by content.

Entries are kept by path. Where a chunk ends depends only on the entry there, so two versions that differ in one file
share all chunks but the few on the way to it, and the tree's shape tells nothing of how it came to be. No I/O.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import TYPE_CHECKING, TypeVar

import msgspec

from acai_jupyter.contract.filesets import Entry
from acai_jupyter.contract.ids import Sha256

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

AVERAGE = 256
LARGEST = 8 * AVERAGE

T = TypeVar("T")


class _Leaf(msgspec.Struct, array_like=True, frozen=True):
    path: str
    version: int
    size_bytes: int
    sha256: bytes


class _Branch(msgspec.Struct, array_like=True, frozen=True):
    last_path: str
    chunk: bytes


class _Chunk(msgspec.Struct, array_like=True, frozen=True):
    leaves: list[_Leaf] = []
    branches: list[_Branch] = []


class Manifest(msgspec.Struct, frozen=True):
    """A manifest as it is written: the root's hash, and the chunks that make it up."""

    root: bytes
    chunks: dict[bytes, bytes]


def build(entries: Iterable[Entry]) -> Manifest:
    """Cut entries, given by ascending path, into chunks."""
    chunks: dict[bytes, bytes] = {}
    leaves = (_Leaf(e.path, e.version, e.size_bytes, bytes.fromhex(e.sha256)) for e in entries)
    level = [
        _Branch(part[-1].path, _stored(_Chunk(leaves=part), chunks))
        for part in _cut(leaves, lambda leaf: hashlib.blake2b(leaf.path.encode(), digest_size=4).digest())
    ]
    if not level:
        return Manifest(_stored(_Chunk(), chunks), chunks)
    while len(level) > 1:
        parts = list(_cut(iter(level), lambda branch: branch.chunk))
        level = [_Branch(part[-1].last_path, _stored(_Chunk(branches=part), chunks)) for part in parts]
    return Manifest(level[0].chunk, chunks)


def entries(root: bytes, load: Callable[[bytes], bytes], after: str = "") -> Iterator[Entry]:
    """Iterate over the entries whose path is greater than `after`, loading only the chunks that hold them."""
    chunk = msgspec.msgpack.decode(zlib.decompress(load(root)), type=_Chunk)
    for branch in chunk.branches:
        if branch.last_path > after:
            yield from entries(branch.chunk, load, after)
    for leaf in chunk.leaves:
        if leaf.path > after:
            yield Entry(leaf.path, leaf.version, leaf.size_bytes, Sha256(leaf.sha256.hex()))


def _cut(items: Iterator[T], mark: Callable[[T], bytes]) -> Iterator[list[T]]:
    part: list[T] = []
    for item in items:
        part.append(item)
        ends_here = int.from_bytes(mark(item)[:4], "big") % AVERAGE == 0
        # A branch level of single children would never come to an end, so a part has two at least.
        if len(part) > 1 and (ends_here or len(part) == LARGEST):
            yield part
            part = []
    if part:
        yield part


def _stored(chunk: _Chunk, chunks: dict[bytes, bytes]) -> bytes:
    body = msgspec.msgpack.encode(chunk)
    key = hashlib.sha256(body).digest()
    chunks[key] = zlib.compress(body, 1)
    return key
